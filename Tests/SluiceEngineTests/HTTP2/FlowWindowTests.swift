import SluiceHTTP
import Testing

@testable import SluiceEngine

@Suite struct FlowWindowTests {
    private static func time(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: milliseconds * 1_000_000)
    }

    private let roundTrip = Duration.milliseconds(50)
    private var window = FlowWindow(at: FlowWindowTests.time(0))

    @Test mutating func growsOnlyOnceAWholeWindowIsTaken() {
        expect(window.take(FlowWindow.initialSize - 1, unread: 0, roundTrip: roundTrip, at: Self.time(10)), false)
        #expect(window.size == FlowWindow.initialSize)
        expect(window.take(1, unread: 0, roundTrip: roundTrip, at: Self.time(20)), true)
        #expect(window.size == 2 * FlowWindow.initialSize)
        expect(window.take(FlowWindow.initialSize, unread: 0, roundTrip: roundTrip, at: Self.time(30)), false)
    }

    @Test mutating func growsOnlyByBytesThatWereRead() {
        let size = FlowWindow.initialSize
        expect(window.take(size, unread: size, roundTrip: roundTrip, at: Self.time(0)), false)
        expect(window.take(size / 2, unread: size / 2 + 1, roundTrip: roundTrip, at: Self.time(1)), false)
        expect(window.take(1, unread: size / 2 + 1, roundTrip: roundTrip, at: Self.time(2)), true)
        // The bytes that were left count when they are read.
        expect(window.take(3 * size / 2 - 2, unread: 0, roundTrip: roundTrip, at: Self.time(3)), false)
        expect(window.take(1, unread: 0, roundTrip: roundTrip, at: Self.time(4)), true)
    }

    @Test(arguments: [(0, true), (200, true), (201, false), (10_000, false)] as [(Int64, Bool)])
    mutating func growsWithinFourRoundTrips(_ milliseconds: Int64, _ grows: Bool) {
        expect(window.take(FlowWindow.initialSize, unread: 0, roundTrip: roundTrip, at: Self.time(milliseconds)), grows)
    }

    @Test mutating func aSlowWindowIsFollowedByAFreshOne() {
        expect(window.take(FlowWindow.initialSize, unread: 0, roundTrip: roundTrip, at: Self.time(1000)), false)
        expect(window.take(FlowWindow.initialSize, unread: 0, roundTrip: roundTrip, at: Self.time(1100)), true)
    }

    @Test mutating func growsUpToALimit() {
        var sizes: [Int] = []
        for _ in 0..<20 where window.take(window.size, unread: 0, roundTrip: roundTrip, at: Self.time(0)) {
            sizes.append(window.size)
        }
        #expect(sizes == [256, 512, 1024, 2048, 4096, 8192].map { $0 << 10 })
        #expect(window.size == FlowWindow.maximumSize)
        // All streams of a connection together are within its own.
        #expect(FlowWindow.maximumSize < FlowWindow.connectionSize)
    }
}
