/// A number of bytes a second, written as curl does: `500`, `200k`, `1.5M`, `1G`. The suffixes count by 1024.
public struct ByteRate: Sendable, Hashable {
    /// The number of bytes a second, which is at least 1.
    public let bytesPerSecond: Double
    private static let maximum = Double(1 << 50 as Int64)

    /// Parses a rate; nil if the text is not a rate from 1 byte to 1 PiB a second.
    public init?(_ text: String) {
        let factors: [Character: Double] = ["k": 1024, "m": 1_048_576, "g": 1_073_741_824]
        let factor = text.last.flatMap { factors[Character($0.lowercased())] }
        let number = factor == nil ? text[...] : text.dropLast()
        let parts = number.split(separator: ".", omittingEmptySubsequences: false)
        let areDigits = parts.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { (48...57).contains($0) } }
        guard parts.count <= 2, areDigits, let value = Double(number) else { return nil }
        let rate = value * (factor ?? 1)
        guard (1...ByteRate.maximum).contains(rate) else { return nil }
        bytesPerSecond = rate
    }
}

/// The times at which bytes may pass, so that their rate stays below a limit.
///
/// All downloads share one pace. Each reserves the time that its next bytes take, and waits until that time is over.
public struct Pace: Sendable {
    /// The time that is made up after a delay. More would allow a burst.
    private static let slack = Duration.milliseconds(200)
    private static let largestPiece = 64 << 10

    private let rate: ByteRate
    /// The end of the time that is reserved.
    private var end: ContinuousClock.Instant?

    /// Creates a pace that starts with the first bytes.
    public init(_ rate: ByteRate) {
        self.rate = rate
    }

    /// The number of bytes to reserve time for at once: those of a twentieth of a second, at most 64 KiB.
    public var pieceSize: Int {
        max(1, Int(min(Double(Pace.largestPiece), rate.bytesPerSecond / 20)))
    }

    /// Reserves the time that bytes take.
    ///
    /// - Parameters:
    ///   - count: The number of bytes, at most ``pieceSize``.
    ///   - now: The current time.
    /// - Returns: The time at which the bytes may pass.
    public mutating func reserve(_ count: Int, at now: ContinuousClock.Instant) -> ContinuousClock.Instant {
        let start = max(end ?? now, now - Pace.slack)
        let end = start + .seconds(Double(max(0, count)) / rate.bytesPerSecond)
        self.end = end
        return end
    }
}

/// The recent speed of a transfer, over about three seconds.
public struct SpeedMeter: Sendable {
    private static let window = Duration.seconds(3)
    private var samples: [(time: ContinuousClock.Instant, bytes: Int64)] = []

    /// Creates a meter without measurements.
    public init() {}

    /// Records the number of bytes that have passed since the start.
    public mutating func record(_ bytes: Int64, at now: ContinuousClock.Instant) {
        samples.append((now, bytes))
        // One sample from before the window remains, so that the window is always covered.
        let old = samples.prefix { $0.time.duration(to: now) > SpeedMeter.window }.count
        samples.removeFirst(max(0, old - 1))
    }

    /// The number of bytes a second; nil until half a second has been measured.
    public var bytesPerSecond: Double? {
        guard let first = samples.first, let last = samples.last else { return nil }
        let seconds = first.time.duration(to: last.time) / .seconds(1)
        return seconds >= 0.5 ? Double(last.bytes - first.bytes) / seconds : nil
    }
}
