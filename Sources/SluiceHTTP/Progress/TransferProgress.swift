/// The progress and speed of a body's transfer.
public struct TransferProgress: Sendable, Hashable {
    /// The number of bytes so far.
    public var completed: Int64
    /// The total number of bytes; nil if unknown.
    public var total: Int64?
    /// The speed over about the last three seconds; nil until it can be measured.
    public var bytesPerSecond: Double?
    /// The number of the attempt that the progress belongs to, from 1; 0 before the first. Retries and redirects are
    /// new attempts.
    public var attempt: Int

    /// Creates a progress value.
    ///
    /// - Parameters:
    ///   - completed: The number of bytes so far.
    ///   - total: The total number of bytes, nil if unknown.
    ///   - bytesPerSecond: The recent speed, nil if unknown.
    ///   - attempt: The number of the attempt.
    public init(completed: Int64 = 0, total: Int64? = nil, bytesPerSecond: Double? = nil, attempt: Int = 0) {
        self.completed = completed
        self.total = total
        self.bytesPerSecond = bytesPerSecond
        self.attempt = attempt
    }

    /// The completed fraction, from 0 to 1; nil if the total is unknown. An empty body is complete.
    public var fractionCompleted: Double? {
        guard let total else { return nil }
        return total > 0 ? min(1, Double(completed) / Double(total)) : 1
    }

    /// The estimated remaining time at the recent speed; nil if the speed or the total is unknown.
    public var timeLeft: Duration? {
        guard let total, let bytesPerSecond, bytesPerSecond > 0 else { return nil }
        // Limited to a century, so that the duration cannot overflow.
        return .seconds(min(3_153_600_000, Double(max(0, total - completed)) / bytesPerSecond))
    }
}
