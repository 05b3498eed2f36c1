import SluiceHTTP

extension HAR.Cookie {
    /// Parses the cookies of a `Cookie` field (RFC 6265 §4.2.1).
    ///
    /// - Parameters:
    ///   - field: The field's value.
    ///   - isHidden: True if the cookies' values are secret.
    /// - Returns: A cookie for each pair.
    static func sent(_ field: String, isHidden: Bool) -> [HAR.Cookie] {
        field.utf8.split(separator: UInt8(ascii: ";")).compactMap { pair in
            let (name, value) = parts(of: pair)
            return name.isEmpty ? nil : HAR.Cookie(name: name, value: isHidden ? Redaction.mark : value ?? "")
        }
    }

    /// Parses the cookie of a `Set-Cookie` field (RFC 6265 §5.2); nil if it sets none.
    ///
    /// - Parameters:
    ///   - field: The field's value.
    ///   - isHidden: True if the cookie's value is secret.
    init?(set field: String, isHidden: Bool) {
        var pairs = field.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)[...]
        guard let first = pairs.popFirst() else { return nil }
        let (name, value) = HAR.Cookie.parts(of: first)
        guard !name.isEmpty, let value else { return nil }
        self.init(name: name, value: isHidden ? Redaction.mark : value)
        for pair in pairs {
            let (name, value) = HAR.Cookie.parts(of: pair)
            switch name.lowercased() {
            case "path": path = value
            case "domain": domain = value
            case "expires": expires = value
            case "httponly": httpOnly = true
            case "secure": secure = true
            default: break
            }
        }
    }

    private static func parts(of pair: Substring.UTF8View) -> (name: String, value: String?) {
        let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        return (trimmed(parts.first ?? pair), parts.count > 1 ? trimmed(parts[1]) : nil)
    }

    private static func trimmed(_ text: Substring.UTF8View) -> String {
        let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        var text = text.drop(while: isSpace)
        while let last = text.last, isSpace(last) { text = text.dropLast() }
        return String(Substring(text))
    }
}
