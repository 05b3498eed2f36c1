#if os(Linux)
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceEngine

/// Simulates a race against addresses that connect or fail after random times, or never answer. Some are only found by a second look-up.
private struct RaceSimulation {
    enum Fate {
        case connects(after: Int64)
        case fails(after: Int64)
        case silent
    }

    let fates: [Fate]
    var race: AddressRace
    /// The addresses that a second look-up finds.
    private let later: [SocketAddress]
    var now: Int64 = 0
    /// The times of the pending events, by attempt.
    var events: [Int: (time: Int64, connects: Bool)] = [:]
    var starts: [Int64] = []
    /// The time of the last failure, or of the second look-up, since the last start.
    var lastFailure: Int64?
    /// The attempts whose connections the caller holds.
    var held: Set<Int> = []

    init(_ random: inout SeededGenerator) {
        let count = Int.random(in: 0...40, using: &random)
        let isBad = Bool.random(using: &random)
        fates = (0..<count).map { _ in
            let after = Bool.random(using: &random) ? 0 : Int64.random(in: 1...900, using: &random) * 1_000_000
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<(isBad ? 0 : 3): return .connects(after: after)
            case 9 where !isBad || count % 2 == 0: return .silent
            default: return .fails(after: after)
            }
        }
        let addresses = (0..<count).map { number in
            SocketAddress(
                address: number % 3 == 0 ? IPAddress(10, 0, 0, UInt8(number)) : .version6(number),
                port: 443
            )
        }
        let areCached = Bool.random(using: &random)
        later = areCached ? addresses.suffix(Int.random(in: 0...5, using: &random)) : []
        race = AddressRace(
            addresses.dropLast(later.count),
            delay: .milliseconds(200),
            limit: 64,
            areCached: areCached
        )
    }

    var clock: MonotonicTime { MonotonicTime(nanoseconds: now) }

    /// Runs the race to its end, or until no event is pending.
    mutating func run() {
        while true {
            switch race.next(at: clock) {
            case .attempt(let index, _):
                #expect(index == starts.count)
                checkStart()
                starts.append(now)
                lastFailure = nil
                held.insert(index)
                switch fates[index] {
                case .connects(let after): events[index] = (now + after, true)
                case .fails(let after): events[index] = (now + after, false)
                case .silent: break
                }
            case .wait(let until):
                #expect(until > clock)
                let next = events.values.map(\.time).min() ?? .max
                now = min(next, until.nanoseconds)
                if now == .max {
                    // Only silent addresses are left. The caller's deadline ends the race.
                    #expect(starts.count == fates.count && Set(race.running) == held && !held.isEmpty)
                    return
                }
                deliver()
            case .lookUpAgain:
                #expect(starts.count == fates.count - later.count)
                #expect(held.isEmpty || now == (starts.last ?? 0) + 1_000_000_000)
                race.add(later, at: clock)
                lastFailure = now
            case .won(let winner, let abandon):
                #expect(Set(abandon) == held.subtracting([winner]) && held.contains(winner))
                #expect(abandon.count == held.count - 1)
                #expect(race.next(at: clock) == .won(winner, abandon: []))
                guard case .connects(let after) = fates[winner] else {
                    Issue.record("Attempt \(winner) never connected.")
                    return
                }
                #expect(starts[winner] + after == now)
                return
            case .failed:
                #expect(held.isEmpty && starts.count == fates.count)
                return
            }
        }
    }

    /// Checks that an attempt starts neither too early nor too late.
    private func checkStart() {
        guard let last = starts.last else { return }
        #expect(now == lastFailure ?? last + 200_000_000)
    }

    /// Reports all events at the current time.
    private mutating func deliver() {
        for (index, event) in events.sorted(by: { $0.key < $1.key }) where event.time <= now {
            events[index] = nil
            if event.connects {
                race.attemptConnected(index)
            } else {
                held.remove(index)
                lastFailure = now
                race.attemptFailed(index, at: clock)
            }
        }
    }
}

extension IPAddress {
    fileprivate static func version6(_ number: Int) -> IPAddress {
        IPAddress("2001:db8::\(String(number, radix: 16))") ?? IPAddress(0, 0, 0, 0)
    }
}

@Suite struct AddressRaceModelTests {
    @Test(arguments: 0..<40 as Range<UInt64>)
    func everyConnectionIsReturnedOrAbandonedOnce(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            var simulation = RaceSimulation(&random)
            simulation.run()
        }
    }
}
#endif
