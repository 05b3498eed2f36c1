#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension JSON: JSONDecodable {
    /// Returns the value unchanged.
    public init(json: JSON) {
        self = json
    }
}

extension JSONNumber: JSONDecodable {
    /// Reads a number with its literal.
    public init(json: JSON) throws {
        guard case .number(let number) = json else { throw JSONDecodingFailure(expected: "a number", found: json) }
        self = number
    }
}

extension String: JSONDecodable {
    /// Reads a string.
    public init(json: JSON) throws {
        guard case .string(let text) = json else { throw JSONDecodingFailure(expected: "a string", found: json) }
        self = text
    }
}

extension Bool: JSONDecodable {
    /// Reads `true` or `false`.
    public init(json: JSON) throws {
        guard case .bool(let value) = json else { throw JSONDecodingFailure(expected: "a boolean", found: json) }
        self = value
    }
}

extension URL: JSONDecodable {
    /// Reads a string that is a URL.
    public init(json: JSON) throws {
        guard let url = json.string.flatMap({ URL(string: $0) }) else {
            throw JSONDecodingFailure(expected: "a URL", found: json)
        }
        self = url
    }
}

extension Double: JSONDecodable {
    /// Reads a number as the nearest `Double`. Throws if the result is not finite.
    public init(json: JSON) throws {
        guard let value = json.double else { throw JSONDecodingFailure(expected: "a number", found: json) }
        self = value
    }
}

extension Float: JSONDecodable {
    /// Reads a number as the nearest `Float`. Throws if the result is not finite.
    public init(json: JSON) throws {
        guard case .number(let number) = json, let value = Float(number.text), value.isFinite else {
            throw JSONDecodingFailure(expected: "a number", found: json)
        }
        self = value
    }
}

extension FixedWidthInteger where Self: JSONDecodable {
    /// Reads a number whose value the integer type represents exactly.
    public init(json: JSON) throws {
        guard case .number(let number) = json, let value = number.exactly(Self.self) else {
            throw JSONDecodingFailure(expected: "a whole number that fits \(Self.self)", found: json)
        }
        self = value
    }
}

extension Int: JSONDecodable {}
extension Int8: JSONDecodable {}
extension Int16: JSONDecodable {}
extension Int32: JSONDecodable {}
extension Int64: JSONDecodable {}
extension Int128: JSONDecodable {}
extension UInt: JSONDecodable {}
extension UInt8: JSONDecodable {}
extension UInt16: JSONDecodable {}
extension UInt32: JSONDecodable {}
extension UInt64: JSONDecodable {}
extension UInt128: JSONDecodable {}

extension RawRepresentable where Self: JSONDecodable, RawValue: JSONDecodable {
    /// Reads the raw value of one of the type's values.
    public init(json: JSON) throws {
        guard let value = try Self(rawValue: RawValue(json: json)) else {
            throw JSONDecodingFailure(expected: "a raw value of \(Self.self)", found: json)
        }
        self = value
    }
}

extension Optional: JSONDecodable where Wrapped: JSONDecodable {
    /// Reads `null` as nil.
    public init(json: JSON) throws {
        self = json.isNull ? nil : try Wrapped(json: json)
    }
}

extension Array: JSONDecodable where Element: JSONDecodable {
    /// Reads an array. A failure contains the index of the element.
    public init(json: JSON) throws {
        guard case .array(let elements) = json else { throw JSONDecodingFailure(expected: "an array", found: json) }
        self.init()
        reserveCapacity(elements.count)
        for (index, element) in elements.enumerated() {
            append(try Element(json: element, at: JSONPath([.index(index)])))
        }
    }
}

extension Dictionary: JSONDecodable where Key == String, Value: JSONDecodable {
    /// Reads an object. A failure contains the key of the member.
    public init(json: JSON) throws {
        guard case .object(let members) = json else { throw JSONDecodingFailure(expected: "an object", found: json) }
        self.init(minimumCapacity: members.count)
        for (key, value) in members { self[key] = try Value(json: value, at: JSONPath([.key(key)])) }
    }
}
