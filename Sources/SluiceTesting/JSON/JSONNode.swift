/// A JSON value as it was written: its members in their order, its numbers with their digits.
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

    /// The value of a member; nil for what is no object, or has no such member.
    subscript(name: String) -> JSONNode? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.name == name }?.value
    }

    var string: String? { if case .string(let text) = self { text } else { nil } }
    var array: [JSONNode]? { if case .array(let elements) = self { elements } else { nil } }
    /// A whole number.
    var integer: Int? {
        if case .number(let text) = self { Int(text) ?? Double(text).flatMap(Int.init(exactly:)) } else { nil }
    }
    var isObject: Bool { if case .object = self { true } else { false } }

    static func object(_ members: KeyValuePairs<String, JSONNode?>) -> JSONNode {
        .object(members.compactMap { name, value in value.map { Member(name: name, value: $0) } })
    }
}
