extension URITemplate {
    /// The values of a template's variables by their names, which are told apart by case.
    public struct Variables: Sendable, Hashable, ExpressibleByDictionaryLiteral {
        private var values: [String: Value] = [:]

        /// Makes an empty set.
        public init() {}

        /// Makes values of a literal; of a name that is repeated, the last counts.
        public init(dictionaryLiteral elements: (String, Value)...) {
            for (name, value) in elements { self[name] = value }
        }

        /// The names of those that have a value, sorted.
        var names: [String] { values.keys.sorted() }

        /// A variable's value.
        public subscript(name: String) -> Value {
            get { values[name] ?? .undefined }
            set {
                // A nil here would be a value that is undefined, not none.
                values.removeValue(forKey: name)
                if newValue != .undefined { values[name] = newValue }
            }
        }
    }

    /// What stands for a variable (RFC 6570 §2.3).
    ///
    /// Literals of strings, numbers, booleans, lists, dictionaries and nil are values; for what is not a literal there
    /// are initialisers, and `"\(number)"` does too:
    ///
    /// ```swift
    /// template.expand(["id": .init(user.id), "page": 2, "sort": nil, "fields": ["id", "name"]])
    /// ```
    public enum Value: Sendable, Hashable {
        /// Leaves nothing behind.
        case undefined
        /// A text, which may be empty.
        case string(String)
        /// Texts in their order; none is the same as undefined.
        case list([String])
        /// Names with their texts, in their order; none is the same as undefined.
        case associative([Pair])

        /// A member of an associative array.
        public struct Pair: Sendable, Hashable {
            /// The member's name.
            public let name: String
            /// The member's text.
            public let value: String

            /// Makes a member.
            public init(name: String, value: String) {
                self.name = name
                self.value = value
            }
        }

        /// Makes a value of a text, a number or a boolean as Swift writes it, `1.5`, `true`; undefined if it is nil.
        public init(_ value: (some LosslessStringConvertible)?) {
            self = value.map { .string($0.description) } ?? .undefined
        }

        /// Makes a list; undefined if it is nil.
        public init(_ list: [some LosslessStringConvertible]?) {
            self = list.map { .list($0.map(\.description)) } ?? .undefined
        }

        /// Makes an associative array in the order of the pairs.
        public init(_ pairs: KeyValuePairs<String, String>) {
            self = .associative(pairs.map(Pair.init))
        }

        /// Makes an associative array in the order of the names, since a dictionary has none of its own.
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
    /// Makes a text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Makes a text of a number.
    public init(integerLiteral value: Int) { self = .string("\(value)") }
    /// Makes a text of a number.
    public init(floatLiteral value: Double) { self = .string("\(value)") }
    /// Makes the text `true` or `false`.
    public init(booleanLiteral value: Bool) { self = .string("\(value)") }
    /// Makes a list of those that are not nil.
    public init(arrayLiteral elements: String?...) { self = .list(elements.compactMap(\.self)) }
    /// Makes an associative array of those that are not nil, in their order.
    public init(dictionaryLiteral elements: (String, String?)...) {
        self = .associative(elements.compactMap { name, value in value.map { Pair(name: name, value: $0) } })
    }
    /// Makes an undefined value.
    public init(nilLiteral: ()) { self = .undefined }
}
