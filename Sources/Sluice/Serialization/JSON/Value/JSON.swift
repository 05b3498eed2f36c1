/// A JSON value whose shape is looked at when it is read.
///
/// ```swift
/// let json = try JSON(parsing: data)
/// let name = json.data.items[0].name.stringValue
/// let total = json[path: "data.total"].int
/// let body: JSON = ["name": "Ada", "tags": ["a", "b"], "age": 36]
/// ```
///
/// Nothing that is looked up traps or throws: what is missing is ``JSON/null``. For a failure that says what is missing
/// and where, ask with ``value(at:as:)``. Numbers keep the digits they were written with, see ``JSONNumber``; two values
/// are equal if they mean the same, so 1 equals 1.0.
///
/// A member can be read and set by its name, `json.user.name`. The names that `JSON` itself uses go first, and have to be
/// written as `json["count"]` if a key of that name is meant: ``count``, ``description``, `value`, ``contains(_:)``,
/// ``encoded(_:)``, ``formatted(_:)``, ``decoded(as:by:)`` and the accessors from ``string`` to ``dictionaryValue``. Nothing
/// of those is a `JSON`, so the compiler refuses what goes on from one, like `json.value.name`.
@dynamicMemberLookup
public enum JSON: Sendable, Hashable {
    /// The value `null`, and what is read where there is nothing.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number with its literal.
    case number(JSONNumber)
    /// A string.
    case string(String)
    /// An array.
    case array([JSON])
    /// An object. The order of its members has no meaning (RFC 8259 §1) and is not kept.
    case object([String: JSON])

    /// Whether this is `null`, or was read where there is nothing; ``contains(_:)`` tells the two apart.
    public var isNull: Bool {
        if case .null = self { true } else { false }
    }

    /// How many elements an array or members an object has; 0 for others.
    public var count: Int {
        switch self {
        case .array(let elements): elements.count
        case .object(let members): members.count
        case .null, .bool, .number, .string: 0
        }
    }
}
