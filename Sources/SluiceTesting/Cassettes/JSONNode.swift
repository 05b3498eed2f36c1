import Sluice
import SluiceFoundation

/// A JSON value that preserves the order of object members and the digits of numbers.
enum JSONNode: Sendable, Equatable {
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

    static func object(_ members: KeyValuePairs<String, JSONNode?>) -> JSONNode {
        .object(members.compactMap { name, value in value.map { Member(name: name, value: $0) } })
    }
}

// MARK: - Parsing

extension JSONNode {
    /// Parses a JSON text with Sluice's strict parser.
    ///
    /// - Parameters:
    ///   - data: The JSON text.
    ///   - depth: The maximum nesting depth of arrays and objects.
    /// - Throws: The syntax error.
    init(parsing data: Data, within depth: Int = 512) throws(JSONSyntaxError) {
        let document = try JSONDocument(data, maximumDepth: depth)
        self.init(document, document.root)
    }

    private init(_ document: JSONDocument, _ node: JSONDocument.Node) {
        switch document.kind(of: node) {
        case .null: self = .null
        case .false: self = .bool(false)
        case .true: self = .bool(true)
        case .number: self = .number(document.text(of: node))
        case .string: self = .string(document.string(of: node))
        case .array: self = .array(document.elements(of: node).map { JSONNode(document, $0) })
        case .object:
            self = .object(
                document.members(of: node).map { member in
                    Member(name: document.string(of: member.key), value: JSONNode(document, member.value))
                }
            )
        }
    }
}

// MARK: - Writing

extension JSONNode {
    /// The value as JSON without white space.
    var compact: Data { Data(text(indentedBy: nil).utf8) }

    /// Returns the value as JSON.
    ///
    /// - Parameter depth: The indentation level of the first line, or nil for JSON without white space.
    /// - Returns: The JSON text.
    func text(indentedBy depth: Int?) -> String {
        switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .number(let digits): digits
        case .string(let text): Self.quoted(text)
        case .array(let elements):
            Self.list("[", elements.map { $0.text(indentedBy: depth.map { $0 + 1 }) }, "]", depth)
        case .object(let members):
            Self.list(
                "{",
                members.map { member in
                    let value = member.value.text(indentedBy: depth.map { $0 + 1 })
                    return Self.quoted(member.name) + (depth == nil ? ":" : ": ") + value
                },
                "}",
                depth
            )
        }
    }

    private static func list(_ open: String, _ items: [String], _ close: String, _ depth: Int?) -> String {
        guard let depth, !items.isEmpty else { return open + items.joined(separator: ",") + close }
        let indentation = String(repeating: "  ", count: depth)
        return "\(open)\n" + items.map { "\(indentation)  \($0)" }.joined(separator: ",\n") + "\n\(indentation)\(close)"
    }

    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            case "\u{0}"..<"\u{20}":
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
