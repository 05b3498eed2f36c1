/// The prefixes of a cookie's name that restrict how the cookie may be set (RFC 6265bis §4.1.3).
package enum CookiePrefix {
    private static let secure: StaticString = "__Secure-"
    private static let host: StaticString = "__Host-"

    /// Returns true if a cookie meets the rules of its name's prefix. Case is ignored, since some servers ignore it
    /// too.
    ///
    /// - Parameters:
    ///   - name: The cookie's name. If it is empty, the value must not have a prefix, because servers would read it as
    ///     the name.
    ///   - value: The cookie's value.
    ///   - isSecure: True if the cookie is sent over https only.
    ///   - isHostOnly: True if the cookie is sent to one host only.
    ///   - hasRootPath: True if the path is `/` and was given explicitly.
    /// - Returns: False for a cookie that must not be stored.
    package static func permits(
        name: [UInt8],
        value: [UInt8],
        isSecure: Bool,
        isHostOnly: Bool,
        hasRootPath: Bool
    ) -> Bool {
        if name.isEmpty { return !begins(value, with: secure) && !begins(value, with: host) }
        if begins(name, with: secure) { return isSecure }
        if begins(name, with: host) { return isSecure && isHostOnly && hasRootPath }
        return true
    }

    private static func begins(_ bytes: [UInt8], with prefix: StaticString) -> Bool {
        let count = prefix.utf8CodeUnitCount
        guard bytes.count >= count else { return false }
        return prefix.withUTF8Buffer { prefix in
            zip(bytes, prefix).allSatisfy { $0.asciiLowercased == $1.asciiLowercased }
        }
    }
}
