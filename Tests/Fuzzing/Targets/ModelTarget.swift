import Foundation

@testable import SluiceJSON

extension FuzzTarget {
    /// Decodes models. Where the decoder of models has a result, a `JSONDecoder` has the same.
    static let jsonModel = FuzzTarget("json-model") { bytes in
        let data = Data(bytes)
        try compare(AnyValue.self, data)
        try compare(Record.self, data)
        try compare([Record].self, data)
        try compare([String: Double?].self, data)
        try compare([Int].self, data)
        try compare([UInt8?].self, data)
        try compare([Float].self, data)
        try compare([Decimal].self, data)
        try compare([String].self, data)
        try compare([Date].self, data, JSONDecoder())
        try compare([URL].self, data)
        try compare([Int: String].self, data)
        let converting = JSONDecoder()
        converting.keyDecodingStrategy = .convertFromSnakeCase
        converting.dateDecodingStrategy = .iso8601
        try compare(Record.self, data, converting)
    }

    private static func compare<Value: Decodable & Equatable>(
        _ type: Value.Type,
        _ data: Data,
        _ decoder: JSONDecoder = JSONDecoder()
    ) throws {
        guard let value = JSONModelDecoder(decoder)?.decodeDirectly(type, from: data) else { return }
        let expected = try? decoder.decode(type, from: data)
        try require(
            expected == value,
            "\(type) is decoded as \(value), and by JSONDecoder as \(String(describing: expected))."
        )
    }
}

/// A model with values of many types.
private struct Record: Decodable, Equatable {
    let id: Int?
    let firstName: String?
    let isDone: Bool?
    let size: UInt64?
    let ratio: Double?
    let data: Data?
    let date: Date?
    let tags: [String]?
    let others: [Record]?
    let next: [String: Record]?
}

/// Any JSON value.
private indirect enum AnyValue: Decodable, Equatable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([AnyValue])
    case object([String: AnyValue])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([AnyValue].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: AnyValue].self))
        }
    }
}
