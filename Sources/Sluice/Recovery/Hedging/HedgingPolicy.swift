/// When a request that is slow to be answered is sent a second time, next to the first; whichever is answered first counts, and the
/// other is cancelled.
///
/// Only reads are hedged: GET, HEAD and OPTIONS (RFC 9110 §9.2.1). Each extra attempt asks the gates anew and is taken from the
/// client's ``RetryBudget``.
public struct HedgingPolicy: Sendable, Hashable {
    /// How long to wait for an answer before each extra attempt; about the 95th percentile of what answers take, as a rule.
    public var delay: Duration
    /// How many extra attempts there may be; 0 for none.
    public var maximumExtra: Int

    /// Makes a policy.
    public init(after delay: Duration, maximumExtra: Int = 1) {
        self.delay = delay
        self.maximumExtra = maximumExtra
    }

    /// Nothing is sent a second time.
    public static let none = HedgingPolicy(after: .zero, maximumExtra: 0)

    /// One extra attempt after a delay.
    public static func after(_ delay: Duration) -> HedgingPolicy { HedgingPolicy(after: delay) }
}
