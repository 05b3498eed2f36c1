import Testing

@testable import SluiceHTTP

@Suite struct SpeedWindowTests {
    private let start = ContinuousClock.now

    /// Adds byte counts at the given milliseconds, and returns the speed at `end`.
    private func speed(_ notes: [(Int, Int64)], at end: Int) -> Double? {
        var window = SpeedWindow()
        for (time, bytes) in notes { window.record(bytes, at: start + .milliseconds(time)) }
        return window.bytesPerSecond(notes.last?.1 ?? 0, at: start + .milliseconds(end))
    }

    @Test func speedIsNilBeforeTheFirstInterval() {
        #expect(speed([], at: 0) == nil)
        #expect(speed([(0, 0)], at: 50) == nil)
        #expect(speed([(0, 0), (99, 500)], at: 99) == nil)
    }

    @Test func constantSpeedIsReported() {
        let notes = (0...100).map { ($0 * 100, Int64($0) * 1000) }
        #expect(speed(notes, at: 10_000) == 10_000)
    }

    @Test func speedCoversTheLastSecondsOnly() throws {
        var notes: [(Int, Int64)] = []
        for step in 0...50 { notes.append((step * 100, Int64(step))) }
        for step in 1...40 {
            let bytes = Int64(step) * 1_000_000
            notes.append((5000 + step * 100, 50 + bytes))
        }
        let speed = try #require(self.speed(notes, at: 9000))
        #expect(abs(speed - 10_000_000) < 1)
    }

    @Test func stallLowersTheSpeed() throws {
        let speed = try #require(self.speed([(0, 0), (1000, 1_000_000)], at: 2000))
        #expect(speed == 500_000)
    }

    @Test func smallerByteCountRestartsTheMeasurement() {
        #expect(speed([(0, 0), (1000, 5000), (2000, 0)], at: 2050) == nil)
        #expect(speed([(0, 0), (1000, 5000), (2000, 0), (3000, 700)], at: 3000) == 700)
    }

    @Test func samplesOutsideTheWindowAreRemoved() throws {
        var window = SpeedWindow()
        for second in 0..<100_000 { window.record(Int64(second), at: start + .milliseconds(second * 100)) }
        let samples = try #require(Mirror(reflecting: window).descendant("samples"))
        // One sample for each tenth of the last three seconds, and the one that marks their beginning.
        #expect(Mirror(reflecting: samples).children.count == 32)
    }

    @Test(
        arguments: [
            (TransferProgress(completed: 5, total: 10, bytesPerSecond: 2), 0.5, Duration.milliseconds(2500)),
            (TransferProgress(completed: 5, total: 10), 0.5, nil),
            (TransferProgress(completed: 0, total: 0, bytesPerSecond: 1), 1, .zero),
            (TransferProgress(completed: 20, total: 10, bytesPerSecond: 1), 1, .zero),
            (TransferProgress(completed: 5), nil, nil),
            (TransferProgress(completed: 0, total: .max, bytesPerSecond: 1e-300), 0, .seconds(3_153_600_000)),
        ] as [(TransferProgress, Double?, Duration?)]
    )
    func fractionAndTimeLeftAreComputed(_ progress: TransferProgress, _ fraction: Double?, _ left: Duration?) {
        #expect(progress.fractionCompleted == fraction)
        #expect(progress.timeLeft == left)
    }
}
