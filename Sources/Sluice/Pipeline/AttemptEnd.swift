/// The outcome of an attempt.
struct AttemptEnd: Sendable {
    let outcome: TransportOutcome
    /// True if a gate has fixed the cause of the failure and asks to send the request again.
    let isReplayed: Bool
}
