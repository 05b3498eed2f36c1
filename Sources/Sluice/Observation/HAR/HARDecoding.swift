#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Dates in the format of HTTP archives: ISO 8601 with milliseconds.
enum HARDate {
    private static let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    private static let wholeSeconds = Date.ISO8601FormatStyle()

    static func text(of date: Date) -> String {
        // Rounded here, because the style truncates to milliseconds.
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

    /// Decodes milliseconds; nil if they are missing, null, negative or not finite.
    func positive(forKey key: Key) throws -> Double? {
        try decodeIfPresent(Double.self, forKey: key).flatMap { $0 >= 0 && $0.isFinite ? $0 : nil }
    }

    /// Decodes an integer, and rounds a number with a fraction; nil if it is missing, null or out of range.
    func integer(forKey key: Key) throws -> Int? {
        if let integer = try? decodeIfPresent(Int.self, forKey: key) { return integer }
        return try decodeIfPresent(Double.self, forKey: key).flatMap { Int(exactly: $0.rounded()) }
    }

    /// Decodes a number of bytes; nil if it is missing, null or negative.
    func size(forKey key: Key) throws -> Int? {
        try integer(forKey: key).flatMap { $0 >= 0 ? $0 : nil }
    }

    /// Decodes a text, and converts a number or a boolean to text.
    func text(forKey key: Key) throws -> String? {
        if let number = try? decodeIfPresent(Int.self, forKey: key) { return "\(number)" }
        if let number = try? decodeIfPresent(Double.self, forKey: key) { return "\(number)" }
        if let bool = try? decodeIfPresent(Bool.self, forKey: key) { return "\(bool)" }
        return try decodeIfPresent(String.self, forKey: key)
    }
}
