import SluiceHTTP

/// Copies XML (XML 1.0, fifth edition) or HTML without the contents and attributes of secret elements.
///
/// An element is secret by its name, by that of its attribute `name`, or by the text of an element beside it, as in
/// `<key>password</key>`.
struct MarkupRedactor {
    private struct Element {
        let name: ArraySlice<UInt8>
        /// True if all text inside it is secret.
        var isHidden: Bool
        /// True if the elements inside it that follow are secret.
        var hidesRest = false
        /// True if only the next element inside it is secret, as in a property list.
        var hidesNext = false
        /// True if an element inside it had text or attributes, which a later name may make secret.
        var hasContent = false
        /// The value of ``hasContent`` before the last element inside it.
        var hadContent = false
    }

    private struct Attribute {
        let name: ArraySlice<UInt8>
        /// The value with its quotation marks.
        let value: ArraySlice<UInt8>

        /// The number of quotation marks at each end of the value.
        var quotes: Int {
            value.first == UInt8(ascii: "\"") || value.first == UInt8(ascii: "'") ? 1 : 0
        }
    }

    /// The maximum number of elements inside each other.
    private static let maximumDepth = 512

    private let redactor: DocumentRedactor
    private let depth: Int
    private let bytes: [UInt8]
    private let isHTML: Bool
    private var position = 0
    private var output: [UInt8] = []
    private var open: [Element] = []
    /// The number of open elements of each name in lowercase letters. An end tag of HTML that matches none is found without a search. The
    /// names are bytes, because hashing a string sorts its combining characters.
    private var openNames: [[UInt8]: Int] = [:]

    /// Removes the secrets from XML or HTML.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - redactor: The redactor of the texts in it.
    ///   - depth: The number of documents that contain it.
    /// - Returns: The redacted text; nil if it is not well-formed, declares entities, or names a secret after its value.
    static func redacted(_ text: String, _ redactor: DocumentRedactor, depth: Int) -> String? {
        var markup = MarkupRedactor(Array(text.utf8), redactor, depth)
        guard markup.document() else { return nil }
        return String(decoding: markup.output, as: UTF8.self)
    }

    private init(_ bytes: [UInt8], _ redactor: DocumentRedactor, _ depth: Int) {
        self.bytes = bytes
        self.redactor = redactor
        self.depth = depth
        let start = bytes.prefix(512).map(\.asciiLowercased).drop { $0 <= 0x20 }
        isHTML = start.starts(with: "<!doctype html".utf8) || start.starts(with: "<html".utf8)
        output.reserveCapacity(bytes.count)
    }

    private mutating func document() -> Bool {
        var hasElement = false
        while position < bytes.count {
            guard bytes[position] == UInt8(ascii: "<") else {
                guard text(to: bytes[position...].firstIndex(of: UInt8(ascii: "<")) ?? bytes.count) else {
                    return false
                }
                continue
            }
            guard position + 1 < bytes.count else { return false }
            switch bytes[position + 1] {
            case UInt8(ascii: "!"), UInt8(ascii: "?"): guard declaration() else { return false }
            case UInt8(ascii: "/"): guard endTag() else { return false }
            default:
                guard startTag() else { return false }
                hasElement = true
            }
        }
        return hasElement && (open.isEmpty || isHTML)
    }

    private mutating func copy(to end: Int) {
        output += bytes[position..<end]
        position = end
    }

    private var isHidden: Bool { open.last?.isHidden ?? false }
}

// MARK: - Text

extension MarkupRedactor {
    private mutating func text(to end: Int) -> Bool {
        let raw = bytes[position..<end]
        position = end
        guard raw.contains(where: { $0 > 0x20 }) else {
            output += raw
            return true
        }
        guard !open.isEmpty else { return false }
        let text = Self.unescaped(raw)
        output += shown(text, raw: raw)
        return note(text)
    }

    /// Returns a text or its redacted and escaped form.
    private func shown(_ text: String, raw: ArraySlice<UInt8>, isHidden: Bool? = nil) -> [UInt8] {
        if isHidden ?? self.isHidden { return Array(SecretRules.mark.utf8) }
        let redacted = redactor.text(text, depth: depth + 1)
        return redacted.hasSameBytes(as: text) ? Array(raw) : Self.escaped(redacted)
    }

    /// Returns a section without references, or its redacted form, which does not contain the end of the section.
    private func shown(_ raw: ArraySlice<UInt8>, before end: [UInt8]) -> [UInt8] {
        guard raw.contains(where: { $0 > 0x20 }) else { return Array(raw) }
        if isHidden { return Array(SecretRules.mark.utf8) }
        let text = String(decoding: raw, as: UTF8.self)
        let redacted = redactor.text(text, depth: depth + 1)
        if redacted.hasSameBytes(as: text) { return Array(raw) }
        let bytes = Array(redacted.utf8)
        let hasEnd = bytes.indices.contains { bytes[$0] == end[0] && bytes[$0...].starts(with: end) }
        return hasEnd ? Array(SecretRules.mark.utf8) : bytes
    }

    /// Takes note of a text that may be the name of what stands beside it. Returns false if the value stands before it.
    private mutating func note(_ text: String) -> Bool {
        guard let index = open.indices.last else { return true }
        let name = Self.localName(open[index].name)
        let parent = index - 1
        if parent >= 0 { open[parent].hasContent = true }
        let isCell = ["td", "th", "dt"].contains(where: name.hasSameBytes(as:))
        guard isCell || MemberRoles.names(name), redactor.isSecretName(text) else { return true }
        guard parent >= 0 else { return true }
        if Self.localName(open[parent].name).hasSameBytes(as: "dict") {
            open[parent].hidesNext = true
            return true
        }
        open[parent].hidesRest = true
        // The cells below the heading of a column.
        if name.hasSameBytes(as: "th") {
            for index in open.indices where !open[index].hidesRest {
                open[index].hidesRest = !Self.localName(open[index].name).hasSameBytes(as: "html")
            }
        }
        return isCell || !open[parent].hadContent
    }
}

extension MarkupRedactor {
    /// Copies a comment, a section of characters, a declaration or an instruction.
    private mutating func declaration() -> Bool {
        for (start, end) in [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")] {
            guard bytes[position...].starts(with: start.utf8) else { continue }
            let first = position + start.utf8.count
            guard let last = index(of: Array(end.utf8), from: first) else { return false }
            let raw = bytes[first..<last]
            output += start.utf8
            output += shown(raw, before: Array(end.utf8))
            output += end.utf8
            position = last + end.utf8.count
            return start == "<![CDATA[" ? note(String(decoding: raw, as: UTF8.self)) : true
        }
        // A document type. The entities of an internal subset would have to be replaced.
        guard let end = bytes[position...].firstIndex(of: UInt8(ascii: ">")),
            !bytes[position..<end].contains(UInt8(ascii: "["))
        else { return false }
        copy(to: end + 1)
        return true
    }

    private func index(of mark: [UInt8], from start: Int) -> Int? {
        guard start <= bytes.count else { return nil }
        return bytes.indices[start...].first { bytes[$0] == mark[0] && bytes[$0...].starts(with: mark) }
    }

    private mutating func endTag() -> Bool {
        guard let end = bytes[position...].firstIndex(of: UInt8(ascii: ">")) else { return false }
        let name = bytes[(position + 2)..<end].prefix { $0 > 0x20 }
        copy(to: end + 1)
        if open.last?.name == name {
            removeLast()
            return true
        }
        guard isHTML else { return false }
        let key = Self.lowercased(name)
        guard openNames[key] != nil else { return true }
        while let last = open.last {
            removeLast()
            if Self.lowercased(last.name) == key { break }
        }
        return true
    }

    private mutating func append(_ element: Element) {
        open.append(element)
        if isHTML { openNames[Self.lowercased(element.name), default: 0] += 1 }
    }

    private mutating func removeLast() {
        let element = open.removeLast()
        guard isHTML else { return }
        let key = Self.lowercased(element.name)
        openNames[key] = openNames[key].flatMap { $0 > 1 ? $0 - 1 : nil }
    }

    private static func lowercased(_ name: ArraySlice<UInt8>) -> [UInt8] { name.map(\.asciiLowercased) }
}

// MARK: - Start tags

extension MarkupRedactor {
    private mutating func startTag() -> Bool {
        let start = position + 1
        let name = bytes[start...].prefix { $0 > 0x20 && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ">") }
        guard let first = name.first, first >= 0x80 || first | 0x20 >= UInt8(ascii: "a") || first == UInt8(ascii: "_"),
            let (attributes, end) = attributes(from: name.endIndex), open.count < Self.maximumDepth
        else { return false }
        let local = Self.localName(name)
        let parent = open.indices.last
        var isHidden = isHidden || redactor.isSecretName(local)
        if let parent {
            isHidden = isHidden || open[parent].hidesRest || open[parent].hidesNext
            open[parent].hidesNext = false
            open[parent].hadContent = open[parent].hasContent
            if !attributes.isEmpty { open[parent].hasContent = true }
        }
        let values = attributes.map { Self.unescaped($0.value.dropFirst($0.quotes).dropLast($0.quotes)) }
        let isNamed = zip(attributes, values).contains {
            MemberRoles.names(Self.localName($0.name)) && redactor.isSecretName($1)
        }
        let isTyped = zip(attributes, values).contains {
            MemberRoles.describes(Self.localName($0.name)) && redactor.isSecretName($1)
        }
        for (attribute, value) in zip(attributes, values) {
            copy(to: attribute.value.startIndex)
            let local = Self.localName(attribute.name)
            let isNamespace = attribute.name.starts(with: "xmlns".utf8)
            let isSecret =
                isHidden && !isNamespace || redactor.isSecretName(local)
                || isNamed && !MemberRoles.names(local) && !MemberRoles.describes(local)
                || isTyped && MemberRoles.holdsValue(local)
            let raw = attribute.value.dropFirst(attribute.quotes).dropLast(attribute.quotes)
            let shown = raw.isEmpty ? [] : shown(value, raw: raw, isHidden: isSecret)
            output +=
                attribute.quotes == 0 && shown != Array(raw)
                ? [0x22] + shown + [0x22]
                : attribute.value.prefix(attribute.quotes) + shown + attribute.value.suffix(attribute.quotes)
            position = attribute.value.endIndex
        }
        let isEmpty = bytes[end - 1] == UInt8(ascii: "/") || isHTML && Self.isVoid(local)
        copy(to: end + 1)
        if isEmpty { return true }
        append(Element(name: name, isHidden: isHidden || isNamed))
        guard isHTML, ["script", "style", "textarea", "title"].contains(where: local.hasSameBytes(as:)) else {
            return true
        }
        return rawText(of: name)
    }

    /// Copies the text of an element in which HTML has no elements (HTML §13.1.2).
    private mutating func rawText(of name: ArraySlice<UInt8>) -> Bool {
        guard let end = index(of: Array("</".utf8) + name, from: position) else { return false }
        let raw = bytes[position..<end]
        position = end
        output += shown(raw, before: Array("</".utf8))
        return true
    }

    /// Parses the attributes of a tag. Returns them with the index of its `>`; nil if the tag has no end.
    private func attributes(from start: Int) -> ([Attribute], end: Int)? {
        var attributes: [Attribute] = []
        var index = start
        while true {
            index = bytes[index...].firstIndex { $0 > 0x20 && $0 != UInt8(ascii: "/") } ?? bytes.count
            guard index < bytes.count, bytes[index] != UInt8(ascii: "<") else { return nil }
            if bytes[index] == UInt8(ascii: ">") { return (attributes, index) }
            let name = bytes[index...].prefix {
                $0 > 0x20 && $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ">") && $0 != UInt8(ascii: "/")
            }
            if name.isEmpty { return nil }
            index = bytes[name.endIndex...].firstIndex { $0 > 0x20 } ?? bytes.count
            guard index < bytes.count else { return nil }
            guard bytes[index] == UInt8(ascii: "=") else {
                index = name.endIndex
                continue
            }
            index = bytes[(index + 1)...].firstIndex { $0 > 0x20 } ?? bytes.count
            guard index < bytes.count else { return nil }
            let quote = bytes[index]
            let end: Int
            if quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
                guard let close = bytes[(index + 1)...].firstIndex(of: quote) else { return nil }
                end = close + 1
            } else {
                guard isHTML else { return nil }
                end = bytes[index...].firstIndex { $0 <= 0x20 || $0 == UInt8(ascii: ">") } ?? bytes.count
            }
            attributes.append(Attribute(name: name, value: bytes[index..<end]))
            index = end
        }
    }

    /// Returns a name without its prefix.
    private static func localName(_ name: ArraySlice<UInt8>) -> String {
        let local = name.lastIndex(of: UInt8(ascii: ":")).map { name[($0 + 1)...] } ?? name
        return String(decoding: local, as: UTF8.self)
    }

    private static func isVoid(_ name: String) -> Bool {
        switch name.asWord {
        case "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track",
            "wbr":
            true
        default: false
        }
    }
}

// MARK: - References

extension MarkupRedactor {
    /// Resolves references to characters and to the entities of XML (XML §4.1, §4.6). Others stay as they are.
    private static func unescaped(_ raw: ArraySlice<UInt8>) -> String {
        guard raw.contains(UInt8(ascii: "&")) else { return String(decoding: raw, as: UTF8.self) }
        var text: [UInt8] = []
        var index = raw.startIndex
        while index < raw.endIndex {
            if raw[index] == UInt8(ascii: "&"), let end = raw[index...].prefix(12).firstIndex(of: UInt8(ascii: ";")),
                let scalar = scalar(raw[(index + 1)..<end])
            {
                text += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
                index = end + 1
            } else {
                text.append(raw[index])
                index += 1
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func scalar(_ reference: ArraySlice<UInt8>) -> Unicode.Scalar? {
        let name = String(decoding: reference, as: UTF8.self)
        switch name {
        case "lt": return "<"
        case "gt": return ">"
        case "amp": return "&"
        case "quot": return "\""
        case "apos": return "'"
        default:
            guard name.utf8.first == UInt8(ascii: "#") else { return nil }
            let digits = name.utf8.dropFirst()
            let isHexadecimal = digits.first.map { $0 | 0x20 } == UInt8(ascii: "x")
            let number = String(Substring(isHexadecimal ? digits.dropFirst() : digits))
            return UInt32(number, radix: isHexadecimal ? 16 : 10).flatMap(Unicode.Scalar.init)
        }
    }

    private static func escaped(_ text: String) -> [UInt8] {
        var escaped: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "<"): escaped += "&lt;".utf8
            case UInt8(ascii: ">"): escaped += "&gt;".utf8
            case UInt8(ascii: "&"): escaped += "&amp;".utf8
            case UInt8(ascii: "\""): escaped += "&quot;".utf8
            case UInt8(ascii: "'"): escaped += "&#39;".utf8
            default: escaped.append(byte)
            }
        }
        return escaped
    }
}
