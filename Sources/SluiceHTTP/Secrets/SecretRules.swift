/// The rules that identify secrets by name and redact them from a text. Errors, descriptions and `Redaction` of Sluice
/// use them.
///
/// Redaction is a best effort: it misses a secret in a path or under an unusual name. Every function takes time linear
/// in the size of its input.
package struct SecretRules: Sendable, Hashable {
    /// The text that replaces a secret.
    package static let mark = "REDACTED"

    /// The header fields whose values are secret.
    package let headerNames: SecretNames
    /// The parameters whose values are secret: in queries, fragments and forms, and before `=` in any text.
    package let parameterNames: SecretNames
    /// The members whose values are secret: in JSON, and before `:` or `=` in any text.
    package let memberNames: SecretNames
    /// True to redact user names and passwords in URLs, and credentials after an authentication scheme.
    package let hidesCredentials: Bool

    package init(
        headerNames: SecretNames,
        parameterNames: SecretNames,
        memberNames: SecretNames,
        hidesCredentials: Bool
    ) {
        self.headerNames = headerNames
        self.parameterNames = parameterNames
        self.memberNames = memberNames
        self.hidesCredentials = hidesCredentials
    }

    /// The default rules: credentials, and values whose names usually denote secrets.
    package static let usual = SecretRules(
        headerNames: SecretNames(SecretNames.usualHeaders),
        parameterNames: SecretNames(SecretNames.usualMembers + SecretNames.usualParameters)
            .excluding(SecretNames(SecretNames.usualExemptions)),
        memberNames: SecretNames(SecretNames.usualMembers).excluding(SecretNames(SecretNames.usualExemptions)),
        hidesCredentials: true
    )

    /// True if the rules redact nothing.
    package var isNone: Bool {
        !hidesCredentials && headerNames.isEmpty && parameterNames.isEmpty && memberNames.isEmpty
    }

    /// Redacts a text of any format.
    package func text(_ text: String) -> String {
        isNone ? text : Self.settled(text) { SecretScanner.redacted($0, self) } ?? Self.mark
    }

    /// Redacts a text until another redaction changes nothing, so that recorded and new texts can be compared.
    ///
    /// Malformed text may need several passes, because the mark replaces what has hidden another secret.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - redact: Redacts a text, or returns nil to leave it out.
    /// - Returns: The redacted text; nil if it is left out or does not settle.
    package static func settled(_ text: String, _ redact: (String) -> String?) -> String? {
        var text = text
        for _ in 0..<5 {
            guard let next = redact(text) else { return nil }
            if next.hasSameBytes(as: text) { return text }
            text = next
        }
        return nil
    }

    /// Redacts a text of any format, which may be a whole document. A document with a secret name is left out, because
    /// its structure is not read.
    package func unreadText(_ text: String) -> String {
        let start = text.utf8.lazy.filter { $0 > 0x20 }.prefix(2)
        let begins = ["{", "<", "[\"", "[{", "[["]
        let isDocument = begins.contains(where: { start.starts(with: $0.utf8) })
        guard !isNone, isDocument, SecretScanner.mayContainSecret(Array(text.utf8), self) else {
            return self.text(text)
        }
        return Self.mark
    }

    /// Redacts a form body (`application/x-www-form-urlencoded`).
    package func form(_ text: String) -> String {
        Self.settled(text) { text in
            var pairs = PairRedactor(self, Array(text.utf8), isForm: true)
            pairs.pairs()
            return String(decoding: pairs.output, as: UTF8.self)
        } ?? Self.mark
    }

    /// Returns true if a word is the name of an authentication scheme, and thus not a secret.
    package static func isScheme(_ word: String) -> Bool {
        // A longer text is no scheme, and may take long to compare.
        guard word.utf8.count <= 16 else { return false }
        return switch word.lowercased() {
        case "basic", "bearer", "digest", "negotiate", "ntlm", "dpop", "hoba", "aws4-hmac-sha256": true
        default: false
        }
    }

    /// Returns the text of an error without the values that encoders and decoders quote, since these may be secrets.
    package static func text(of error: any Error) -> String {
        let path = { (path: [any CodingKey]) in path.map(\.stringValue).joined(separator: ".") }
        return switch error {
        case EncodingError.invalidValue(let value, let context):
            "EncodingError: the value of type \(type(of: value)) at “\(path(context.codingPath))” cannot be encoded."
        case DecodingError.dataCorrupted(let context):
            "DecodingError: the data at “\(path(context.codingPath))” is not valid."
        default: "\(error)"
        }
    }
}

// MARK: - URLs

extension SecretRules {
    /// Redacts a URL: its user name and password, and secret parameters in path, query and fragment.
    ///
    /// A parameter is also redacted if its value contains a secret, as the return URL of a login may.
    ///
    /// - Parameter url: A URL, absolute or relative, valid or not.
    /// - Returns: The URL with the mark in place of secrets.
    package func url(_ url: String) -> String {
        isNone ? url : Self.settled(url, redactedOnce) ?? Self.mark
    }

    private func redactedOnce(_ url: String) -> String {
        let bytes = Array(url.utf8)
        var pairs = PairRedactor(self, bytes)
        // The whole text is a URL, so white space and control characters do not end it.
        if let start = Self.authority(in: bytes), hidesCredentials,
            let at = Self.userInfoEnd(in: bytes, from: start, isURLEnd: { _ in false })
        {
            pairs.copy(to: start)
            pairs.hide(to: at)
        }
        pairs.path()
        pairs.pairs()
        return String(decoding: pairs.output, as: UTF8.self)
    }

    /// Returns the start of the authority. Like browsers, accepts backslashes as slashes, and `http:` without slashes.
    private static func authority(in bytes: [UInt8]) -> Int? {
        var start = 0
        var isWeb = false
        if let end = bytes.firstIndex(where: { !$0.isSchemeCharacter }), bytes[end] == UInt8(ascii: ":"), end > 0 {
            let scheme = String(decoding: bytes[..<end], as: UTF8.self).lowercased()
            isWeb = scheme == "http" || scheme == "https"
            start = end + 1
        }
        let slashes = bytes[start...].prefix { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }.count
        return isWeb || slashes >= 2 ? start + slashes : nil
    }

    /// Returns the position of the `@` after a user name and password; nil if there is none.
    ///
    /// Also finds passwords that contain an unencoded slash or number sign.
    ///
    /// - Parameters:
    ///   - bytes: A text that contains a URL.
    ///   - start: The start of its authority.
    ///   - isURLEnd: Returns true for a byte that ends the URL.
    /// - Returns: The position of the `@`.
    static func userInfoEnd(in bytes: [UInt8], from start: Int, isURLEnd: (UInt8) -> Bool = isURLEnd) -> Int? {
        var end = start
        var at: Int?
        var colon: Int?
        while end < bytes.count, !isAuthorityEnd(bytes[end]), !isURLEnd(bytes[end]) {
            if bytes[end] == UInt8(ascii: "@") { at = end }
            if bytes[end] == UInt8(ascii: ":"), colon == nil { colon = end }
            end += 1
        }
        if let at { return at }
        guard let colon, bytes[start] != UInt8(ascii: "[") else { return nil }
        let isPort = bytes[(colon + 1)..<end].allSatisfy(\.isDigit)
        if isPort { return nil }
        // A bounded search keeps the time linear for a text with many such beginnings.
        return bytes[end..<min(bytes.count, end + 96)].prefix { !isURLEnd($0) }.lastIndex(of: UInt8(ascii: "@"))
    }

    private static func isAuthorityEnd(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "/"), UInt8(ascii: "\\"), UInt8(ascii: "?"), UInt8(ascii: "#"): true
        default: false
        }
    }

    static func isURLEnd(_ byte: UInt8) -> Bool {
        switch byte {
        case 0...0x20, UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "`"):
            true
        default: false
        }
    }
}

extension String {
    /// Returns true if both texts have the same bytes. Texts that are equal may have different ones.
    package func hasSameBytes(as other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        let isSame = utf8.withContiguousStorageIfAvailable { bytes in
            other.utf8.withContiguousStorageIfAvailable { bytes.elementsEqual($0) }
        }
        return isSame.flatMap { $0 } ?? utf8.elementsEqual(other.utf8)
    }
}
