import Foundation
import Testing

@testable import Sluice

/// Random orders of events. Every waiting request is served, and no refresh token is used twice.
@Suite struct RandomTokenStateTests {
    /// A state, a server that rotates refresh tokens, a store, and the pending operations between them.
    private struct World {
        var state: TokenState
        var generator: SplitMix
        var seconds = 0.0
        var waiting = 0
        /// The pending steps of each operation, including abandoned operations.
        var pending: [(work: Int, step: TokenState.Step)] = []
        var issued = 0
        /// The refresh tokens that the server accepts, each once.
        var known: Set<String> = ["r0"]
        var stored: OAuth2.Token?
        var flaws: [String] = []
        private let start = ContinuousClock.now

        init(seed: UInt64) {
            generator = SplitMix(state: seed)
            var rules = TokenState.Rules(limit: .init(count: 3, per: .seconds(5)))
            rules.isRepeatable = seed % 2 == 0
            state = TokenState(rules, initialRefreshToken: "r0")
        }

        var moment: ClockReading {
            ClockReading(now: start + .seconds(seconds), date: Date(timeIntervalSince1970: seconds))
        }

        mutating func act() {
            switch Int.random(in: 0..<10, using: &generator) {
            case 0...2: ask()
            case 3: leave()
            case 4: seconds += Double.random(in: 0..<4, using: &generator)
            case 5: refuse()
            default: finishOne()
            }
            if state.waiting != waiting { flaws.append("\(waiting) requests wait, the state counts \(state.waiting)") }
            if waiting > 0, state.work == nil { flaws.append("\(waiting) requests wait without work in progress") }
        }

        private mutating func ask() {
            switch state.credentialRequested(at: moment) {
            case .admitted(let credential): check(credential)
            case .waiting: waiting += 1
            case .refused: break
            case .begin(let work, let step):
                if waiting > 0 { flaws.append("work began while requests wait for other work") }
                waiting += 1
                pending.append((work, step))
            }
        }

        private mutating func leave() {
            guard waiting > 0 else { return }
            waiting -= 1
            let isGivenUp = state.leave(at: moment.date)
            if isGivenUp, waiting > 0 { flaws.append("abandoned while a request waits") }
        }

        private mutating func refuse() {
            if case .token(let held) = state.status { _ = state.refused(version: held.credential.version, at: moment) }
        }

        private mutating func finishOne() {
            guard !pending.isEmpty else { return }
            let (work, step) = pending.remove(at: Int.random(in: 0..<pending.count, using: &generator))
            let isFailing = Int.random(in: 0..<4, using: &generator) == 0
            let lost = OAuth2Error(.unreachable)
            let next: TokenState.Step
            switch step {
            case .load:
                let result: Result<OAuth2.Token?, OAuth2Error> = isFailing ? .failure(lost) : .success(stored)
                next = state.loaded(result, work: work, at: moment)
            case .save(let token):
                if !isFailing { stored = token }
                let result: Result<Void, OAuth2Error> = isFailing ? .failure(lost) : .success(())
                next = state.saved(result, work: work, at: moment)
            case .delete:
                stored = nil
                next = state.deleted(.success(()), work: work, at: moment)
            case .lock:
                flaws.append("a store that is not shared was locked")
                return
            case .refresh(let secret):
                let token = secret.reveal()
                if !known.contains(token) { flaws.append("\(token) was used after the server had replaced it") }
                if !isFailing { known.remove(token) }
                next = state.received(isFailing ? .failure(lost) : .success(issue()), work: work, at: moment)
            case .request:
                next = state.received(isFailing ? .failure(lost) : .success(issue()), work: work, at: moment)
            case .finish, .stop: return
            }
            switch next {
            case .stop: break
            case .finish(let outcome):
                waiting = 0
                if case .success(let credential) = outcome { check(credential) }
            default: pending.append((work, next))
            }
        }

        private mutating func issue() -> OAuth2.Token {
            issued += 1
            known.insert("r\(issued)")
            return .init(
                accessToken: "t\(issued)",
                expiresAt: Date(timeIntervalSince1970: seconds + 10),
                refreshToken: "r\(issued)"
            )
        }

        private mutating func check(_ credential: Credential) {
            if credential.token.hasExpired(at: moment.date) { flaws.append("the token of a permit has expired") }
            guard case .token(let held) = state.status, held.credential.version == credential.version else {
                flaws.append("the token of a permit is not the token of the state")
                return
            }
            if held.isRefused { flaws.append("the token of a permit was refused") }
            if held.isUnsaved || stored?.accessToken != credential.token.accessToken {
                flaws.append("the token of a permit is not stored")
            }
        }
    }

    @Test func servesEveryWaiterAndUsesRefreshTokensOnce() {
        for seed in UInt64(0)..<3000 {
            var world = World(seed: seed)
            for _ in 0..<200 { world.act() }
            #expect(world.flaws.isEmpty, "seed \(seed): \(world.flaws.prefix(3))")
            if !world.flaws.isEmpty { return }
        }
    }
}

/// A generator that returns the same numbers for the same seed (SplitMix64 by Steele, Lea and Flood).
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed: UInt64 = state
        mixed ^= mixed >> 30
        mixed = mixed &* 0xBF58_476D_1CE4_E5B9
        mixed ^= mixed >> 27
        mixed = mixed &* 0x94D0_49BB_1331_11EB
        mixed ^= mixed >> 31
        return mixed
    }
}
