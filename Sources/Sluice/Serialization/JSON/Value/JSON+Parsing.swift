#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension JSON {
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
    init(_ document: JSONDocument, _ node: JSONDocument.Node) {
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
            members.reserveCapacity(document.count(of: node))
            for (key, value) in document.members(of: node) {
                let key = document.string(of: key)
                if let first = members.updateValue(JSON(document, value), forKey: key) { members[key] = first }
            }
            self = .object(members)
        }
    }
}
