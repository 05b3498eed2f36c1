/// How far a body has come on its way, and how fast.
public struct TransferProgress: Sendable, Hashable {
    /// Bytes of the body so far.
    public var completed: Int64
    /// Bytes in all; nil where nobody has said how many there will be.
    public var total: Int64?
    /// The speed over the last three seconds or so; nil until there is anything to measure.
    public var bytesPerSecond: Double?
    /// Which sending of the request it belongs to, from 1, and 0 before the first: a retry and a redirect begin anew.
    public var attempt: Int

    /// Makes a state.
    ///
    /// - Parameters:
    ///   - completed: Bytes so far.
    ///   - total: Bytes in all, nil if unknown.
    ///   - bytesPerSecond: The recent speed, nil if unknown.
    ///   - attempt: Which sending it belongs to.
    public init(completed: Int64 = 0, total: Int64? = nil, bytesPerSecond: Double? = nil, attempt: Int = 0) {
        self.completed = completed
        self.total = total
        self.bytesPerSecond = bytesPerSecond
        self.attempt = attempt
    }

    /// From 0 to 1; nil where the total is unknown. A body of no bytes is complete.
    public var fractionCompleted: Double? {
        guard let total else { return nil }
        return total > 0 ? min(1, Double(completed) / Double(total)) : 1
    }

    /// What the rest will take at the recent speed; nil where speed or total is unknown.
    public var timeLeft: Duration? {
        guard let total, let bytesPerSecond, bytesPerSecond > 0 else { return nil }
        // Beyond a century no bar needs to be exact, and no duration overflows.
        return .seconds(min(3_153_600_000, Double(max(0, total - completed)) / bytesPerSecond))
    }
}
