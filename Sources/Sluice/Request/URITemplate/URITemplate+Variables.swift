extension URITemplate {
    /// The values of a template's variables by name. Names are case-sensitive.
    public struct Variables: Sendable, Hashable, ExpressibleByDictionaryLiteral {
        private var values: [String: Value] = [:]

        /// Creates an empty set.
        public init() {}

        /// Creates a set from a literal. If a name is repeated, the last value counts.
        public init(dictionaryLiteral elements: (String, Value)...) {
            for (name, value) in elements { self[name] = value }
        }

        /// The sorted names of the variables that have a value.
        var names: [String] { values.keys.sorted() }

        /// The value of a variable.
        public subscript(name: String) -> Value {
            get { values[name] ?? .undefined }
            set {
                // Assigning nil to the entry would store an undefined value instead of removing it.
                values.removeValue(forKey: name)
                if newValue != .undefined { values[name] = newValue }
            }
        }
    }

    /// The value of a variable (RFC 6570 §2.3).
    ///
    /// A value can be a literal: a string, number, boolean, list, dictionary or nil. For other expressions, use an
    /// initializer or interpolation, `"\(number)"`:
    ///
    /// ```swift
    /// template.expand(["id": .init(user.id), "page": 2, "sort": nil, "fields": ["id", "name"]])
    /// ```
    public enum Value: Sendable, Hashable {
        /// No value. The variable expands to nothing.
        case undefined
        /// A string, which may be empty.
        case string(String)
        /// Strings in order. An empty list is the same as an undefined value.
        case list([String])
        /// Names with strings, in order. An empty array is the same as an undefined value.
        case associative([Pair])

        /// A member of an associative array.
        public struct Pair: Sendable, Hashable {
            /// The name.
            public let name: String
            /// The value.
            public let value: String

            /// Creates a member.
            public init(name: String, value: String) {
                self.name = name
                self.value = value
            }
        }

        /// Creates a string from a value as Swift prints it, `1.5`, `true`; undefined if it is nil.
        public init(_ value: (some LosslessStringConvertible)?) {
            self = value.map { .string($0.description) } ?? .undefined
        }

        /// Creates a list; undefined if it is nil.
        public init(_ list: [some LosslessStringConvertible]?) {
            self = list.map { .list($0.map(\.description)) } ?? .undefined
        }

        /// Creates an associative array in the order of the pairs.
        public init(_ pairs: KeyValuePairs<String, String>) {
            self = .associative(pairs.map(Pair.init))
        }

        /// Creates an associative array sorted by name, because a dictionary has no order.
        public init(_ dictionary: [String: String]) {
            self = .associative(
                dictionary.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map(Pair.init)
            )
        }
    }
}

extension URITemplate.Value: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
    /// Creates a string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates a string from a number.
    public init(integerLiteral value: Int) { self = .string("\(value)") }
    /// Creates a string from a number.
    public init(floatLiteral value: Double) { self = .string("\(value)") }
    /// Creates the string `true` or `false`.
    public init(booleanLiteral value: Bool) { self = .string("\(value)") }
    /// Creates a list from the elements that are not nil.
    public init(arrayLiteral elements: String?...) { self = .list(elements.compactMap(\.self)) }
    /// Creates an associative array from the elements that are not nil, in their order.
    public init(dictionaryLiteral elements: (String, String?)...) {
        self = .associative(elements.compactMap { name, value in value.map { Pair(name: name, value: $0) } })
    }
    /// Creates an undefined value.
    public init(nilLiteral: ()) { self = .undefined }
}
