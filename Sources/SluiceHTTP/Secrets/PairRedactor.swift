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

    /// Copies one pair.
    private mutating func pair(endingAt isEnd: (UInt8) -> Bool) {
        let end = bytes[position...].firstIndex(where: isEnd) ?? bytes.count
        guard let equals = bytes[position..<end].firstIndex(of: UInt8(ascii: "=")) else { return copy(to: end) }
        let name = PercentEncoding.decoded(bytes[position..<equals], plusIsSpace: true)
        copy(to: equals + 1)
        if position < end, rules.parameterNames.contains(name) || rules.isSecret(bytes[position..<end]) {
            hide(to: end)
        } else {
            copy(to: end)
        }
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
            if SecretScanner.containsSecret(text, self, isValue: true) { return true }
            let decoded = PercentEncoding.decoded(text[...], plusIsSpace: true)
            if decoded == text { break }
            text = decoded
        }
        return false
    }
}
