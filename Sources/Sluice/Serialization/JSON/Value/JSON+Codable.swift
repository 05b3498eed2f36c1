#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension JSON {
    /// Makes a value of anything `Encodable`.
    ///
    /// - Parameters:
    ///   - value: What is encoded.
    ///   - encoder: Encodes it, with its strategies for dates, keys and so on.
    /// - Throws: What the encoder throws.
    public init(encoding value: some Encodable, by encoder: JSONEncoder = JSONEncoder()) throws {
        if let json = value as? JSON {
            self = json
        } else {
            try self.init(parsing: encoder.encode(value))
        }
    }

    /// Decodes a model from the value.
    ///
    /// ```swift
    /// let address = try json.user.address.decoded(as: Address.self)
    /// ```
    ///
    /// - Parameters:
    ///   - type: The model, where the context does not name it.
    ///   - decoder: Decodes it, with its strategies for dates, keys and so on.
    /// - Returns: The model.
    /// - Throws: What the decoder throws.
    public func decoded<Model: Decodable>(
        as type: Model.Type = Model.self,
        by decoder: any DataDecoder = JSONDecoder()
    ) throws -> Model {
        if let json = self as? Model { return json }
        return try decoder.decode(type, from: encoded(Format(sortsKeys: false)))
    }
}

extension JSON: Codable {
    /// Decodes any value; of keys, `JSONDecoder` leaves the names as they are whatever its strategy.
    ///
    /// - Parameter decoder: Any decoder of a format that says of its values what they are. `JSONDecoder` hands out numbers
    ///   with 38 digits at most, and without their literal; ``init(parsing:)-(Data)`` loses nothing.
    /// - Throws: A `DecodingError`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        // A guess that fails costs a DecodingError, so the likeliest go first, and containers are probed, not decoded.
        if container.decodeNil() {
            self = .null
        } else if let text = try? container.decode(String.self) {
            self = .string(text)
        } else if let integer = try? container.decode(Int64.self) {
            self = .number(JSONNumber(integer))
        } else if (try? decoder.container(keyedBy: AnyName.self)) != nil {
            self = try .object(container.decode([String: JSON].self))
        } else if (try? decoder.unkeyedContainer()) != nil {
            self = try .array(container.decode([JSON].self))
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else {
            self = try .number(container.decode(JSONNumber.self))
        }
    }

    /// Encodes the value.
    ///
    /// - Parameter encoder: Any encoder. `JSONEncoder` takes numbers with 38 digits at most; ``encoded(_:)`` loses nothing.
    /// - Throws: An `EncodingError` for a number that no Swift number comes near, like 1e400.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .number(let number): try container.encode(number)
        case .string(let text): try container.encode(text)
        case .array(let elements): try container.encode(elements)
        case .object(let members): try container.encode(members)
        }
    }

    private struct AnyName: CodingKey {
        let stringValue: String
        let intValue: Int? = nil

        init(stringValue: String) {
            self.stringValue = stringValue
        }

        init?(intValue: Int) {
            nil
        }
    }
}

extension JSONNumber: Codable {
    /// Decodes a number; `JSONDecoder` hands out 38 digits at most.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let integer = try? container.decode(Int64.self) {
            self.init(integer)
        } else if let integer = try? container.decode(UInt64.self) {
            self.init(integer)
        } else if let decimal = try? container.decode(Decimal.self), let number = JSONNumber(decimal.description) {
            self = number
        } else if let number = try JSONNumber(container.decode(Double.self)) {
            self = number
        } else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "The number is not finite.")
        }
    }

    /// Encodes the number as the first of `Int64`, `UInt64`, `Double` and `Decimal` that has exactly its value, or else the
    /// nearest `Double`.
    ///
    /// - Parameter encoder: Any encoder.
    /// - Throws: An `EncodingError` for a number too large for a finite `Double`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let integer = exactly(Int64.self) {
            try container.encode(integer)
        } else if let integer = exactly(UInt64.self) {
            try container.encode(integer)
        } else if let double, JSONNumber(double) == self {
            try container.encode(double)
        } else if let decimal = Decimal(string: text), JSONNumber(decimal.description) == self {
            try container.encode(decimal)
        } else if let double {
            try container.encode(double)
        } else {
            let context = EncodingError.Context(
                codingPath: encoder.codingPath,
                debugDescription: "The number is too large for a Double."
            )
            throw EncodingError.invalidValue(text, context)
        }
    }
}
