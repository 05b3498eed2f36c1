import SluiceHTTP

/// The policy by which a slow request is sent again in parallel. The first response is used, and the other attempts are
/// cancelled.
///
/// Only safe methods are hedged: GET, HEAD, OPTIONS and TRACE (RFC 9110 §9.2.1). Each extra attempt passes the gates
/// again and is taken from the client's ``RetryBudget``.
public struct HedgingPolicy: Sendable, Hashable {
    /// The time to wait for a response before each extra attempt; usually about the 95th percentile of response times.
    public var delay: Duration
    /// The maximum number of extra attempts; 0 for none.
    public var maximumExtra: Int

    /// No extra attempts.
    public static let none = HedgingPolicy(delay: .zero, maximumExtra: 0)

    /// Extra attempts, each after a delay.
    public static func after(_ delay: Duration, maximumExtra: Int = 1) -> HedgingPolicy {
        HedgingPolicy(delay: delay, maximumExtra: maximumExtra)
    }
}
