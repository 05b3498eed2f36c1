import SluiceFoundation

/// Writes a ``JSON`` value as UTF-8.
struct JSONWriter {
    private let format: JSON.Format
    private var bytes: [UInt8] = []
    private var depth = 0

    static func utf8(of json: JSON, _ format: JSON.Format) -> [UInt8] {
        var writer = JSONWriter(format: format)
        writer.write(json)
        return writer.bytes
    }

    private init(format: JSON.Format) {
        self.format = format
    }

    private mutating func write(_ json: JSON) {
        switch json {
        case .null: append("null")
        case .bool(let value): append(value ? "true" : "false")
        case .number(let number): bytes.append(contentsOf: number.text.utf8)
        case .string(let text): write(text)
        case .array(let elements):
            open("[")
            for (index, element) in elements.enumerated() {
                separate(isFirst: index == 0)
                write(element)
            }
            close("]", isEmpty: elements.isEmpty)
        case .object(let members):
            open("{")
            if format.sortsKeys {
                // Compare bytes, because Swift's string order is inconsistent if one string starts with a canonical
                // equivalent of the other.
                write(members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) })
            } else {
                write(members)
            }
            close("}", isEmpty: members.isEmpty)
        }
    }

    private mutating func write(_ members: some Sequence<(key: String, value: JSON)>) {
        for (index, member) in members.enumerated() {
            separate(isFirst: index == 0)
            write(member.key)
            append(format.isPretty ? ": " : ":")
            write(member.value)
        }
    }

    private mutating func write(_ text: String) {
        append("\"")
        var text = text
        text.withUTF8 { utf8 in
            var start = 0
            for (index, byte) in utf8.enumerated() where Self.isEscaped(byte) {
                bytes.append(contentsOf: utf8[start..<index])
                appendEscape(of: byte)
                start = index + 1
            }
            bytes.append(contentsOf: utf8[start...])
        }
        append("\"")
    }

    /// Returns true if a string cannot contain the byte unescaped (RFC 8259 §7).
    private static func isEscaped(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private mutating func appendEscape(of byte: UInt8) {
        switch byte {
        case 0x08: append("\\b")
        case 0x09: append("\\t")
        case 0x0A: append("\\n")
        case 0x0C: append("\\f")
        case 0x0D: append("\\r")
        case 0..<0x20:
            append("\\u00")
            append(byte < 0x10 ? "0" : "1")
            bytes.append(contentsOf: String(byte & 0xF, radix: 16).utf8)
        default:
            append("\\")
            bytes.append(byte)
        }
    }

    private mutating func open(_ bracket: StaticString) {
        append(bracket)
        depth += 1
    }

    private mutating func close(_ bracket: StaticString, isEmpty: Bool) {
        depth -= 1
        if !isEmpty { breakLine() }
        append(bracket)
    }

    private mutating func separate(isFirst: Bool) {
        if !isFirst { append(",") }
        breakLine()
    }

    private mutating func breakLine() {
        guard format.isPretty else { return }
        append("\n")
        for _ in 0..<depth { append("  ") }
    }

    private mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }
}

extension JSON {
    /// The output format of a JSON value.
    package struct Format: Sendable, Hashable {
        /// True to write each element and member on a separate line, indented by two spaces per level.
        package var isPretty: Bool
        /// True to sort members by name. If false, the order differs between runs of a program.
        package var sortsKeys: Bool

        /// Creates a format.
        package init(isPretty: Bool = false, sortsKeys: Bool = true) {
            self.isPretty = isPretty
            self.sortsKeys = sortsKeys
        }

        /// One line without spaces, members sorted by name.
        package static let compact = Format()
        /// Several lines, members sorted by name.
        package static let pretty = Format(isPretty: true)
    }

    /// Returns the value as UTF-8 (RFC 8259), on one line and with its members sorted by name. Numbers keep their
    /// literals.
    public func encoded() -> Data { encoded(.compact) }

    /// Returns the value as text (RFC 8259), on several lines and with its members sorted by name. Numbers keep their
    /// literals.
    public func formatted() -> String { formatted(.pretty) }

    /// Returns the value as UTF-8, in a format.
    package func encoded(_ format: Format) -> Data {
        Data(JSONWriter.utf8(of: self, format))
    }

    /// Returns the value as text, in a format.
    package func formatted(_ format: Format) -> String {
        String(decoding: JSONWriter.utf8(of: self, format), as: UTF8.self)
    }
}

extension JSON: CustomStringConvertible {
    /// The value as JSON on one line.
    public var description: String { formatted(.compact) }
}
