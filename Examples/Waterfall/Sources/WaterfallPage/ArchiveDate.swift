#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The start times of HAR files, in the forms that programs write.
///
/// The format asks for ISO 8601, such as `2026-01-31T12:00:00.000+01:00`. Programs also write more or fewer digits of the
/// fraction, a space instead of `T`, offsets without colon, no offset at all, and numbers of seconds or milliseconds since
/// 1970.
enum ArchiveDate {
    /// The numbers from which a time counts as milliseconds: in seconds they are after the year 5138.
    private static let leastMilliseconds = 1e11

    /// Returns the date; nil if the text is none. A time without offset is UTC.
    static func date(_ text: String) -> Date? {
        if let number = Double(text) { return date(number) }
        var rest = text.utf8[...]
        guard let year = digits(4, &rest), skip("-", &rest), let month = digits(2, &rest), skip("-", &rest),
            let day = digits(2, &rest), skip("Tt ", &rest), let hour = digits(2, &rest), skip(":", &rest),
            let minute = digits(2, &rest)
        else { return nil }
        var second = 0
        if skip(":", &rest) {
            guard let value = digits(2, &rest) else { return nil }
            second = value
        }
        var fraction = 0.0
        if skip(".,", &rest) {
            let digits = rest.prefix { isDigit($0) }
            guard !digits.isEmpty, let value = Double("0." + String(decoding: digits, as: UTF8.self)) else {
                return nil
            }
            fraction = value
            rest = rest[digits.endIndex...]
        }
        guard (1...12).contains(month), (1...daysOfMonth(month, year)).contains(day), hour < 24, minute < 60,
            second < 61, let offset = offset(&rest), rest.isEmpty
        else { return nil }
        let minutes = (daysSince1970(year, month, day) * 24 + hour) * 60 + minute - offset
        return Date(timeIntervalSince1970: Double(minutes * 60 + second) + fraction)
    }

    /// Returns the date of a number of seconds or milliseconds since 1970; nil if it is not positive and finite.
    static func date(_ number: Double) -> Date? {
        guard number > 0, number < 1e16 else { return nil }
        return Date(timeIntervalSince1970: number >= leastMilliseconds ? number / 1000 : number)
    }

    /// Reads an offset from UTC in minutes: `Z`, `+02:00`, `+0200`, `+02` or nothing.
    private static func offset(_ rest: inout Substring.UTF8View) -> Int? {
        if rest.isEmpty || skip("Zz", &rest) { return 0 }
        let sign = rest.first == UInt8(ascii: "-") ? -1 : 1
        guard skip("+-", &rest), let hours = digits(2, &rest), hours < 24 else { return nil }
        if rest.isEmpty { return sign * hours * 60 }
        _ = skip(":", &rest)
        guard let minutes = digits(2, &rest), minutes < 60 else { return nil }
        return sign * (hours * 60 + minutes)
    }

    private static func digits(_ count: Int, _ rest: inout Substring.UTF8View) -> Int? {
        let digits = rest.prefix(count)
        guard digits.count == count, digits.allSatisfy(isDigit) else { return nil }
        rest = rest[digits.endIndex...]
        return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }

    /// Skips one of the characters; false if another one follows.
    private static func skip(_ characters: String, _ rest: inout Substring.UTF8View) -> Bool {
        guard let first = rest.first, characters.utf8.contains(first) else { return false }
        rest = rest.dropFirst()
        return true
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private static func daysOfMonth(_ month: Int, _ year: Int) -> Int {
        if month == 2 { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28 }
        return [4, 6, 9, 11].contains(month) ? 30 : 31
    }

    /// The days from 1970-01-01 in the Gregorian calendar. Years begin in March here, so that a leap day is the last one.
    private static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let year = month > 2 ? year : year - 1
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return year * 365 + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
    }
}
