import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a server asks of those it turns away: not to come back before (RFC 9110 §10.2.3).
enum RetryAfter {
    /// The longest delay there is, 68 years: whoever adds it to a time gets one.
    static let longest = Duration.seconds(1 << 31)

    /// How long the server wants to be left alone.
    ///
    /// - Parameters:
    ///   - headers: Those of the response; of several fields the one that asks for most counts.
    ///   - now: The time of day, which a date is measured by.
    /// - Returns: Zero for a date that has passed, nil without a valid `Retry-After`.
    static func delay(in headers: HTTPHeaders, now: Date) -> Duration? {
        guard headers.contains("Retry-After") else { return nil }
        return headers.values(for: "Retry-After").compactMap { delay($0, now: now) }.max()
    }

    /// Reads one value: digits, which are seconds, or a date.
    static func delay(_ text: String, now: Date) -> Duration? {
        if let seconds = text.trimmedOfBlanks.wholeSeconds { return seconds }
        guard let date = HTTPDate.parse(text, now: now) else { return nil }
        let interval = date.timeIntervalSince(now)
        guard interval > 0 else { return .zero }
        return interval < longest / .seconds(1) ? .seconds(interval) : longest
    }
}

extension String {
    fileprivate var trimmedOfBlanks: Substring.UTF8View {
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        var text = self[...].utf8.drop(while: isBlank)
        while let last = text.last, isBlank(last) { text = text.dropLast() }
        return text
    }
}

extension Substring.UTF8View {
    /// The number that digits and nothing else are, in seconds; ever so many of them stop at ``RetryAfter/longest``.
    fileprivate var wholeSeconds: Duration? {
        guard !isEmpty, allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        let seconds = Int64(Substring(self)) ?? .max
        return Swift.min(.seconds(seconds), RetryAfter.longest)
    }
}
