import SluiceFoundation

/// A cookie as a line of the Netscape cookie file. Tabs separate the fields: domain, subdomain flag, path, secure flag,
/// seconds since 1970 or 0, name and value.
///
/// The bytes of name, value and path are stored beside the cookie, since they need not be valid UTF-8. The file has no
/// field for `SameSite`.
package struct CookieLine: Sendable, Hashable {
    package let cookie: Cookie
    package let name: [UInt8]
    package let value: [UInt8]
    package let path: [UInt8]

    private static let httpOnly = "#HttpOnly_".utf8

    /// Parses a line; nil for a comment or an invalid line.
    package init?(_ line: some Sequence<UInt8>) {
        var line = Array(line)[...]
        if line.last == UInt8(ascii: "\r") { line = line.dropLast() }
        let isHTTPOnly = line.starts(with: Self.httpOnly)
        if isHTTPOnly { line = line.dropFirst(Self.httpOnly.count) }
        if line.first == UInt8(ascii: "#") { return nil }
        var fields = line.split(separator: 9, maxSplits: 7, omittingEmptySubsequences: false)
        // The tab before an empty value may be missing.
        if fields.count == 6 { fields.append([]) }
        guard fields.count == 7 else { return nil }
        guard let includesSubdomains = Self.flag(fields[1]), let isSecure = Self.flag(fields[3]),
            let expiry = Self.expiry(fields[4])
        else { return nil }
        let domain = fields[0].first == UInt8(ascii: ".") ? fields[0].dropFirst() : fields[0]
        let (path, name, value) = (Array(fields[2]), Array(fields[5]), Array(fields[6]))
        // Python also writes an empty name for a cookie that was set without one.
        guard !name.isEmpty || !value.isEmpty, Self.isValid(domain, path, name, value) else { return nil }
        let cookie = Cookie(
            name: String(decoding: name, as: UTF8.self),
            value: String(decoding: value, as: UTF8.self),
            domain: String(decoding: domain, as: UTF8.self),
            path: String(decoding: path, as: UTF8.self),
            includesSubdomains: includesSubdomains,
            expires: expiry == 0 ? nil : Self.date(expiry),
            isSecure: isSecure,
            isHTTPOnly: isHTTPOnly
        )
        self.init(cookie, name: name, value: value, path: path)
        if !meetsPrefixRules { return nil }
    }

    /// Creates the line of a cookie; nil if the cookie is not valid, such as one with an empty name or a control
    /// character.
    package init?(_ cookie: Cookie) {
        var cookie = cookie
        if cookie.domain.first == "." { cookie.domain.removeFirst() }
        let (name, value, path) = (Array(cookie.name.utf8), Array(cookie.value.utf8), Array(cookie.path.utf8))
        // A `;` would end the cookie in the header field.
        guard !name.isEmpty, !name.contains(UInt8(ascii: "=")), !name.contains(UInt8(ascii: ";")),
            !value.contains(UInt8(ascii: ";")), Self.isValid(Array(cookie.domain.utf8)[...], path, name, value)
        else { return nil }
        if let expires = cookie.expires { cookie.expires = Self.date(Self.seconds(expires)) }
        self.init(cookie, name: name, value: value, path: path)
        if !meetsPrefixRules { return nil }
    }

    /// Creates the line of a cookie that has been accepted.
    ///
    /// - Parameters:
    ///   - cookie: The cookie.
    ///   - name: The bytes of its name.
    ///   - value: The bytes of its value.
    ///   - path: The bytes of its path.
    package init(_ cookie: Cookie, name: [UInt8], value: [UInt8], path: [UInt8]) {
        self.cookie = cookie
        self.name = name
        self.value = value
        self.path = path
    }

    /// The line without a line break.
    package var bytes: [UInt8] {
        var bytes = cookie.isHTTPOnly ? Array(Self.httpOnly) : []
        if cookie.includesSubdomains { bytes.append(UInt8(ascii: ".")) }
        bytes += cookie.domain.utf8
        for field in [
            Self.text(cookie.includesSubdomains), path, Self.text(cookie.isSecure),
            Array("\(cookie.expires.map(Self.seconds) ?? 0)".utf8), name, value,
        ] {
            bytes.append(9)
            bytes += field
        }
        return bytes
    }

    /// True if the file can hold the cookie: a tab would separate fields.
    package var fitsFile: Bool { !name.contains(9) && !value.contains(9) && !path.contains(9) }

    /// The properties that identify a cookie in a jar (RFC 6265bis §5.7). A cookie with the same key replaces the
    /// existing one.
    package struct Key: Hashable, Comparable {
        let domain: String
        let path: [UInt8]
        let name: [UInt8]
        let includesSubdomains: Bool

        package static func < (lhs: Key, rhs: Key) -> Bool {
            if lhs.domain != rhs.domain { return lhs.domain < rhs.domain }
            if lhs.path != rhs.path { return lhs.path.lexicographicallyPrecedes(rhs.path) }
            if lhs.name != rhs.name { return lhs.name.lexicographicallyPrecedes(rhs.name) }
            return !lhs.includesSubdomains && rhs.includesSubdomains
        }
    }

    package var key: Key {
        Key(domain: cookie.domain.lowercased(), path: path, name: name, includesSubdomains: cookie.includesSubdomains)
    }

    /// The same cookie, expired: adding it removes the cookie.
    package var expired: CookieLine {
        var cookie = cookie
        cookie.expires = Date(timeIntervalSince1970: 1)
        cookie.value = ""
        return CookieLine(cookie, name: name, value: [], path: path)
    }

    /// Compares bytes. The comparison of texts normalizes them, which a server can make slow.
    package static func == (lhs: CookieLine, rhs: CookieLine) -> Bool {
        lhs.key == rhs.key && lhs.value == rhs.value && lhs.cookie.expires == rhs.cookie.expires
            && lhs.cookie.isSecure == rhs.cookie.isSecure && lhs.cookie.isHTTPOnly == rhs.cookie.isHTTPOnly
            && lhs.cookie.sameSite == rhs.cookie.sameSite
    }

    /// Hashes the key.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(key)
    }

    private var meetsPrefixRules: Bool {
        CookiePrefix.permits(
            name: name,
            value: value,
            isSecure: cookie.isSecure,
            isHostOnly: !cookie.includesSubdomains,
            hasRootPath: path == [UInt8(ascii: "/")]
        )
    }

    private static func isValid(_ domain: ArraySlice<UInt8>, _ path: [UInt8], _ name: [UInt8], _ value: [UInt8]) -> Bool
    {
        guard !domain.isEmpty, !domain.contains(32), domain.first != UInt8(ascii: "#") else { return false }
        guard path.first == UInt8(ascii: "/"), domain.allSatisfy({ $0 < 0x80 }) else { return false }
        return [domain, path[...], name[...], value[...]].allSatisfy { $0.allSatisfy { $0 >= 32 && $0 != 127 } }
    }

    /// The last second of the year 9999, the latest expiry that is written.
    private static let latestTime: Int64 = 253_402_300_799

    private static func flag(_ field: ArraySlice<UInt8>) -> Bool? {
        if field.elementsEqual("true".utf8, by: { $0.asciiLowercased == $1 }) { return true }
        return field.elementsEqual("false".utf8, by: { $0.asciiLowercased == $1 }) ? false : nil
    }

    /// Parses seconds since 1970. 0 denotes a session cookie, as does the empty field that Python writes.
    private static func expiry(_ field: ArraySlice<UInt8>) -> Int64? {
        field.isEmpty ? 0 : field.decimalNumber().map { min($0, latestTime) }
    }

    /// Returns whole seconds since 1970, at least 1, since 0 denotes a session cookie.
    private static func seconds(_ date: Date) -> Int64 {
        let seconds = max(1, date.timeIntervalSince1970.rounded(.down))
        return seconds < Double(latestTime) ? Int64(seconds) : latestTime
    }

    private static func date(_ seconds: Int64) -> Date { Date(timeIntervalSince1970: Double(seconds)) }

    private static func text(_ flag: Bool) -> [UInt8] { Array((flag ? "TRUE" : "FALSE").utf8) }
}

// MARK: - Cookie date

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
