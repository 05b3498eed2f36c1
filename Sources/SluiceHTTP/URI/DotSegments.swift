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
