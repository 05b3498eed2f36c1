#if os(Linux)
import SluiceHTTP
import Testing

@testable import SluiceEngine

@Suite struct FloodGuardTests {
    private static func time(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: milliseconds * 1_000_000)
    }

    private var floodGuard = FloodGuard(at: FloodGuardTests.time(0))

    /// Returns the number of frames without content that the guard accepts at a time.
    private mutating func admitted(at milliseconds: Int64, upTo limit: Int = 10_000) -> Int {
        var count = 0
        while count < limit, floodGuard.takeToken(at: Self.time(milliseconds)) { count += 1 }
        return count
    }

    @Test mutating func admitsUpToTheCapacityAtOnce() {
        expect(admitted(at: 0), FloodGuard.capacity)
        expect(floodGuard.takeToken(at: Self.time(0)), false)
    }

    @Test(arguments: [(9, 0), (10, 1), (1000, 100), (5000, 500), (1_000_000, FloodGuard.capacity)] as [(Int64, Int)])
    mutating func capacityRefillsOverTime(_ milliseconds: Int64, _ count: Int) {
        _ = admitted(at: 0)
        expect(admitted(at: milliseconds), count)
    }

    @Test mutating func shortIntervalsAddUp() {
        _ = admitted(at: 0)
        var count = 0
        for milliseconds in 1...1000 { count += admitted(at: Int64(milliseconds)) }
        #expect(count == FloodGuard.refill)
    }

    @Test mutating func contentRestoresCapacityUpToTheMaximum() {
        for _ in 0..<100 { floodGuard.reward() }
        expect(admitted(at: 0), FloodGuard.capacity)
        floodGuard.reward()
        expect(admitted(at: 0), FloodGuard.reward)
    }

    @Test mutating func sentBytesAllowWindowUpdates() {
        _ = admitted(at: 0)
        for _ in 0..<64 { floodGuard.rewardSent(16 << 10) }
        for _ in 0..<1024 { expect(floodGuard.takeUpdate(at: Self.time(0)), true) }
        // From here on they take the tokens that the pieces have returned.
        for _ in 0..<64 * FloodGuard.reward { expect(floodGuard.takeUpdate(at: Self.time(0)), true) }
        expect(floodGuard.takeUpdate(at: Self.time(0)), false)
    }

    @Test mutating func smallPiecesAddUpToWindowUpdates() {
        for _ in 0..<1024 { floodGuard.rewardSent(7) }
        _ = admitted(at: 0)
        for _ in 0..<7 { expect(floodGuard.takeUpdate(at: Self.time(0)), true) }
        expect(floodGuard.takeUpdate(at: Self.time(0)), false)
    }

    @Test mutating func earlierTimeRefillsNothing() {
        floodGuard = FloodGuard(at: Self.time(1000))
        _ = admitted(at: 1000)
        expect(admitted(at: 0), 0)
    }
}
#endif
