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

    /// Adds a field.
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
    /// Repeated messages that have been encoded before, in the format of the message around them.
    case encoded([[UInt8]])
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
