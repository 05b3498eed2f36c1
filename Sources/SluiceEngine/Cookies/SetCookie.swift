#if os(Linux)
import SluiceFoundation
import SluiceHTTP

/// A parsed `Set-Cookie` field (RFC 6265bis §5.6), independent of the server that sent it.
///
/// If an attribute occurs more than once, the last one applies.
package struct SetCookie: Sendable, Hashable {
    /// The maximum combined length of name and value, in bytes.
    private static let pairLimit = 4096
    /// The maximum length of an attribute value in bytes. Longer attributes are ignored.
    private static let attributeLimit = 1024
    /// The maximum lifetime of a cookie in seconds: 400 days.
    private static let maximumLifetime: Int64 = 400 * 86_400

    /// The original name. Empty for a field without an equals sign.
    package let name: [UInt8]
    package let value: [UInt8]
    /// The `Max-Age` in seconds, 0 for one that is not positive. Nil without the attribute.
    package private(set) var maxAge: Int64?
    /// The `Expires` time in seconds since 1970. Nil without the attribute or with an invalid date.
    package private(set) var expires: Int64?
    /// The domain without its leading dot; empty if the attribute is missing.
    package private(set) var domain: [UInt8] = []
    /// The path, or nil for the default path.
    package private(set) var path: [UInt8]?
    /// True if there is a `Path` attribute, valid or not.
    package private(set) var hasPath = false
    package private(set) var isSecure = false
    package private(set) var isHTTPOnly = false
    package private(set) var sameSite = Cookie.SameSite.unspecified

    /// Parses the value of a field. Returns nil if it sets no cookie: it contains a control character other than a tab, has neither name
    /// nor value, or its pair exceeds the limit.
    package init?(_ field: [UInt8]) {
        let end = field.firstIndex(of: UInt8(ascii: ";")) ?? field.endIndex
        let pair = field[..<end]
        let equals = pair.firstIndex(of: UInt8(ascii: "="))
        let name = equals.map { pair[..<$0].trimmed } ?? []
        let value = (equals.map { pair[$0...].dropFirst() } ?? pair[...]).trimmed
        guard !name.isEmpty || !value.isEmpty, name.count + value.count <= SetCookie.pairLimit,
            field.allSatisfy({ $0 >= 32 && $0 != 127 || $0 == 9 })
        else { return nil }
        self.name = Array(name)
        self.value = Array(value)
        var rest = field[end...].dropFirst()
        while let start = rest.firstIndex(where: { $0 != UInt8(ascii: ";") }) {
            rest = rest[start...]
            let end = rest.firstIndex(of: UInt8(ascii: ";")) ?? rest.endIndex
            parse(attribute: rest[..<end])
            rest = rest[end...]
        }
    }

    /// Returns the expiration date, or nil for a session cookie. `Max-Age` takes precedence over `Expires`.
    package func end(at now: Date) -> Date? {
        if let maxAge { return maxAge > 0 ? now.addingTimeInterval(Double(maxAge)) : .distantPast }
        guard let expires else { return nil }
        return min(
            Date(timeIntervalSince1970: Double(expires)),
            now.addingTimeInterval(Double(SetCookie.maximumLifetime))
        )
    }

    private mutating func parse(attribute: ArraySlice<UInt8>) {
        let equals = attribute.firstIndex(of: UInt8(ascii: "=")) ?? attribute.endIndex
        let name = attribute[..<equals].trimmed
        let value = attribute[equals...].dropFirst().trimmed
        guard name.count <= 8, value.count <= SetCookie.attributeLimit else { return }
        switch String(decoding: name.map(\.asciiLowercased), as: UTF8.self) {
        case "expires": expires = CookieDate.seconds(value) ?? expires
        case "max-age": maxAge = SetCookie.age(value) ?? maxAge
        case "domain": domain = value.first == UInt8(ascii: ".") ? Array(value.dropFirst()) : Array(value)
        case "path":
            hasPath = true
            path = value.first == UInt8(ascii: "/") ? Array(value) : nil
        case "secure": isSecure = true
        case "httponly": isHTTPOnly = true
        case "samesite":
            switch String(decoding: value.prefix(8).map(\.asciiLowercased), as: UTF8.self) {
            case "none": sameSite = .none
            case "lax": sameSite = .lax
            case "strict": sameSite = .strict
            default: sameSite = .unspecified
            }
        default: break
        }
    }

    /// Returns a number of seconds between 0 and the maximum lifetime, or nil if the text is not a number.
    private static func age(_ text: ArraySlice<UInt8>) -> Int64? {
        let isNegative = text.first == UInt8(ascii: "-")
        let digits = isNegative ? text.dropFirst() : text[...]
        guard !digits.isEmpty, digits.allSatisfy(\.isDigit) else { return nil }
        if isNegative { return 0 }
        return digits.reduce(0) { min($0 * 10 + Int64($1 - 48), maximumLifetime) }
    }
}
#endif
