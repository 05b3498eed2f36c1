import SluiceFoundation

/// A JSON value with dynamic access to its contents.
///
/// ```swift
/// let json = try JSON(parsing: data)
/// let name = json.data.items[0].name.stringValue
/// let total = json[path: "data.total"].int
/// let body: JSON = ["name": "Ada", "tags": ["a", "b"], "age": 36]
/// ```
///
/// Look-ups never trap or throw: a missing value is ``JSON/null``. To get an error that names the missing value, use
/// ``value(at:as:)``. Numbers keep their original digits, see ``JSONNumber``. Values with the same meaning are equal,
/// so 1 equals 1.0.
///
/// A member can be read and set by its name, `json.user.name`. The names that `JSON` itself declares take precedence.
/// To access a member with such a name, use a subscript, such as `json["hash"]`. Such names are ``count``, ``description``,
/// ``isNull``, `hash`, `hashValue`, `value`, `optionalValue`, `jsonValue`, `encode`, `encoded`, `decoded`, `formatted`,
/// `contains`, `removeValue`, and the accessors from ``string`` to ``dictionaryValue``. Only `jsonValue` is a `JSON`.
/// The compiler therefore rejects an expression that continues from one of the others, such as `json.value.name`.
@dynamicMemberLookup
public enum JSON: Sendable, Hashable {
    /// The value `null`, and the result of reading a missing value.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number with its literal.
    case number(JSONNumber)
    /// A string.
    case string(String)
    /// An array.
    case array([JSON])
    /// An object. The order of its members is not significant (RFC 8259 §1) and is not kept.
    case object([String: JSON])

    /// True if this is `null` or the result of reading a missing value. ``contains(_:)`` distinguishes the two.
    public var isNull: Bool {
        if case .null = self { true } else { false }
    }

    /// The number of elements of an array or members of an object; 0 for other kinds.
    public var count: Int {
        switch self {
        case .array(let elements): elements.count
        case .object(let members): members.count
        case .null, .bool, .number, .string: 0
        }
    }
}

extension JSON {
    /// The kinds of a JSON value (RFC 8259 §3).
    package enum Kind: Sendable, Hashable, CustomStringConvertible {
        case null, boolean, number, string, array, object

        /// The kind of a value.
        package init(_ json: JSON) {
            self =
                switch json {
                case .null: .null
                case .bool: .boolean
                case .number: .number
                case .string: .string
                case .array: .array
                case .object: .object
                }
        }

        /// The kind with its article, such as “an array”.
        package var description: String {
            switch self {
            case .null: "null"
            case .boolean: "a boolean"
            case .number: "a number"
            case .string: "a string"
            case .array: "an array"
            case .object: "an object"
            }
        }
    }
}

// MARK: - Texts of errors

extension JSON {
    /// Returns a value in quotation marks for an error text: on one line, and without what follows 40 characters.
    package static func quoted(_ value: String) -> String {
        let scalars = value.unicodeScalars.prefix(40).map { $0.properties.generalCategory == .control ? "?" : $0 }
        let isWhole = value.unicodeScalars.count == scalars.count
        return "“\(String(String.UnicodeScalarView(scalars)))\(isWhole ? "" : "…")”"
    }
}

// MARK: - Parsing

extension JSON {
    /// Creates ``null``, which becomes an object or an array when a member or an element is set.
    public init() { self = .null }

    /// Parses a JSON text (RFC 8259) in UTF-8. Parsing is strict: comments, trailing commas and NaN are errors.
    ///
    /// The root can be any value. If an object has several members with the same name, the first is used, as with
    /// `JSONDecoder`. Arrays and objects may be nested at most 512 levels deep.
    ///
    /// - Parameter data: The text. A leading byte order mark is skipped.
    /// - Throws: A ``JSONSyntaxError`` with the reason and location.
    public init(parsing data: Data) throws(JSONSyntaxError) {
        let document = try JSONDocument(data)
        self.init(document, document.root)
    }

    /// Parses a JSON text (RFC 8259), as ``init(parsing:)-(Data)`` does.
    ///
    /// - Parameter text: The text.
    /// - Throws: A ``JSONSyntaxError`` with the reason and location.
    public init(parsing text: String) throws(JSONSyntaxError) {
        let document = try JSONDocument(text)
        self.init(document, document.root)
    }

    /// Creates a value from a node. The parser's depth limit bounds the recursion.
    package init(_ document: JSONDocument, _ node: JSONDocument.Node) {
        switch document.kind(of: node) {
        case .null: self = .null
        case .false: self = .bool(false)
        case .true: self = .bool(true)
        case .number: self = .number(JSONNumber(checked: document.text(of: node)))
        case .string: self = .string(document.string(of: node))
        case .array:
            var elements: [JSON] = []
            elements.reserveCapacity(document.count(of: node))
            for element in document.elements(of: node) { elements.append(JSON(document, element)) }
            self = .array(elements)
        case .object:
            var members: [String: JSON] = [:]
            // Without members, it would allocate a table.
            if document.count(of: node) > 0 { members.reserveCapacity(document.count(of: node)) }
            for (key, value) in document.members(of: node) {
                let key = document.string(of: key)
                if let first = members.updateValue(JSON(document, value), forKey: key) { members[key] = first }
            }
            self = .object(members)
        }
    }
}

// MARK: - Reading values

// Accessors without conversion. They return nil for values of another kind.
extension JSON {
    /// The string; nil if this is not a string.
    public var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The number as an `Int`; nil if this is not a number, has a fraction, or does not fit.
    public var int: Int? { integer() }

    /// The number as an `Int64`; nil if this is not a number, has a fraction, or does not fit.
    public var int64: Int64? { integer() }

    /// The number as a `UInt64`; nil if this is not a number, has a fraction, or does not fit.
    public var uint64: UInt64? { integer() }

    /// The number as the nearest `Double`; nil if this is not a number, or is too large for a finite `Double`.
    public var double: Double? {
        if case .number(let number) = self { number.double } else { nil }
    }

    /// The boolean; nil if this is not a boolean.
    public var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The elements of the array; nil if this is not an array.
    public var array: [JSON]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// The members of the object; nil if this is not an object.
    public var dictionary: [String: JSON]? {
        if case .object(let members) = self { members } else { nil }
    }

    private func integer<Integer: FixedWidthInteger>() -> Integer? {
        if case .number(let number) = self { number.exactly() } else { nil }
    }
}

// Accessors that convert. They return a value for every kind.
extension JSON {
    /// The string, the literal of a number, or `true` or `false`; an empty string for other kinds.
    public var stringValue: String {
        switch self {
        case .string(let text): text
        case .number(let number): number.text
        case .bool(let value): value ? "true" : "false"
        case .null, .array, .object: ""
        }
    }

    /// A number, or a string that contains one, truncated to an integer; 1 for `true`; 0 for all other values and for
    /// numbers that do not fit.
    public var intValue: Int { integerValue() }

    /// A number, or a string that contains one, truncated to an integer; 1 for `true`; 0 for all other values and for
    /// numbers that do not fit.
    public var int64Value: Int64 { integerValue() }

    /// A number, or a string that contains one, truncated to an integer; 1 for `true`; 0 for all other values and for
    /// numbers that do not fit.
    public var uint64Value: UInt64 { integerValue() }

    /// A number, or a string that contains one, as the nearest `Double`; 1 for `true`; 0 for all other values and for
    /// numbers that are too large.
    public var doubleValue: Double { numberValue?.double ?? 0 }

    /// True for `true`, a number other than 0, and the strings “true”, “t”, “yes”, “y” and “1” in any case.
    public var boolValue: Bool {
        switch self {
        case .bool(let value): value
        case .number(let number): !number.isZero
        // A longer text is none of them, and may take long to compare.
        case .string(let text): text.utf8.count <= 5 && ["true", "t", "yes", "y", "1"].contains(text.lowercased())
        case .null, .array, .object: false
        }
    }

    /// The elements of an array; empty for other kinds.
    public var arrayValue: [JSON] { array ?? [] }

    /// The members of an object; empty for other kinds.
    public var dictionaryValue: [String: JSON] { dictionary ?? [:] }

    private func integerValue<Integer: FixedWidthInteger>() -> Integer {
        numberValue?.truncated() ?? 0
    }

    private var numberValue: JSONNumber? {
        switch self {
        case .number(let number): number
        case .string(let text): JSONNumber(lenient: text)
        case .bool(let value): JSONNumber(value ? 1 : 0)
        case .null, .array, .object: nil
        }
    }
}

extension JSONNumber {
    /// Creates a number from decimal text that may have surrounding whitespace, a plus sign or leading zeros.
    fileprivate init?(lenient text: String) {
        let utf8 = text.utf8[...].trimmingWhiteSpace
        let trimmed = String(Substring(utf8))
        // Not by way of `Double`, which has 53 bits for the digits of an integer.
        if let number = JSONNumber(trimmed) ?? JSONNumber(Self.literal(utf8)) {
            self = number
            return
        }
        // `Double` also accepts hexadecimal digits, infinity and NaN.
        let isDecimal = utf8.allSatisfy { $0.isDecimalDigit || "+-.eE".utf8.contains($0) }
        guard isDecimal, let number = Double(trimmed).flatMap(JSONNumber.init) else { return nil }
        self = number
    }

    /// Returns the text of a number without its plus sign and its leading zeros, which JSON does not allow; an empty text
    /// if it does not begin with a digit then.
    private static func literal(_ text: Substring.UTF8View) -> String {
        let isNegative = text.first == UInt8(ascii: "-")
        var digits = text
        if isNegative || text.first == UInt8(ascii: "+") { digits.removeFirst() }
        guard digits.first?.isDecimalDigit == true else { return "" }
        while digits.first == UInt8(ascii: "0"), digits.dropFirst().first?.isDecimalDigit == true {
            digits.removeFirst()
        }
        return (isNegative ? "-" : "") + String(Substring(digits))
    }
}
