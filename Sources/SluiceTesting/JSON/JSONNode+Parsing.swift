import Sluice

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension JSONNode {
    /// Reads a text as Sluice does, strictly.
    ///
    /// - Parameters:
    ///   - data: The text.
    ///   - depth: How deep arrays and objects may stand within each other.
    /// - Throws: What is wrong with it.
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
