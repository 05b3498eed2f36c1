extension SecretRules {
    /// Redacts a URL: its user name and password, and secret parameters in path, query and fragment.
    ///
    /// A parameter is also redacted if its value contains a secret, as the return URL of a login may.
    ///
    /// - Parameter url: A URL, absolute or relative, valid or not.
    /// - Returns: The URL with the mark in place of secrets.
    package func url(_ url: String) -> String {
        if isNone { return url }
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
        if let end = bytes.firstIndex(where: { !isSchemeCharacter($0) }), bytes[end] == UInt8(ascii: ":"), end > 0 {
            let scheme = String(decoding: bytes[..<end], as: UTF8.self).lowercased()
            isWeb = scheme == "http" || scheme == "https"
            start = end + 1
        }
        let slashes = bytes[start...].prefix { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }.count
        return isWeb || slashes >= 2 ? start + slashes : nil
    }

    private static func isSchemeCharacter(_ byte: UInt8) -> Bool {
        let small = byte | 0x20
        return (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(small) || "0123456789+-.".utf8.contains(byte)
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
        let isPort = bytes[(colon + 1)..<end].allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
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
