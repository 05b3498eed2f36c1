/// The value of a header field as bytes, which need not be valid UTF-8 (RFC 9110 §5.5).
///
/// Values are compared by their bytes. In JSON a value is a string, or an array of bytes if it is not valid UTF-8.
package struct FieldValue: Sendable, Hashable {
    package let bytes: [UInt8]

    /// Creates a value from its bytes.
    package init(bytes: some Sequence<UInt8>) {
        self.bytes = Array(bytes)
    }

    /// Creates a value from a text, encoded as UTF-8.
    package init(_ text: String) {
        bytes = Array(text.utf8)
    }

    /// The value as text. Invalid UTF-8 becomes replacement characters.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The value as text; nil if the bytes are not valid UTF-8.
    package var exactText: String? { String(validating: bytes, as: UTF8.self) }

    /// The value as text: UTF-8, or else ISO-8859-1, which older servers send (RFC 9110 §5.5).
    package var latin1Text: String {
        if let exactText { return exactText }
        var text = ""
        text.unicodeScalars.append(contentsOf: bytes.lazy.map { Unicode.Scalar($0) })
        return text
    }

    /// The value as part of a URI. Bytes that are not valid UTF-8 are percent-encoded (RFC 3986 §2.1).
    package var uriText: String {
        if let exactText { return exactText }
        var encoded: [UInt8] = []
        encoded.reserveCapacity(bytes.count + 16)
        var rest = bytes[...]
        while let byte = rest.first {
            let length = Self.sequenceLength(byte)
            let sequence = rest.prefix(length)
            if sequence.count == length, String(validating: sequence, as: UTF8.self) != nil {
                encoded.append(contentsOf: sequence)
                rest = rest.dropFirst(length)
            } else {
                PercentEncoding.append(triplet: byte, to: &encoded)
                rest = rest.dropFirst()
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// Returns the length of the UTF-8 sequence that starts with a byte; 1 if the byte starts none.
    private static func sequenceLength(_ byte: UInt8) -> Int {
        switch byte {
        case 0xC2...0xDF: 2
        case 0xE0...0xEF: 3
        case 0xF0...0xF4: 4
        default: 1
        }
    }
}

extension FieldValue: ExpressibleByStringInterpolation {
    package init(stringLiteral text: String) {
        self.init(text)
    }
}

extension FieldValue: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            self.init(text)
        } else {
            self.init(bytes: try container.decode([UInt8].self))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let exactText { try container.encode(exactText) } else { try container.encode(bytes) }
    }
}

extension FieldValue: CustomStringConvertible, RedactedMirror {
    /// The number of bytes only, since the value may be a secret.
    package var description: String { "\(bytes.count) bytes" }
}
