#if os(Linux)

/// A key under which distinguished names that RFC 5280 §7.1 calls equal are found, made without OpenSSL's parser.
///
/// The letters and digits of all values in small letters. Names that are equal have the same key; names with the same key can still
/// differ, so a match is only a candidate.
struct DistinguishedNameKey: Hashable {
    /// The key's characters; nil for a name with values in two-byte or four-byte characters, which any name could be equal to.
    let text: [UInt8]?

    /// The key of a name in DER.
    init(_ name: some Collection<UInt8>) {
        var reader = DERReader(Array(name)[...])
        var text: [UInt8]? = []
        if let sequence = reader.next() {
            DistinguishedNameKey.collect(sequence.contents, into: &text, depth: 0)
        }
        self.text = text
    }

    private static func collect(_ bytes: ArraySlice<UInt8>, into text: inout [UInt8]?, depth: Int) {
        var reader = DERReader(bytes)
        while let element = reader.next() {
            switch element.tag {
            case 0x30, 0x31:
                if depth < 4 { collect(element.contents, into: &text, depth: depth + 1) }
            // UTF8String, NumericString, PrintableString, TeletexString, IA5String and VisibleString.
            case 0x0C, 0x12, 0x13, 0x14, 0x16, 0x1A:
                for byte in element.contents where byte.isLetterOrDigit { text?.append(byte | 0x20) }
            // An attribute's type.
            case 0x06: continue
            default: text = nil
            }
        }
    }

    /// False if names with these keys cannot be equal.
    func mayEqual(_ other: DistinguishedNameKey) -> Bool {
        guard let text, let others = other.text else { return true }
        return text == others
    }
}

extension UInt8 {
    fileprivate var isLetterOrDigit: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}

/// Reads the elements of a DER text (X.690 §8.1) one after another.
struct DERReader {
    /// An element's tag and contents.
    struct Element {
        let tag: UInt8
        let contents: ArraySlice<UInt8>
        /// Tag, length and contents.
        let bytes: ArraySlice<UInt8>
    }

    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        rest = bytes
    }

    /// The next element; nil at the end and where the bytes are not DER.
    mutating func next() -> Element? {
        guard let tag = rest.first, tag & 0x1F != 0x1F, rest.count >= 2 else { return nil }
        var position = rest.startIndex + 2
        var count = Int(rest[rest.startIndex + 1])
        if count >= 0x80 {
            let digits = count - 0x80
            guard (1...4).contains(digits), rest.endIndex - position >= digits else { return nil }
            count = rest[position..<(position + digits)].reduce(0) { $0 << 8 | Int($1) }
            position += digits
        }
        guard rest.endIndex - position >= count else { return nil }
        let end = position + count
        let element = Element(tag: tag, contents: rest[position..<end], bytes: rest[rest.startIndex..<end])
        rest = rest[end...]
        return element
    }

    /// The subject of a certificate in DER (RFC 5280 §4.1).
    static func subject(ofCertificate certificate: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        var outer = DERReader(certificate)
        guard let sequence = outer.next(), sequence.tag == 0x30 else { return nil }
        var inner = DERReader(sequence.contents)
        guard let body = inner.next(), body.tag == 0x30 else { return nil }
        var fields = DERReader(body.contents)
        var field = fields.next()
        // The version stands first if it is not 1.
        if field?.tag == 0xA0 { field = fields.next() }
        // Serial number, signature algorithm, issuer and validity.
        for _ in 0..<4 { field = fields.next() }
        guard let field, field.tag == 0x30 else { return nil }
        return field.bytes
    }
}
#endif
