import Sluice

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

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
