/// The speed of a transfer over the last seconds.
struct SpeedWindow: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// What was seen within this time counts.
    static let length = Duration.seconds(3)
    /// Samples are at least this far apart.
    static let step = Duration.milliseconds(100)

    private var samples: [(instant: Instant, bytes: Int64)] = []

    /// Notes how many bytes there are by now; fewer than before begin anew.
    mutating func record(_ bytes: Int64, at instant: Instant) {
        guard let last = samples.last else { return samples.append((instant, bytes)) }
        if bytes < last.bytes {
            samples = [(instant, bytes)]
            return
        }
        guard last.instant.duration(to: instant) >= SpeedWindow.step else { return }
        samples.append((instant, bytes))
        // The last one before the window is where it begins.
        if let first = samples.firstIndex(where: { $0.instant.duration(to: instant) <= SpeedWindow.length }), first > 1
        {
            samples.removeFirst(first - 1)
        }
    }

    /// Bytes per second up to now; nil before there is a step to measure.
    func bytesPerSecond(_ bytes: Int64, at instant: Instant) -> Double? {
        guard
            let first = samples.last(where: { $0.instant.duration(to: instant) >= SpeedWindow.length }) ?? samples.first
        else { return nil }
        let elapsed = first.instant.duration(to: instant)
        guard elapsed >= SpeedWindow.step else { return nil }
        return Double(max(0, bytes - first.bytes)) / (elapsed / .seconds(1))
    }
}
