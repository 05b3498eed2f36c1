/// Redacts a text of unknown format: values after secret names, in elements and attributes with secret names, and beside
/// them, as in `name: password, value: …`; credentials after authentication schemes, private keys in PEM, and user names
/// and passwords in URLs.
package struct SecretScanner {
    private let rules: SecretRules
    private let bytes: [UInt8]
    private var position = 0
    private var output: [UInt8] = []
    private var hasSecret = false
    /// True if the text is a value in a URL. URLs inside it are not parsed further, which bounds the recursion.
    private let isValue: Bool
    /// True after a secret name that is a value itself, such as that of the attribute `name`.
    private var awaitsValue = false
    /// True if the last word is the name of a member that names another, and a sign follows it.
    private var isNaming = false

    /// Returns the text with its secrets redacted.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - rules: The rules.
    /// - Returns: The redacted text.
    package static func redacted(_ text: String, _ rules: SecretRules) -> String {
        var scanner = SecretScanner(rules, Array(text.utf8))
        scanner.scan()
        return scanner.hasSecret ? String(decoding: scanner.output, as: UTF8.self) : text
    }

    /// Returns true for a single word, which redaction never changes: it has no sign, blank or percent-encoding.
    package static func isWord(_ text: some Sequence<UInt8>) -> Bool {
        for byte in text where !isNameByte(byte) || byte == UInt8(ascii: "%") { return false }
        return true
    }

    /// Returns true if redaction would change the text.
    package static func containsSecret(_ text: [UInt8], _ rules: SecretRules, isValue: Bool = false) -> Bool {
        var scanner = SecretScanner(rules, text, isValue: isValue)
        scanner.scan()
        return scanner.hasSecret
    }

    /// Returns true if any word of the text is a secret name, or an escape sequence may hide a letter of one.
    package static func containsSecretName(
        _ text: [UInt8],
        _ rules: SecretRules,
        amongParameters: Bool = false
    ) -> Bool {
        let names = amongParameters ? rules.parameterNames : rules.memberNames
        return text.split { !isNameByte($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "%") }
            .contains { names.contains($0) || rules.headerNames.contains($0) || $0 == keyType }
            || containsEscapedLetter(text)
    }

    /// Returns true if the text has an escape sequence for an ASCII letter: `\u0061`, `\u{61}`, `\x61`, `\U00000061`,
    /// `\141`, `&#97;` or `&#x61;`.
    private static func containsEscapedLetter(_ text: [UInt8]) -> Bool {
        text.indices.contains { index in
            guard text[index] == UInt8(ascii: "\\") || text[index] == UInt8(ascii: "&"), index + 2 < text.count else {
                return false
            }
            var digits = text[(index + 2)...].prefix(10)
            var radix = 16
            var length = 8
            switch (text[index], text[index + 1]) {
            case (UInt8(ascii: "\\"), UInt8(ascii: "x")): length = 2
            case (UInt8(ascii: "\\"), UInt8(ascii: "u")) where digits.first != UInt8(ascii: "{"): length = 4
            case (UInt8(ascii: "\\"), UInt8(ascii: "u")), (UInt8(ascii: "\\"), UInt8(ascii: "U")): break
            case (UInt8(ascii: "\\"), UInt8(ascii: "0")...UInt8(ascii: "1")):
                digits = text[(index + 1)...]
                radix = 8
                length = 3
            case (UInt8(ascii: "&"), UInt8(ascii: "#")):
                radix = digits.first.map { $0 | 0x20 } == UInt8(ascii: "x") ? 16 : 10
            default: return false
            }
            let number = digits.drop { "{xX".utf8.contains($0) }.prefix(length).prefix { $0.hexadecimalValue != nil }
            guard let code = Int(String(decoding: number, as: UTF8.self), radix: radix) else { return false }
            return code < 0x80 && isNameByte(UInt8(code))
        }
    }

    /// Returns true if the text may contain a secret: one that redaction finds, or one in a document that it cannot
    /// read, beside or behind a secret name.
    package static func mayContainSecret(_ text: [UInt8], _ rules: SecretRules) -> Bool {
        if containsSecret(text, rules, isValue: true) { return true }
        guard let first = text.first(where: { $0 > 0x20 }) else { return false }
        let isDocument = "{[<\"".utf8.contains(first) || isTable(text) || containsObject(text)
        return isDocument && containsSecretName(text, rules)
    }

    /// Returns true if an object or array of JSON begins in a text.
    private static func containsObject(_ text: [UInt8]) -> Bool {
        zip(text, text.dropFirst()).contains { "{[".utf8.contains($0) && "{[\"".utf8.contains($1) }
    }

    /// Returns true if a text of several lines has delimiters of columns in the first.
    package static func isTable(_ text: [UInt8]) -> Bool {
        guard let end = text.firstIndex(where: { $0 == 10 || $0 == 13 }) else { return false }
        return text[..<end].contains { ",;\t|".utf8.contains($0) } && text[end...].contains { $0 > 0x20 }
    }

    /// The member of every JSON Web Key (RFC 7517 §4.1), whose secret members have short names.
    private static let keyType = Array("kty".utf8)[...]

    private init(_ rules: SecretRules, _ bytes: [UInt8], isValue: Bool = false) {
        self.rules = rules
        self.isValue = isValue
        self.bytes = bytes
        output.reserveCapacity(bytes.count)
    }

    private mutating func scan() {
        while position < bytes.count {
            if Self.isNameByte(bytes[position]) {
                name()
            } else if bytes[position] == UInt8(ascii: ":"), bytes[position...].starts(with: "://".utf8) {
                copy(to: position + 3)
                url()
            } else {
                copy(to: position + 1)
            }
        }
    }

    /// Copies a URL from its authority on.
    private mutating func url() {
        if rules.hidesCredentials, let at = SecretRules.userInfoEnd(in: bytes, from: position) { hide(to: at) }
        if isValue { return }
        let url = bytes[position...].prefix { !SecretRules.isURLEnd($0) }
        var pairs = PairRedactor(rules, Array(url))
        pairs.path()
        pairs.pairs()
        if !pairs.output.elementsEqual(url) { hasSecret = true }
        output += pairs.output
        position = url.endIndex
    }

    /// Copies a word. If the word is a secret name, also redacts its value.
    private mutating func name() {
        let name = bytes[position...].prefix(while: Self.isNameByte)
        let start = position
        copy(to: name.endIndex)
        if rules.hidesCredentials, name.count >= 10, name.suffix(10).elementsEqual("-----BEGIN".utf8) { return key() }
        // Quotation marks, brackets and blanks may stand between a name and its value.
        var sign = bytes[name.endIndex...].firstIndex { !Self.isFiller($0) } ?? bytes.count
        if sign < bytes.count, bytes[sign] == 10 || bytes[sign] == 13 {
            // A colon may follow a line break, an equals sign not.
            let next = bytes[sign...].firstIndex { !Self.isFiller($0) && $0 != 10 && $0 != 13 } ?? bytes.count
            if next < bytes.count, bytes[next] == UInt8(ascii: ":") { sign = next }
        }
        let wasNaming = isNaming
        isNaming = false
        let hasSign = sign < bytes.count && (bytes[sign] == UInt8(ascii: "=") || bytes[sign] == UInt8(ascii: ":"))
        let isTag = sign < bytes.count && bytes[sign] == UInt8(ascii: ">")
        if awaitsValue, hasSign || isTag, Self.isValueName(name) { return hideRest(from: sign + 1) }
        let decoded = Self.decoded(name)
        if hasSign || isTag, Self.isNamingName(name) {
            isNaming = true
            // The value is shown even if the name is secret too, as in `key=password&value=…`.
            if hasSign, namesSecret(after: sign + 1),
                !isSecret(decoded, before: bytes[sign]) || isAttribute(start, valueAt: sign + 1)
                    || hasValueName(after: sign + 1)
            {
                return
            }
            // The value is hidden, but may be a name all the same.
            if hasSign, namesSecret(after: sign + 1) { awaitsValue = true }
        }
        guard isSecret(decoded, before: hasSign ? bytes[sign] : 0) else {
            if rules.hidesCredentials, Self.isScheme(name) { credentials() }
            return
        }
        if hasSign {
            var value = sign + 1
            // `=>`, `:=` and `==` are signs too.
            while value < min(bytes.count, sign + 3), "=>".utf8.contains(bytes[value]) { value += 1 }
            hideValue(after: value, isLine: bytes[sign] == UInt8(ascii: ":"), indentation: indentation(before: start))
        } else if isElement(at: start) {
            hideContent(of: name)
        } else if wasNaming {
            // `<param name="password">` has the value as its content, `name: password` beside it.
            if isTag, bytes[name.endIndex..<sign].contains(where: { "\"'".utf8.contains($0) }) {
                hideRest(from: sign + 1)
            } else {
                awaitsValue = true
            }
        } else if name.starts(with: "--".utf8) {
            // An option of a command line.
            let value = bytes[name.endIndex...].firstIndex { !$0.isBlank } ?? bytes.count
            guard value > name.endIndex, value < bytes.count, bytes[value] != UInt8(ascii: "-") else { return }
            hideValue(after: name.endIndex, isLine: false, indentation: 0)
        } else if rules.hidesCredentials, Self.isScheme(name) {
            credentials()
        }
    }

    /// Returns a name without percent-encoding.
    private static func decoded(_ name: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        name.contains(UInt8(ascii: "%")) ? PercentEncoding.decoded(name, plusIsSpace: true)[...] : name
    }

    private func isSecret(_ name: ArraySlice<UInt8>, before sign: UInt8) -> Bool {
        rules.memberNames.contains(name) || rules.headerNames.contains(name)
            || sign == UInt8(ascii: "=") && rules.parameterNames.contains(name)
    }

    /// Returns true for an attribute of a tag, as in `<entry key="password">…</entry>`.
    private func isAttribute(_ name: Int, valueAt value: Int) -> Bool {
        guard name > 0, bytes[name - 1].isBlank,
            bytes[..<name].suffix(256).last(where: { "<>\n".utf8.contains($0) }) == UInt8(ascii: "<")
        else { return false }
        return bytes[value...].prefix(256).first { "<>\n".utf8.contains($0) } == UInt8(ascii: ">")
    }

    /// Returns true if the name of a value follows soon, as in `key=password&value=…`.
    private func hasValueName(after start: Int) -> Bool {
        var rest = bytes[start...].prefix(512)
        while let first = rest.firstIndex(where: Self.isNameByte) {
            let word = rest[first...].prefix(while: Self.isNameByte)
            rest = rest[word.endIndex...]
            let sign = rest.first { !Self.isFiller($0) }
            if sign == UInt8(ascii: "=") || sign == UInt8(ascii: ":"), Self.isValueName(word) { return true }
        }
        return false
    }

    /// Returns true if the word after a sign is a secret name.
    private func namesSecret(after start: Int) -> Bool {
        let first = bytes[start...].prefix(64).firstIndex { !Self.isFiller($0) } ?? bytes.count
        let word = bytes[min(first, bytes.count)...].prefix(129).prefix(while: Self.isNameByte)
        return !word.isEmpty && word.count <= 128
            && isSecret(Self.decoded(word), before: 0)
    }

    /// Returns true if a name belongs to a member whose value names another, as in `{"name": "password"}`.
    static func isNamingName(_ name: ArraySlice<UInt8>) -> Bool {
        name.count <= 9 && namingNames.contains(String(decoding: name.map(\.asciiLowercased), as: UTF8.self))
    }

    private static let namingNames: Set<String> = [
        "name", "key", "k", "n", "field", "header", "param", "parameter", "id", "attribute", "property", "string",
    ]

    /// Returns true if a name belongs to the member beside one that names another.
    static func isValueName(_ name: ArraySlice<UInt8>) -> Bool {
        name.count <= 7 && valueNames.contains(String(decoding: name.map(\.asciiLowercased), as: UTF8.self))
    }

    private static let valueNames: Set<String> = [
        "value", "values", "val", "v", "content", "data", "text", "string", "default",
    ]

    /// Redacts the text from the first character that is not blank.
    private mutating func hideRest(from start: Int) {
        let value = bytes[start...].firstIndex { !$0.isBlank } ?? bytes.count
        copy(to: value)
        hide(to: bytes.count)
        awaitsValue = false
    }

    /// Returns the number of blanks at the beginning of a line, up to 64.
    private func indentation(before start: Int) -> Int {
        let line = bytes[max(0, start - 64)..<start].reversed().prefix { $0 != 10 && $0 != 13 }
        return line.reversed().prefix(while: \.isBlank).count
    }

    /// Copies what stands before a value, and redacts the value: a quoted string, everything after an opening bracket,
    /// or otherwise a word, or a line with the deeper lines below it.
    private mutating func hideValue(after start: Int, isLine: Bool, indentation: Int) {
        let first = bytes[start...].firstIndex { !$0.isBlank } ?? bytes.count
        guard first < bytes.count else { return copy(to: first) }
        if isLine, bytes[first] == 10 || bytes[first] == 13 {
            let below = bytes[first...].firstIndex { !$0.isBlank && $0 != 10 && $0 != 13 } ?? bytes.count
            guard below < bytes.count, isBelow(below, indentation) else { return copy(to: first) }
            copy(to: below)
            return hide(to: endOfBlock(from: below, indentation))
        }
        copy(to: first)
        let mark = bytes[position...].firstIndex { $0 != UInt8(ascii: "\\") } ?? bytes.count
        if mark < bytes.count, "\"'`".utf8.contains(bytes[mark]) { return hideQuotation(at: mark) }
        if "{[(".utf8.contains(bytes[position]) { return hide(to: bytes.count) }
        if isLine { return hide(to: endOfBlock(from: position, indentation)) }
        var end = endOfWord(from: position)
        if end < bytes.count, bytes[end].isBlank, Self.isScheme(bytes[position..<end]) {
            // Authorization=Bearer abc
            let next = bytes[end...].firstIndex { !$0.isBlank } ?? bytes.count
            end = endOfWord(from: next)
        }
        if end == position, end < bytes.count, bytes[end] == UInt8(ascii: "<") {
            // `password=<…>`, or a value between tags.
            let close = bytes[end...].firstIndex(of: UInt8(ascii: ">")).map { $0 + 1 } ?? bytes.count
            end = endOfWord(from: close)
        }
        hide(to: end)
    }

    /// Returns true if a line belongs to the value of a name above it: an indented line, a quotation or an item.
    private func isBelow(_ start: Int, _ indentation: Int) -> Bool {
        self.indentation(before: start) > indentation || "\"'`".utf8.contains(bytes[start])
            || bytes[start] == UInt8(ascii: "-") && start + 1 < bytes.count && bytes[start + 1].isBlank
    }

    /// Returns the end of a line and of the deeper lines below it (RFC 9112 §5.2; YAML 1.2.2 §6.1).
    private func endOfBlock(from start: Int, _ indentation: Int) -> Int {
        var end = start
        while true {
            end = bytes[end...].firstIndex { $0 == 10 || $0 == 13 } ?? bytes.count
            let next = bytes[end...].firstIndex { $0 != 10 && $0 != 13 } ?? bytes.count
            guard next < bytes.count, bytes[next].isBlank || bytes[next] == UInt8(ascii: "-") else { return end }
            let text = bytes[next...].firstIndex { !$0.isBlank } ?? bytes.count
            guard text < bytes.count, isBelow(text, indentation) else { return end }
            end = text
        }
    }

    /// Returns the end of a word: a delimiter that another name, a blank or the end follows.
    private func endOfWord(from start: Int) -> Int {
        var end = start
        while true {
            end = bytes[end...].firstIndex(where: Self.isDelimiter) ?? bytes.count
            guard end + 1 < bytes.count, ",;|".utf8.contains(bytes[end]), Self.isNameByte(bytes[end + 1]) else {
                return end
            }
            let name = bytes[(end + 1)...].prefix(64).prefix(while: Self.isNameByte)
            let sign = name.endIndex
            if sign < bytes.count, "=:[".utf8.contains(bytes[sign]) { return end }
            end += 1
        }
    }

    /// Redacts a quoted string, whose mark may follow backslashes.
    private mutating func hideQuotation(at mark: Int) {
        let quote = bytes[mark]
        let escapes = mark - position
        copy(to: mark + 1)
        let following = bytes[position...].prefix(2 * (escapes + 1))
        let isTriple =
            following.count == 2 * (escapes + 1) && following.filter { $0 == quote }.count == 2
            && following.last == quote && following.allSatisfy { $0 == quote || $0 == UInt8(ascii: "\\") }
        guard isTriple else { return hide(to: endOfQuotation(by: quote, escapes: escapes)) }
        // Three marks begin a string of several lines.
        copy(to: following.endIndex)
        guard escapes == 0 else { return hide(to: bytes.count) }
        let end = bytes.indices[position...].first { index in
            bytes[index] == quote && bytes[index...].prefix(3).count == 3
                && bytes[index...].prefix(3).allSatisfy { $0 == quote }
        }
        hide(to: end ?? bytes.count)
    }

    /// Returns the end of a quoted string whose opening quotation mark follows `escapes` backslashes.
    private func endOfQuotation(by mark: UInt8, escapes: Int) -> Int {
        var backslashes = 0
        var index = position
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "\\") {
                backslashes += 1
            } else if bytes[index] == mark, escapes == 0 ? backslashes % 2 == 0 : backslashes <= escapes {
                // Two marks in a quoted string are one (YAML 1.2.2 §7.3.2, RFC 4180 §2).
                guard escapes == 0, index > position, index + 1 < bytes.count, bytes[index + 1] == mark else {
                    return index - backslashes
                }
                index += 1
                backslashes = 0
            } else {
                backslashes = 0
            }
            index += 1
        }
        return bytes.count
    }

    // MARK: Elements and keys

    /// Returns true if an angle bracket stands before a name, or before its prefix.
    private func isElement(at start: Int) -> Bool {
        guard start > 0 else { return false }
        if bytes[start - 1] == UInt8(ascii: "<") { return true }
        guard bytes[start - 1] == UInt8(ascii: ":") else { return false }
        let prefix = bytes[max(0, start - 65)..<(start - 1)].reversed().prefix { Self.isNameByte($0) }
        let bracket = start - 2 - prefix.count
        return !prefix.isEmpty && bracket >= 0 && bytes[bracket] == UInt8(ascii: "<")
    }

    /// Redacts the content of an element up to its end tag, or everything if it has none.
    private mutating func hideContent(of name: ArraySlice<UInt8>) {
        var quote: UInt8?
        let close = bytes[position...].firstIndex { byte in
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else {
                return byte == UInt8(ascii: ">")
            }
            return false
        }
        guard let close else { return hide(to: bytes.count) }
        let isEmpty = bytes[close - 1] == UInt8(ascii: "/")
        // Attributes may be secret too.
        if bytes[position].isBlank || bytes[position] == 10 || bytes[position] == 13 {
            copy(to: position + 1)
            hide(to: isEmpty ? max(position, close - 1) : close)
        }
        copy(to: close + 1)
        if isEmpty { return }
        let start = name.prefix(64)
        let end = bytes.indices[position...].first { index in
            guard bytes[index] == UInt8(ascii: "<"), index + 1 < bytes.count, bytes[index + 1] == UInt8(ascii: "/")
            else { return false }
            return bytes[(index + 2)...].prefix(192).prefix { $0 != UInt8(ascii: ">") }
                .split(separator: UInt8(ascii: ":")).last.map { $0.starts(with: start) } ?? false
        }
        hide(to: end ?? bytes.count)
    }

    private static let keyNames: SecretNames = ["*private-key*"]

    /// Redacts a private key in PEM (RFC 7468), up to its end or to that of the text. Other labels are shown.
    private mutating func key() {
        let label = bytes[position...].prefix(64).prefix { $0 != UInt8(ascii: "-") && $0 != 10 && $0 != 13 }
        guard Self.keyNames.contains(PercentEncoding.decoded(label, plusIsSpace: true)) else { return }
        copy(to: label.endIndex)
        copy(to: bytes[position...].firstIndex { $0 != UInt8(ascii: "-") } ?? bytes.count)
        let mark = Array("-----END".utf8)
        let end = bytes.indices[position...].first { bytes[$0] == mark[0] && bytes[$0...].starts(with: mark) }
        hide(to: end ?? bytes.count)
    }

    /// Redacts the token after an authentication scheme, unless it is a plain word or a parameter (RFC 9110 §11.4).
    private mutating func credentials() {
        let start = bytes[position...].firstIndex { !$0.isBlank } ?? bytes.count
        // Checked first: a text without blanks, such as “basic+basic+…”, would be searched to its end for each name.
        guard start > position else { return }
        let token = bytes[start...].prefix { Self.isNameByte($0) || "+/~=".utf8.contains($0) }
        guard !token.isEmpty else { return }
        let isWord = token.allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || ".,".utf8.contains($0) }
        let isParameter =
            token.last == UInt8(ascii: "=") && token.endIndex < bytes.count
            && bytes[token.endIndex] == UInt8(ascii: "\"")
        if isWord || isParameter { return }
        copy(to: start)
        hide(to: token.endIndex)
    }

    private mutating func copy(to end: Int) {
        output += bytes[position..<end]
        position = end
    }

    private mutating func hide(to end: Int) {
        if end > position, !bytes[position..<end].elementsEqual(SecretRules.mark.utf8) {
            output += SecretRules.mark.utf8
            hasSecret = true
        } else {
            output += bytes[position..<end]
        }
        position = end
    }

    private static func isScheme(_ word: ArraySlice<UInt8>) -> Bool {
        // Most words are not schemes; their length avoids creating a string.
        switch word.count {
        case 4...6, 9, 16: SecretRules.isScheme(String(decoding: word, as: UTF8.self))
        default: false
        }
    }

    /// Returns true if a byte may stand between a name and the sign before its value.
    private static func isFiller(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "`"), UInt8(ascii: "]"), UInt8(ascii: "\\"), 0x20,
            0x09:
            true
        default: false
        }
    }

    /// Returns true if a byte ends an unquoted value.
    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0...0x20, UInt8(ascii: "&"), UInt8(ascii: ";"), UInt8(ascii: ","), UInt8(ascii: ")"), UInt8(ascii: "]"),
            UInt8(ascii: "}"), UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "<"), UInt8(ascii: ">"),
            UInt8(ascii: "`"), UInt8(ascii: "|"):
            true
        default: false
        }
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "%"), UInt8(ascii: "$"): true
        default: byte.isLetter || byte.isDigit || byte >= 0x80
        }
    }
}
