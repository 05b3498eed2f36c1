/// Parses the names and values of a query or a form: `a=1&b=2`.
enum FormItems {
    /// A decoded name and value.
    struct Item {
        let name: String
        let value: String?
    }

    static func items(of text: some StringProtocol) -> [Item] {
        Substring(text).utf8.split(separator: UInt8(ascii: "&")).map { item(of: Substring($0)) }
    }

    static func item(of source: Substring) -> Item {
        let parts = source.utf8.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        return Item(name: decoded(Substring(parts[0])), value: parts.count > 1 ? decoded(Substring(parts[1])) : nil)
    }

    /// Decodes percent-encoding, and a plus as a space. Invalid triplets are left as they are.
    static func decoded(_ text: some StringProtocol, plusIsBlank: Bool = true) -> String {
        let bytes = Array(text.utf8)
        var decoded: [UInt8] = []
        var index = 0
        while index < bytes.count {
            let digits = bytes.dropFirst(index + 1).prefix(2)
            // `UInt8(_:radix:)` accepts a sign, so check for two hexadecimal digits first.
            if bytes[index] == UInt8(ascii: "%"), digits.count == 2,
                digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
                let byte = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            {
                decoded.append(byte)
                index += 3
                continue
            }
            decoded.append(plusIsBlank && bytes[index] == UInt8(ascii: "+") ? 0x20 : bytes[index])
            index += 1
        }
        return String(decoding: decoded, as: UTF8.self)
    }
}
