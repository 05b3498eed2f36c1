/// A JSON value with dynamic access to its contents.
///
/// ```swift
/// let json = try JSON(parsing: data)
/// let name = json.data.items[0].name.stringValue
/// let total = json[path: "data.total"].int
/// let body: JSON = ["name": "Ada", "tags": ["a", "b"], "age": 36]
/// ```
///
/// Lookups never trap or throw: a missing value is ``JSON/null``. To get an error that names the missing value, use
/// ``value(at:as:)``. Numbers keep their original digits, see ``JSONNumber``. Values with the same meaning are equal,
/// so 1 equals 1.0.
///
/// A member can be read and set by its name, `json.user.name`. The names that `JSON` itself declares take precedence.
/// To access a member with such a name, use a subscript, such as `json["count"]`. The names are ``count``,
/// ``description``, `value`, ``contains(_:)``, ``encoded(_:)``, ``formatted(_:)``, ``decoded(as:by:)`` and the
/// accessors from ``string`` to ``dictionaryValue``. None of them is a `JSON`, so the compiler rejects an expression
/// that continues from one, such as `json.value.name`.
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
