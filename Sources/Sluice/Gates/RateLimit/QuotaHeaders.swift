import SluiceFoundation
import SluiceHTTP

/// Reads the rate limits that servers announce in response headers:
///
///     Retry-After: 30                                              with 429 and 503 (RFC 9110 §10.2.3, RFC 6585 §4)
///                                                                  and 403 (GitHub)
///     RateLimit: "default";r=0;t=30                                draft-ietf-httpapi-ratelimit-headers-08 and later
///     RateLimit: limit=100, remaining=0, reset=30                  the same, -07
///     RateLimit-Remaining: 0, RateLimit-Reset: 30                  the same, up to -06
///     X-RateLimit-Remaining: 0, X-RateLimit-Reset: 1767225630      GitHub and many others; also X-Rate-Limit-…
package enum QuotaHeaders {
    private static let families: [(remaining: HTTPHeaderName, reset: HTTPHeaderName)] = [
        ("RateLimit-Remaining", "RateLimit-Reset"),
        ("X-RateLimit-Remaining", "X-RateLimit-Reset"),
        ("X-Rate-Limit-Remaining", "X-Rate-Limit-Reset"),
    ]

    /// Returns the time for which the server accepts no more requests: the longest that any header gives, or nil.
    ///
    /// - Parameters:
    ///   - head: The head of the response.
    ///   - now: The current date, used to interpret dates in headers.
    /// - Returns: A duration above zero, or nil if no header gives one.
    package static func pause(in head: HTTPResponse, now: @autoclosure () -> Date) -> Duration? {
        var longest = Duration.zero
        if [.tooManyRequests, .serviceUnavailable, .forbidden].contains(head.status),
            let delay = RetryAfter.delay(in: head.headers, now: now())
        {
            longest = delay
        }
        if head.headers.contains("RateLimit") {
            for text in head.headers.values(for: "RateLimit") { longest = max(longest, pause(inStructured: text)) }
        }
        for family in families where head.headers.contains(family.remaining) {
            guard head.headers.values(for: family.remaining).contains(where: { number($0.utf8[...]) == 0 }) else {
                continue
            }
            // Reset times follow the server's clock, so they are compared with its Date header.
            let now = now()
            let date = head.headers[.date].flatMap { HTTPDate.parse($0, now: now) } ?? now
            for reset in head.headers.values(for: family.reset) { longest = max(longest, wait(until: reset, date)) }
        }
        return longest > .zero ? longest : nil
    }

    /// Reads a reset value. Its size determines its unit: seconds from now, or seconds or milliseconds since
    /// 1970. It may also be a date.
    private static func wait(until reset: String, _ date: Date) -> Duration {
        guard let number = number(reset.utf8[...]) else {
            return HTTPDate.parse(reset, now: date).map { duration($0.timeIntervalSince(date)) } ?? .zero
        }
        // Numbers below 1e9 are seconds from now (up to 31 years). As times since 1970, they would lie before 2001.
        if number < 1e9 { return duration(number) }
        return duration((number < 1e11 ? number : number / 1000) - date.timeIntervalSince1970)
    }

    /// Reads `"default";r=0;t=30, …` or `limit=100, remaining=0, reset=30`. Returns the
    /// longest wait of an exhausted quota.
    private static func pause(inStructured text: String) -> Duration {
        var longest = Duration.zero
        var remaining: Double?
        var reset: Double?
        for member in FieldElements(text.utf8[...], quotes: .escaped) {
            var left: Double?
            var time: Double?
            let parts = FieldElements(member, separator: ";", quotes: .escaped, omitsEmpty: false)
            for (index, part) in parts.enumerated() {
                // No known name is longer than “remaining”.
                guard let equals = part.prefix(10).firstIndex(of: UInt8(ascii: "=")) else { continue }
                let value = number(part[equals...].dropFirst())
                switch (index, String(Substring(part[..<equals]))) {
                case (0, "remaining"): remaining = value
                case (0, "reset"): reset = value
                case (1..., "r"): left = value
                case (1..., "t"): time = value
                default: break
                }
            }
            if left == 0, let time { longest = max(longest, duration(time)) }
        }
        if remaining == 0, let reset { longest = max(longest, duration(reset)) }
        return longest
    }

    /// Parses digits with an optional fraction. Returns nil for everything else, signs included.
    private static func number(_ text: Substring.UTF8View) -> Double? {
        let text = text.trimmed
        guard text.first?.isDigit == true, text.last?.isDigit == true,
            text.allSatisfy({ $0.isDigit || $0 == UInt8(ascii: ".") })
        else { return nil }
        return Double(Substring(text))
    }

    private static func duration(_ seconds: Double) -> Duration {
        guard seconds > 0 else { return .zero }
        return seconds < RetryAfter.longest / .seconds(1) ? .seconds(seconds) : RetryAfter.longest
    }
}

// MARK: - Quota effect

/// The effect of an attempt on the limit that has admitted it.
package enum QuotaEffect: Sendable, Hashable {
    case none
    /// The server has certainly not seen the request, so its permit is unused.
    case unused
    /// The server asks for a pause of the requests with a key.
    case pause(String, Duration)

    /// Creates the effect of an attempt.
    ///
    /// - Parameters:
    ///   - outcome: The outcome of the attempt.
    ///   - key: The key of the limit that has admitted it.
    ///   - request: The attempt.
    ///   - scope: The scope of the limit. A redirect may have led to another key.
    ///   - maximumPause: The longest pause; nil to ignore the server's headers.
    ///   - now: The current date.
    package init(
        of outcome: TransportOutcome,
        on key: String,
        of request: RequestContext,
        in scope: GateScope,
        atMost maximumPause: Duration?,
        now: @autoclosure () -> Date
    ) {
        let (head, answered): (HTTPResponse?, HTTPRequest?)
        switch outcome {
        // A stored response keeps the fields that a 304 does not repeat.
        case .success(let response): (head, answered) = (response.serverHead ?? response.head, response.request)
        case .failure(let error):
            if error.response == nil, error.isBeforeSending {
                self = .unused
                return
            }
            (head, answered) = (error.response, error.request)
        }
        guard let head, let maximumPause, let pause = QuotaHeaders.pause(in: head, now: now()) else {
            self = .none
            return
        }
        let answeredKey = answered.map { scope.key(key, of: request, answeredBy: $0) } ?? key
        self = .pause(answeredKey, min(pause, maximumPause))
    }
}
