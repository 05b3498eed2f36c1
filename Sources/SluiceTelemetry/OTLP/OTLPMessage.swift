/// A message of the OpenTelemetry protocol: its fields, each with the number of the protobuf schema and the name of JSON.
///
/// The same value is written as protobuf and as JSON, so that the two cannot differ.
struct OTLPMessage: Equatable, Sendable {
    struct Field: Equatable, Sendable {
        let number: UInt64
        let name: String
        let value: OTLPValue
    }

    private(set) var fields: [Field] = []

    /// Adds a field.
    mutating func add(_ number: UInt64, _ name: String, _ value: OTLPValue) {
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

    init(_ build: (inout OTLPMessage) -> Void = { _ in }) {
        build(&self)
    }
}

/// A value of a field, by its type in the schema.
indirect enum OTLPValue: Equatable, Sendable {
    case string(String)
    /// The ID of a trace or a span: bytes, and hexadecimal digits in JSON.
    case id([UInt64])
    case bool(Bool)
    case int64(Int64)
    case uint32(UInt32)
    case fixed32(UInt32)
    case fixed64(UInt64)
    case double(Double)
    case enumeration(UInt32)
    case message(OTLPMessage)
    case messages([OTLPMessage])
    case fixed64s([UInt64])
    case doubles([Double])
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
    func encoded(_ message: OTLPMessage) -> [UInt8] {
        switch self {
        case .protobuf:
            var writer = ProtobufWriter()
            writer.append(message)
            return writer.bytes
        case .json:
            var writer = OTLPJSONWriter()
            writer.append(message)
            return writer.bytes
        }
    }
}
