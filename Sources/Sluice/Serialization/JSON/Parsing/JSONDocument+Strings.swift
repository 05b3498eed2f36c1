extension JSONDocument {
    /// Returns the value of a string with its escapes resolved, or the source text of another value.
    package func string(of node: Node) -> String {
        let entry = tape[node.index]
        guard entry.kind == .string else { return text(of: node) }
        return withBytes(of: node) { bytes in
            let content = UnsafeBufferPointer(rebasing: bytes[1..<(bytes.count - 1)])
            return entry.isPlain ? String(decoding: content, as: UTF8.self) : Self.resolvingEscapes(of: content)
        }
    }

    /// Returns true if the node is a string that equals another by canonical equivalence, as Swift compares strings.
    func string(of node: Node, equals other: String) -> Bool {
        let entry = tape[node.index]
        guard entry.kind == .string else { return false }
        var other = other
        let verdict: Bool? = other.withUTF8 { utf8 in
            guard entry.isPlain else { return nil }
            let isEqual = withBytes(of: node) { bytes in
                bytes.count - 2 == utf8.count && bytes[1..<(bytes.count - 1)].elementsEqual(utf8)
            }
            if isEqual { return true }
            return entry.isASCII && utf8.allSatisfy { $0 < 0x80 } ? false : nil
        }
        return verdict ?? (string(of: node) == other)
    }

    /// Resolves the escapes of a validated string.
    private static func resolvingEscapes(of content: UnsafeBufferPointer<UInt8>) -> String {
        // An escape is never shorter than its UTF-8 encoding.
        String(unsafeUninitializedCapacity: content.count) { target in
            var length = 0
            var position = 0
            while position < content.count {
                let byte = content[position]
                position += 1
                guard byte == UInt8(ascii: "\\"), position < content.count else {
                    target[length] = byte
                    length += 1
                    continue
                }
                let escape = content[position]
                position += 1
                if escape == UInt8(ascii: "u") {
                    var scalar = hexadecimal(in: content, at: position)
                    position += 4
                    if scalar & 0xFC00 == 0xD800 {
                        scalar =
                            0x10000 + ((scalar & 0x3FF) << 10 | (hexadecimal(in: content, at: position + 2) & 0x3FF))
                        position += 6
                    }
                    for byte in UTF8.encode(Unicode.Scalar(scalar) ?? "\u{FFFD}") ?? UTF8.encodedReplacementCharacter {
                        target[length] = byte
                        length += 1
                    }
                } else {
                    target[length] = Self.resolved(escape)
                    length += 1
                }
            }
            return length
        }
    }

    private static func resolved(_ escape: UInt8) -> UInt8 {
        switch escape {
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: escape
        }
    }

    private static func hexadecimal(in content: UnsafeBufferPointer<UInt8>, at position: Int) -> UInt32 {
        guard position + 4 <= content.count else { return 0xFFFD }
        var value: UInt32 = 0
        for byte in content[position..<(position + 4)] {
            value = value << 4 | UInt32(byte & 0xF) + (byte > UInt8(ascii: "9") ? 9 : 0)
        }
        return value
    }
}
