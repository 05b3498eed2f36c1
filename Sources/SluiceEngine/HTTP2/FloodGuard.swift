#if os(Linux)
import SluiceHTTP

/// A token bucket that detects a flood of frames without content for a request.
///
/// Each such frame takes a token. Tokens return over time, and with frames that have content. A conforming server never takes all tokens.
/// A server that floods the client with settings, pings, priorities, resets or empty frames soon does (CVE-2019-9512, CVE-2019-9515,
/// CVE-2019-9518).
struct FloodGuard {
    /// The initial and maximum number of tokens.
    static let capacity = 1000
    /// The number of tokens that return per second.
    static let refill = 100
    /// The number of tokens that a frame with content returns.
    static let reward = 2

    private var tokens = FloodGuard.capacity
    private var refilled: MonotonicTime

    init(at now: MonotonicTime) {
        refilled = now
    }

    /// Returns tokens for a frame with content for a request, or for a sent piece of a request body.
    mutating func reward() {
        tokens = min(FloodGuard.capacity, tokens + FloodGuard.reward)
    }

    /// Takes a token for a frame without content. Returns false if there is none.
    mutating func takeToken(at now: MonotonicTime) -> Bool {
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
#endif
