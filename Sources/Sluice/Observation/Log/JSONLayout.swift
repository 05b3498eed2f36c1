/// Formats a JSON text with one line for each element and member, in their original order, up to a limit.
struct JSONLayout {
    /// The maximum level of indentation. Without it, a short text of many brackets would become a very long one.
    private static let maximumIndentation = 32

    private let document: JSONDocument
    private let limit: Int
    private var output: [UInt8] = []

    /// Formats a text.
    ///
    /// - Parameters:
    ///   - text: Any text.
    ///   - limit: The number of bytes after which to stop. The result may be slightly longer.
    /// - Returns: The formatted text; nil if it is not a JSON object or array.
    static func text(_ text: String, limit: Int) -> String? {
        guard let first = text.utf8.first(where: { $0 > 0x20 }),
            first == UInt8(ascii: "{") || first == UInt8(ascii: "["),
            let document = try? JSONDocument(text)
        else { return nil }
        var layout = JSONLayout(document: document, limit: limit)
        layout.value(document.root, level: 0)
        return String(decoding: layout.output, as: UTF8.self)
    }

    private init(document: JSONDocument, limit: Int) {
        self.document = document
        self.limit = limit
    }

    /// Formats a value. The parser's limit on depth bounds the recursion.
    private mutating func value(_ node: JSONDocument.Node, level: Int) {
        let kind = document.kind(of: node)
        guard kind == .array || kind == .object, document.count(of: node) > 0 else {
            if kind == .array { return output += "[]".utf8 }
            if kind == .object { return output += "{}".utf8 }
            return document.withBytes(of: node) { output += $0 }
        }
        output.append(UInt8(ascii: kind == .array ? "[" : "{"))
        if kind == .array {
            for (index, element) in document.elements(of: node).enumerated() {
                guard begin(index, level + 1) else { return }
                value(element, level: level + 1)
            }
        } else {
            for (index, member) in document.members(of: node).enumerated() {
                guard begin(index, level + 1) else { return }
                document.withBytes(of: member.key) { output += $0 }
                output += ": ".utf8
                value(member.value, level: level + 1)
            }
        }
        breakLine(level)
        output.append(UInt8(ascii: kind == .array ? "]" : "}"))
    }

    /// Begins an element or a member. Returns false if the limit is reached.
    private mutating func begin(_ index: Int, _ level: Int) -> Bool {
        if output.count > limit { return false }
        if index > 0 { output.append(UInt8(ascii: ",")) }
        breakLine(level)
        return true
    }

    private mutating func breakLine(_ level: Int) {
        output.append(10)
        output += repeatElement(UInt8(ascii: " "), count: 2 * min(level, Self.maximumIndentation))
    }
}
