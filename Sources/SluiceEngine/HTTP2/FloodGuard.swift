import SluiceHTTP

/// Counts the frames of a connection that carry nothing for any request, and tells when a server sends too many of them.
///
/// Each such frame takes a token; time and frames that do carry something give tokens back. A server that keeps to the protocol never
/// runs out of them, and one that floods a client with settings, pings, priorities, resets or empty frames soon does
/// (CVE-2019-9512, CVE-2019-9515, CVE-2019-9518).
struct FloodGuard {
    /// The tokens of a connection that has just been made, and the most that it can have.
    static let capacity = 1000
    /// The tokens that come back in a second.
    static let refill = 100
    /// The tokens that a frame with content gives back.
    static let reward = 2

    private var tokens = FloodGuard.capacity
    private var refilled: MonotonicTime

    init(at now: MonotonicTime) {
        refilled = now
    }

    /// Notes a frame that carries something for a request, or answers something that was sent.
    mutating func reward() {
        tokens = min(FloodGuard.capacity, tokens + FloodGuard.reward)
    }

    /// Notes a frame that carries nothing; returns false if there have been too many.
    mutating func admit(at now: MonotonicTime) -> Bool {
        let milliseconds = now.since(refilled).nanoseconds / 1_000_000
        if milliseconds >= 10 {
            tokens = min(FloodGuard.capacity, tokens + Int(clamping: milliseconds) * FloodGuard.refill / 1000)
            refilled = now
        }
        guard tokens > 0 else { return false }
        tokens -= 1
        return true
    }
}
