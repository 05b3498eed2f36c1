#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension URLEncodedFormEncoder {
    /// The encoding of booleans.
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

    /// The encoding of `Data`.
    public enum DataEncoding: Sendable {
        /// The encoding of `Data` itself: an array of numbers.
        case deferredToData
        /// As Base64 (RFC 4648 §4).
        case base64
        /// Called with the data. An error it throws fails the encoding.
        case custom(@Sendable (Data) throws -> String)
    }

    /// The encoding of `Date`. A whole number of seconds has no fraction: `12`, not `12.0`.
    public enum DateEncoding: Sendable {
        /// The encoding of `Date` itself: seconds since 2001-01-01T00:00:00Z.
        case deferredToDate
        /// Seconds since 1970-01-01T00:00:00Z.
        case secondsSince1970
        /// Milliseconds since 1970-01-01T00:00:00Z, rounded to an integer.
        case millisecondsSince1970
        /// `2001-02-03T04:05:06Z`, in whole seconds, for the years 1 to 9999 (ISO 8601, RFC 3339).
        case iso8601
        /// Called with the date. An error it throws fails the encoding.
        case custom(@Sendable (Date) throws -> String)

        /// Returns the text of a date, or nil if the format cannot represent it.
        func text(of date: Date) throws -> String? {
            switch self {
            case .deferredToDate: Self.text(of: date.timeIntervalSinceReferenceDate)
            case .secondsSince1970: Self.text(of: date.timeIntervalSince1970)
            case .millisecondsSince1970: Self.text(of: (date.timeIntervalSince1970 * 1000).rounded())
            case .iso8601:
                // Outside these years the format style does not write four digits, and far outside it writes a wrong
                // date.
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

    /// The encoding of nil, for properties, array elements and dictionary values.
    public enum NilEncoding: Sendable {
        /// The name and the value are omitted.
        case dropKey
        /// `a=`
        case dropValue
        /// `a=null`
        case null
        /// Called to get the value; nil omits the name and the value.
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

    /// The encoding of spaces.
    public enum SpaceEncoding: Sendable, Hashable {
        /// `%20`, which is valid in queries and in forms.
        case percentEscaped
        /// `+`, as browsers send forms.
        case plusReplaced
    }
}
