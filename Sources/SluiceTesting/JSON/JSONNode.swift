/// A JSON value that preserves the order of object members and the digits of numbers.
enum JSONNode: Sendable, Equatable {
    /// A member of an object.
    struct Member: Sendable, Equatable {
        let name: String
        var value: JSONNode
    }

    case null
    case bool(Bool)
    case number(String)
    case string(String)
    case array([JSONNode])
    case object([Member])

    /// Returns the value of a member, or nil if the value is not an object or has no such member.
    subscript(name: String) -> JSONNode? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.name == name }?.value
    }

    var string: String? { if case .string(let text) = self { text } else { nil } }
    var array: [JSONNode]? { if case .array(let elements) = self { elements } else { nil } }
    /// The value of a number that is an integer.
    var integer: Int? {
        if case .number(let text) = self { Int(text) ?? Double(text).flatMap(Int.init(exactly:)) } else { nil }
    }
    var isObject: Bool { if case .object = self { true } else { false } }

    static func object(_ members: KeyValuePairs<String, JSONNode?>) -> JSONNode {
        .object(members.compactMap { name, value in value.map { Member(name: name, value: $0) } })
    }
}
