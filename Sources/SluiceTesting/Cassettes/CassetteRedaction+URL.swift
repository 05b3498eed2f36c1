extension CassetteRedaction {
    /// The maximum nesting depth of URLs in query items.
    private static let maximumDepth = 4

    /// Returns a URL without user name and password, and without the secrets in its query and fragment.
    ///
    /// URLs and forms are processed byte by byte. As `Character` values, a delimiter followed by a combining mark would not
    /// be found.
    func url(_ url: String, depth: Int = 0) -> String {
        let bytes = url.utf8
        var start = bytes.startIndex
        var result = ""
        if let mark = bytes.firstRange(of: "://".utf8) {
            start = mark.upperBound
            result += Substring(bytes[..<start])
            let authority = bytes[start...].prefix { $0 != UInt8(ascii: "/") && !Self.beginsItems($0) }
            if let at = authority.lastIndex(of: UInt8(ascii: "@")) {
                result += Self.mark
                start = at
            }
        }
        let end = bytes[start...].firstIndex(where: Self.beginsItems) ?? bytes.endIndex
        result += Substring(bytes[start..<end])
        guard end < bytes.endIndex else { return result }
        result += bytes[end] == UInt8(ascii: "?") ? "?" : "#"
        return result
            + bytes[end...].dropFirst()
            .split(separator: UInt8(ascii: "#"), maxSplits: 1, omittingEmptySubsequences: false)
            .map { form(Substring($0), depth: depth) }.joined(separator: "#")
    }

    private static func beginsItems(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }

    /// Returns a text with the secrets removed from the URLs that it contains.
    func text(_ text: String) -> String {
        if !Self.holdsURL(text) { return text }
        return pieces(of: text, where: Self.isURLEnd) { piece in
            Self.holdsURL(piece) ? url(piece) : piece
        }
    }

    /// Redacts the targets of a `Link` field (RFC 8288 §3), which stand in angle brackets and may be relative.
    func links(_ field: String) -> String {
        pieces(of: field, where: Self.isURLEnd) { piece in url(piece) }
    }

    /// Returns a query or a form without its secrets.
    func form(_ text: Substring, depth: Int = 0) -> String {
        text.utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).map { bytes in
            let source = Substring(bytes)
            let item = FormItems.item(of: source)
            guard let value = item.value, !value.isEmpty else { return String(source) }
            // A route in a fragment may contain a query.
            let name =
                item.name.utf8.split(separator: UInt8(ascii: "?")).last.map { String(Substring($0)) } ?? item.name
            let isSecret = isSecret(parameter: name) || holdsSecret(value, depth: depth)
            return isSecret ? "\(Substring(bytes.prefix { $0 != UInt8(ascii: "=") }))=\(Self.mark)" : String(source)
        }.joined(separator: "&")
    }

    /// Returns true if a value, for example a return URL, is a URL that contains a secret.
    private func holdsSecret(_ value: String, depth: Int) -> Bool {
        if !Self.holdsURL(value) { return false }
        return depth >= Self.maximumDepth || url(value, depth: depth + 1) != value
    }

    private static func holdsURL(_ text: String) -> Bool {
        text.utf8.firstRange(of: "://".utf8) != nil
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
