/// The speed of a transfer, averaged over the last seconds.
struct SpeedWindow: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// The length of the window.
    static let length = Duration.seconds(3)
    /// The minimum interval between samples.
    static let step = Duration.milliseconds(100)

    private var samples: [(instant: Instant, bytes: Int64)] = []

    /// Records the number of bytes so far. A lower number than before starts a new measurement.
    mutating func record(_ bytes: Int64, at instant: Instant) {
        guard let last = samples.last else { return samples.append((instant, bytes)) }
        if bytes < last.bytes {
            samples = [(instant, bytes)]
            return
        }
        guard last.instant.duration(to: instant) >= SpeedWindow.step else { return }
        samples.append((instant, bytes))
        // The last sample before the window marks its beginning.
        if let first = samples.firstIndex(where: { $0.instant.duration(to: instant) <= SpeedWindow.length }), first > 1
        {
            samples.removeFirst(first - 1)
        }
    }

    /// Returns the speed in bytes per second; nil until enough time has passed to measure it.
    func bytesPerSecond(_ bytes: Int64, at instant: Instant) -> Double? {
        guard
            let first = samples.last(where: { $0.instant.duration(to: instant) >= SpeedWindow.length }) ?? samples.first
        else { return nil }
        let elapsed = first.instant.duration(to: instant)
        guard elapsed >= SpeedWindow.step else { return nil }
        return Double(max(0, bytes - first.bytes)) / (elapsed / .seconds(1))
    }
}
