import SluiceFoundation

/// The `Retry-After` field: the delay that a server requests before the next request (RFC 9110 §10.2.3).
package enum RetryAfter {
    /// The maximum delay, 68 years, which can be added to a date without overflow.
    package static let longest = Duration.seconds(Int64(1) << 31)

    /// Returns the delay that the server requests. Of several fields the longest delay counts.
    ///
    /// - Parameters:
    ///   - headers: The headers of the response.
    ///   - now: The current date, which a date is compared with if the response has no `Date`.
    /// - Returns: The delay; zero for a date in the past, nil without a valid `Retry-After`.
    package static func delay(in headers: HTTPHeaders, now: Date) -> Duration? {
        guard headers.contains(.retryAfter) else { return nil }
        // A date follows the server's clock.
        let now = headers[.date].flatMap { HTTPDate.parse($0, now: now) } ?? now
        return headers.values(for: .retryAfter).compactMap { delay($0, now: now) }.max()
    }

    /// Parses one value: a number of seconds, or a date.
    package static func delay(_ text: String, now: Date) -> Duration? {
        if let seconds = text.utf8[...].trimmed.decimalNumber(overflow: .max) { return min(.seconds(seconds), longest) }
        guard let date = HTTPDate.parse(text, now: now) else { return nil }
        let interval = date.timeIntervalSince(now)
        guard interval > 0 else { return .zero }
        return interval < longest / .seconds(1) ? .seconds(interval) : longest
    }
}
