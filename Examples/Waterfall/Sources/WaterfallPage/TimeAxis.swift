/// Maps times, in milliseconds from the start of the recording, to shares of the width of a chart.
struct TimeAxis {
    /// The time between two ticks, in milliseconds: 1, 2 or 5 times a power of ten, or a divisor of a minute or an hour.
    let step: Double
    /// The time of the first tick, at or before the first shown time.
    let origin: Double
    /// The time that the whole width represents, in milliseconds; slightly more than is shown.
    let length: Double

    private static let latest = 1e14

    /// Creates an axis for the time between two points.
    init(from start: Double = 0, to end: Double) {
        let start = start.clamped(to: 0...Self.latest)
        let span = (end - start).clamped(to: 0.1...Self.latest)
        step = TimeAxis.step(for: span / 9)
        origin = (start / step).rounded(.down) * step
        length = (start + span - origin) * 1.01
    }

    var ticks: [Double] {
        Array(stride(from: origin, through: origin + length, by: step).prefix(24))
    }

    /// The position of a time, in percent of the width.
    func place(_ milliseconds: Double) -> Double {
        ((milliseconds - origin) / length * 100).clamped(to: 0...100)
    }

    /// The distance between ticks, in percent of the width.
    var spacing: Double { min(step / length * 100, 100) }

    /// The label of a tick, as precise as the step requires: `40 ms`, `1.2 s`, `2:05.5`
    func label(_ tick: Double) -> String {
        if tick <= 0 { return "0" }
        if origin + length < 1000, step >= 1 { return "\(Int(tick.rounded())) ms" }
        if origin + length < 1000 { return Readable.milliseconds(tick) }
        let places = step >= 1000 ? 0 : step >= 100 ? 1 : step >= 10 ? 2 : 3
        if tick < 119_999 { return "\(Readable.fixed(tick / 1000, places)) s" }
        let minutes = Int(tick / 60_000)
        let seconds = Readable.fixed(max(0, tick - Double(minutes) * 60_000) / 1000, places)
        let padded = seconds.prefix { $0 != "." }.count < 2 ? "0\(seconds)" : seconds
        return minutes < 60
            ? "\(minutes):\(padded)" : "\(minutes / 60):\(minutes % 60 < 10 ? "0" : "")\(minutes % 60):\(padded)"
    }

    private static func step(for least: Double) -> Double {
        let minutes: [Double] = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440].map { $0 * 60_000 }
        if least > 20_000, let step = ([30_000] + minutes).first(where: { $0 >= least }) { return step }
        var power = 0.01
        while power * 10 <= least { power *= 10 }
        return [1, 2, 5, 10].map { $0 * power }.first { $0 >= least * 0.999 } ?? power * 10
    }
}

extension Double {
    /// Returns the nearest number within the bounds; the lower bound for NaN.
    func clamped(to bounds: ClosedRange<Double>) -> Double {
        isNaN ? bounds.lowerBound : Swift.min(Swift.max(self, bounds.lowerBound), bounds.upperBound)
    }
}
