/// The parts of a URI reference, absolute or relative (RFC 3986 §4.1, appendix B).
///
/// Any text can be parsed. The parts are not validated.
package struct URIReference: Sendable, Equatable {
    /// The scheme without its colon; nil if there is none.
    package var scheme: String?
    /// The authority without the slashes before it; nil if there is none.
    package var authority: String?
    /// The path, which may be empty.
    package var path: String
    /// The query without its question mark; nil if there is none.
    package var query: String?
    /// The fragment without its number sign; nil if there is none.
    package var fragment: String?

    /// Creates a reference from its parts.
    package init(scheme: String?, authority: String?, path: String, query: String?) {
        self.scheme = scheme
        self.authority = authority
        self.path = path
        self.query = query
    }

    /// Parses text byte by byte. A comparison of characters would miss a delimiter that a combining mark follows.
    package init(_ text: String) {
        var rest = text.utf8[...]
        if let number = rest.firstIndex(of: UInt8(ascii: "#")) {
            fragment = String(Substring(rest[number...].dropFirst()))
            rest = rest[..<number]
        }
        if let mark = rest.firstIndex(of: UInt8(ascii: "?")) {
            query = String(Substring(rest[mark...].dropFirst()))
            rest = rest[..<mark]
        }
        if let colon = rest.firstIndex(of: UInt8(ascii: ":")), Self.isScheme(rest[..<colon]) {
            scheme = String(Substring(rest[..<colon]))
            rest = rest[colon...].dropFirst()
        }
        if rest.starts(with: "//".utf8) {
            let name = rest.dropFirst(2)
            let end = name.firstIndex(of: UInt8(ascii: "/")) ?? name.endIndex
            authority = String(Substring(name[..<end]))
            rest = rest[end...]
        }
        path = String(Substring(rest))
    }

    /// Returns true for a letter followed by letters, digits, `+`, `-` and `.` (RFC 3986 §3.1).
    private static func isScheme(_ bytes: Substring.UTF8View) -> Bool {
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        guard let first = bytes.first, letters.contains(first | 0x20) else { return false }
        return bytes.allSatisfy { letters.contains($0 | 0x20) || "0123456789+-.".utf8.contains($0) }
    }

    /// Resolves the reference against a base URL (RFC 3986 §5.2.2, strict).
    ///
    /// - Parameter base: An absolute URL.
    /// - Returns: An absolute URL. Dot segments are removed from its path, unless the path is the base URL's.
    package func resolved(against base: URIReference) -> URIReference {
        var target = self
        if scheme != nil || authority != nil {
            target.path = DotSegments.removing(from: path)
        } else if path.isEmpty {
            target.path = base.path
            target.query = query ?? base.query
        } else {
            target.path = DotSegments.removing(from: path.utf8.first == UInt8(ascii: "/") ? path : merged(with: base))
        }
        if scheme == nil {
            target.scheme = base.scheme
            if authority == nil { target.authority = base.authority }
        }
        return target
    }

    /// Replaces the last segment of the base's path with this path (RFC 3986 §5.2.3).
    private func merged(with base: URIReference) -> String {
        if base.authority != nil, base.path.isEmpty { return "/\(path)" }
        guard let slash = base.path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path }
        return "\(base.path[...slash])\(path)"
    }
}

extension URIReference: CustomStringConvertible {
    /// The text of the reference (RFC 3986 §5.3).
    package var description: String {
        var text = scheme.map { "\($0):" } ?? ""
        if let authority {
            text += "//\(authority)"
        } else if path.utf8.starts(with: "//".utf8) {
            // Without this, the path would be parsed as an authority.
            text += "/."
        }
        text += path
        if let query { text += "?\(query)" }
        if let fragment { text += "#\(fragment)" }
        return text
    }
}
