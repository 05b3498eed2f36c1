/// A writer of the binary encoding of protobuf.
struct ProtobufWriter {
    private enum WireType: UInt64 {
        case varint = 0
        case fixed64 = 1
        case bytes = 2
        case fixed32 = 5
    }

    private(set) var bytes: [UInt8] = []

    static func bytes(of message: ProtobufMessage) -> [UInt8] {
        var writer = ProtobufWriter()
        writer.append(message)
        return writer.bytes
    }

    mutating func append(_ message: ProtobufMessage) {
        for field in message.fields { append(field.value, field.number) }
    }

    private mutating func append(_ value: ProtobufValue, _ number: UInt64) {
        switch value {
        case .string(let text):
            append(number, .bytes)
            append(varint: UInt64(text.utf8.count))
            bytes += text.utf8
        case .id(let words):
            append(number, .bytes)
            append(varint: UInt64(words.count * 8))
            for word in words { append(bigEndian: word) }
        case .bool(let flag):
            append(number, .varint)
            append(varint: flag ? 1 : 0)
        case .int64(let integer):
            append(number, .varint)
            append(varint: UInt64(bitPattern: integer))
        case .uint32(let integer), .enumeration(let integer):
            append(number, .varint)
            append(varint: UInt64(integer))
        case .uint64(let integer):
            append(number, .varint)
            append(varint: integer)
        case .sint(let integer):
            append(number, .varint)
            append(varint: Self.zigZag(integer))
        case .fixed32(let integer):
            append(number, .fixed32)
            append(littleEndian: integer)
        case .fixed64(let integer):
            append(number, .fixed64)
            append(littleEndian: integer)
        case .double(let double):
            append(number, .fixed64)
            append(littleEndian: double.bitPattern)
        case .message(let message): append(nested: ProtobufWriter.bytes(of: message), number)
        case .messages(let messages):
            for message in messages { append(nested: ProtobufWriter.bytes(of: message), number) }
        case .fixed64s(let integers): append(packed: integers, number)
        case .doubles(let doubles): append(packed: doubles.map(\.bitPattern), number)
        case .sints(let integers):
            var packed = ProtobufWriter()
            for integer in integers { packed.append(varint: Self.zigZag(integer)) }
            append(nested: packed.bytes, number)
        }
    }

    /// Appends a message after its length, as in a stream of messages.
    mutating func append(delimited message: ProtobufMessage) {
        let encoded = ProtobufWriter.bytes(of: message)
        append(varint: UInt64(encoded.count))
        bytes += encoded
    }

    private static func zigZag(_ integer: Int64) -> UInt64 { UInt64(bitPattern: integer << 1 ^ integer >> 63) }

    private mutating func append(packed words: [UInt64], _ number: UInt64) {
        append(number, .bytes)
        append(varint: UInt64(words.count * 8))
        for word in words { append(littleEndian: word) }
    }

    private mutating func append(nested message: [UInt8], _ number: UInt64) {
        append(number, .bytes)
        append(varint: UInt64(message.count))
        bytes += message
    }

    private mutating func append(_ number: UInt64, _ type: WireType) {
        append(varint: number << 3 | type.rawValue)
    }

    private mutating func append(varint value: UInt64) {
        var rest = value
        while rest > 0x7F {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    private mutating func append(littleEndian value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.littleEndian) { bytes += $0 }
    }

    private mutating func append(bigEndian value: UInt64) {
        withUnsafeBytes(of: value.bigEndian) { bytes += $0 }
    }
}

// MARK: - Protobuf message

/// A message of a protobuf schema: its fields, each with its number, and with its name for JSON.
///
/// The same value is written as protobuf and as JSON, so that the two cannot differ.
struct ProtobufMessage: Equatable, Sendable {
    struct Field: Equatable, Sendable {
        let number: UInt64
        let name: String
        let value: ProtobufValue
    }

    private(set) var fields: [Field] = []

    mutating func add(_ number: UInt64, _ name: String, _ value: ProtobufValue) {
        fields.append(Field(number: number, name: name, value: value))
    }

    /// Adds a text unless it is empty, which is the default of protobuf.
    mutating func add(_ number: UInt64, _ name: String, nonEmpty text: String) {
        if !text.isEmpty { add(number, name, .string(text)) }
    }

    /// Adds a number unless it is zero, which is the default of protobuf.
    mutating func add(_ number: UInt64, _ name: String, nonZero count: Int) {
        if count > 0 { add(number, name, .uint32(UInt32(clamping: count))) }
    }

    init(_ build: (inout ProtobufMessage) -> Void = { _ in }) {
        build(&self)
    }
}

/// A value of a field, by its type in the schema.
indirect enum ProtobufValue: Equatable, Sendable {
    case string(String)
    /// The ID of a trace or a span: bytes, and hexadecimal digits in JSON.
    case id([UInt64])
    case bool(Bool)
    case int64(Int64)
    case uint32(UInt32)
    case uint64(UInt64)
    /// The types `sint32` and `sint64`.
    case sint(Int64)
    case fixed32(UInt32)
    case fixed64(UInt64)
    case double(Double)
    case enumeration(UInt32)
    case message(ProtobufMessage)
    case messages([ProtobufMessage])
    case fixed64s([UInt64])
    case doubles([Double])
    case sints([Int64])
}

/// The encoding of messages.
public enum OTLPFormat: Sendable, Hashable, CaseIterable {
    /// Protobuf, `application/x-protobuf`: the default.
    case protobuf
    /// JSON, `application/json`.
    case json

    var contentType: String {
        switch self {
        case .protobuf: "application/x-protobuf"
        case .json: "application/json"
        }
    }

    /// Returns the bytes of a message.
    func encoded(_ message: ProtobufMessage) -> [UInt8] {
        switch self {
        case .protobuf: return ProtobufWriter.bytes(of: message)
        case .json:
            var writer = OTLPJSONWriter()
            writer.append(message)
            return writer.bytes
        }
    }
}
