/// Parameters of any types by name, in the order they are written: for a query, a form or a JSON object without a type
/// of its own.
///
/// ```swift
/// var parameters: Parameters = ["page": 1, "name": name, "tags": ["a", "b"]]
/// parameters["filter"] = ["state": "open", "stars": 5] as Parameters
/// ```
///
/// A name stands once; a later value takes the earlier one's place. In JSON and with a ``URLEncodedFormEncoder`` of
/// ``URLEncodedFormEncoder/KeyOrder/asEncoded`` order the parameters are encoded in theirs, as far as the encoder keeps
/// an order: `JSONEncoder` does not.
public struct Parameters: Sendable {
    /// A value to encode, or nil.
    public typealias Value = (any Encodable & Sendable)?

    /// What becomes of parameters that are nil.
    public enum NilValues: Sendable, Hashable {
        /// They are not encoded.
        case dropped
        /// They are encoded as null. What a form makes of that is its encoder's ``URLEncodedFormEncoder/nilEncoding``.
        case null
    }

    /// What becomes of parameters that are nil; ``NilValues/dropped`` by default.
    ///
    /// Parameters within these follow their own.
    public var nilValues: NilValues

    private var values = NamedValues<Value>()

    /// Makes parameters without any.
    public init(nilValues: NilValues = .dropped) {
        self.nilValues = nilValues
    }

    /// Makes parameters of a literal, as `Parameters(["name": name], nilValues: .null)`; of values with the same name the
    /// last one counts.
    ///
    /// - Parameters:
    ///   - values: The parameters.
    ///   - nilValues: What becomes of those that are nil.
    public init(_ values: KeyValuePairs<String, Value>, nilValues: NilValues = .dropped) {
        self.init(contentsOf: values, nilValues: nilValues)
    }

    /// Makes parameters of names and values in their order, of those of a dictionary for example; of values with the
    /// same name the last one counts.
    ///
    /// - Parameters:
    ///   - values: The parameters.
    ///   - nilValues: What becomes of those that are nil.
    public init(contentsOf values: some Sequence<(key: String, value: Value)>, nilValues: NilValues = .dropped) {
        self.nilValues = nilValues
        for (name, value) in values { self[name] = value }
    }

    /// The names in their order, those of nil values included.
    public var names: [String] { values.entries.map(\.name) }

    /// Whether there are none.
    public var isEmpty: Bool { values.entries.isEmpty }

    /// The value of a name; nil too if there is none of that name.
    ///
    /// A name that is there keeps its place, a new one goes to the end. Setting nil keeps the name with nil for its value;
    /// ``remove(_:)`` takes it away.
    public subscript(name: String) -> Value {
        get { values[name] ?? nil }
        set { values.set(name, Self.flattened(newValue)) }
    }

    /// Adds a parameter at the end, and takes away the one that had its name.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - value: Its value.
    public mutating func append(_ name: String, _ value: Value) {
        values.remove(name)
        self[name] = value
    }

    /// Takes a parameter away, if there is one of that name.
    public mutating func remove(_ name: String) {
        values.remove(name)
    }

    /// Sets all parameters of another value, as the subscript does; ``nilValues`` stays.
    public mutating func merge(_ other: Parameters) {
        for (name, value) in other.values.entries { values.set(name, value) }
    }

    /// A copy with all parameters of another value set, as the subscript does; ``nilValues`` stays.
    public func merging(_ other: Parameters) -> Parameters {
        var merged = self
        merged.merge(other)
        return merged
    }

    /// An optional that went in as a value of its own is nil if what it wraps is.
    private static func flattened(_ value: Value) -> Value {
        guard let value, let optional = value as? any WrappedValue else { return value }
        return optional.isNil ? nil : value
    }
}

extension Parameters: ExpressibleByDictionaryLiteral {
    /// Makes parameters of a literal; of values with the same name the last one counts.
    public init(dictionaryLiteral elements: (String, Value)...) {
        self.init()
        for (name, value) in elements { self[name] = value }
    }
}

extension Parameters: Encodable {
    /// A key that is made as it is needed.
    struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) {
            self.stringValue = stringValue
        }

        init(intValue: Int) {
            self.init(stringValue: String(intValue))
        }
    }

    /// Encodes the parameters in their order, each under its name.
    ///
    /// - Parameter encoder: Any encoder; one that converts keys converts these too.
    /// - Throws: What the encoder or a value throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Name.self)
        for (name, value) in values.entries {
            if let value {
                try container.encode(value, forKey: Name(stringValue: name))
            } else if nilValues == .null {
                try container.encodeNil(forKey: Name(stringValue: name))
            }
        }
    }
}

/// An optional whose type is not known.
private protocol WrappedValue {
    var isNil: Bool { get }
}

extension Optional: WrappedValue {
    fileprivate var isNil: Bool {
        guard let value = self else { return true }
        return (value as? any WrappedValue)?.isNil ?? false
    }
}
