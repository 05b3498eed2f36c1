/// The delays before retries.
public struct Backoff: Sendable, Hashable {
    /// The maximum delay before the first retry.
    public var base: Duration
    /// The factor by which the maximum delay grows with each further retry.
    public var factor: Double
    /// The upper limit of the delay.
    public var limit: Duration
    /// True to choose the delay at random between zero and the maximum ("full jitter"), so that clients that failed
    /// together do not retry together.
    public var hasJitter: Bool

    /// Creates a back-off. Negative values count as zero.
    public init(base: Duration, factor: Double = 2, limit: Duration = .seconds(30), hasJitter: Bool = true) {
        self.base = base
        self.factor = factor
        self.limit = limit
        self.hasJitter = hasJitter
    }

    /// At most half a second, doubled with each retry up to 30 seconds, with full jitter.
    public static let exponential = Backoff(base: .milliseconds(500))

    /// The same delay for each retry, without jitter.
    public static func constant(_ duration: Duration) -> Backoff {
        Backoff(base: duration, factor: 1, limit: duration, hasJitter: false)
    }

    /// Returns the delay before a retry.
    ///
    /// - Parameters:
    ///   - retry: The number of the retry, starting at 1.
    ///   - random: 64 random bits.
    /// - Returns: The delay.
    func delay(before retry: Int, random: UInt64) -> Duration {
        let limit = max(0, limit / .seconds(1))
        var longest = max(0, base / .seconds(1))
        for _ in 1..<max(2, min(retry, 64)) where retry > 1 && longest < limit { longest *= max(0, factor) }
        longest = min(longest, limit)
        guard hasJitter else { return .seconds(longest) }
        return .seconds(longest * (Double(random >> 11) / Double(1 << 53)))
    }
}
