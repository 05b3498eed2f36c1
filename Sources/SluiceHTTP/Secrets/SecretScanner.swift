/// Redacts a text of unknown format: values after secret names, credentials after authentication schemes, and user
/// names and passwords in URLs.
package struct SecretScanner {
    private let rules: SecretRules
    private let bytes: [UInt8]
    private var position = 0
    private var output: [UInt8] = []
    private var hasSecret = false
    /// True if the text is a value in a URL. URLs inside it are not parsed further, which bounds the recursion.
    private let isValue: Bool
    /// True to redact URLs only.
    private let skipsNames: Bool

    /// Returns the text with its secrets redacted.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - rules: The rules.
    ///   - skipsNames: True to redact the URLs in the text only.
    /// - Returns: The redacted text.
    package static func redacted(_ text: String, _ rules: SecretRules, skipsNames: Bool = false) -> String {
        var scanner = SecretScanner(rules, Array(text.utf8), skipsNames: skipsNames)
        scanner.scan()
        return scanner.hasSecret ? String(decoding: scanner.output, as: UTF8.self) : text
    }

    /// Returns true if redaction would change the text.
    package static func containsSecret(_ text: [UInt8], _ rules: SecretRules, isValue: Bool = false) -> Bool {
        var scanner = SecretScanner(rules, text, isValue: isValue)
        scanner.scan()
        return scanner.hasSecret
    }

    /// Returns true if any word of the text is a secret name.
    package static func containsSecretName(
        _ text: [UInt8],
        _ rules: SecretRules,
        amongParameters: Bool = false
    ) -> Bool {
        let names = amongParameters ? rules.parameterNames : rules.memberNames
        return text.split { !isNameByte($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "%") }
            .contains { names.contains($0) || rules.headerNames.contains($0) }
    }

    private init(_ rules: SecretRules, _ bytes: [UInt8], isValue: Bool = false, skipsNames: Bool = false) {
        self.rules = rules
        self.isValue = isValue
        self.skipsNames = skipsNames
        self.bytes = bytes
        output.reserveCapacity(bytes.count)
    }

    private mutating func scan() {
        while position < bytes.count {
            if !skipsNames, Self.isNameByte(bytes[position]) {
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
        copy(to: name.endIndex)
        // Quotation marks, brackets and blanks may stand between a name and its value.
        let sign = bytes[name.endIndex...].firstIndex { !Self.isFiller($0) } ?? bytes.count
        guard sign < bytes.count, bytes[sign] == UInt8(ascii: "=") || bytes[sign] == UInt8(ascii: ":"),
            isSecret(PercentEncoding.decoded(name, plusIsSpace: true), before: bytes[sign])
        else {
            if rules.hidesCredentials, Self.isScheme(name) { credentials() }
            return
        }
        var value = sign + 1
        if value < bytes.count, bytes[value] == UInt8(ascii: ">") { value += 1 }
        value = bytes[value...].firstIndex { !$0.isBlank } ?? bytes.count
        copy(to: value)
        if value < bytes.count { hideValue(isLine: bytes[sign] == UInt8(ascii: ":")) }
    }

    private func isSecret(_ name: [UInt8], before sign: UInt8) -> Bool {
        rules.memberNames.contains(name) || rules.headerNames.contains(name)
            || sign == UInt8(ascii: "=") && rules.parameterNames.contains(name)
    }

    /// Redacts a value: a quoted string, everything after an opening bracket, or otherwise a word or a line.
    private mutating func hideValue(isLine: Bool) {
        let mark = bytes[position...].firstIndex { $0 != UInt8(ascii: "\\") } ?? bytes.count
        if mark < bytes.count, "\"'`".utf8.contains(bytes[mark]) {
            let escapes = mark - position
            copy(to: mark + 1)
            return hide(to: endOfQuotation(by: bytes[mark], escapes: escapes))
        }
        if "{[(".utf8.contains(bytes[position]) { return hide(to: bytes.count) }
        var end = endOfValue(from: position, isLine: isLine)
        if !isLine, end < bytes.count, bytes[end].isBlank, Self.isScheme(bytes[position..<end]) {
            // Authorization=Bearer abc
            let next = bytes[end...].firstIndex { !$0.isBlank } ?? bytes.count
            end = endOfValue(from: next, isLine: isLine)
        }
        hide(to: end)
    }

    private func endOfValue(from start: Int, isLine: Bool) -> Int {
        bytes[start...].firstIndex { isLine ? $0 == 10 || $0 == 13 : Self.isDelimiter($0) }
            ?? bytes.count
    }

    /// Returns the end of a quoted string whose opening quotation mark follows `escapes` backslashes.
    private func endOfQuotation(by mark: UInt8, escapes: Int) -> Int {
        var backslashes = 0
        for index in position..<bytes.count {
            if bytes[index] == UInt8(ascii: "\\") {
                backslashes += 1
                continue
            }
            if bytes[index] == mark, escapes == 0 ? backslashes % 2 == 0 : backslashes <= escapes {
                return index - backslashes
            }
            backslashes = 0
        }
        return bytes.count
    }

    /// Redacts the token after an authentication scheme, unless it is a plain word or a parameter (RFC 9110 §11.4).
    private mutating func credentials() {
        let start = bytes[position...].firstIndex { !$0.isBlank } ?? bytes.count
        let token = bytes[start...].prefix { Self.isNameByte($0) || "+/~=".utf8.contains($0) }
        guard start > position, !token.isEmpty else { return }
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
        byte <= 0x20 || "&;,)]}\"'<>`|".utf8.contains(byte)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...:
            true
        case UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "%"), UInt8(ascii: "$"): true
        default: false
        }
    }
}
