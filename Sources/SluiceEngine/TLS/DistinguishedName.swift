#if os(Linux)
import SluiceHTTP

/// A hash key for distinguished names, computed without OpenSSL's parser.
///
/// The key contains the letters and digits of all values in lower case. Names that are equal according to RFC 5280 §7.1 have the same key.
/// Names with the same key may still differ, so a match is only a candidate.
struct DistinguishedNameKey: Hashable {
    private let text: [UInt8]

    /// Creates the key of a DER-encoded name.
    init(_ name: some Collection<UInt8>) {
        var reader = DERReader(Array(name)[...])
        var text: [UInt8] = []
        if let sequence = reader.next() {
            DistinguishedNameKey.collect(sequence.contents, into: &text, depth: 0)
        }
        self.text = text
    }

    private static func collect(_ bytes: ArraySlice<UInt8>, into text: inout [UInt8], depth: Int) {
        var reader = DERReader(bytes)
        while let element = reader.next() {
            switch element.tag {
            case 0x30, 0x31:
                if depth < 4 { collect(element.contents, into: &text, depth: depth + 1) }
            // UTF8String, NumericString, PrintableString, TeletexString, IA5String and VisibleString.
            case 0x0C, 0x12, 0x13, 0x14, 0x16, 0x1A:
                appendCharacters(of: element.contents, width: 1, to: &text)
            // BMPString and UniversalString, whose values may equal those of the other types.
            case 0x1E: appendCharacters(of: element.contents, width: 2, to: &text)
            case 0x1C: appendCharacters(of: element.contents, width: 4, to: &text)
            // The type of an attribute, and values that only equal those of the same type.
            default: continue
            }
        }
    }

    private static func appendCharacters(of bytes: ArraySlice<UInt8>, width: Int, to text: inout [UInt8]) {
        for start in stride(from: bytes.startIndex, through: bytes.endIndex - width, by: width) {
            let character = bytes[start..<start + width]
            guard let last = character.last, last.isLetterOrDigit, character.dropLast().allSatisfy({ $0 == 0 }) else {
                continue
            }
            text.append(last | 0x20)
        }
    }
}

extension UInt8 {
    fileprivate var isLetterOrDigit: Bool {
        isDigit || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(asciiLowercased)
    }
}

/// A reader for the elements of a DER encoding (X.690 §8.1), one after another.
struct DERReader {
    /// The tag and the contents of an element.
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

    /// Returns the next element, or nil at the end or if the bytes are not valid DER.
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

    /// Returns the subject of a DER-encoded certificate (RFC 5280 §4.1).
    static func subject(ofCertificate certificate: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        var outer = DERReader(certificate)
        guard let sequence = outer.next(), sequence.tag == 0x30 else { return nil }
        var inner = DERReader(sequence.contents)
        guard let body = inner.next(), body.tag == 0x30 else { return nil }
        var fields = DERReader(body.contents)
        var field = fields.next()
        // The version comes first, unless it is 1.
        if field?.tag == 0xA0 { field = fields.next() }
        // Serial number, signature algorithm, issuer and validity.
        for _ in 0..<4 { field = fields.next() }
        guard let field, field.tag == 0x30 else { return nil }
        return field.bytes
    }
}
#endif
