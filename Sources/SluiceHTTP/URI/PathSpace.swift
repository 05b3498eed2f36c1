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
