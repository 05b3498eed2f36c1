#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Dates as the format has them: ISO 8601 with milliseconds.
enum HARDate {
    private static let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    private static let wholeSeconds = Date.ISO8601FormatStyle()

    static func text(of date: Date) -> String {
        // Rounded here, since the style cuts off what is less than a millisecond.
        let milliseconds = (date.timeIntervalSince1970 * 1000).rounded()
        return Date(timeIntervalSince1970: (milliseconds + 0.01) / 1000).formatted(style)
    }

    static func date(of text: String) -> Date? {
        (try? style.parse(text)) ?? (try? wholeSeconds.parse(text))
    }
}

extension KeyedDecodingContainer {
    func date(forKey key: Key) throws -> Date {
        let text = try decode(String.self, forKey: key)
        guard let date = HARDate.date(of: text) else {
            throw DecodingError.dataCorruptedError(
                forKey: key,
                in: self,
                debugDescription: "A date is written like 2026-01-31T12:00:00.000Z."
            )
        }
        return date
    }

    /// Milliseconds; nil if they are missing, null or -1.
    func positive(forKey key: Key) throws -> Double? {
        try decodeIfPresent(Double.self, forKey: key).flatMap { $0 >= 0 && $0.isFinite ? $0 : nil }
    }

    /// A whole number, also where it is written with a fraction; nil if it is missing, null or out of bounds.
    func integer(forKey key: Key) throws -> Int? {
        if let integer = try? decodeIfPresent(Int.self, forKey: key) { return integer }
        return try decodeIfPresent(Double.self, forKey: key).flatMap { Int(exactly: $0.rounded()) }
    }

    /// Bytes; nil if they are missing, null or -1.
    func size(forKey key: Key) throws -> Int? {
        try integer(forKey: key).flatMap { $0 >= 0 ? $0 : nil }
    }

    /// A text, also where another program wrote a number or a truth value.
    func text(forKey key: Key) throws -> String? {
        if let number = try? decodeIfPresent(Int.self, forKey: key) { return "\(number)" }
        if let number = try? decodeIfPresent(Double.self, forKey: key) { return "\(number)" }
        if let bool = try? decodeIfPresent(Bool.self, forKey: key) { return "\(bool)" }
        return try decodeIfPresent(String.self, forKey: key)
    }
}
