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
    package static func isScheme(_ bytes: Substring.UTF8View) -> Bool {
        bytes.first?.isLetter == true && bytes.allSatisfy(\.isSchemeCharacter)
    }

    /// The reference without an empty port, which is that of the scheme (RFC 3986 §6.2.3). Servers may send one.
    package var withoutEmptyPort: URIReference {
        // Bytes, because the comparison of characters takes quadratic time for some texts of a server.
        guard let authority, authority.utf8.last == UInt8(ascii: ":"), let last = authority.utf8.dropLast().last,
            last != UInt8(ascii: ":")
        else { return self }
        var url = self
        url.authority = String(Substring(authority.utf8.dropLast()))
        return url
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

// MARK: - Dot segments

/// Removes the segments `.` and `..` from a path (RFC 3986 §5.2.4).
///
/// A dot can be written as `%2e`, in either case. Servers and the WHATWG URL Standard treat it as a dot, so a check of
/// a path must cover both spellings.
package enum DotSegments {
    /// Returns the path without dot segments. Segments that lead above the root lead to the root.
    ///
    /// - Parameter path: A path without query and fragment.
    /// - Returns: The unchanged string if it has none.
    package static func removing(from path: String) -> String {
        let hasDots = path.utf8.withContiguousStorageIfAvailable { hasDotSegment($0) } ?? hasDotSegment(path.utf8)
        return hasDots ? String(decoding: removing(from: Array(path.utf8)), as: UTF8.self) : path
    }

    /// Returns the number of dot segments of a path without query and fragment.
    package static func count(in path: String) -> Int {
        path.utf8.split(separator: UInt8(ascii: "/")).count { dotCount($0) > 0 }
    }

    /// Returns true if a segment before the query is dots of which at least one is percent-encoded. Escaping a name produces such a
    /// segment, but does not prevent that it is resolved.
    package static func areEncoded(in path: String) -> Bool {
        let percent = UInt8(ascii: "%")
        guard path.utf8.contains(percent) else { return false }
        return PathSpace.path(of: path).utf8.split(separator: UInt8(ascii: "/")).contains {
            $0.contains(percent) && dotCount($0) > 0
        }
    }

    private static func hasDotSegment<Path: Collection<UInt8>>(_ path: Path) -> Bool {
        var start = path.startIndex
        while true {
            let end = path[start...].firstIndex(of: UInt8(ascii: "/")) ?? path.endIndex
            if dotCount(path[start..<end]) > 0 { return true }
            if end == path.endIndex { return false }
            start = path.index(after: end)
        }
    }

    private static func removing(from path: [UInt8]) -> [UInt8] {
        let slash = UInt8(ascii: "/")
        var output: [UInt8] = []
        output.reserveCapacity(path.count)
        // The start of the remaining input: always the start of a segment, at its slash if it has one.
        var start = 0
        while start < path.count {
            let isRooted = path[start] == slash
            let name = isRooted ? start + 1 : start
            let end = path[name...].firstIndex(of: slash) ?? path.count
            let dots = dotCount(path[name..<end])
            if dots == 0 {
                output += path[start..<end]
            } else if isRooted {
                if dots == 2 { output.removeSubrange((output.lastIndex(of: slash) ?? 0)...) }
                // A final dot segment leads to a directory.
                if end == path.count { output.append(slash) }
            }
            // Leading dots without a slash are removed together with the slash after them.
            start = dots > 0 && !isRooted ? min(end + 1, path.count) : end
        }
        return output
    }

    /// Returns 1 for `.`, 2 for `..`, and 0 for any other segment.
    private static func dotCount<Segment: Collection<UInt8>>(_ segment: Segment) -> Int {
        var count = 0
        var rest = segment[...]
        while let first = rest.first {
            if first == UInt8(ascii: ".") {
                rest = rest.dropFirst()
            } else if first == UInt8(ascii: "%"), rest.dropFirst().first == UInt8(ascii: "2"),
                rest.dropFirst(2).first.map({ $0 | 0x20 }) == UInt8(ascii: "e")
            {
                rest = rest.dropFirst(3)
            } else {
                return 0
            }
            count += 1
            if count > 2 { return 0 }
        }
        return count
    }
}

// MARK: - Path space

/// The paths of a protection space of HTTP authentication (RFC 9110 §11.5, RFC 7617 §2.2).
package enum PathSpace {
    /// Returns the path of a request target without its query.
    package static func path(of target: String) -> String {
        let end = target.utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
        return end.map { String(target[..<$0]) } ?? target
    }

    /// Returns the path up to its last slash: with Basic, the space of a request includes all paths at or below it.
    package static func folder(of path: String) -> String {
        path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[...$0]) } ?? "/"
    }

    /// Returns the length of a path that covers another path, or nil if it does not. Segments are compared as a whole.
    package static func match(_ covering: String, _ path: String) -> Int? {
        let (covering, path) = (covering.utf8, path.utf8)
        if covering.elementsEqual("/".utf8) { return 1 }
        guard path.starts(with: covering) else { return nil }
        let isWhole = covering.last == UInt8(ascii: "/") || path.count == covering.count
        return isWhole || path.dropFirst(covering.count).first == UInt8(ascii: "/") ? covering.count : nil
    }

    /// Returns the length of the longest of some paths that covers another path, or nil for none. Only the root covers a
    /// path with `..`.
    package static func longestMatch(of paths: [String], _ path: String) -> Int? {
        let matches = paths.compactMap { match($0, path) }
        guard let longest = matches.max() else { return nil }
        if longest > 1, hasParentSegments(path) { return matches.contains(1) ? 1 : nil }
        return longest
    }

    /// True if a server may read a segment of the path as `..`: also in percent-encoded form (RFC 3986 §3.3), or next to
    /// an encoded slash or a backslash.
    private static func hasParentSegments(_ path: String) -> Bool {
        let marks = Set(".%\\".utf8)
        guard path.utf8.contains(where: marks.contains) else { return false }
        var text = path.lowercased()
        for (encoded, plain) in [("%2e", "."), ("%2f", "/"), ("%5c", "/"), ("\\", "/")] {
            text = text.split(separator: encoded, omittingEmptySubsequences: false).joined(separator: plain)
        }
        // Some servers remove parameters from a segment (RFC 3986 §3.3) before they resolve it: `..;a=b`.
        return text.split(separator: "/").contains { $0.prefix { $0 != ";" } == ".." }
    }
}
