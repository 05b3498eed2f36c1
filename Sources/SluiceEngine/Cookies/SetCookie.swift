#if os(Linux)
import SluiceFoundation
import SluiceHTTP

/// A parsed `Set-Cookie` field (RFC 6265bis §5.6), independent of the server that sent it.
///
/// If an attribute occurs more than once, the last one applies.
package struct SetCookie: Sendable, Hashable {
    /// The maximum combined length of name and value, in bytes.
    private static let pairLimit = 4096
    /// The maximum length of an attribute value in bytes. Longer attributes are ignored.
    private static let attributeLimit = 1024
    /// The maximum lifetime of a cookie in seconds: 400 days.
    private static let maximumLifetime: Int64 = 400 * 86_400

    /// The original name. Empty for a field without an equals sign.
    package let name: [UInt8]
    package let value: [UInt8]
    /// The `Max-Age` in seconds, 0 for one that is not positive. Nil without the attribute.
    package private(set) var maxAge: Int64?
    /// The `Expires` time in seconds since 1970. Nil without the attribute or with an invalid date.
    package private(set) var expires: Int64?
    /// The domain without its leading dot; empty if the attribute is missing.
    package private(set) var domain: [UInt8] = []
    /// The path, or nil for the default path.
    package private(set) var path: [UInt8]?
    /// True if there is a `Path` attribute, valid or not.
    package private(set) var hasPath = false
    package private(set) var isSecure = false
    package private(set) var isHTTPOnly = false
    package private(set) var sameSite = Cookie.SameSite.unspecified

    /// Parses the value of a field. Returns nil if it sets no cookie: it contains a control character other than a tab, has neither name
    /// nor value, or its pair exceeds the limit.
    package init?(_ field: [UInt8]) {
        let end = field.firstIndex(of: UInt8(ascii: ";")) ?? field.endIndex
        let pair = field[..<end]
        let equals = pair.firstIndex(of: UInt8(ascii: "="))
        let name = equals.map { pair[..<$0].trimmed } ?? []
        let value = (equals.map { pair[$0...].dropFirst() } ?? pair[...]).trimmed
        guard !name.isEmpty || !value.isEmpty, name.count + value.count <= SetCookie.pairLimit,
            field.allSatisfy({ $0 >= 32 && $0 != 127 || $0 == 9 })
        else { return nil }
        self.name = Array(name)
        self.value = Array(value)
        var rest = field[end...].dropFirst()
        while let start = rest.firstIndex(where: { $0 != UInt8(ascii: ";") }) {
            rest = rest[start...]
            let end = rest.firstIndex(of: UInt8(ascii: ";")) ?? rest.endIndex
            parse(attribute: rest[..<end])
            rest = rest[end...]
        }
    }

    /// Returns the expiration date, or nil for a session cookie. `Max-Age` takes precedence over `Expires`.
    package func end(at now: Date) -> Date? {
        if let maxAge { return maxAge > 0 ? now.addingTimeInterval(Double(maxAge)) : .distantPast }
        guard let expires else { return nil }
        return min(
            Date(timeIntervalSince1970: Double(expires)),
            now.addingTimeInterval(Double(SetCookie.maximumLifetime))
        )
    }

    private mutating func parse(attribute: ArraySlice<UInt8>) {
        let equals = attribute.firstIndex(of: UInt8(ascii: "=")) ?? attribute.endIndex
        let name = attribute[..<equals].trimmed
        let value = attribute[equals...].dropFirst().trimmed
        guard name.count <= 8, value.count <= SetCookie.attributeLimit else { return }
        switch String(decoding: name.map(\.asciiLowercased), as: UTF8.self) {
        case "expires": expires = CookieDate.seconds(value) ?? expires
        case "max-age": maxAge = SetCookie.age(value) ?? maxAge
        case "domain": domain = value.first == UInt8(ascii: ".") ? Array(value.dropFirst()) : Array(value)
        case "path":
            hasPath = true
            path = value.first == UInt8(ascii: "/") ? Array(value) : nil
        case "secure": isSecure = true
        case "httponly": isHTTPOnly = true
        case "samesite":
            switch String(decoding: value.prefix(8).map(\.asciiLowercased), as: UTF8.self) {
            case "none": sameSite = .none
            case "lax": sameSite = .lax
            case "strict": sameSite = .strict
            default: sameSite = .unspecified
            }
        default: break
        }
    }

    /// Returns a number of seconds between 0 and the maximum lifetime, or nil if the text is not a number.
    private static func age(_ text: ArraySlice<UInt8>) -> Int64? {
        let isNegative = text.first == UInt8(ascii: "-")
        let digits = isNegative ? text.dropFirst() : text[...]
        guard !digits.isEmpty, digits.allSatisfy(\.isDigit) else { return nil }
        if isNegative { return 0 }
        return digits.reduce(0) { min($0 * 10 + Int64($1 - 48), maximumLifetime) }
    }
}

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
#endif
