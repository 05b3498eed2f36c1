/// Parses the components of a ``JSONPath``. Every text is valid.
struct JSONPathParser {
    private var rest: Substring.UTF8View
    private var key: [UInt8] = []
    private var components: [JSONPath.Component] = []

    static func components(of text: String) -> [JSONPath.Component] {
        // Most paths are a single key.
        guard text.utf8.contains(where: JSONPath.special.contains) else { return text.isEmpty ? [] : [.key(text)] }
        var parser = JSONPathParser(rest: Substring(text).utf8)
        parser.parse()
        return parser.components
    }

    private init(rest: Substring.UTF8View) {
        self.rest = rest
    }

    private mutating func parse() {
        while let byte = rest.first {
            if byte == UInt8(ascii: "["), let bracket = bracket() {
                endKey()
                components.append(bracket.component)
                rest = bracket.rest
                continue
            }
            rest.removeFirst()
            if byte == UInt8(ascii: ".") || byte == UInt8(ascii: ">") {
                endKey()
            } else {
                key.append(byte)
            }
        }
        endKey()
    }

    private mutating func endKey() {
        guard !key.isEmpty else { return }
        components.append(.key(String(decoding: key, as: UTF8.self)))
        key.removeAll()
    }

    /// Parses the bracket at the current position. Returns its component and the rest of the text, or nil if it
    /// contains neither an index nor a quoted key.
    private func bracket() -> (component: JSONPath.Component, rest: Substring.UTF8View)? {
        let inside = rest.dropFirst()
        if let mark = inside.first, mark == UInt8(ascii: "\"") || mark == UInt8(ascii: "'") {
            return quotedKey(inside.dropFirst(), until: mark)
        }
        let number = inside.prefix { $0 != UInt8(ascii: "]") }
        guard number.endIndex < inside.endIndex, number.first != UInt8(ascii: "+") else { return nil }
        guard let index = Int(Substring(number)) else { return nil }
        return (.index(index), inside[number.endIndex...].dropFirst())
    }

    private func quotedKey(
        _ text: Substring.UTF8View,
        until mark: UInt8
    ) -> (component: JSONPath.Component, rest: Substring.UTF8View)? {
        var rest = text
        var key: [UInt8] = []
        while var byte = rest.popFirst() {
            if byte == mark {
                guard rest.popFirst() == UInt8(ascii: "]") else { return nil }
                return (.key(String(decoding: key, as: UTF8.self)), rest)
            }
            if byte == UInt8(ascii: "\\") {
                guard let escaped = rest.popFirst() else { return nil }
                byte = escaped
            }
            key.append(byte)
        }
        return nil
    }
}
