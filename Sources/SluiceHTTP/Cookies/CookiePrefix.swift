/// The prefixes by which a cookie's name says how the cookie was set (RFC 6265bis §4.1.3).
package enum CookiePrefix {
    private static let secure: StaticString = "__Secure-"
    private static let host: StaticString = "__Host-"

    /// Returns true if a cookie is as its name says. Case does not matter, since some servers read names without regard to it.
    ///
    /// - Parameters:
    ///   - name: The cookie's name; for an empty one the value must have no prefix, because that is what servers would take for the name.
    ///   - value: Its value.
    ///   - isSecure: True if it goes over https only.
    ///   - isHostOnly: True if it goes to one host only.
    ///   - hasRootPath: True if its path is `/`, and was said to be.
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
