/// How long to wait before each retry.
public struct Backoff: Sendable, Hashable {
    /// The longest wait before the first retry.
    public var base: Duration
    /// By what the longest wait grows with each further retry.
    public var factor: Double
    /// What it never grows beyond.
    public var limit: Duration
    /// Whether the wait is drawn at random between nothing and the longest ("full jitter"), so that clients that failed together do
    /// not come back together.
    public var hasJitter: Bool

    /// Makes a back-off; negative values count as zero.
    public init(base: Duration, factor: Double = 2, limit: Duration = .seconds(30), hasJitter: Bool = true) {
        self.base = base
        self.factor = factor
        self.limit = limit
        self.hasJitter = hasJitter
    }

    /// Half a second at most, doubled with each retry up to 30 seconds, with full jitter.
    public static let exponential = Backoff(base: .milliseconds(500))

    /// The same wait each time, without jitter.
    public static func constant(_ duration: Duration) -> Backoff {
        Backoff(base: duration, factor: 1, limit: duration, hasJitter: false)
    }

    /// The wait before a retry.
    ///
    /// - Parameters:
    ///   - retry: Which retry it is, from 1.
    ///   - random: 64 random bits.
    /// - Returns: How long to wait.
    func delay(before retry: Int, random: UInt64) -> Duration {
        let limit = max(0, limit / .seconds(1))
        var longest = max(0, base / .seconds(1))
        for _ in 1..<max(2, min(retry, 64)) where retry > 1 && longest < limit { longest *= max(0, factor) }
        longest = min(longest, limit)
        guard hasJitter else { return .seconds(longest) }
        return .seconds(longest * (Double(random >> 11) / Double(1 << 53)))
    }
}
