#if os(Linux)
import SluiceHTTP
import Testing

@testable import SluiceEngine

@Suite struct FlowWindowTests {
    private static func time(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: milliseconds * 1_000_000)
    }

    private let roundTrip = Duration.milliseconds(50)
    private let half = FlowWindow.initialSize / 2
    private var window = FlowWindow()

    private mutating func take(_ count: Int, unread: Int = 0, at milliseconds: Int64) -> Bool {
        window.recordDelivered(count, unread: unread, roundTrip: roundTrip, at: Self.time(milliseconds))
    }

    @Test mutating func growsAfterHalfTheWindowIsReceived() {
        expect(take(half - 1, at: 10), false)
        #expect(window.size == 2 * half)
        expect(take(1, at: 20), true)
        #expect(window.size == 16 * half)
        expect(take(half, at: 30), false)
    }

    @Test mutating func growsByReadBytesOnly() {
        expect(take(half, unread: half, at: 0), false)
        expect(take(half / 2, unread: half / 2 + 1, at: 20), false)
        expect(take(1, unread: half / 2 + 1, at: 40), true)
        // The unread bytes count once they are read.
        expect(take(15 * half / 2 - 2, at: 60), false)
        expect(take(1, at: 80), true)
    }

    /// The measurement starts with the first byte, so a slow response does not matter.
    @Test(arguments: [(0, true), (100, true), (101, false), (10_000, false)] as [(Int64, Bool)])
    mutating func growsWithinTwoRoundTrips(_ milliseconds: Int64, _ grows: Bool) {
        expect(take(1, at: 5000), false)
        expect(take(half - 1, at: 5000 + milliseconds), grows)
    }

    @Test mutating func slowHalfRestartsTheMeasurement() {
        expect(take(1, at: 0), false)
        expect(take(half, at: 1000), false)
        expect(take(half, at: 1100), true)
    }

    /// Half of the initial window, read in the given time, and the window in KiB after that.
    @Test(arguments: [(0, 32_768), (1, 12_800), (5, 2560), (7, 2048), (100, 2048), (101, 256)] as [(Int64, Int)])
    mutating func growsToTwiceARoundTripAtTheReadersSpeed(_ milliseconds: Int64, _ size: Int) {
        expect(take(0, at: 0), false)
        expect(take(half, at: milliseconds), milliseconds <= 100)
        #expect(window.size == size << 10)
    }

    @Test mutating func growsUpToALimit() {
        var sizes: [Int] = []
        expect(take(0, at: 0), false)
        for step in 1..<20 where take(window.size / 2, at: Int64(step) * 50) { sizes.append(window.size) }
        #expect(sizes == [2048, 16_384, 32_768].map { $0 << 10 })
        #expect(window.size == FlowWindow.maximumSize)
        // All streams of a connection together stay within the connection's window.
        #expect(FlowWindow.maximumSize < FlowWindow.connectionSize)
    }

    /// An update is sent for half of the initial window, and for each eighth of a larger one.
    @Test(arguments: [(256 << 10, 128 << 10), (1 << 20, 128 << 10), (2 << 20, 256 << 10), (32 << 20, 4 << 20)])
    func windowUpdatesAreSentInPortions(_ size: Int, _ portion: Int) {
        let window = FlowWindow(size: size)
        #expect(!window.isEnough(portion - 1))
        #expect(window.isEnough(portion))
    }
}

@Suite struct AcceptedStreamsTests {
    @Test func numberGrowsByOneAfterAsManyAnswers() {
        let now = MonotonicTime(nanoseconds: 1_000_000_000)
        var accepted = AcceptedStreams(count: 2, at: now)
        let counts = (0..<9).map { _ in
            accepted.recordAnswer()
            return accepted.count
        }
        #expect(counts == [2, 3, 3, 3, 4, 4, 4, 4, 5])
        #expect(accepted.end == now + .seconds(1))
    }
}
#endif
