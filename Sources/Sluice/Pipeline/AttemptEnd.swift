/// What an attempt came to.
struct AttemptEnd: Sendable {
    let outcome: TransportOutcome
    /// Whether a gate has mended what made it fail, and wants it sent again.
    let isReplayed: Bool
}
