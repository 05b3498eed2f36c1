#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension JSONNode {
    /// The value as JSON without white space.
    var compact: Data { Data(text(indentedBy: nil).utf8) }
    /// The value as indented JSON, with a line break at the end.
    var pretty: Data { Data((text(indentedBy: 0) + "\n").utf8) }

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
