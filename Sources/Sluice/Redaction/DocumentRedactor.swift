import SluiceFoundation
import SluiceHTTP

/// The redactor of bodies, header fields and texts, for logs, cURL commands, HAR files and cassettes.
///
/// It reads JSON, forms, multipart forms, XML and HTML, also inside each other. A document that it cannot read is
/// withheld if it may contain a secret.
package struct DocumentRedactor: Sendable {
    package let rules: SecretRules
    /// The maximum length of a body, in bytes.
    package let limit: Int
    /// True if a program reads the result: objects and arrays with secret values are kept, secret numbers become 0,
    /// binary parts of forms keep their bytes, and malformed documents are always withheld.
    package let keepsStructure: Bool

    private static let maximumDepth = 4

    package init(_ rules: SecretRules, limit: Int, keepsStructure: Bool = false) {
        self.rules = rules
        self.limit = limit
        self.keepsStructure = keepsStructure
    }

    /// A body without its secrets.
    package enum Result {
        /// The text without its secrets. It is not changed if nothing was removed.
        case text(String, isChanged: Bool)
        /// A form without its secrets, and with notes in place of binary parts and of parts that are withheld.
        case abridged(String)
        /// A form, possibly with binary parts, without its secrets.
        case bytes(Data)
        /// Binary data, unchanged.
        case binary
        /// A body that may contain secrets that cannot be located.
        case withheld(Reason)
    }

    /// The reasons to withhold a body, in a few words.
    package enum Reason: String {
        /// The body is longer than the limit.
        case tooLong = "too long to look for secrets"
        /// The body is malformed or of an unknown type, and contains the name of a secret.
        case possiblySecret = "it may contain a secret"
        /// The body is compressed, so it was not searched.
        case compressed
        /// The body has a text type but cannot be decoded.
        case undecodable = "declared as text, but cannot be decoded"
    }
}

// MARK: - Texts and header fields

extension DocumentRedactor {
    /// Redacts a text: a document, if it is one, and otherwise what follows secret names.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - depth: The number of documents that contain it.
    /// - Returns: The redacted text, or only the mark if it is a document that cannot be read.
    package func text(_ text: String, depth: Int = 0) -> String {
        if rules.isNone || text.utf8.count < 3 || SecretScanner.isWord(text.utf8) { return text }
        if depth > 0 { return redactedOnce(text, depth: depth) }
        return SecretRules.settled(text) { redactedOnce($0, depth: 0) } ?? SecretRules.mark
    }

    private func redactedOnce(_ text: String, depth: Int) -> String {
        if let document = document(text, depth: depth) { return document }
        let bytes = Array(text.utf8)
        let begins = bytes.first { $0 > 0x20 }
        let isDocument = begins.map { "{[<".utf8.contains($0) } ?? false
        if isDocument || SecretScanner.isTable(bytes), SecretScanner.containsSecretName(bytes, rules) {
            return SecretRules.mark
        }
        guard isEncoded(bytes) else { return rules.text(text) }
        // A form or a URL, or a text that is encoded as a whole.
        let form = rules.form(text)
        return form.hasSameBytes(as: text) && rules.containsSecret(bytes[...]) ? SecretRules.mark : rules.text(form)
    }

    /// Returns true if a text without blanks has percent-encoded bytes.
    private func isEncoded(_ text: [UInt8]) -> Bool {
        text.contains(UInt8(ascii: "%")) && !text.contains { $0 <= 0x20 }
            && PercentEncoding.decoded(text[...], plusIsSpace: false) != text
    }

    /// Redacts JSON, XML or HTML; nil if the text is none of these.
    private func document(_ text: String, depth: Int) -> String? {
        guard depth < Self.maximumDepth, let first = text.utf8.first(where: { $0 > 0x20 }) else { return nil }
        switch first {
        case UInt8(ascii: "{"), UInt8(ascii: "["), 0x1E: return JSONRedactor.redacted(text, self, depth: depth)
        case UInt8(ascii: "<"): return MarkupRedactor.redacted(text, self, depth: depth)
        default: return nil
        }
    }

    /// Returns true if a text is the name of secret values, and nothing else: a word, or up to three.
    func isSecretName(_ text: String, isWord: Bool = false) -> Bool {
        let name = text.utf8[...].trimmed
        // A sentence is no name.
        guard name.count <= 128, name.split(separator: 0x20).count <= (isWord ? 1 : 3) else { return false }
        return rules.memberNames.contains(Array(name)) || rules.headerNames.contains(Array(name))
    }

    /// Removes the secrets from header fields. An unchanged field keeps its bytes, which may not be valid UTF-8.
    package func headers(_ headers: HTTPHeaders, secretHeaders: [HTTPHeaderName] = []) -> HTTPHeaders {
        if rules.isNone { return headers }
        var redacted = HTTPHeaders()
        for field in headers {
            let value = value(of: field, secretHeaders)
            if value.hasSameBytes(as: field.value) {
                redacted.append(field)
            } else {
                redacted.append(field.name, value)
            }
        }
        return redacted
    }

    private func value(of field: HTTPHeaders.Field, _ secretHeaders: [HTTPHeaderName]) -> String {
        let isSecret =
            rules.headerNames.contains(field.name.rawValue)
            || rules.hidesCredentials && secretHeaders.contains(field.name)
        if isSecret {
            if field.value.isEmpty { return "" }
            let scheme = String(Substring(field.value.utf8.prefix { $0 != UInt8(ascii: " ") }))
            let isShown = scheme.utf8.count < field.value.utf8.count && SecretRules.isScheme(scheme)
            return isShown ? "\(scheme) \(SecretRules.mark)" : SecretRules.mark
        }
        switch field.name {
        case .location, .referer, "Content-Location", "Origin": return rules.url(field.value)
        case "Link": return links(field.value)
        default: return text(field.value)
        }
    }

    /// Redacts the targets of a `Link` field (RFC 8288 §3), which stand in angle brackets and may be relative.
    private func links(_ field: String) -> String {
        field.utf8.split(separator: UInt8(ascii: "<"), omittingEmptySubsequences: false).map { bytes in
            guard let end = bytes.firstIndex(of: UInt8(ascii: ">")) else { return rules.text(String(Substring(bytes))) }
            return rules.url(String(Substring(bytes[..<end]))) + rules.text(String(Substring(bytes[end...])))
        }.joined(separator: "<")
    }
}

// MARK: - Bodies

extension DocumentRedactor {
    /// Removes the secrets from a body.
    ///
    /// - Parameters:
    ///   - data: The body.
    ///   - contentType: Its `Content-Type`; nil if there is none.
    ///   - contentEncoding: Its `Content-Encoding` if it is still encoded.
    /// - Returns: The redacted body.
    package func body(_ data: Data, contentType: String?, contentEncoding: String? = nil) -> Result {
        let isEncoded = contentEncoding.map { !$0.isEmpty && $0.asWord != "identity" } ?? false
        if isEncoded { return rules.isNone ? .binary : .withheld(.compressed) }
        return body(data, contentType: contentType, depth: 0)
    }

    /// Removes the secrets from a body inside `depth` forms.
    func body(_ data: Data, contentType: String?, depth: Int) -> Result {
        if data.count > limit, !rules.isNone { return .withheld(.tooLong) }
        let type = contentType.flatMap(ContentType.init)
        if type?.type == "multipart", let boundary = type?["boundary"] {
            return MultipartRedactor.redacted(data, boundary: boundary, depth: depth, self) ?? undetermined(data, type)
        }
        guard let text = Self.text(of: data, type) else { return undetermined(data, type) }
        if rules.isNone { return .text(text, isChanged: false) }
        guard let redacted = SecretRules.settled(text, { redacted($0, type) }) else {
            return .withheld(.possiblySecret)
        }
        return .text(redacted, isChanged: !redacted.hasSameBytes(as: text))
    }

    /// Returns true if a body with this beginning is a text or a form, which has to be searched as a whole.
    package func isReadable(_ beginning: Data, contentType: String?) -> Bool {
        let type = contentType.flatMap(ContentType.init)
        if type?.type == "multipart" || type?.isText == true { return true }
        // The beginning may end within a character.
        return (0..<4).contains { Self.text(of: beginning.dropLast($0), type) != nil }
    }

    /// Returns the search of a body that is not readable, which continues after this beginning; nil if its type needs none.
    package func search(_ beginning: Data, contentType: String?) -> BinaryBodySearch? {
        rules.isNone || Self.isMedia(contentType.flatMap(ContentType.init)) ? nil : BinaryBodySearch(beginning, rules)
    }

    private static func isMedia(_ type: ContentType?) -> Bool {
        type.map { ["image", "audio", "video", "font"].contains($0.type) } ?? false
    }

    /// Redacts a body of text; nil if it may contain secrets that cannot be located.
    private func redacted(_ text: String, _ type: ContentType?) -> String? {
        if let document = document(text, depth: 0) { return document }
        let form = rules.form(text)
        let isForm = text.utf8.contains(UInt8(ascii: "=")) && !text.utf8.contains(10)
        if isForm, type?.essence == "application/x-www-form-urlencoded" { return form }
        guard let first = text.utf8.first(where: { $0 > 0x20 }) else { return text }
        let isDeclared = type?.isJSON == true
        if isDeclared || first == UInt8(ascii: "\""), let json = JSONRedactor.redacted(text, self, depth: 0) {
            return json
        }
        let isJSON = isDeclared || "{[".utf8.contains(first) && type?.subtype != "graphql"
        if keepsStructure, isJSON { return nil }
        // A form may be labelled as another text.
        return !form.hasSameBytes(as: text) || mayHoldSecret(Array(text.utf8)) ? nil : text
    }

    /// Returns the result for a body that is not text or cannot be parsed.
    private func undetermined(_ data: Data, _ type: ContentType?) -> Result {
        if rules.isNone {
            return String(validating: data, as: UTF8.self).map { .text($0, isChanged: false) } ?? .binary
        }
        let isText = type?.isText == true || type?.type == "multipart"
        if keepsStructure, isText { return .withheld(.possiblySecret) }
        if !isText, Self.isMedia(type) { return .binary }
        let wide = Self.wideText(of: data)
        let bytes = wide.map { Array($0.utf8) } ?? Array(data)
        if (isText || wide != nil) && mayHoldSecret(bytes) || rules.memberNames.occur(in: bytes)
            || rules.headerNames.occur(in: bytes)
            || SecretScanner.containsSecret(bytes, rules)
        {
            return .withheld(.possiblySecret)
        }
        if type?.type == "multipart", let text = String(validating: data, as: UTF8.self) {
            return .text(text, isChanged: false)
        }
        if Self.isCompressed(data) { return .withheld(.compressed) }
        return type?.isText == true ? .withheld(.undecodable) : .binary
    }

    /// Returns true if data begins like gzip, zlib or Zstandard (RFC 1952 §2.3.1, RFC 1950 §2.2, RFC 8878 §3.1.1).
    package static func isCompressed(_ data: Data) -> Bool {
        let starts: [[UInt8]] = [
            [0x1F, 0x8B], [0x28, 0xB5, 0x2F, 0xFD], [0x78, 1], [0x78, 0x5E], [0x78, 0x9C], [0x78, 0xDA],
        ]
        return starts.contains { data.starts(with: $0) }
    }

    /// Returns true if the bytes contain a secret name or an escape sequence that could hide one, even if they are
    /// percent-encoded several times.
    private func mayHoldSecret(_ bytes: [UInt8]) -> Bool {
        var bytes = bytes
        for _ in 0..<6 {
            if SecretScanner.containsSecretName(bytes, rules) || SecretScanner.containsSecret(bytes, rules) {
                return true
            }
            guard bytes.contains(UInt8(ascii: "%")) else { return false }
            let decoded = PercentEncoding.decoded(bytes[...], plusIsSpace: false)
            if decoded == bytes { return false }
            bytes = decoded
        }
        return true
    }

    private static func text(of data: Data, _ type: ContentType?) -> String? {
        guard let text = decoded(data, type) else { return nil }
        // Text in any encoding has no control characters other than white space, escape and record separator.
        let isBinary = text.utf8.contains { $0 < 0x20 && !(9...13).contains($0) && $0 != 0x1B && $0 != 0x1E }
        return isBinary && type?.isText != true || text.utf8.contains(0) ? nil : text
    }

    /// Returns a text of ASCII in UTF-16 without a byte order mark; nil for other data.
    private static func wideText(of data: Data) -> String? {
        guard data.count >= 4, data.count % 2 == 0 else { return nil }
        let zeros = data.enumerated().reduce(into: [0, 0]) { $0[$1.offset % 2] += $1.element == 0 ? 1 : 0 }
        guard let most = zeros.max(), most * 10 > data.count * 3 else { return nil }
        return try? (zeros[1] == most ? Charset.utf16LittleEndian : .utf16BigEndian).decode(data, from: 0)
    }

    private static func decoded(_ data: Data, _ type: ContentType?) -> String? {
        if let mark = ByteOrderMark(of: data) { return try? mark.charset.decode(data, from: mark.length) }
        if let label = type?.charset, let charset = Charset(label: label), charset != .utf8 {
            let isWide = charset == .utf16LittleEndian || charset == .utf16BigEndian
            // Names in ASCII contain zeros in UTF-16, so that the label of a document without zeros is wrong.
            if isWide, !data.contains(0), let text = String(validating: data, as: UTF8.self) { return text }
            return try? charset.decode(data, from: 0)
        }
        if type?.isText == true, let text = wideText(of: data) { return text }
        return String(validating: data, as: UTF8.self)
    }
}

extension ContentType {
    /// True if content of this type is text.
    var isText: Bool {
        if type == "text" { return true }
        let kind = subtype.split(separator: "+").last ?? ""
        return type == "application"
            && ["json", "xml", "javascript", "x-www-form-urlencoded", "x-ndjson", "yaml", "toml", "graphql", "jsonl"]
                .contains(kind)
    }

    /// True if content of this type is JSON, JSON Lines or a JSON text sequence.
    fileprivate var isJSON: Bool {
        switch subtype.split(separator: "+").last ?? "" {
        case "json", "jsonl", "x-jsonl", "ndjson", "x-ndjson", "jsonlines", "x-jsonlines", "json-seq": true
        default: false
        }
    }
}
