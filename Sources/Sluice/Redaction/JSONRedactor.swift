/// Copies a JSON text without the values of secret members.
private struct JSONRedactor {
    private let redaction: Redaction
    private let document: JSONDocument
    private var copied = 0
    private var output: [UInt8] = []

    init(_ redaction: Redaction, _ document: JSONDocument) {
        self.redaction = redaction
        self.document = document
    }

    var finished: String {
        let end = document.storage.count - JSONParser.padding
        return String(decoding: output + document.storage[copied..<end], as: UTF8.self)
    }

    /// Searches a value. The parser's limit on depth bounds the recursion.
    mutating func value(_ node: JSONDocument.Node) {
        switch document.kind(of: node) {
        case .null, .true, .false, .number: break
        case .string: string(node)
        case .array:
            for element in document.elements(of: node) { value(element) }
        case .object:
            for (key, member) in document.members(of: node) {
                if redaction.memberNames.contains(document.string(of: key)) {
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
        let redacted = redaction.text(text)
        if redacted != text { replace(node, with: JSON.string(redacted).formatted(.compact)) }
    }

    /// Hides a value, unless it is empty, null or a boolean, which contain no secret.
    private mutating func hide(_ node: JSONDocument.Node) {
        switch document.kind(of: node) {
        case .null, .true, .false: return
        case .string where document.string(of: node).isEmpty: return
        default: replace(node, with: "\"\(Redaction.mark)\"")
        }
    }

    private mutating func replace(_ node: JSONDocument.Node, with text: String) {
        let entry = document.tape[node.index]
        output += document.storage[copied..<Int(entry.start)]
        output += text.utf8
        copied = Int(entry.end)
    }
}

extension Redaction {
    /// Removes the secrets from JSON and copies the rest unchanged; nil if the text is not JSON.
    ///
    /// Lines that are each a JSON text are accepted as well.
    func json(_ text: String) -> String? {
        guard let first = text.utf8.first(where: { $0 > 0x20 }), "{[\"".utf8.contains(first) else { return nil }
        if let document = try? JSONDocument(text) { return json(document) }
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard lines.count > 1 else { return nil }
        var output = ""
        for (index, line) in lines.enumerated() {
            if index > 0 { output += "\n" }
            if line.allSatisfy({ $0 <= 0x20 }) {
                output += Substring(line)
            } else if let document = try? JSONDocument(String(Substring(line))) {
                output += json(document)
            } else {
                return nil
            }
        }
        return output
    }

    private func json(_ document: JSONDocument) -> String {
        var copy = JSONRedactor(self, document)
        copy.value(document.root)
        return copy.finished
    }
}
