import SluiceHTTP

/// A writer of the JSON encoding of the OpenTelemetry protocol: names in lower camel case, enumerations as numbers, integers of 64 bits as
/// texts, and IDs as hexadecimal digits.
struct OTLPJSONWriter {
    private(set) var bytes: [UInt8] = []

    mutating func append(_ message: ProtobufMessage) {
        append("{")
        for (index, field) in message.fields.enumerated() {
            if index > 0 { append(",") }
            append(quoted: field.name)
            append(":")
            append(field.value)
        }
        append("}")
    }

    private mutating func append(_ value: ProtobufValue) {
        switch value {
        case .string(let text): append(quoted: text)
        case .id(let words):
            append(
                quoted: HexText.text(length: words.count * 16) { text in
                    for word in words { text.append(word, digits: 16) }
                }
            )
        case .bool(let flag): append(flag ? "true" : "false")
        case .int64(let integer): append(quoted: "\(integer)")
        case .fixed64(let integer), .uint64(let integer): append(quoted: "\(integer)")
        case .sint(let integer): append(quoted: "\(integer)")
        case .uint32(let integer), .enumeration(let integer), .fixed32(let integer): append("\(integer)")
        case .double(let double): append(double)
        case .message(let message): append(message)
        case .messages(let messages): appendList(messages) { $0.append($1) }
        case .fixed64s(let integers): appendList(integers) { $0.append(quoted: "\($1)") }
        case .doubles(let doubles): appendList(doubles) { $0.append($1) }
        case .sints(let integers): appendList(integers) { $0.append(quoted: "\($1)") }
        }
    }

    private mutating func appendList<Element>(_ elements: [Element], _ append: (inout Self, Element) -> Void) {
        self.append("[")
        for (index, element) in elements.enumerated() {
            if index > 0 { self.append(",") }
            append(&self, element)
        }
        self.append("]")
    }

    private mutating func append(_ double: Double) {
        if double.isFinite { return append("\(double)") }
        append(quoted: double.isNaN ? "NaN" : double < 0 ? "-Infinity" : "Infinity")
    }

    private mutating func append(_ text: String) {
        bytes += text.utf8
    }

    private mutating func append(quoted text: String) {
        append("\"")
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0..<0x20:
                append("\\u00")
                append(HexText.text(length: 2) { $0.append(UInt64(byte), digits: 2) })
            default: bytes.append(byte)
            }
        }
        append("\"")
    }
}
