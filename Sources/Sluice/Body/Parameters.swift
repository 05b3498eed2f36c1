import SluiceFoundation
import SluiceHTTP
import SluiceJSON

/// Parameters of any types, by name and in order, for a query, a form or a JSON object without a dedicated type.
///
/// ```swift
/// var parameters: Parameters = ["page": 1, "name": name, "tags": ["a", "b"]]
/// parameters["filter"] = ["state": "open", "stars": 5] as Parameters
/// ```
///
/// Names are unique, and setting a name again replaces its value. A ``URLEncodedFormEncoder`` whose
/// ``URLEncodedFormEncoder/sortsKeys`` is false encodes the parameters in their order, as do JSON encoders that keep the
/// order of keys. `JSONEncoder` does not keep it.
public struct Parameters: Sendable {
    /// An encodable value, or nil.
    public typealias Value = (any Encodable & Sendable)?

    /// The handling of nil parameters.
    public enum NilValues: Sendable, Hashable {
        /// They are omitted.
        case dropped
        /// They are encoded as null. In a form, ``URLEncodedFormEncoder/nilEncoding`` determines the result.
        case null
    }

    /// The handling of nil parameters; ``NilValues/dropped`` by default.
    ///
    /// Nested parameters use their own setting.
    public var nilValues: NilValues

    private var values = NamedValues<Value>()

    /// Creates empty parameters.
    public init(nilValues: NilValues = .dropped) {
        self.nilValues = nilValues
    }

    /// Creates parameters from a literal, such as `Parameters(["name": name], nilValues: .null)`. If a name occurs more
    /// than once, the last value is used.
    ///
    /// - Parameters:
    ///   - values: The parameters.
    ///   - nilValues: The handling of nil parameters.
    public init(_ values: KeyValuePairs<String, Value>, nilValues: NilValues = .dropped) {
        self.init(contentsOf: values, nilValues: nilValues)
    }

    /// Creates parameters from a sequence of names and values in order, such as a dictionary. If a name occurs more
    /// than once, the last value is used.
    ///
    /// - Parameters:
    ///   - values: The parameters.
    ///   - nilValues: The handling of nil parameters.
    public init(contentsOf values: some Sequence<(key: String, value: Value)>, nilValues: NilValues = .dropped) {
        self.nilValues = nilValues
        for (name, value) in values { self[name] = value }
    }

    /// Creates parameters from a dictionary, in the order of its names.
    ///
    /// - Parameters:
    ///   - values: The parameters.
    ///   - nilValues: The handling of nil parameters.
    @_disfavoredOverload
    public init(_ values: [String: Value], nilValues: NilValues = .dropped) {
        self.init(contentsOf: values.sorted { $0.key < $1.key }, nilValues: nilValues)
    }

    /// Creates parameters from values whose types are not known, such as a `[String: Any]`, in the order of their names.
    ///
    /// ```swift
    /// let request = shop.post("users", as: User.self).json(try Parameters(any: values))
    /// ```
    ///
    /// Values are strings, numbers, booleans, dates, URLs, UUIDs, `Data`, arrays and dictionaries of them, and those of
    /// `JSONSerialization`, whose `NSNull` becomes null. Any other `Encodable` value is encoded at once, by a
    /// `JSONEncoder`.
    ///
    /// - Parameters:
    ///   - values: The parameters. A value that is a nil optional counts as nil.
    ///   - nilValues: The handling of nil parameters.
    /// - Throws: ``SluiceError/Code/encodingFailed`` for a value of any other type. The error names the value.
    public init(any values: [String: Any], nilValues: NilValues = .dropped) throws(SluiceError) {
        try self.init(values, nilValues, path: "")
    }

    private init(_ values: [String: Any], _ nilValues: NilValues, path: String) throws(SluiceError) {
        self.nilValues = nilValues
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            self[name] = try Self.encodable(value, nilValues, path: path.isEmpty ? name : "\(path).\(name)")
        }
    }

    /// Returns a value with its type as a parameter.
    private static func encodable(_ value: Any, _ nilValues: NilValues, path: String) throws(SluiceError) -> Value {
        var value = value
        if let optional = value as? any OptionalValue {
            guard let wrapped = optional.wrapped else { return nil }
            value = wrapped
        }
        switch "\(type(of: value))" {
        case "NSNull": return JSON.null
        // A boolean of JSONSerialization can be cast to a number, and its numbers 0 and 1 to a boolean.
        case "__NSCFBoolean", "Bool": return (value as? Bool) ?? nil
        default: break
        }
        switch value {
        case let value as String: return value
        case let value as any FixedWidthInteger & Encodable & Sendable: return value
        case let value as any BinaryFloatingPoint & Encodable & Sendable: return value
        // A decimal number of JSONSerialization could also be cast to an integer or a float, but not exactly.
        case let value as Decimal: return value
        case let value as Int: return value
        case let value as UInt64: return value
        case let value as Double: return value
        case let value as Date: return value
        case let value as URL: return value
        case let value as UUID: return value
        case let value as Data: return value
        case let value as JSON: return value
        case let value as Parameters: return value
        case let value as [String: Any]: return try Parameters(value, nilValues, path: path)
        case let value as [Any]:
            var elements: [Value] = []
            for (index, element) in value.enumerated() {
                elements.append(try encodable(element, nilValues, path: "\(path)[\(index)]"))
            }
            return ParameterList(elements: elements)
        case let value as any Encodable:
            if let json = try? JSON(encoding: value) { return json }
        default: break
        }
        throw SluiceError(
            .encodingFailed,
            "The parameter “\(path)” has the type \(type(of: value)), which cannot be encoded.",
            step: .building
        )
    }

    /// The names in order, including those of nil values.
    public var names: [String] { values.entries.map(\.name) }

    /// The value for a name; nil if the value is nil or there is no such name.
    ///
    /// An existing name keeps its position, a new one is appended. Setting nil keeps the name with a nil value;
    /// ``remove(_:)`` removes it.
    public subscript(name: String) -> Value {
        get { values[name] ?? nil }
        set { values.set(name, Self.flattened(newValue)) }
    }

    /// Appends a parameter and removes an existing one with the same name.
    ///
    /// - Parameters:
    ///   - name: The name of the parameter.
    ///   - value: The value of the parameter.
    public mutating func append(_ name: String, _ value: Value) {
        values.remove(name)
        self[name] = value
    }

    /// Removes the parameter with a name, if it exists.
    public mutating func remove(_ name: String) {
        values.remove(name)
    }

    /// Sets all parameters of another value, as the subscript does. ``nilValues`` is unchanged.
    public mutating func merge(_ other: Parameters) {
        for (name, value) in other.values.entries { values.set(name, value) }
    }

    /// Returns a copy with all parameters of another value set, as the subscript does. ``nilValues`` is unchanged.
    public func merging(_ other: Parameters) -> Parameters {
        var merged = self
        merged.merge(other)
        return merged
    }

    /// Returns nil for a value that is itself a nil optional.
    private static func flattened(_ value: Value) -> Value {
        guard let value, let optional = value as? any OptionalValue else { return value }
        return optional.isNil ? nil : value
    }
}

extension Parameters: ExpressibleByDictionaryLiteral {
    /// Creates parameters from a literal. If a name occurs more than once, the last value is used.
    public init(dictionaryLiteral elements: (String, Value)...) {
        self.init()
        for (name, value) in elements { self[name] = value }
    }
}

extension Parameters: Encodable {
    /// Encodes the parameters in order, each under its name.
    ///
    /// - Parameter encoder: The encoder. Its key conversion applies to the names.
    /// - Throws: The error of the encoder or of a value.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: PathKey.self)
        for (name, value) in values.entries {
            if let value {
                try container.encode(value, forKey: .member(name))
            } else if nilValues == .null {
                try container.encodeNil(forKey: .member(name))
            }
        }
    }
}

/// An array of values of any types.
private struct ParameterList: Encodable, Sendable {
    let elements: [Parameters.Value]

    func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        for element in elements {
            if let element { try container.encode(element) } else { try container.encodeNil() }
        }
    }
}

/// A value wrapped in an object with a single key: `{"user": {…}}`.
struct RootKeyed: Encodable, Sendable {
    let key: String
    let value: any Encodable & Sendable

    private struct Member: Encodable {
        let value: any Encodable & Sendable

        func encode(to encoder: any Encoder) throws {
            // The container applies the strategies for dates, data and the like.
            var container = encoder.singleValueContainer()
            try container.encode(value)
        }
    }

    func encode(to encoder: any Encoder) throws {
        // Strategies for keys do not change the keys of a dictionary.
        var container = encoder.singleValueContainer()
        try container.encode([key: Member(value: value)])
    }
}

/// A dictionary of values by name that keeps insertion order. Setting an existing name replaces its value in place.
struct NamedValues<Value> {
    /// The maximum number of entries for which a linear search is used. It is faster than a dictionary and needs no
    /// memory.
    private static var linearSearchLimit: Int { 16 }

    private(set) var entries: [(name: String, value: Value)] = []
    /// The position of each name. Used only above the limit for linear search.
    private var positions: [String: Int] = [:]

    subscript(name: String) -> Value? {
        position(of: name).map { entries[$0].value }
    }

    mutating func set(_ name: String, _ value: Value) {
        if let position = position(of: name) {
            entries[position].value = value
            return
        }
        entries.append((name, value))
        if entries.count == Self.linearSearchLimit + 1 {
            index()
        } else if entries.count > Self.linearSearchLimit {
            positions[name] = entries.count - 1
        }
    }

    mutating func remove(_ name: String) {
        guard let position = position(of: name) else { return }
        entries.remove(at: position)
        index()
    }

    private func position(of name: String) -> Int? {
        entries.count > Self.linearSearchLimit ? positions[name] : entries.firstIndex { $0.name == name }
    }

    private mutating func index() {
        positions = [:]
        guard entries.count > Self.linearSearchLimit else { return }
        for (position, entry) in entries.enumerated() { positions[entry.name] = position }
    }
}

extension NamedValues: Sendable where Value: Sendable {}

extension Parameters: CustomReflectable, RedactedMirror {
    /// The names without the values, which may be secret.
    package var shown: [Mirror.Child] { [("names", names)] }
}
