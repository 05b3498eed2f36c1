#if os(Linux)
import CPSL

/// The public suffixes, such as `co.uk`, under which anybody can register a domain (publicsuffix.org), as built into libpsl.
package enum PublicSuffixes {
    /// Returns true if a domain is a public suffix.
    ///
    /// - Parameter domain: The domain, in lower case and without a trailing dot. A domain without any dot is always a public suffix.
    /// - Returns: True for a public suffix. A libpsl without a list knows only domains without a dot.
    package static func contains(_ domain: String) -> Bool {
        guard let list = psl_builtin() else { return !domain.utf8.contains(UInt8(ascii: ".")) }
        return psl_is_public_suffix(list, domain) != 0
    }
}
#endif
