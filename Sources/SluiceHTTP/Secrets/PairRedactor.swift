/// Copies a URL or a form body and redacts the values of secret parameters.
package struct PairRedactor {
    private let rules: SecretRules
    private let bytes: [UInt8]
    /// True for a form body, in which `?` and `#` may be parts of a value.
    private let isForm: Bool
    private var position = 0
    /// True after a GraphQL document that passes a variable to a secret argument.
    private var hidesVariables = false
    /// True after a parameter whose value is a secret name.
    private var awaitsValue = false
    /// The bytes copied so far.
    package private(set) var output: [UInt8] = []

    /// Creates a redactor at the first of the bytes.
    package init(_ rules: SecretRules, _ bytes: [UInt8], isForm: Bool = false) {
        self.rules = rules
        self.isForm = isForm
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
        hidesVariables = passesSecretVariables
        while position < bytes.count {
            pair { $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: ";") || Self.isQueryMark($0) }
            if position < bytes.count { copy(to: position + 1) }
        }
    }

    private mutating func pair(endingAt isEnd: (UInt8) -> Bool) {
        let document = endOfDocument(from: position)
        if document > position {
            // JSON or XML in place of a pair.
            return rules.containsSecret(bytes[position..<document]) ? hide(to: document) : copy(to: document)
        }
        let isPath = isEnd(UInt8(ascii: "/"))
        var end = bytes[position...].firstIndex(where: isEnd) ?? bytes.count
        let equals = bytes[position..<end].firstIndex(of: UInt8(ascii: "="))
        if let equals {
            if isForm { end = bytes[equals...].firstIndex { "&;".utf8.contains($0) } ?? bytes.count }
            end = max(end, endOfDocument(from: equals + 1))
        }
        let name = bytes[position..<(equals ?? end)]
        // JSON in place of a form has no name, or one that is a part of it.
        guard !rules.containsSecret(name) else {
            return hide(to: endOfSecret(end, isPath, isEnd, hasName: equals != nil))
        }
        guard let equals else { return copy(to: end) }
        let decoded = PercentEncoding.decoded(name, plusIsSpace: true)
        copy(to: equals + 1)
        let value = bytes[position..<end]
        // `name=password&value=…`
        let isNamed = awaitsValue && SecretScanner.isValueName(decoded[...])
        awaitsValue = awaitsValue && !isNamed
        let isSecret = rules.parameterNames.contains(decoded)
        if SecretScanner.isNamingName(decoded[...]),
            rules.memberNames.contains(PercentEncoding.decoded(value, plusIsSpace: true)),
            !isSecret || (lastValuePair ?? 0) >= end
        {
            awaitsValue = true
        } else if position < end, isNamed || isSecret || hidesVariables && decoded.elementsEqual("variables".utf8) {
            return hide(to: endOfSecret(end, isPath, isEnd))
        } else if position < end, rules.containsSecret(value) {
            if decoded.elementsEqual("query".utf8) { hidesVariables = true }
            return hide(to: endOfSecret(end, isPath, isEnd))
        }
        copy(to: end)
    }

    /// Returns the end of a secret that may itself contain delimiters: what follows one has no name of its own.
    private func endOfSecret(_ end: Int, _ isPath: Bool, _ isEnd: (UInt8) -> Bool, hasName: Bool = true) -> Int {
        var end = end
        while end < bytes.count, bytes[end] == UInt8(ascii: ";") || !isPath && bytes[end] == UInt8(ascii: "?") {
            let isLong = isForm && hasName
            let next = bytes[(end + 1)...].firstIndex { isLong ? "&;".utf8.contains($0) : isEnd($0) } ?? bytes.count
            guard !bytes[(end + 1)..<next].contains(UInt8(ascii: "=")) else { return end }
            end = next
        }
        return end
    }

    /// The position of the last pair with the name of a value, as in `key=password&value=…`; nil if there is none.
    private lazy var lastValuePair: Int? = pairs(where: { SecretScanner.isValueName($0[...]) }).last?.startIndex

    /// True if there is a GraphQL document that passes a variable to a secret argument.
    private var passesSecretVariables: Bool {
        pairs { $0.elementsEqual("query".utf8) }.contains { rules.containsSecret($0) }
    }

    /// Returns the values of all pairs with a decoded name, which is short.
    private func pairs(where isName: ([UInt8]) -> Bool) -> [ArraySlice<UInt8>] {
        bytes.split { $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: ";") || Self.isQueryMark($0) }.compactMap { pair in
            guard let equals = pair.prefix(32).firstIndex(of: UInt8(ascii: "=")),
                isName(PercentEncoding.decoded(pair[..<equals], plusIsSpace: true))
            else { return nil }
            return pair[(equals + 1)...]
        }
    }

    /// Returns the end of a JSON or XML text that is not encoded and may contain delimiters, or its start if there is
    /// none.
    private func endOfDocument(from start: Int) -> Int {
        guard start < bytes.count, "{[<\"".utf8.contains(bytes[start]) else { return start }
        if bytes[start] == UInt8(ascii: "<") { return bytes.count }
        var depth = 0
        var isQuoted = false
        var index = start
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\\"): index += 1
            case UInt8(ascii: "\""): isQuoted.toggle()
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += isQuoted ? 0 : 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= isQuoted ? 0 : 1
            default: break
            }
            index += 1
            if depth <= 0, !isQuoted { break }
        }
        return min(index, bytes.count)
    }

    private static func isQueryMark(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }
}

extension SecretRules {
    /// Returns true if a value may contain a secret, even if it is percent-encoded several times.
    package func containsSecret(_ value: ArraySlice<UInt8>) -> Bool {
        if SecretScanner.isWord(value) { return false }
        var text = Array(value)
        // A URL nested in two others is encoded three times.
        for _ in 0..<6 {
            if SecretScanner.mayContainSecret(text, self) { return true }
            let decoded = PercentEncoding.decoded(text[...], plusIsSpace: true)
            if decoded == text { return false }
            text = decoded
        }
        // A value that is still encoded has not been read.
        return true
    }
}
