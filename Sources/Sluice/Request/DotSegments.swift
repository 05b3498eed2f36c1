/// Takes the segments `.` and `..` out of a path (RFC 3986 §5.2.4).
///
/// A dot may be written `%2e`, in either case: to servers and to the WHATWG URL Standard it is the same dot, and a path
/// that is checked for one of them must not slip by with the other.
enum DotSegments {
    /// The path without dot segments; those that would lead above the root lead to it.
    ///
    /// - Parameter path: A path without query and fragment.
    /// - Returns: The very same string if it has none.
    static func removing(from path: String) -> String {
        let hasDots = path.utf8.withContiguousStorageIfAvailable { hasDotSegment($0) } ?? hasDotSegment(path.utf8)
        return hasDots ? String(decoding: removing(from: Array(path.utf8)), as: UTF8.self) : path
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
        // The input that is left; always where a segment begins, with its slash if it has one.
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
                // The dots were the last segment: what they lead to is a directory.
                if end == path.count { output.append(slash) }
            }
            // Dots at the very beginning go with the slash behind them.
            start = dots > 0 && !isRooted ? min(end + 1, path.count) : end
        }
        return output
    }

    /// 1 for a `.`, 2 for a `..`, 0 for any other segment.
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
