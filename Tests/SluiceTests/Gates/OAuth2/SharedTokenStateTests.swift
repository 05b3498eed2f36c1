import Foundation
import Testing

@testable import Sluice

/// The state of a token whose store other processes share.
@Suite struct SharedTokenStateTests {
    typealias Scenario = TokenScenario

    private static let old = Scenario.token("a", until: 0, refresh: "r1")
    private static let new = Scenario.token("b", until: 3600, refresh: "r2")

    /// Returns a state that has found an old token, and is about to lock the store.
    private func locking(_ grant: OAuth2.Grant = Scenario.user, found: OAuth2.Token? = old) -> Scenario {
        var scenario = Scenario(grant, isShared: true)
        #expect(scenario.ask() == "load")
        #expect(scenario.loaded(found) == "lock")
        return scenario
    }

    @Test func refreshesTheTokenThatTheLockedStoreHolds() {
        var scenario = locking()
        #expect(scenario.locked(Self.old) == "refresh by r1")
        #expect(scenario.received(Self.new) == "save b and r2")
        #expect(scenario.saved() == "admitted with b")
        #expect(scenario.ask() == "admitted with b")
    }

    @Test func takesOverTheTokenOfAnotherProcess() {
        var fresh = locking()
        #expect(fresh.locked(Self.new) == "admitted with b")
        // One that has expired meanwhile is refreshed by its own refresh token.
        var expired = locking()
        #expect(expired.locked(Scenario.token("b", until: 0, refresh: "r2")) == "refresh by r2")
        var first = locking(found: nil)
        #expect(first.locked(Self.new) == "admitted with b")
    }

    @Test func refreshTokenThatAnotherProcessHasSentIsNotSent() {
        let interruption = RefreshInterrupted()
        var scenario = locking()
        #expect(scenario.locked(Self.old) == "refresh by r1")
        #expect(scenario.notSent(.authorizationRequired, interruption) == "failed: authorizationRequired")
        // The other process may save its token later.
        #expect(scenario.ask() == "lock")
        #expect(scenario.locked(Self.old) == "refresh by r1")
        #expect(scenario.notSent(.authorizationRequired, interruption) == "failed: authorizationRequired")
        #expect(scenario.ask() == "lock")
        #expect(scenario.locked(Self.new) == "admitted with b")
        // The refresh token of the grant.
        var first = locking(.refreshToken("r0", id: "i"), found: nil)
        for _ in 0..<2 {
            #expect(first.locked(nil) == "refresh by r0")
            #expect(first.notSent(.authorizationRequired, interruption) == "failed: authorizationRequired")
            #expect(first.ask() == "lock")
        }
        // Another token can be obtained without the user.
        var password = locking(.password(username: "u", password: "p", id: "i"))
        #expect(password.locked(Self.old) == "refresh by r1")
        #expect(password.notSent(.authorizationRequired, interruption) == "request")
        #expect(password.received(Self.new) == "save b and r2")
    }

    @Test func tokenIsUsedUntilItExpiresIfItsRefreshTokenMustNotBeSent() {
        var scenario = Scenario(Scenario.user, isShared: true)
        scenario.hold(Scenario.token("a", until: 100, refresh: "r1"))
        for (second, outcome) in [(95.0, "admitted with a"), (101, "failed: authorizationRequired")] {
            scenario.seconds = second
            #expect(scenario.ask() == "lock")
            #expect(scenario.locked(Scenario.token("a", until: 100, refresh: "r1")) == "refresh by r1")
            #expect(scenario.notSent(.authorizationRequired, RefreshInterrupted()) == outcome)
            // Requests do not wait for the lock again until a pause is over.
            if second < 100 { #expect(scenario.ask() == "admitted with a") }
        }
    }

    @Test func refreshTokensThatWereNotSentDoNotCount() {
        var scenario = Scenario(Scenario.user, limit: .init(count: 1), isShared: true)
        #expect(scenario.ask() == "load")
        #expect(scenario.loaded(Self.old) == "lock")
        for (code, cause) in [(.storeFailed, nil), (.authorizationRequired, RefreshInterrupted())]
            as [(OAuth2Error.Code, (any Error)?)]
        {
            #expect(scenario.locked(Self.old) == "refresh by r1")
            #expect(scenario.notSent(code, cause) == "failed: \(code)")
            #expect(scenario.ask() == "lock")
        }
        #expect(scenario.locked(Self.old) == "refresh by r1")
    }

    @Test func refusedTokenIsReplacedByThatOfAnotherProcess() {
        for (stored, expected) in [
            (Scenario.token("b", refresh: "r2"), "admitted with b"),
            (Scenario.token("a", refresh: "r1"), "refresh by r1"),
            (Scenario.token("a", refresh: "r2"), "refresh by r2"),
        ] {
            var scenario = Scenario(Scenario.user, isShared: true)
            scenario.hold(Scenario.token("a", refresh: "r1"))
            #expect(scenario.refused() == true)
            #expect(scenario.ask() == "lock")
            #expect(scenario.locked(stored) == expected)
        }
    }

    @Test func deletionByAnotherProcessIsASignOut() {
        var user = locking()
        #expect(user.locked(nil) == "failed: authorizationRequired")
        var given = locking(.refreshToken("given", id: "i"))
        #expect(given.locked(nil) == "failed: authorizationRequired")
        var repeatable = locking(.password(username: "u", password: "p", id: "i"))
        #expect(repeatable.locked(nil) == "request")
    }

    @Test func givenRefreshTokenIsSpentOnceAnyProcessHasAToken() {
        var alone = locking(.refreshToken("given", id: "i"), found: nil)
        #expect(alone.locked(nil) == "refresh by given")
        var late = locking(.refreshToken("given", id: "i"), found: nil)
        #expect(late.locked(Scenario.token("b", until: 0, refresh: "r2")) == "refresh by r2")
        #expect(late.fails(.invalidGrant) == "forget")
        #expect(late.deleted() == "failed: authorizationRequired")
    }

    @Test func ownDeletionKeepsTheGivenRefreshToken() {
        var scenario = locking(.refreshToken("given", id: "i"))
        #expect(scenario.locked(Self.old) == "refresh by r1")
        #expect(scenario.fails(.invalidGrant) == "forget")
        #expect(scenario.deleted() == "refresh by given")
        #expect(scenario.fails(.unreachable) == "failed: unreachable")
        #expect(scenario.ask() == "lock")
        #expect(scenario.locked(nil) == "refresh by given")
    }

    @Test func lockThatIsNotObtainedFailsTheWorkUnlessTheTokenIsValid() {
        var expired = locking()
        #expect(expired.lockFails() == "failed: storeFailed")
        #expect(expired.ask() == "lock")
        var early = Scenario(Scenario.user, isShared: true)
        early.hold(Scenario.token("a", until: 3600, refresh: "r1"))
        early.seconds = 3570
        #expect(early.ask() == "lock")
        #expect(early.lockFails() == "admitted with a")
    }

    @Test func signOutHoldsEvenIfTheStoreKeepsTheToken() {
        var scenario = locking()
        #expect(scenario.locked(Self.new) == "admitted with b")
        _ = scenario.state.signOut()
        scenario.state.ignoresStore = true
        #expect(scenario.ask() == "lock")
        #expect(scenario.locked(Self.new) == "failed: authorizationRequired")
        #expect(scenario.ask() == "lock")
        #expect(scenario.locked(Scenario.token("c", refresh: "r3")) == "failed: authorizationRequired")
        // A sign-out that has deleted the token ends when a user signs in with another process.
        scenario.state.ignoresStore = false
        #expect(scenario.ask() == "lock")
        #expect(scenario.locked(Self.new) == "admitted with b")
    }

    @Test func lastWaiterThatLeavesAbandonsTheLock() {
        var scenario = locking()
        let isAbandoned = scenario.leave()
        #expect(isAbandoned)
        #expect(scenario.locked(Self.old) == "stop")
        #expect(scenario.ask() == "lock")
    }

    @Test func lockThatEndsTooSoonIsTakenAgainBeforeTheRefreshTokenIsSent() {
        var scenario = Scenario(.refreshToken("given", id: "i"), limit: .init(count: 1), isShared: true)
        #expect(scenario.ask() == "load")
        #expect(scenario.loaded(Self.old) == "lock")
        #expect(scenario.locked(Self.old) == "refresh by r1")
        #expect(scenario.lockEnds() == "lock")
        #expect(scenario.locked(Self.old) == "refresh by r1", "the request that was not sent does not count")
        #expect(scenario.lockEnds() == "lock")
        #expect(scenario.locked(Self.new) == "admitted with b")
    }

    @Test func tokenIsDroppedIfTheLockExpiredBeforeItWasSaved() {
        var scenario = locking()
        #expect(scenario.locked(Self.old) == "refresh by r1")
        #expect(scenario.received(Scenario.token("late", until: 3600, refresh: "late")) == "save late and late")
        #expect(scenario.saveFails(TokenLockExpired()) == "load")
        #expect(scenario.loaded(Self.new) == "admitted with b")
        var spent = locking()
        #expect(spent.locked(Self.old) == "refresh by r1")
        #expect(spent.received(Self.new) == "save b and r2")
        #expect(spent.saveFails(TokenLockExpired()) == "load")
        #expect(spent.loaded(Self.old) == "lock", "the token is not used before the store is locked again")
        #expect(spent.locked(nil) == "failed: authorizationRequired")
    }

    @Test func refusalOfALateRefreshDeletesNothing() {
        var scenario = locking()
        #expect(scenario.locked(Self.old) == "refresh by r1")
        #expect(scenario.fails(.invalidGrant) == "forget")
        #expect(scenario.deleteFails(TokenLockExpired()) == "load")
        #expect(scenario.loaded(Self.new) == "admitted with b")
        // The refusal was not that of the token in the store, which counts.
        _ = scenario.refused()
        #expect(scenario.ask() == "lock")
        #expect(scenario.locked(Self.old) == "refresh by r1")
    }

    @Test func refusedTokenThatCouldNotBeDeletedDoesNotCount() {
        var scenario = locking()
        #expect(scenario.locked(Self.old) == "refresh by r1")
        #expect(scenario.fails(.invalidGrant) == "forget")
        #expect(scenario.deleteFails() == "failed: authorizationRequired")
        #expect(!scenario.state.ignoresStore)
        for _ in 0..<2 {
            #expect(scenario.ask() == "lock")
            #expect(scenario.locked(Self.old) == "failed: authorizationRequired")
        }
        // A user has signed in with another process.
        #expect(scenario.ask() == "lock")
        #expect(scenario.locked(Self.new) == "admitted with b")
    }

    @Test func refusedTokenThatCouldNotBeDeletedIsReplacedByTheGrant() {
        var scenario = locking(.password(username: "u", password: "p", id: "i"))
        #expect(scenario.locked(Self.old) == "refresh by r1")
        #expect(scenario.fails(.invalidGrant) == "forget")
        #expect(scenario.deleteFails() == "request")
        #expect(scenario.fails(.unreachable) == "failed: unreachable")
        #expect(scenario.ask() == "lock")
        #expect(scenario.locked(Self.old) == "request")
        #expect(scenario.received(Self.new) == "save b and r2")
        #expect(scenario.saved() == "admitted with b")
    }

    @Test func unsavedTokenIsUsedIfTheStoreAllowsIt() {
        for (isAllowed, expected) in [(true, "admitted with b"), (false, "failed: storeFailed")] {
            var scenario = Scenario(Scenario.user, isShared: true, allowsUnsavedTokens: isAllowed)
            #expect(scenario.ask() == "load")
            #expect(scenario.loaded(Self.old) == "lock")
            #expect(scenario.locked(Self.old) == "refresh by r1")
            #expect(scenario.received(Self.new) == "save b and r2")
            #expect(scenario.saveFails() == expected)
            // Each request tries again to save it.
            #expect(scenario.ask() == "save b and r2")
            #expect(scenario.saveFails() == expected)
            #expect(scenario.ask() == "save b and r2")
            #expect(scenario.saved() == "admitted with b")
            #expect(scenario.ask() == "admitted with b")
        }
    }

    // MARK: Random processes

    /// Processes that share a store and its lock, and a server that rotates refresh tokens.
    private struct World {
        private struct Process {
            var state: TokenState
            /// The pending steps, those of abandoned work included.
            var pending: [(work: Int, step: TokenState.Step)] = []
        }

        private var processes: [Process]
        private var generator: SplitMix
        private var seconds = 0.0
        private var issued = 0
        /// The refresh tokens that the server has exchanged.
        private var spent: Set<String> = []
        private var stored: OAuth2.Token?
        /// The process that holds the lock.
        private var owner: Int?
        private(set) var refreshes = 0
        private(set) var flaws: [String] = []
        private let start = ContinuousClock.now

        init(seed: UInt64) {
            generator = SplitMix(state: seed)
            let rules = TokenState.Rules(
                isRepeatable: seed % 3 == 0,
                sharesStore: true,
                limit: .init(count: 100, per: .seconds(1))
            )
            processes = (0..<3).map { _ in Process(state: TokenState(rules, initialRefreshToken: "r0")) }
        }

        private var moment: ClockReading {
            ClockReading(now: start + .seconds(seconds), date: Date(timeIntervalSince1970: seconds))
        }

        mutating func act() {
            let index = Int.random(in: 0..<processes.count, using: &generator)
            switch Int.random(in: 0..<12, using: &generator) {
            case 0...2:
                if case .begin(let work, let step) = processes[index].state.credentialRequested(at: moment) {
                    processes[index].pending.append((work, step))
                }
            case 3:
                if processes[index].state.waiting > 0, processes[index].state.leave(at: moment.date) { release(index) }
            case 4: seconds += Double.random(in: 0..<4, using: &generator)
            case 5:
                if case .token(let held) = processes[index].state.status {
                    _ = processes[index].state.refused(version: held.credential.version, at: moment)
                }
            default: finishOne(index)
            }
        }

        /// Releases the lock where the gate does: when work has ended, unless its token is not saved.
        private mutating func release(_ index: Int) {
            if owner == index, !processes[index].state.isUnsaved { owner = nil }
        }

        private mutating func finishOne(_ index: Int) {
            guard !processes[index].pending.isEmpty else { return }
            let choice = Int.random(in: 0..<processes[index].pending.count, using: &generator)
            let (work, step) = processes[index].pending[choice]
            let isWorking = processes[index].state.isWorking(work)
            if case .lock = step, isWorking, let owner, owner != index, !Bool.random(using: &generator) {
                // The lock is busy, and the process goes on waiting.
                return
            }
            processes[index].pending.remove(at: choice)
            let isFailing = Int.random(in: 0..<5, using: &generator) == 0
            let next: TokenState.Step
            switch step {
            case .load:
                next = processes[index].state.loaded(isFailing ? lost() : .success(stored), work: work, at: moment)
            case .lock:
                let isFree = owner == nil || owner == index
                if isFree, isWorking { owner = index }
                let isLost = isFailing || !isFree
                next = processes[index].state.locked(isLost ? lost() : .success(stored), work: work, at: moment)
            case .save(let token):
                if owner != index { flaws.append("a token was saved without the lock") }
                if !isFailing { stored = token }
                next = processes[index].state.saved(isFailing ? lost() : .success(()), work: work, at: moment)
            case .delete:
                flaws.append("a valid token was deleted")
                return
            case .refresh(let secret):
                let token = secret.reveal()
                if spent.contains(token) { flaws.append("\(token) was used after the server had replaced it") }
                if owner != index { flaws.append("\(token) was used without the lock") }
                refreshes += 1
                if !isFailing { spent.insert(token) }
                next = processes[index].state.received(isFailing ? lost() : .success(issue()), work: work, at: moment)
            case .request:
                next = processes[index].state.received(isFailing ? lost() : .success(issue()), work: work, at: moment)
            case .finish, .stop: return
            }
            switch next {
            case .stop: break
            case .finish: release(index)
            default: processes[index].pending.append((work, next))
            }
        }

        private func lost<Value>() -> Result<Value, OAuth2Error> { .failure(OAuth2Error(.unreachable)) }

        private mutating func issue() -> OAuth2.Token {
            issued += 1
            let end = Date(timeIntervalSince1970: seconds + 10)
            return .init(accessToken: "t\(issued)", expiresAt: end, refreshToken: "r\(issued)")
        }
    }

    @Test func randomProcessesUseNoSpentRefreshToken() {
        var refreshes = 0
        for seed in UInt64(0)..<2000 {
            var world = World(seed: seed)
            for _ in 0..<300 { world.act() }
            #expect(world.flaws.isEmpty, "seed \(seed): \(world.flaws.prefix(3))")
            if !world.flaws.isEmpty { return }
            refreshes += world.refreshes
        }
        #expect(refreshes > 2000, "the processes have refreshed tokens")
    }
}
