/// Copies a URL or a form body and redacts the values of secret parameters.
package struct PairRedactor {
    private let rules: SecretRules
    private let bytes: [UInt8]
    private var position = 0
    /// The bytes copied so far.
    package private(set) var output: [UInt8] = []

    /// Creates a redactor at the first of the bytes.
    package init(_ rules: SecretRules, _ bytes: [UInt8]) {
        self.rules = rules
        self.bytes = bytes
        output.reserveCapacity(bytes.count + 16)
    }

    /// Copies the bytes up to an index.
    mutating func copy(to end: Int) {
        output += bytes[position..<end]
        position = end
    }

    /// Writes the mark instead of the bytes up to an index.
    mutating func hide(to end: Int) {
        output += SecretRules.mark.utf8
        position = end
    }

    /// Copies a path up to its query or fragment, including parameters of its segments (RFC 3986 §3.3).
    mutating func path() {
        while position < bytes.count, !Self.isQueryMark(bytes[position]) {
            let plain = bytes[position...].prefix {
                $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: ":") && !Self.isQueryMark($0)
            }
            if !plain.isEmpty {
                copy(to: plain.endIndex)
                continue
            }
            if bytes[position] == UInt8(ascii: ";") {
                copy(to: position + 1)
                pair { $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: "/") || Self.isQueryMark($0) }
            } else if bytes[position] == UInt8(ascii: ":"), rules.hidesCredentials,
                bytes[position...].starts(with: "://".utf8)
            {
                copy(to: position + 3)
                if let at = SecretRules.userInfoEnd(in: bytes, from: position) { hide(to: at) }
            } else {
                copy(to: position + 1)
            }
        }
    }

    /// Copies name-value pairs to the end.
    package mutating func pairs() {
        while position < bytes.count {
            pair { $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: ";") || Self.isQueryMark($0) }
            if position < bytes.count { copy(to: position + 1) }
        }
    }

    /// Copies one pair. A part of a value that contains a delimiter is a pair of its own.
    private mutating func pair(endingAt isEnd: (UInt8) -> Bool) {
        let start = position
        let end = bytes[position...].firstIndex(where: isEnd) ?? bytes.count
        let equals = bytes[position..<end].firstIndex(of: UInt8(ascii: "="))
        let name = bytes[position..<(equals ?? end)]
        // JSON in place of a form has no name, or one that is a part of it.
        guard !rules.isSecret(name) else {
            hide(to: end)
            return hideOpenValue(from: start)
        }
        guard let equals else { return copy(to: end) }
        let decoded = PercentEncoding.decoded(name, plusIsSpace: true)
        copy(to: equals + 1)
        guard position < end, rules.parameterNames.contains(decoded) || rules.isSecret(bytes[position..<end]) else {
            return copy(to: end)
        }
        hide(to: end)
        hideOpenValue(from: equals + 1)
    }

    /// Removes what follows a hidden value that contains an opening bracket or quotation mark without its end. The
    /// delimiter belongs to the value, although it is not encoded.
    private mutating func hideOpenValue(from start: Int) {
        var depth = 0
        var quotes = 0
        for byte in bytes[start..<position] {
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "<"): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: ">"): depth -= 1
            case UInt8(ascii: "\""): quotes += 1
            default: break
            }
        }
        if depth > 0 || quotes % 2 == 1 { position = bytes.count }
    }

    private static func isQueryMark(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }
}

extension SecretRules {
    /// Returns true if a value contains a secret, even if it is percent-encoded several times.
    fileprivate func isSecret(_ value: ArraySlice<UInt8>) -> Bool {
        var text = Array(value)
        // A URL nested in two others is encoded three times.
        for _ in 0..<5 {
            if SecretScanner.mayContainSecret(text, self) { return true }
            let decoded = PercentEncoding.decoded(text[...], plusIsSpace: true)
            if decoded == text { break }
            text = decoded
        }
        return false
    }
}
