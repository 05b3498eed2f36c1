#if os(Linux)
import SluiceHTTP
import Testing

@testable import SluiceEngine

/// An event of a race, or the next expected action, at a time in milliseconds.
private enum Step: Sendable {
    case attempt(Int, String)
    case wait(Int64)
    case waitForEvents
    case won(Int, abandon: [Int])
    case allFailed
    case time(Int64)
    case fails(Int)
    case connects(Int)
    case winnerFails
    case looksUpAgain
    case finds([String])
}

private struct RaceCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let addresses: [String]
    let areCached: Bool
    let steps: [Step]

    init(_ description: String, _ addresses: [String], areCached: Bool = false, _ steps: [Step]) {
        testDescription = description
        self.addresses = addresses
        self.areCached = areCached
        self.steps = steps
    }
}

private func address(_ text: String) throws -> SocketAddress {
    SocketAddress(address: try #require(IPAddress(text)), port: 80)
}

private func time(_ milliseconds: Int64) -> MonotonicTime {
    MonotonicTime(nanoseconds: milliseconds * 1_000_000)
}

private let cases = [
    RaceCase("no address", [], [.allFailed, .allFailed]),
    RaceCase(
        "one address connects",
        ["::1"],
        [.attempt(0, "::1"), .waitForEvents, .time(9000), .waitForEvents, .connects(0), .won(0, abandon: [])]
    ),
    RaceCase(
        "the winner fails later, and the others follow, with the abandoned one last",
        ["::1", "::2", "::3"],
        [
            .attempt(0, "::1"), .time(200), .attempt(1, "::2"), .connects(1), .won(1, abandon: [0]),
            .winnerFails, .attempt(2, "::3"), .wait(400), .fails(2), .attempt(3, "::1"), .waitForEvents,
            .connects(3), .won(3, abandon: []), .winnerFails, .allFailed,
        ]
    ),
    RaceCase("one address fails", ["::1"], [.attempt(0, "::1"), .waitForEvents, .fails(0), .allFailed]),
    RaceCase(
        "both versions, and the first connects before the delay",
        ["::1", "::2", "127.0.0.1"],
        [.attempt(0, "::1"), .wait(200), .time(199), .wait(200), .connects(0), .won(0, abandon: [])]
    ),
    RaceCase(
        "the first version fails at once",
        ["::1", "::2", "127.0.0.1", "127.0.0.2"],
        [
            .attempt(0, "::1"), .fails(0), .attempt(1, "127.0.0.1"), .wait(200), .connects(1), .won(1, abandon: []),
        ]
    ),
    RaceCase(
        "one version fails and the other one is slow",
        ["::1", "::2", "127.0.0.1"],
        [
            .attempt(0, "::1"), .fails(0), .attempt(1, "127.0.0.1"), .time(200), .attempt(2, "::2"), .fails(2),
            .waitForEvents, .time(60_000), .waitForEvents, .connects(1), .won(1, abandon: []),
        ]
    ),
    RaceCase(
        "the slow first wins after others have started",
        ["::1", "127.0.0.1", "::2"],
        [
            .attempt(0, "::1"), .wait(200), .time(200), .attempt(1, "127.0.0.1"), .wait(400), .time(450),
            .attempt(2, "::2"), .waitForEvents, .connects(0), .won(0, abandon: [1, 2]),
        ]
    ),
    RaceCase(
        "a failure restarts the delay",
        ["::1", "::2", "::3"],
        [.attempt(0, "::1"), .time(150), .fails(0), .attempt(1, "::2"), .wait(350), .time(350), .attempt(2, "::3")]
    ),
    RaceCase(
        "two failures in one turn",
        ["::1", "::2", "::3", "::4"],
        [
            .attempt(0, "::1"), .time(200), .attempt(1, "::2"), .time(210), .fails(0), .fails(1), .attempt(2, "::3"),
            .wait(410), .fails(2), .attempt(3, "::4"), .waitForEvents, .fails(3), .allFailed,
        ]
    ),
    RaceCase(
        "two connect in the same turn",
        ["::1", "127.0.0.1", "::2"],
        [
            .attempt(0, "::1"), .time(200), .attempt(1, "127.0.0.1"), .time(400), .attempt(2, "::2"), .connects(1),
            .connects(0), .won(1, abandon: [0, 2]), .connects(2), .won(1, abandon: []),
        ]
    ),
    RaceCase(
        "failed ones are not abandoned",
        ["::1", "127.0.0.1", "::2"],
        [
            .attempt(0, "::1"), .fails(0), .attempt(1, "127.0.0.1"), .time(200), .attempt(2, "::2"), .connects(2),
            .won(2, abandon: [1]), .fails(1), .fails(2), .won(2, abandon: []),
        ]
    ),
    RaceCase(
        "a connection that is lost before it is used",
        ["::1", "127.0.0.1"],
        [.attempt(0, "::1"), .connects(0), .fails(0), .attempt(1, "127.0.0.1"), .connects(1), .won(1, abandon: [])]
    ),
    RaceCase(
        "duplicates",
        ["::1", "::1", "127.0.0.1", "::1", "127.0.0.1"],
        [.attempt(0, "::1"), .fails(0), .attempt(1, "127.0.0.1"), .waitForEvents, .fails(1), .allFailed]
    ),
    RaceCase(
        "events of unknown attempts",
        ["::1", "127.0.0.1"],
        [
            .fails(0), .connects(1), .fails(-1), .attempt(0, "::1"), .fails(7), .connects(1), .wait(200), .fails(0),
            .fails(0), .attempt(1, "127.0.0.1"), .waitForEvents,
        ]
    ),
    RaceCase(
        "after a late wake-up, one attempt starts at a time",
        ["::1", "::2", "::3"],
        [.attempt(0, "::1"), .time(100_000), .attempt(1, "::2"), .wait(100_200)]
    ),
    RaceCase(
        "cached addresses fail, and a second look-up finds another one",
        ["::1", "::2"],
        areCached: true,
        [
            .attempt(0, "::1"), .fails(0), .attempt(1, "::2"), .fails(1), .looksUpAgain, .waitForEvents,
            .finds(["::2", "::3", "::4"]), .attempt(2, "::3"), .wait(200), .fails(2), .attempt(3, "::4"), .fails(3),
            .allFailed,
        ]
    ),
    RaceCase(
        "cached addresses are silent for a second",
        ["::1", "::2"],
        areCached: true,
        [
            .attempt(0, "::1"), .time(200), .attempt(1, "::2"), .wait(1200), .time(1200), .looksUpAgain, .waitForEvents,
            .time(1500), .finds(["::3"]), .attempt(2, "::3"), .waitForEvents, .connects(2), .won(2, abandon: [0, 1]),
        ]
    ),
    RaceCase(
        "a second look-up finds nothing new",
        ["::1"],
        areCached: true,
        [.attempt(0, "::1"), .fails(0), .looksUpAgain, .finds(["::1"]), .allFailed]
    ),
    RaceCase(
        "a silent address connects during the second look-up",
        ["::1"],
        areCached: true,
        [
            .attempt(0, "::1"), .time(1000), .looksUpAgain, .connects(0), .won(0, abandon: []), .finds(["::2"]),
            .won(0, abandon: []), .winnerFails, .attempt(1, "::2"), .fails(1), .allFailed,
        ]
    ),
]

@Suite struct AddressRaceTests {
    /// Without free descriptors a race has one open attempt.
    @Test func oldestAttemptIsAbandonedForTheNext() throws {
        var race = AddressRace(try ["192.0.2.1", "192.0.2.2", "192.0.2.3"].map(address))
        #expect(race.abandonOldest(at: time(0)) == nil)
        _ = race.next(at: time(0))
        #expect(race.abandonOldest(at: time(0)) == nil)
        _ = race.next(at: time(200))
        // A server that is far away may still answer.
        #expect(race.abandonOldest(at: time(999)) == nil)
        #expect(race.abandonOldest(at: time(1000)) == 0)
        #expect(race.abandonOldest(at: time(9999)) == nil)
        #expect(race.running == [1])
        race.attemptConnected(0)
        #expect(!race.isOver)
        _ = race.next(at: time(1000))
        race.attemptConnected(1)
        // A connected attempt is the winner.
        #expect(race.abandonOldest(at: time(9999)) == nil)
        guard case .won(1, [2]) = race.next(at: time(1000)) else {
            Issue.record("The connected attempt has not won.")
            return
        }
    }

    @Test(arguments: cases)
    private func takesTheExpectedActions(_ script: RaceCase) throws {
        var race = AddressRace(try script.addresses.map(address), areCached: script.areCached)
        var now: Int64 = 0
        for (place, step) in script.steps.enumerated() {
            switch step {
            case .time(let time): now = time
            case .fails(let index): race.attemptFailed(index, at: time(now))
            case .connects(let index): race.attemptConnected(index)
            case .winnerFails: race.winnerFailed(at: time(now))
            case .finds(let found): race.add(try found.map(address), at: time(now))
            case .looksUpAgain: #expect(race.next(at: time(now)) == .lookUpAgain, "Step \(place)")
            case .attempt(let index, let text):
                #expect(race.next(at: time(now)) == .attempt(index, try address(text)), "Step \(place)")
            case .wait(let until):
                #expect(race.next(at: time(now)) == .wait(until: time(until)), "Step \(place)")
            case .waitForEvents:
                #expect(race.next(at: time(now)) == .wait(until: .distantFuture), "Step \(place)")
                #expect(!race.isOver)
            case .won(let index, let abandon):
                #expect(race.isOver)
                #expect(race.next(at: time(now)) == .won(index, abandon: abandon), "Step \(place)")
                #expect(race.running.isEmpty)
            case .allFailed:
                #expect(race.isOver)
                #expect(race.next(at: time(now)) == .failed, "Step \(place)")
            }
        }
    }

    static let orders: [(addresses: [String], order: [String])] = [
        (["::1", "::2", "::3", "127.0.0.1"], ["::1", "127.0.0.1", "::2", "::3"]),
        (["127.0.0.1", "::1", "::2", "127.0.0.2"], ["127.0.0.1", "::1", "127.0.0.2", "::2"]),
        (["127.0.0.1", "127.0.0.2", "127.0.0.1"], ["127.0.0.1", "127.0.0.2"]),
    ]

    @Test(arguments: orders)
    func addressFamiliesAlternateBeginningWithTheFirst(addresses: [String], order: [String]) throws {
        #expect(try attempts(AddressRace(addresses.map(address))) == order.map(address))
    }

    @Test func addressesAreTriedUpToTheLimitBeforeFailure() throws {
        let many = try (1...200).map { try address("2001:db8::\(String($0, radix: 16))") }
        let four = SocketAddress(address: IPAddress(127, 0, 0, 1), port: 80)
        let capped = attempts(AddressRace(many + [four]))
        #expect(capped == [many[0], four] + many[1...30])
        #expect(attempts(AddressRace(many, limit: 500)) == many)
    }

    /// Returns the attempts of a race in which each attempt fails at once.
    private func attempts(_ race: AddressRace) -> [SocketAddress] {
        var race = race
        var result: [SocketAddress] = []
        while case .attempt(let index, let address) = race.next(at: time(0)) {
            #expect(index == result.count)
            #expect(!race.isOver)
            result.append(address)
            race.attemptFailed(index, at: time(0))
        }
        #expect(race.next(at: time(0)) == .failed)
        return result
    }

    static let delays: [(delay: Duration, wait: Int64)] = [
        (.zero, 10), (.milliseconds(-5), 10), (.milliseconds(250), 250),
    ]

    @Test(arguments: delays)
    func delayHasALowerBound(delay: Duration, wait: Int64) throws {
        var race = AddressRace([try address("::1"), try address("::2")], delay: delay)
        #expect(race.next(at: time(0)) == .attempt(0, try address("::1")))
        #expect(race.next(at: time(0)) == .wait(until: time(wait)))
    }
}
#endif
