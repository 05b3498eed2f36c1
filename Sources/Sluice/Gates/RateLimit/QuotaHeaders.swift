import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What servers say of their own limits, in the three ways they have:
///
///     Retry-After: 30                                              with 429 and 503 (RFC 9110 §10.2.3, RFC 6585 §4)
///     RateLimit: "default";r=0;t=30                                draft-ietf-httpapi-ratelimit-headers-08 and later
///     RateLimit: limit=100, remaining=0, reset=30                  the same, -07
///     RateLimit-Remaining: 0, RateLimit-Reset: 30                  the same, up to -06
///     X-RateLimit-Remaining: 0, X-RateLimit-Reset: 1767225630      GitHub and many others; also X-Rate-Limit-…
enum QuotaHeaders {
    private static let families: [(remaining: HTTPHeaderName, reset: HTTPHeaderName)] = [
        ("RateLimit-Remaining", "RateLimit-Reset"),
        ("X-RateLimit-Remaining", "X-RateLimit-Reset"),
        ("X-Rate-Limit-Remaining", "X-Rate-Limit-Reset"),
    ]

    /// How long the server takes no more requests: the longest of all it says; nil if it says nothing of the kind.
    ///
    /// - Parameters:
    ///   - head: The response's head.
    ///   - now: The time of day, for what is dated.
    /// - Returns: More than zero.
    static func pause(in head: HTTPResponse, now: @autoclosure () -> Date) -> Duration? {
        var longest = Duration.zero
        if head.status == .tooManyRequests || head.status == .serviceUnavailable,
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
            // The server's clock is the one that its times are told by.
            let now = now()
            let date = head.headers[.date].flatMap { HTTPDate.parse($0, now: now) } ?? now
            for reset in head.headers.values(for: family.reset) { longest = max(longest, wait(until: reset, date)) }
        }
        return longest > .zero ? longest : nil
    }

    /// Reads a reset, whose unit only its size tells: seconds from now, seconds or milliseconds since 1970, or a date.
    private static func wait(until reset: String, _ date: Date) -> Duration {
        guard let number = number(reset.utf8[...]) else {
            return HTTPDate.parse(reset, now: date).map { duration($0.timeIntervalSince(date)) } ?? .zero
        }
        // Nobody waits for 30 years, and 2001 is over.
        if number < 1e9 { return duration(number) }
        return duration((number < 1e11 ? number : number / 1000) - date.timeIntervalSince1970)
    }

    /// Reads `"default";r=0;t=30, …` or `limit=100, remaining=0, reset=30`; the longest wait of a quota with nothing left.
    private static func pause(inStructured text: String) -> Duration {
        var longest = Duration.zero
        var remaining: Double?
        var reset: Double?
        for member in unquoted(text.utf8[...], UInt8(ascii: ",")) {
            var left: Double?
            var time: Double?
            for (index, part) in unquoted(member, UInt8(ascii: ";")).enumerated() {
                guard let equals = part.firstIndex(of: UInt8(ascii: "=")) else { continue }
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

    /// The parts between separators that are not within quotes, without the blanks around them.
    private static func unquoted(_ text: Substring.UTF8View, _ separator: UInt8) -> [Substring.UTF8View] {
        var isQuoted = false
        var isEscaped = false
        return text.split(omittingEmptySubsequences: false) { byte in
            defer { isEscaped = isQuoted && !isEscaped && byte == UInt8(ascii: "\\") }
            if byte == UInt8(ascii: "\""), !isEscaped { isQuoted.toggle() }
            return byte == separator && !isQuoted
        }
        .map(trimmed)
    }

    private static func trimmed(_ text: Substring.UTF8View) -> Substring.UTF8View {
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        var text = text.drop(while: isBlank)
        while let last = text.last, isBlank(last) { text = text.dropLast() }
        return text
    }

    /// A number of digits, with or without a fraction; nil for all else, signs included.
    private static func number(_ text: Substring.UTF8View) -> Double? {
        let text = trimmed(text)
        let isDigit = { (byte: UInt8) in (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
        guard let first = text.first, isDigit(first), let last = text.last, isDigit(last),
            text.allSatisfy({ isDigit($0) || $0 == UInt8(ascii: ".") })
        else { return nil }
        return Double(Substring(text))
    }

    private static func duration(_ seconds: Double) -> Duration {
        guard seconds > 0 else { return .zero }
        return seconds < RetryAfter.longest / .seconds(1) ? .seconds(seconds) : RetryAfter.longest
    }
}
