/// A URL, or what leads from one URL to another, taken apart (RFC 3986 §4.1, appendix B).
///
/// Any text can be taken apart; whether its parts are what they should be is for others to judge.
struct URIReference: Sendable, Equatable {
    /// Without its colon; nil where there is none.
    var scheme: String?
    /// Without the slashes before it; nil where there is none.
    var authority: String?
    /// May be empty.
    var path: String
    /// Without its question mark; nil where there is none.
    var query: String?
    /// Without its number sign; nil where there is none.
    var fragment: String?

    /// Puts parts together.
    init(scheme: String?, authority: String?, path: String, query: String?) {
        self.scheme = scheme
        self.authority = authority
        self.path = path
        self.query = query
    }

    /// Takes a text apart, byte by byte: a combining mark behind a slash leaves it a slash.
    init(_ text: String) {
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

    /// A letter, then letters, digits, `+`, `-` and `.` (RFC 3986 §3.1).
    private static func isScheme(_ bytes: Substring.UTF8View) -> Bool {
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        guard let first = bytes.first, letters.contains(first | 0x20) else { return false }
        return bytes.allSatisfy { letters.contains($0 | 0x20) || "0123456789+-.".utf8.contains($0) }
    }

    /// What the reference means where a base URL is given (RFC 3986 §5.2.2, strictly).
    ///
    /// - Parameter base: An absolute URL.
    /// - Returns: An absolute URL without dot segments in what came of the reference.
    func resolved(against base: URIReference) -> URIReference {
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

    /// The path in the place of the last segment of the base's (RFC 3986 §5.2.3).
    private func merged(with base: URIReference) -> String {
        if base.authority != nil, base.path.isEmpty { return "/\(path)" }
        guard let slash = base.path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path }
        return "\(base.path[...slash])\(path)"
    }
}

extension URIReference: CustomStringConvertible {
    /// The parts put together again (RFC 3986 §5.3).
    var description: String {
        var text = scheme.map { "\($0):" } ?? ""
        if let authority {
            text += "//\(authority)"
        } else if path.utf8.starts(with: "//".utf8) {
            // Else the path would be read as an authority.
            text += "/."
        }
        text += path
        if let query { text += "?\(query)" }
        if let fragment { text += "#\(fragment)" }
        return text
    }
}
