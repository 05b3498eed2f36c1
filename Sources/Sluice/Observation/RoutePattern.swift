/// Derives the route that paths of the same kind share.
enum RoutePattern {
    /// Returns the path without query, with `{}` in place of each segment that looks like an ID. An ID contains a
    /// digit, and either consists of digits only, or has at least eight characters that are all hexadecimal digits and
    /// hyphens, or has at least twenty characters.
    ///
    /// A version such as `v2` is not an ID.
    static func route(of path: String) -> String {
        let path = path.unicodeScalars.prefix { $0 != "?" && $0 != "#" }
        guard path.contains(where: \.isDigit) else { return String(String.UnicodeScalarView(path)) }
        return path.split(separator: "/", omittingEmptySubsequences: false)
            .map { isID($0) ? "{}" : String(String.UnicodeScalarView($0)) }
            .joined(separator: "/")
    }

    private static func isID(_ segment: Substring.UnicodeScalarView) -> Bool {
        guard segment.contains(where: \.isDigit) else { return false }
        if segment.allSatisfy(\.isDigit) || segment.count >= 20 { return true }
        return segment.count >= 8 && segment.allSatisfy { $0.isDigit || $0.isHexLetter || $0 == "-" }
    }
}

extension Unicode.Scalar {
    fileprivate var isDigit: Bool { ("0"..."9").contains(self) }
    fileprivate var isHexLetter: Bool { ("a"..."f").contains(self) || ("A"..."F").contains(self) }
}
