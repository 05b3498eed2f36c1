import SluiceHTTP

/// Copies a JSON text without the values of secret members.
package struct JSONRedactor {
    private let rules: SecretRules
    private let keepsStructure: Bool
    private let document: JSONDocument
    private var copied = 0
    private var output: [UInt8] = []

    /// Removes the secrets from JSON and copies the rest unchanged; nil if the text is not JSON.
    ///
    /// JSON Lines and JSON text sequences (RFC 7464) are accepted as well.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - rules: The rules. Strings are searched for secrets.
    ///   - keepsStructure: True if the result must have the structure of the text: objects and arrays with secret values
    ///     are kept, secret numbers become 0, and strings are searched for URLs only.
    /// - Returns: The redacted text.
    package static func redacted(_ text: String, _ rules: SecretRules, keepsStructure: Bool = false) -> String? {
        if let document = try? JSONDocument(text) { return redacted(document, rules, keepsStructure) }
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard lines.count > 1 else { return nil }
        var output = ""
        for (index, line) in lines.enumerated() {
            if index > 0 { output += "\n" }
            // The record separator that starts each text of a sequence.
            let value = line.drop { $0 == 0x1E }
            output += Substring(line[..<value.startIndex])
            if value.allSatisfy({ $0 <= 0x20 }) {
                output += Substring(value)
            } else if let document = try? JSONDocument(String(Substring(value))) {
                output += redacted(document, rules, keepsStructure)
            } else {
                return nil
            }
        }
        return output
    }

    private static func redacted(_ document: JSONDocument, _ rules: SecretRules, _ keepsStructure: Bool) -> String {
        var redactor = JSONRedactor(rules: rules, keepsStructure: keepsStructure, document: document)
        redactor.value(document.root)
        let end = document.storage.count - JSONParser.padding
        return String(decoding: redactor.output + document.storage[redactor.copied..<end], as: UTF8.self)
    }

    private init(rules: SecretRules, keepsStructure: Bool, document: JSONDocument) {
        self.rules = rules
        self.keepsStructure = keepsStructure
        self.document = document
    }

    /// Searches a value. The parser's limit on depth bounds the recursion.
    private mutating func value(_ node: JSONDocument.Node) {
        switch document.kind(of: node) {
        case .null, .true, .false, .number: break
        case .string: string(node)
        case .array:
            for element in document.elements(of: node) { value(element) }
        case .object:
            for (key, member) in document.members(of: node) {
                if rules.memberNames.contains(document.string(of: key)) {
                    hide(member)
                } else {
                    value(member)
                }
            }
        }
    }

    /// Redacts a string, which may contain a URL or a text with a secret in it.
    private mutating func string(_ node: JSONDocument.Node) {
        let text = document.string(of: node)
        let redacted = keepsStructure ? rules.urls(in: text) : rules.text(text)
        if redacted != text { replace(node, with: JSON.string(redacted).formatted(.compact)) }
    }

    /// Hides a value, unless it is empty, null or a boolean, which contain no secret.
    private mutating func hide(_ node: JSONDocument.Node) {
        switch document.kind(of: node) {
        case .null, .true, .false: return
        case .string where document.string(of: node).isEmpty: return
        case .number where keepsStructure: replace(node, with: "0")
        case .array where keepsStructure:
            for element in document.elements(of: node) { hide(element) }
        case .object where keepsStructure:
            for (_, member) in document.members(of: node) { hide(member) }
        default: replace(node, with: "\"\(SecretRules.mark)\"")
        }
    }

    private mutating func replace(_ node: JSONDocument.Node, with text: String) {
        let entry = document.tape[node.index]
        output += document.storage[copied..<Int(entry.start)]
        output += text.utf8
        copied = Int(entry.end)
    }
}
