#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension URLEncodedFormEncoder {
    /// How booleans are written.
    public enum BoolEncoding: Sendable, Hashable {
        /// `1` and `0`.
        case numeric
        /// `true` and `false`.
        case literal

        func text(of value: Bool) -> String {
            switch self {
            case .numeric: value ? "1" : "0"
            case .literal: value ? "true" : "false"
            }
        }
    }

    /// How `Data` is written.
    public enum DataEncoding: Sendable {
        /// As `Data` encodes itself: an array of numbers.
        case deferredToData
        /// As Base64 (RFC 4648 §4).
        case base64
        /// As the closure has it; what it throws fails the encoding.
        case custom(@Sendable (Data) throws -> String)
    }

    /// How `Date` is written. Seconds are whole where they can be: `12`, not `12.0`.
    public enum DateEncoding: Sendable {
        /// As `Date` encodes itself: seconds since 2001-01-01T00:00:00Z.
        case deferredToDate
        /// Seconds since 1970-01-01T00:00:00Z.
        case secondsSince1970
        /// Milliseconds since 1970-01-01T00:00:00Z, rounded to whole ones.
        case millisecondsSince1970
        /// `2001-02-03T04:05:06Z`, in whole seconds; for the years 1 to 9999 (ISO 8601, RFC 3339).
        case iso8601
        /// As the closure has it; what it throws fails the encoding.
        case custom(@Sendable (Date) throws -> String)

        /// The text of a date, nil if it has none.
        func text(of date: Date) throws -> String? {
            switch self {
            case .deferredToDate: Self.text(of: date.timeIntervalSinceReferenceDate)
            case .secondsSince1970: Self.text(of: date.timeIntervalSince1970)
            case .millisecondsSince1970: Self.text(of: (date.timeIntervalSince1970 * 1000).rounded())
            case .iso8601:
                // Beyond these years the style has no four digits, and far beyond it gives another date.
                date >= .distantPast && date.timeIntervalSince1970 < 253_402_300_800
                    ? Date.ISO8601FormatStyle().format(date) : nil
            case .custom(let text): try text(date)
            }
        }

        private static func text(of seconds: Double) -> String? {
            guard seconds.isFinite else { return nil }
            return Int64(exactly: seconds)?.description ?? seconds.description
        }
    }

    /// What becomes of nil, whether it is a property, an element of an array or a dictionary's value.
    public enum NilEncoding: Sendable {
        /// Neither name nor value.
        case dropKey
        /// `a=`
        case dropValue
        /// `a=null`
        case null
        /// The closure gives the value, or nil for neither name nor value.
        case custom(@Sendable () -> String?)

        var text: String? {
            switch self {
            case .dropKey: nil
            case .dropValue: ""
            case .null: "null"
            case .custom(let text): text()
            }
        }
    }

    /// How a space is written.
    public enum SpaceEncoding: Sendable, Hashable {
        /// `%20`, which is right in queries and forms.
        case percentEscaped
        /// `+`, as browsers send forms.
        case plusReplaced
    }
}
