/// What a path has in common with others of its kind.
enum RoutePattern {
    /// The path without query, with `{}` in place of each segment that looks like an ID: one with a digit in it that is all digits,
    /// or has at least eight characters and no others than hexadecimal digits and hyphens, or at least twenty characters.
    ///
    /// A version, `v2`, is none.
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
