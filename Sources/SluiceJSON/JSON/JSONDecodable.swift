import SluiceFoundation

/// A model that is created from a ``JSON`` value.
///
/// ```swift
/// struct User: JSONDecodable {
///     let name: String
///     let city: String
///     let nickname: String?
///
///     init(json: JSON) throws {
///         name = try json.value(at: "name")
///         city = try json.value(at: "address.city")
///         nickname = try json.optionalValue(at: "nickname")
///     }
/// }
///
/// let users: [User] = try await client.json.request("users").sender().value
/// ```
///
/// `JSON`, strings, booleans, numbers, URLs, and optionals, arrays and dictionaries of models conform already. An enum
/// with such a raw value only needs to declare the conformance. All conversions are strict: `"1"` is not an `Int`, and
/// 1 is not a `String`.
public protocol JSONDecodable: Sendable {
    /// Creates the model.
    ///
    /// - Parameter json: The value to read.
    /// - Throws: A ``JSONDecodingFailure``, or an error of the model.
    init(json: JSON) throws
}

extension JSONDecodable {
    /// Creates the model from a value and adds the value's path to errors.
    package init(json: JSON, at path: @autoclosure () -> JSONPath) throws(JSONDecodingFailure) {
        do {
            try self.init(json: json)
        } catch var failure as JSONDecodingFailure {
            failure.path = path().appending(failure.path)
            throw failure
        } catch {
            var failure = JSONDecodingFailure(expected: "\(Self.self)", found: json, cause: error)
            failure.path = path()
            throw failure
        }
    }
}

extension JSON {
    /// Creates a model from the value at a path.
    ///
    /// ```swift
    /// let city = try json.value(at: "address.city", as: String.self)
    /// ```
    ///
    /// - Parameters:
    ///   - path: The path to the value; see ``JSONPath``.
    ///   - type: The model type, if it cannot be inferred. A missing value gives nil if it is an optional type.
    /// - Returns: The model.
    /// - Throws: A ``JSONDecodingFailure`` with the complete path, including the path inside the model.
    public func value<Model: JSONDecodable>(
        at path: JSONPath,
        as type: Model.Type = Model.self
    ) throws(JSONDecodingFailure) -> Model {
        let json: JSON
        do throws(JSONPathFailure) {
            json = try find(path)
        } catch {
            guard error.isMissing, type is any OptionalValue.Type else {
                throw JSONDecodingFailure(error, expected: type)
            }
            json = .null
        }
        return try Model(json: json, at: path)
    }

    /// Creates a model from the value at a path, if the value exists.
    ///
    /// - Parameters:
    ///   - path: The path to the value; see ``JSONPath``.
    ///   - type: The model type, if it cannot be inferred.
    /// - Returns: The model; nil if the value or one of its containers is missing or `null`.
    /// - Throws: A ``JSONDecodingFailure`` with the complete path if the value exists but is not of this type.
    public func optionalValue<Model: JSONDecodable>(
        at path: JSONPath,
        as type: Model.Type = Model.self
    ) throws(JSONDecodingFailure) -> Model? {
        try value(at: path, as: Model?.self)
    }
}

/// The reason a JSON value could not be decoded as a model, with its path.
///
/// ```
/// At “users[2].address.city”, expected a string, found a number.
/// ```
///
/// A model throws this error for an unsuitable value. The decoding of the enclosing value adds its path.
///
/// ```swift
/// guard let colour = Colour(hex: json.stringValue) else {
///     throw JSONDecodingFailure(expected: "a colour as #rrggbb", found: json)
/// }
/// ```
public struct JSONDecodingFailure: LocalizedError, Sendable, CustomStringConvertible {
    /// The path from the decoded value; empty for that value itself.
    public var path: JSONPath
    /// The expected content: “a string”, or the name of a model type.
    public let expected: String
    /// The kind of the actual value; nil if it is missing.
    package let found: JSON.Kind?
    /// The value in quotation marks, if its type is suitable but the value is unknown to an enum.
    private let unknownValue: String?
    /// The underlying error: one that the model threw, or one that describes the missing value; nil if there is none.
    public let cause: (any Error)?

    /// Creates a failure for the value that a model is created from.
    ///
    /// - Parameters:
    ///   - expected: A description of the expected value with its article and without any of the value: “a date as
    ///     yyyy-mm-dd”.
    ///   - json: The actual value. Only its kind is stored.
    ///   - cause: The underlying error.
    public init(expected: String, found json: JSON, cause: (any Error)? = nil) {
        path = JSONPath()
        self.expected = expected
        found = JSON.Kind(json)
        self.cause = cause
        unknownValue = nil
    }

    /// Creates a failure for a raw value that a type does not have.
    init(unknown json: JSON, of type: Any.Type) {
        path = JSONPath()
        expected = "a raw value of \(type)"
        found = JSON.Kind(json)
        cause = nil
        let scalar =
            switch json {
            case .string(let text): text
            case .number, .bool: "\(json.stringValue)"
            case .null, .array, .object: String?.none
            }
        unknownValue = scalar.map { "\(JSON.quoted($0)) is not a value of \(type)" }
    }

    /// Creates a failure for a path that has no value.
    package init(_ failure: JSONPathFailure, expected model: Any.Type) {
        cause = failure
        unknownValue = nil
        if failure.isMissing, failure.found != .null {
            path = failure.path
            expected = "\(model)"
            found = nil
        } else {
            path = failure.reached
            expected = failure.isIndex ? "an array" : "an object"
            found = failure.found
        }
    }

    /// The problem without the path.
    package var reason: String { unknownValue ?? reasonWithoutValue }

    /// The problem without the path and without the value.
    package var reasonWithoutValue: String {
        "expected \(expected), found \(found.map(\.description) ?? "nothing")"
    }

    /// A one-sentence description that contains nothing of the JSON value except keys, and a raw value that its type
    /// does not have.
    public var description: String {
        path.isEmpty ? "The value is not valid: \(reason)." : "At “\(path)”, \(reason)."
    }

    /// The ``description``, as `localizedDescription`.
    public var errorDescription: String? { description }
}

// MARK: - Models of the standard library and Foundation

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
        // A text with many combining characters in a row is not a value of an enum, and takes long to compare with one. A
        // structure can hold a text, so it is larger than an enum.
        if case .string(let text) = json, MemoryLayout<Self>.size < MemoryLayout<String>.size,
            JSONMarks.isExceeded(by: text)
        {
            throw JSONDecodingFailure(unknown: json, of: Self.self)
        }
        guard let value = try Self(rawValue: RawValue(json: json)) else {
            throw JSONDecodingFailure(unknown: json, of: Self.self)
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

/// The optional types, whose values may be missing.
package protocol OptionalValue {
    static var nilValue: Self { get }
    static var wrappedType: Any.Type { get }
    /// The value inside all optionals, or nil.
    var wrapped: Any? { get }
}

extension OptionalValue {
    /// True for nil, and for an optional that contains nil.
    package var isNil: Bool { wrapped == nil }
}

extension Optional: OptionalValue {
    package static var nilValue: Self { nil }
    package static var wrappedType: Any.Type { Wrapped.self }

    package var wrapped: Any? {
        guard let value = self else { return nil }
        guard let optional = value as? any OptionalValue else { return value }
        return optional.wrapped
    }
}
