/// The time-out of a caller, from `X-Request-Timeout: 1.5`, in seconds.
struct RequestTimeout: Sendable, Hashable {
    let duration: Duration

    /// Parses a number of seconds; nil if the text is not a positive number.
    init?(_ text: some StringProtocol) {
        guard let duration = Duration(seconds: text), duration > .zero else { return nil }
        self.duration = duration
    }
}

extension Duration {
    /// Parses a number of seconds, such as `1.5` or `0`; nil if the text is none.
    init?(seconds text: some StringProtocol) {
        // `Double` also accepts signs, exponents and names.
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }), let seconds = Double(text) else {
            return nil
        }
        // Limits the time to one year, which cannot overflow.
        self = .seconds(min(seconds, 31_536_000))
    }
}

/// The time by which a request must be answered.
struct Deadline: Sendable, Hashable {
    let instant: ContinuousClock.Instant

    /// Creates the deadline of a request that has just arrived.
    ///
    /// - Parameters:
    ///   - timeout: The time-out of the caller; nil if it sets none.
    ///   - limit: The maximum duration of a request.
    ///   - now: The time at which the request arrived.
    init(_ timeout: RequestTimeout?, upTo limit: Duration, now: ContinuousClock.Instant = .now) {
        instant = now + min(timeout?.duration ?? limit, limit)
    }

    /// Returns the time left, which is the timeout for requests to the upstream; zero after the deadline.
    func left(at now: ContinuousClock.Instant = .now) -> Duration {
        max(.zero, now.duration(to: instant))
    }
}
