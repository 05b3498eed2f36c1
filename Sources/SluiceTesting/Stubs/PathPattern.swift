/// A path pattern with placeholders: `/users/{id}`, `/files/*`.
///
/// A `{name}` matches one or more characters of one path segment. A `*` matches any characters, including slashes.
struct PathPattern: Sendable {
    private enum Part: Sendable {
        case literal([UInt8])
        case parameter(String)
        case anything
    }

    let text: String
    private let parts: [Part]

    init(_ text: String) {
        self.text = text
        var parts: [Part] = []
        var literal: [UInt8] = []
        var rest = text[...]
        func flush() {
            if !literal.isEmpty { parts.append(.literal(literal)) }
            literal = []
        }
        while let character = rest.first {
            if character == "*" {
                flush()
                parts.append(.anything)
                rest = rest.dropFirst()
            } else if character == "{", let end = rest.firstIndex(of: "}") {
                flush()
                parts.append(.parameter(String(rest[rest.index(after: rest.startIndex)..<end])))
                rest = rest[rest.index(after: end)...]
            } else {
                literal += character.utf8
                rest = rest.dropFirst()
            }
        }
        flush()
        self.parts = parts
    }

    /// Returns the values of the named placeholders, or nil if the path does not match.
    func match(_ path: String) -> [String: String]? {
        match(Array(path.utf8)[...], parts[...])
    }

    private func match(_ path: ArraySlice<UInt8>, _ parts: ArraySlice<Part>) -> [String: String]? {
        guard let part = parts.first else { return path.isEmpty ? [:] : nil }
        let others = parts.dropFirst()
        switch part {
        case .literal(let bytes):
            return path.starts(with: bytes) ? match(path.dropFirst(bytes.count), others) : nil
        case .anything:
            // Try the rest of the pattern at each position.
            if others.isEmpty { return [:] }
            for index in path.startIndex...path.endIndex {
                if let match = match(path[index...], others) { return match }
            }
            return nil
        case .parameter(let name):
            let segment = path.prefix { $0 != UInt8(ascii: "/") }
            for end in segment.indices.reversed() {
                guard var match = match(path[(end + 1)...], others) else { continue }
                match[name] = FormItems.decoded(String(decoding: path[...end], as: UTF8.self), plusIsBlank: false)
                return match
            }
            return nil
        }
    }
}
