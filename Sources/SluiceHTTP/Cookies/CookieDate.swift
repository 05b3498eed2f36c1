/// A parser for the dates of cookies, which servers write in many forms (RFC 6265bis §5.1.1).
///
/// The text is split into tokens. The first token that matches a time, a day of the month, a month or a year sets that value. Weekdays
/// and time zones are ignored: all times are UTC.
package enum CookieDate {
    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    /// Parses a date.
    ///
    /// - Parameter text: The value of an `Expires` attribute.
    /// - Returns: The seconds since 1970, or nil for an invalid date or a year before 1601.
    package static func seconds(_ text: some Collection<UInt8>) -> Int64? {
        var (time, day, month, year): ((hour: Int, minute: Int, second: Int)?, Int?, Int?, Int?) = (nil, nil, nil, nil)
        for token in text.split(whereSeparator: isDelimiter) {
            if time == nil, let found = self.time(token) {
                time = found
            } else if day == nil, let found = number(token, digits: 1...2) {
                day = found
            } else if month == nil, let found = self.month(token) {
                month = found
            } else if year == nil, let found = number(token, digits: 2...4) {
                year = found
            }
        }
        guard let time, let day, let month, var year else { return nil }
        if year < 70 { year += 2000 } else if year < 100 { year += 1900 }
        guard year >= 1601, time.second < 60 else { return nil }
        let date = CivilTime(
            year: year,
            month: month,
            day: day,
            hour: time.hour,
            minute: time.minute,
            second: time.second
        )
        return date.isValid ? date.secondsSince1970 : nil
    }

    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    /// Parses three numbers of one or two digits, separated by colons. The token may continue with a non-digit.
    private static func time(_ token: some Collection<UInt8>) -> (hour: Int, minute: Int, second: Int)? {
        var rest = token[...]
        guard let hour = takeNumber(&rest), rest.popFirst() == UInt8(ascii: ":"), let minute = takeNumber(&rest),
            rest.popFirst() == UInt8(ascii: ":"), let second = takeNumber(&rest)
        else { return nil }
        return (hour, minute, second)
    }

    private static func takeNumber<Rest: Collection<UInt8>>(_ rest: inout Rest) -> Int? where Rest.SubSequence == Rest {
        let digits = rest.prefix(3).prefix { $0.isDigit }
        guard (1...2).contains(digits.count) else { return nil }
        defer { rest = rest.dropFirst(digits.count) }
        return value(digits)
    }

    /// Parses the number at the start of a token. Returns nil unless it has the given number of digits.
    private static func number(_ token: some Collection<UInt8>, digits count: ClosedRange<Int>) -> Int? {
        let digits = token.prefix(count.upperBound + 1).prefix { $0.isDigit }
        return count.contains(digits.count) ? value(digits) : nil
    }

    private static func month(_ token: some Collection<UInt8>) -> Int? {
        let name = token.prefix(3).map(\.asciiLowercased)
        return months.firstIndex { $0.utf8.elementsEqual(name) }.map { $0 + 1 }
    }

    private static func value(_ digits: some Collection<UInt8>) -> Int { digits.reduce(0) { $0 * 10 + Int($1 - 48) } }
}
