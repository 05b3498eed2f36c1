/// A type that can be converted to a ``JSON`` value without failing.
///
/// ```swift
/// extension Money: JSONEncodable {
///     var jsonValue: JSON { ["amount": JSON(amount), "currency": JSON(currency)] }
/// }
/// let body: JSON = ["prices": JSON([price, tax])]
/// ```
///
/// For `Encodable` types, use ``JSON/init(encoding:by:)``.
public protocol JSONEncodable {
    /// The value as JSON.
    var jsonValue: JSON { get }
}

extension JSON {
    /// Creates a value from a number, a string, a boolean, an optional, array or dictionary of these, or any other type
    /// that is ``JSONEncodable``.
    public init(_ value: some JSONEncodable) {
        self = value.jsonValue
    }

    /// Creates a value from a literal.
    public init(_ json: JSON) {
        self = json
    }
}

extension JSON: JSONEncodable {
    /// The value itself.
    public var jsonValue: JSON { self }
}

extension JSONNumber: JSONEncodable {
    /// The number as a value.
    public var jsonValue: JSON { .number(self) }
}

extension Bool: JSONEncodable {
    /// A boolean.
    public var jsonValue: JSON { .bool(self) }
}

extension String: JSONEncodable {
    /// A string.
    public var jsonValue: JSON { .string(self) }
}

extension Substring: JSONEncodable {
    /// A string.
    public var jsonValue: JSON { .string(String(self)) }
}

extension Optional: JSONEncodable where Wrapped: JSONEncodable {
    /// The value as JSON; `null` for nil.
    public var jsonValue: JSON { map(\.jsonValue) ?? .null }
}

extension Array: JSONEncodable where Element: JSONEncodable {
    /// An array.
    public var jsonValue: JSON { .array(map(\.jsonValue)) }
}

extension Dictionary: JSONEncodable where Key == String, Value: JSONEncodable {
    /// An object.
    public var jsonValue: JSON { .object(mapValues(\.jsonValue)) }
}

extension RawRepresentable where Self: JSONEncodable, RawValue: JSONEncodable {
    /// The raw value as JSON.
    public var jsonValue: JSON { rawValue.jsonValue }
}

extension BinaryInteger where Self: JSONEncodable {
    /// A number.
    public var jsonValue: JSON { .number(JSONNumber(self)) }
}

extension BinaryFloatingPoint where Self: JSONEncodable & LosslessStringConvertible {
    /// A number; `null` for infinity and NaN, which JSON does not have.
    public var jsonValue: JSON { JSONNumber(self).jsonValue }
}

extension Int: JSONEncodable {}
extension Int8: JSONEncodable {}
extension Int16: JSONEncodable {}
extension Int32: JSONEncodable {}
extension Int64: JSONEncodable {}
extension Int128: JSONEncodable {}
extension UInt: JSONEncodable {}
extension UInt8: JSONEncodable {}
extension UInt16: JSONEncodable {}
extension UInt32: JSONEncodable {}
extension UInt64: JSONEncodable {}
extension UInt128: JSONEncodable {}
extension Float: JSONEncodable {}
extension Double: JSONEncodable {}

// MARK: - Literals

extension JSON: ExpressibleByNilLiteral {
    /// Creates `null`.
    public init(nilLiteral: ()) {
        self = .null
    }
}

extension JSON: ExpressibleByBooleanLiteral {
    /// Creates a boolean.
    public init(booleanLiteral value: Bool) {
        self = .bool(value)
    }
}

extension JSON: ExpressibleByIntegerLiteral {
    /// Creates a number.
    public init(integerLiteral value: Int) {
        self = .number(JSONNumber(value))
    }
}

extension JSON: ExpressibleByFloatLiteral {
    /// Creates a number.
    public init(floatLiteral value: Double) {
        self = value.jsonValue
    }
}

extension JSON: ExpressibleByStringInterpolation {
    /// Creates a string.
    public init(stringLiteral value: String) {
        self = .string(value)
    }
}

extension JSON: ExpressibleByArrayLiteral {
    /// Creates an array.
    public init(arrayLiteral elements: JSON...) {
        self = .array(elements)
    }
}

extension JSON: ExpressibleByDictionaryLiteral {
    /// Creates an object. If a name occurs more than once, the last value is used.
    public init(dictionaryLiteral members: (String, JSON)...) {
        self = .object(Dictionary(members) { $1 })
    }
}
