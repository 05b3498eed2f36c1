extension URLEncodedFormEncoder {
    /// The characters that are not percent-encoded in names and values.
    ///
    /// ```swift
    /// encoder.allowedCharacters = .unreserved.adding("[]:/")
    /// ```
    ///
    /// ASCII letters and digits are always allowed. Control characters, spaces, `&`, `=`, `+`, `%`, `#` and all
    /// non-ASCII characters never are, because they would change how the text is parsed. RFC 3986 §3.4 permits
    /// `!$'()*,;:@/?` in a query; many servers accept `[]` too.
    public struct AllowedCharacters: Sendable, Hashable {
        /// Letters, digits and `-._~` (RFC 3986 §2.3).
        public static let unreserved = AllowedCharacters("-._~")
        /// Letters, digits and `*-._`: the set that browsers leave unescaped in a form (WHATWG URL §5.2).
        public static let htmlForm = AllowedCharacters("*-._")

        private static let refused: UInt128 = "&=+%#".utf8.reduce(0) { $0 | 1 << UInt128($1) }
        private static let alphanumerics: UInt128 =
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8.reduce(0) { $0 | 1 << UInt128($1) }

        /// One bit for each ASCII character.
        private var bits: UInt128

        /// Creates a set of the letters, the digits and the given characters. Characters that can never be allowed are
        /// ignored.
        public init(_ characters: String) {
            bits = Self.alphanumerics
            for byte in characters.utf8 where byte > 0x20 && byte < 0x7F { bits |= 1 << UInt128(byte) }
            bits &= ~Self.refused
        }

        /// Returns this set with more characters added. Characters that can never be allowed are ignored.
        public func adding(_ characters: String) -> AllowedCharacters {
            var sum = self
            sum.bits |= AllowedCharacters(characters).bits
            return sum
        }

        func contains(_ byte: UInt8) -> Bool {
            byte < 0x80 && bits >> UInt128(byte) & 1 == 1
        }
    }
}
