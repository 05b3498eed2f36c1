import SluiceFoundation

extension JSON {
    /// Creates a value by encoding an `Encodable` value.
    ///
    /// - Parameters:
    ///   - value: The value to encode.
    ///   - encoder: The encoder to use, with its strategies for dates, keys and so on.
    /// - Throws: The error of the encoder.
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
    ///   - type: The model type, if it cannot be inferred.
    ///   - decoder: The decoder to use, with its strategies for dates, keys and so on.
    /// - Returns: The model.
    /// - Throws: The error of the decoder.
    public func decoded<Model: Decodable>(
        as type: Model.Type = Model.self,
        by decoder: any DataDecoder = JSONDecoder()
    ) throws -> Model {
        if let json = self as? Model { return json }
        return try decoder.decode(type, from: encoded(Format(sortsKeys: false)))
    }
}

/// A decoder that has the parsed text, and can return a value as it was written.
protocol JSONValueDecoder: Decoder {
    var value: JSON { get }
    /// The literal of the number, or of a string that contains a number; nil for other values.
    var numberLiteral: String? { get }
}

extension JSON: Codable {
    /// Decodes any value. `JSONDecoder` does not convert the names of members, whatever its key strategy.
    ///
    /// - Parameter decoder: The decoder. Its format must be self-describing. `JSONDecoder` provides numbers with at
    ///   most 38 digits and without their literal. ``LenientJSONDecoder`` and ``init(parsing:)-(Data)`` are lossless.
    /// - Throws: A `DecodingError`.
    public init(from decoder: any Decoder) throws {
        // The scalars of a lenient decoder convert numbers and booleans to strings.
        if let decoder = decoder as? any JSONValueDecoder {
            self = decoder.value
            return
        }
        let container = try decoder.singleValueContainer()
        // Each failed attempt throws a DecodingError, so try the most likely types first and probe for containers
        // instead of decoding them.
        if container.decodeNil() {
            self = .null
        } else if let text = try? container.decode(String.self) {
            self = .string(text)
        } else if let integer = try? container.decode(Int64.self) {
            self = .number(JSONNumber(integer))
        } else if (try? decoder.container(keyedBy: PathKey.self)) != nil {
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
    /// - Parameter encoder: The encoder. `JSONEncoder` encodes numbers with at most 38 digits; ``encoded()`` is
    ///   lossless.
    /// - Throws: An `EncodingError` for a number outside the range of all Swift types, such as 1e400.
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
}

extension JSONNumber: Codable {
    /// Decodes a number. `JSONDecoder` provides at most 38 digits.
    public init(from decoder: any Decoder) throws {
        if let decoder = decoder as? any JSONValueDecoder, let literal = decoder.numberLiteral,
            let number = JSONNumber(literal)
        {
            self = number
            return
        }
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

    /// Encodes the number as the first of `Int64`, `UInt64`, `Double` and `Decimal` that represents it exactly,
    /// otherwise as the nearest `Double`.
    ///
    /// - Parameter encoder: The encoder.
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

/// A decoder that creates `Decodable` values from bytes: `JSONDecoder`, `PropertyListDecoder`, ``LenientJSONDecoder``,
/// or a custom one.
public protocol DataDecoder: Sendable {
    /// Decodes a value.
    ///
    /// - Parameters:
    ///   - type: The type to decode.
    ///   - data: The complete encoded value.
    /// - Returns: The decoded value.
    /// - Throws: Usually a `DecodingError`.
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

extension JSONDecoder: DataDecoder {}
extension PropertyListDecoder: DataDecoder {}

/// The coding key of any member of an object, or of an element of an array.
package enum PathKey: CodingKey {
    case member(String)
    case element(Int)

    package init(stringValue: String) { self = .member(stringValue) }
    package init(intValue: Int) { self = .element(intValue) }

    package var stringValue: String {
        switch self {
        case .member(let name): name
        case .element(let index): "Index \(index)"
        }
    }

    package var intValue: Int? {
        if case .element(let index) = self { index } else { nil }
    }
}
