#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A cookie as a line of the Netscape cookie file: domain, whether its hosts get it, path, whether it is secure, seconds since 1970 or
/// 0, name and value, with tabs between them.
///
/// The bytes are kept beside the cookie, since a value need not be text.
package struct CookieLine: Sendable, Hashable {
    /// Without a line break.
    package let bytes: [UInt8]
    package let cookie: Cookie

    private static let httpOnly = "#HttpOnly_".utf8

    /// Reads a line; nil for a comment and for what is no cookie.
    package init?(_ line: some Sequence<UInt8>) {
        var line = Array(line)[...]
        if line.last == UInt8(ascii: "\r") { line = line.dropLast() }
        let isHTTPOnly = line.starts(with: Self.httpOnly)
        if isHTTPOnly { line = line.dropFirst(Self.httpOnly.count) }
        if line.first == UInt8(ascii: "#") { return nil }
        var fields = line.split(separator: 9, omittingEmptySubsequences: false)
        // Without a value there may be no tab before it.
        if fields.count == 6 { fields.append([]) }
        guard fields.count == 7 else { return nil }
        // Python's way to write a cookie that has only a name.
        if fields[5].isEmpty { fields.swapAt(5, 6) }
        guard let isWide = Self.flag(fields[1]), let isSecure = Self.flag(fields[3]), let end = Self.end(fields[4])
        else {
            return nil
        }
        let domain = fields[0].first == UInt8(ascii: ".") ? fields[0].dropFirst() : fields[0]
        self.init(domain, isWide, fields[2], isSecure, end, fields[5], fields[6], isHTTPOnly)
    }

    /// Writes a cookie; nil for one that has what a cookie cannot have, an empty name or a control character for example.
    package init?(_ cookie: Cookie) {
        let end: Int64
        if let expires = cookie.expires {
            // 0 would be the end of the session.
            let seconds = max(1, expires.timeIntervalSince1970.rounded(.down))
            end = seconds < Double(Self.farthest) ? Int64(seconds) : Self.farthest
        } else {
            end = 0
        }
        let domain = cookie.domain.first == "." ? cookie.domain.dropFirst() : cookie.domain[...]
        // A `;` would end the cookie in the header field.
        guard !cookie.name.utf8.contains(UInt8(ascii: "=")),
            !cookie.name.utf8.contains(UInt8(ascii: ";")), !cookie.value.utf8.contains(UInt8(ascii: ";"))
        else { return nil }
        self.init(
            Array(domain.utf8)[...],
            cookie.includesSubdomains,
            Array(cookie.path.utf8)[...],
            cookie.isSecure,
            end,
            Array(cookie.name.utf8)[...],
            Array(cookie.value.utf8)[...],
            cookie.isHTTPOnly
        )
    }

    private init?(
        _ domain: ArraySlice<UInt8>,
        _ isWide: Bool,
        _ path: ArraySlice<UInt8>,
        _ isSecure: Bool,
        _ end: Int64,
        _ name: ArraySlice<UInt8>,
        _ value: ArraySlice<UInt8>,
        _ isHTTPOnly: Bool
    ) {
        let parts = [domain, path, name, value]
        guard !domain.isEmpty, !domain.contains(32), domain.first != UInt8(ascii: "#"), !name.isEmpty,
            path.first == UInt8(ascii: "/"), parts.allSatisfy({ $0.allSatisfy { $0 >= 32 && $0 != 127 } })
        else { return nil }
        cookie = Cookie(
            name: String(decoding: name, as: UTF8.self),
            value: String(decoding: value, as: UTF8.self),
            domain: String(decoding: domain, as: UTF8.self),
            path: String(decoding: path, as: UTF8.self),
            includesSubdomains: isWide,
            expires: end == 0 ? nil : Date(timeIntervalSince1970: Double(end)),
            isSecure: isSecure,
            isHTTPOnly: isHTTPOnly
        )
        var bytes = isHTTPOnly ? Array(Self.httpOnly) : []
        if isWide { bytes.append(UInt8(ascii: ".")) }
        bytes += domain
        for field in [
            Self.text(isWide), Array(path), Self.text(isSecure), Array("\(end)".utf8), Array(name), Array(value),
        ] {
            bytes.append(9)
            bytes += field
        }
        self.bytes = bytes
    }

    package var key: Cookie.Key { cookie.key }

    /// The line that has the same cookie end: what libcurl reads in its place removes it.
    package var ended: CookieLine {
        var cookie = cookie
        cookie.expires = Date(timeIntervalSince1970: 1)
        cookie.value = ""
        return CookieLine(cookie) ?? self
    }

    /// The year 9999, which libcurl's own limit lies before.
    private static let farthest: Int64 = 253_402_300_799

    private static func flag(_ field: ArraySlice<UInt8>) -> Bool? {
        switch String(decoding: field, as: UTF8.self).uppercased() {
        case "TRUE": true
        case "FALSE": false
        default: nil
        }
    }

    /// Seconds since 1970; 0, and for Python nothing, is the end of the session.
    private static func end(_ field: ArraySlice<UInt8>) -> Int64? {
        if field.isEmpty { return 0 }
        guard field.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        return Int64(String(decoding: field, as: UTF8.self)).map { min($0, farthest) }
    }

    private static func text(_ flag: Bool) -> [UInt8] { Array((flag ? "TRUE" : "FALSE").utf8) }
}
