extension URLEncodedFormEncoder {
    /// The characters that names and values hold as they are; all others are percent-encoded.
    ///
    /// ```swift
    /// encoder.allowedCharacters = .unreserved.adding("[]:/")
    /// ```
    ///
    /// ASCII letters and digits always belong to them. Control characters, spaces, `&`, `=`, `+`, `%`, `#` and all that is
    /// not ASCII never do, lest the text be read as other names and values. Of the rest a query may hold `!$'()*,;:@/?` by
    /// RFC 3986 §3.4; many servers take `[]` too.
    public struct AllowedCharacters: Sendable, Hashable {
        /// Letters, digits and `-._~` (RFC 3986 §2.3).
        public static let unreserved = AllowedCharacters("-._~")
        /// Letters, digits and `*-._`: what browsers leave in a form (WHATWG URL §5.2).
        public static let htmlForm = AllowedCharacters("*-._")

        private static let refused: UInt128 = "&=+%#".utf8.reduce(0) { $0 | 1 << UInt128($1) }
        private static let alphanumerics: UInt128 =
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8.reduce(0) { $0 | 1 << UInt128($1) }

        /// A bit for each ASCII character.
        private var bits: UInt128

        /// Letters, digits and these characters, as far as they can be allowed.
        public init(_ characters: String) {
            bits = Self.alphanumerics
            for byte in characters.utf8 where byte > 0x20 && byte < 0x7F { bits |= 1 << UInt128(byte) }
            bits &= ~Self.refused
        }

        /// These and more, as far as they can be allowed.
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
