/// A JSON value as it was written: its members in their order, its numbers with their digits.
enum JSONNode: Sendable {
    /// A member of an object.
    struct Member: Sendable {
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

extension JSONNode: Equatable {
    /// Whether both say the same, whatever the order of members and the way a number is written.
    static func == (one: JSONNode, other: JSONNode) -> Bool {
        switch (one, other) {
        case (.null, .null): true
        case (.bool(let one), .bool(let other)): one == other
        case (.number(let one), .number(let other)): one == other || isSameNumber(one, other)
        case (.string(let one), .string(let other)): one == other
        case (.array(let one), .array(let other)): one == other
        case (.object(let one), .object(let other)): one.count == other.count && sorted(one) == sorted(other)
        default: false
        }
    }

    private static func isSameNumber(_ one: String, _ other: String) -> Bool {
        // Whole numbers by all of their digits, of which a floating-point number has not enough.
        if let one = Int(one), let other = Int(other) { return one == other }
        guard let one = Double(one), let other = Double(other) else { return false }
        return one == other
    }

    private static func sorted(_ members: [Member]) -> [Member] { members.sorted { $0.name < $1.name } }
}

extension JSONNode.Member: Equatable {}
