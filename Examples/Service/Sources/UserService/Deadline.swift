/// How long a caller is ready to wait, as it says itself: `X-Request-Timeout: 1.5`, in seconds.
struct RequestTimeout: Sendable, Hashable {
    let duration: Duration

    /// Reads a number of seconds; nil of what is none, and of none at all.
    init?(_ text: some StringProtocol) {
        // Not all that `Double` takes: no signs, exponents or names.
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }), let seconds = Double(text),
            seconds > 0
        else { return nil }
        // A year is as good as forever, and does not overflow.
        duration = .seconds(min(seconds, 31_536_000))
    }
}

/// By when a request has to be answered.
struct Deadline: Sendable, Hashable {
    let instant: ContinuousClock.Instant

    /// Makes the deadline of a request that has just arrived.
    ///
    /// - Parameters:
    ///   - timeout: How long the caller is ready to wait; nil where it does not say.
    ///   - limit: How long a request may take at the most.
    ///   - now: When it arrived.
    init(_ timeout: RequestTimeout?, upTo limit: Duration, now: ContinuousClock.Instant = .now) {
        instant = now + min(timeout?.duration ?? limit, limit)
    }

    /// How much of the time is left, which is what a request to another server may take; nothing once it is up.
    func left(at now: ContinuousClock.Instant = .now) -> Duration {
        max(.zero, now.duration(to: instant))
    }
}
