#if os(Linux)
import CPSL

/// The domains under which anybody can have a domain, as `co.uk` (publicsuffix.org): the list that libpsl was built with.
package enum PublicSuffixes {
    /// Returns true if a domain is a public suffix.
    ///
    /// - Parameter domain: The domain, in small letters and without a dot at its end. One without any dot is a public suffix, known or not.
    /// - Returns: True for a public suffix. A libpsl without a list knows only domains without a dot.
    package static func contains(_ domain: String) -> Bool {
        guard let list = psl_builtin() else { return !domain.utf8.contains(UInt8(ascii: ".")) }
        return psl_is_public_suffix(list, domain) != 0
    }
}
#endif
