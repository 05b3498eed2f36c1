extension CassetteRedaction {
    /// How deep URLs may stand within URLs to be looked through.
    private static let maximumDepth = 4

    /// A URL without user name and password, and without the secrets of its query and fragment.
    func url(_ url: String, depth: Int = 0) -> String {
        var start = url.startIndex
        var result = ""
        if let mark = url.firstRange(of: "://") {
            result = String(url[..<mark.upperBound])
            start = mark.upperBound
            let authority = url[start...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
            if let at = authority.lastIndex(of: "@") {
                result += Self.mark
                start = at
            }
        }
        let end = url[start...].firstIndex { $0 == "?" || $0 == "#" } ?? url.endIndex
        result += url[start..<end]
        guard end < url.endIndex else { return result }
        let parts = url[url.index(after: end)...].split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        return result + String(url[end]) + parts.map { form($0, depth: depth) }.joined(separator: "#")
    }

    /// A text whose URLs have no secrets.
    func text(_ text: String) -> String {
        if text.firstRange(of: "://") == nil { return text }
        return pieces(of: text, where: Self.isURLEnd) { piece in
            piece.firstRange(of: "://") == nil ? piece : url(piece)
        }
    }

    /// The links of a `Link` (RFC 8288 §3), whose URLs stand in angle brackets and may be relative.
    func links(_ field: String) -> String {
        pieces(of: field, where: Self.isURLEnd) { piece in url(piece) }
    }

    /// A query or form without its secrets.
    func form(_ text: Substring, depth: Int = 0) -> String {
        text.split(separator: "&", omittingEmptySubsequences: false).map { source in
            let item = FormItems.item(of: source)
            guard let value = item.value, !value.isEmpty else { return String(source) }
            // The route in a fragment may have a query itself.
            let name = item.name.split(separator: "?").last.map(String.init) ?? item.name
            let isSecret = isSecret(parameter: name) || holdsSecret(value, depth: depth)
            return isSecret ? "\(source.prefix { $0 != "=" })=\(Self.mark)" : String(source)
        }.joined(separator: "&")
    }

    /// Whether a value is a URL with a secret, as one to come back to may be.
    private func holdsSecret(_ value: String, depth: Int) -> Bool {
        if value.firstRange(of: "://") == nil { return false }
        return depth >= Self.maximumDepth || url(value, depth: depth + 1) != value
    }

    private func pieces(
        of text: String,
        where isEnd: (Unicode.Scalar) -> Bool,
        _ change: (String) -> String
    ) -> String {
        var result = ""
        var rest = text.unicodeScalars[...]
        while !rest.isEmpty {
            let piece = rest.prefix { !isEnd($0) }
            if !piece.isEmpty { result += change(String(piece)) }
            rest = rest[piece.endIndex...]
            if let end = rest.popFirst() { result.unicodeScalars.append(end) }
        }
        return result
    }

    private static func isURLEnd(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value <= 0x20 || "\"'<>`".unicodeScalars.contains(scalar)
    }
}
