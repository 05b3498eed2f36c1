import SluiceFoundation

/// The date formats of HTTP, such as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7).
package enum HTTPDate {
    static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    static let longWeekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]

    /// Parses a date in any of the three formats that recipients must accept: IMF-fixdate, RFC 850 and asctime.
    ///
    /// Names match in any case (RFC 9111 §4.2). The day must exist, but the weekday need not match the date. A
    /// two-digit year is the latest year with these digits that is at most 50 years ahead. A leap second is read as the
    /// second after it.
    ///
    /// - Parameters:
    ///   - text: The date. Surrounding white space is ignored.
    ///   - now: The reference for two-digit years.
    /// - Returns: The date; nil if the text is not a valid date.
    package static func parse(_ text: String, now: Date = Date()) -> Date? {
        var text = text
        let time = text.withUTF8 { bytes in
            var reader = HTTPDateReader(UnsafeRawBufferPointer(bytes))
            return reader.date(now: now)
        }
        guard let time, time.isValid else { return nil }
        return Date(timeIntervalSince1970: Double(time.secondsSince1970))
    }

    /// Formats a date as an IMF-fixdate, the only format that senders may use.
    ///
    /// - Parameter date: The date. Fractions of a second are dropped, and dates outside the years 0 to 9999 are clamped
    ///   to this range.
    /// - Returns: The date in 29 characters.
    package static func string(from date: Date) -> String {
        let time = civilTime(of: date)
        let day = "\(weekdays[time.weekday]), \(padded(time.day, 2)) \(months[time.month - 1]) \(padded(time.year, 4))"
        return "\(day) \(padded(time.hour, 2)):\(padded(time.minute, 2)):\(padded(time.second, 2)) GMT"
    }

    /// Returns a date in UTC, clamped to the years 0 to 9999. NaN becomes the start of 1970.
    static func civilTime(of date: Date) -> CivilTime {
        let seconds = date.timeIntervalSince1970
        let first = -62_167_219_200.0
        let last = 253_402_300_799.0
        return CivilTime(secondsSince1970: seconds.isNaN ? 0 : Int64(min(max(seconds.rounded(.down), first), last)))
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}

/// A parser for one date. It reads bytes in place, because each stored response that is read has several dates.
private struct HTTPDateReader {
    private let text: UnsafeRawBufferPointer
    private var position = 0

    init(_ text: UnsafeRawBufferPointer) {
        self.text = text.trimmed
    }

    /// Parses a date in any of the three formats that spans the whole text.
    mutating func date(now: Date) -> CivilTime? {
        let date = dateInAnyFormat(now: now)
        return position == text.count ? date : nil
    }

    private mutating func dateInAnyFormat(now: Date) -> CivilTime? {
        guard let weekday = index(in: Self.weekdays) else { return nil }
        if skip(", ") { return fixdate() }
        if skip(" ") { return asctime() }
        return skip(bytes: HTTPDate.longWeekdays[weekday].utf8.dropFirst(3)) && skip(", ") ? rfc850(now: now) : nil
    }

    /// `06 Nov 1994 08:49:37 GMT`
    private mutating func fixdate() -> CivilTime? {
        guard let day = number(2), skip(" "), let month = month(), skip(" "), let year = number(4), skip(" "),
            let time = time(on: CivilTime(year: year, month: month, day: day)), skip(" GMT")
        else { return nil }
        return time
    }

    /// `06-Nov-94 08:49:37 GMT`
    private mutating func rfc850(now: Date) -> CivilTime? {
        guard let day = number(2), skip("-"), let month = month(), skip("-"), let year = number(2), skip(" "),
            let time = time(on: CivilTime(year: year, month: month, day: day)), skip(" GMT")
        else { return nil }
        return time.withFullYear(now: HTTPDate.civilTime(of: now))
    }

    /// `Nov  6 08:49:37 1994`
    private mutating func asctime() -> CivilTime? {
        guard let month = month(), skip(" "), let day = skip(" ") ? number(1) : number(2), skip(" "),
            let time = time(on: CivilTime(year: 0, month: month, day: day)), skip(" "), let year = number(4)
        else { return nil }
        var date = time
        date.year = year
        return date
    }

    private mutating func time(on day: CivilTime) -> CivilTime? {
        guard let hour = number(2), skip(":"), let minute = number(2), skip(":"), let second = number(2) else {
            return nil
        }
        var time = day
        time.hour = hour
        time.minute = minute
        time.second = second
        return time
    }

    private mutating func month() -> Int? {
        index(in: Self.months).map { $0 + 1 }
    }

    private mutating func number(_ digits: Int) -> Int? {
        guard text.count - position >= digits else { return nil }
        var number = 0
        for byte in text[position..<position + digits] {
            guard byte.isDigit else { return nil }
            number = number * 10 + Int(byte - UInt8(ascii: "0"))
        }
        position += digits
        return number
    }

    private static let weekdays = HTTPDate.weekdays.map { packed($0.utf8) }
    private static let months = HTTPDate.months.map { packed($0.utf8) }

    /// Returns three letters, in any case, as a number.
    private static func packed(_ letters: some Sequence<UInt8>) -> UInt32 {
        letters.reduce(0) { $0 << 8 | UInt32($1.asciiLowercased) }
    }

    /// Skips one of these names of three letters, and returns its index.
    private mutating func index(in names: [UInt32]) -> Int? {
        guard text.count - position >= 3 else { return nil }
        let name = Self.packed(UnsafeRawBufferPointer(rebasing: text[position..<position + 3]))
        guard let index = names.firstIndex(of: name) else { return nil }
        position += 3
        return index
    }

    private mutating func skip(_ expected: StaticString) -> Bool {
        expected.withUTF8Buffer { skip(bytes: $0) }
    }

    private mutating func skip(bytes expected: some Sequence<UInt8>) -> Bool {
        var end = position
        for byte in expected {
            guard end < text.count, text[end].asciiLowercased == byte.asciiLowercased else { return false }
            end += 1
        }
        position = end
        return true
    }
}

extension CivilTime {
    /// Returns the date with the latest year of the same two digits that is at most 50 years ahead (RFC 9110 §5.6.7).
    fileprivate func withFullYear(now: CivilTime) -> CivilTime {
        var latest = now
        latest.year += 50
        var time = self
        time.year += now.year / 100 * 100 + 100
        while time.year > 99, latest.order < time.order { time.year -= 100 }
        return time
    }

    /// A number that orders times. Unlike ``secondsSince1970``, it is also defined for dates that do not exist.
    private var order: Int64 {
        let days = (Int64(year) * 12 + Int64(month)) * 31 + Int64(day)
        return days * 86_461 + Int64(hour * 3600 + minute * 60 + second)
    }
}

// MARK: - Retry after

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
