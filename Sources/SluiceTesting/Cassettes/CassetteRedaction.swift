import Sluice
import SluiceFoundation
import SluiceHTTP

/// The rules that remove secrets from exchanges before they are written.
///
/// ```swift
/// var redaction = CassetteRedaction.standard
/// redaction.headers.append("X-Tenant")
/// redaction.members.append("iban")
/// ```
///
/// Secrets are found by name, with the same default names as Sluice's own `Redaction`. A comparison uses only letters and
/// digits and ignores case. A `*` at the beginning or end of a name stands for any characters. For `user[password]` or
/// `user.password`, each part and the whole name are compared. URLs in header fields and in JSON are searched too.
///
/// The rules do not find every secret. A secret in a path or in plain text remains, unless ``redact`` removes it. A
/// cassette does not know the `secretHeaders` of a client, so repeat them in ``headers``.
///
/// A body that should be searched but cannot be is replaced by the ``mark``. This applies to a compressed request body, a
/// form that is not text, a malformed multipart form, and a body that has a JSON content type or starts like JSON but is
/// not valid JSON.
///
/// On playback, the recorded requests and the new requests are both redacted before they are compared, so secret values
/// do not affect the match. Redaction must therefore be idempotent: redacting a redacted exchange must not change it.
public struct CassetteRedaction: Sendable {
    /// The replacement for a secret. A secret number is replaced by 0.
    public static let mark = "REDACTED"

    /// The header fields with secret values.
    public var headers = SecretNames.usualHeaders { didSet { updateRules() } }
    /// The query items, form items and JSON members with secret values.
    public var members = SecretNames.usualMembers { didSet { updateRules() } }
    /// Additional query and form items with secret values. In JSON, these names commonly have other meanings.
    public var parameters = SecretNames.usualParameters { didSet { updateRules() } }
    /// Names that are not secret although another pattern matches them.
    ///
    /// The defaults are pagination tokens, without which requests for different pages would be indistinguishable.
    public var exemptions = ["*page-token", "*continuation-token", "next-token", "*sync-token"] {
        didSet { updateRules() }
    }
    /// Called after the rules, to remove secrets that names do not identify.
    ///
    /// It is also called for each request before comparison. The exchange then has an empty response with status 200.
    public var redact: (@Sendable (inout RecordedExchange) -> Void)?

    private var rules = SecretRules.usual

    /// Creates the rules of ``standard``, to change them.
    public init() {
        updateRules()
    }

    private mutating func updateRules() {
        let exempt = SecretNames(exemptions)
        rules = SecretRules(
            headerNames: SecretNames(headers).excluding(exempt),
            parameterNames: SecretNames(members + parameters).excluding(exempt),
            memberNames: SecretNames(members).excluding(exempt),
            hidesCredentials: !(headers.isEmpty && members.isEmpty && parameters.isEmpty)
        )
    }

    /// Removes the values with the default secret names.
    public static let standard = CassetteRedaction()

    /// Removes nothing.
    public static var none: CassetteRedaction {
        var redaction = CassetteRedaction()
        (redaction.headers, redaction.members, redaction.parameters) = ([], [], [])
        return redaction
    }

    /// Returns an exchange without its secrets.
    package func redacted(_ exchange: RecordedExchange) -> RecordedExchange {
        var exchange = exchange
        if !rules.isNone {
            let request = exchange.request
            exchange.request.url = rules.url(request.url)
            exchange.request.body = body(request.body, request.headers, isDecoded: false)
            exchange.request.headers = fields(request.headers)
            if case .success(var response) = exchange.result {
                response.body = body(response.body, response.head.headers, isDecoded: true)
                response.head.headers = fields(response.head.headers)
                response.trailers = fields(response.trailers)
                exchange.result = .success(response)
            }
        }
        redact?(&exchange)
        return exchange
    }

    /// Returns a request without its secrets, for comparison.
    func redacted(_ request: RecordedRequest) -> RecordedRequest {
        guard !rules.isNone || redact != nil else { return request }
        let empty = RecordedExchange.Response(head: HTTPResponse(status: .ok))
        return redacted(RecordedExchange(request: request, result: .success(empty))).request
    }

    /// True if there are names of secret items or members.
    private var hidesValues: Bool { !rules.parameterNames.isEmpty }

    private func fields(_ headers: HTTPHeaders) -> HTTPHeaders {
        var redacted = HTTPHeaders()
        for field in headers {
            let value = value(of: field)
            // An unchanged field keeps its bytes, which may not be valid UTF-8.
            if value == field.value { redacted.append(field) } else { redacted.append(field.name, value) }
        }
        return redacted
    }

    private func value(of field: HTTPHeaders.Field) -> String {
        if rules.headerNames.contains(field.name.rawValue) { return Self.mark }
        return switch field.name {
        case .location, "Content-Location", "Referer", "Origin": rules.url(field.value)
        case "Link": links(field.value)
        default: rules.urls(in: field.value)
        }
    }

    /// Redacts the targets of a `Link` field (RFC 8288 §3), which stand in angle brackets and may be relative.
    private func links(_ field: String) -> String {
        field.utf8.split(separator: UInt8(ascii: "<"), omittingEmptySubsequences: false).map { bytes in
            guard let end = bytes.firstIndex(of: UInt8(ascii: ">")) else {
                return rules.urls(in: String(Substring(bytes)))
            }
            return rules.url(String(Substring(bytes[..<end]))) + rules.urls(in: String(Substring(bytes[end...])))
        }.joined(separator: "<")
    }
}

// MARK: - Bodies

extension CassetteRedaction {
    /// Returns a body without its secrets, or the ``mark`` for a body that should be searched but cannot be.
    ///
    /// - Parameters:
    ///   - bytes: The body.
    ///   - headers: The header fields that describe the body.
    ///   - isDecoded: True if the content coding has been removed, whatever `headers` say.
    ///   - depth: The number of multipart forms that enclose the body.
    /// - Returns: The redacted body, or the same bytes if the body contains no secrets.
    private func body(_ bytes: Data, _ headers: HTTPHeaders, isDecoded: Bool, depth: Int = 0) -> Data {
        guard hidesValues, !bytes.isEmpty else { return bytes }
        if !isDecoded, headers.hasContentCoding { return Data(Self.mark.utf8) }
        let type = headers[.contentType].flatMap(ContentType.init)
        if type?.type == "multipart", let boundary = type?["boundary"] {
            return multipart(bytes, boundary: boundary, depth: depth) ?? Data(Self.mark.utf8)
        }
        if type?.essence == "application/x-www-form-urlencoded" {
            guard let text = String(validating: bytes, as: UTF8.self) else { return Data(Self.mark.utf8) }
            return Data(rules.form(text).utf8)
        }
        let text = bytes.withoutByteOrderMark
        guard looksLikeJSON(text, headers) ?? false else { return bytes }
        guard let text = String(validating: text, as: UTF8.self),
            let redacted = JSONRedactor.redacted(text, rules, keepsStructure: true)
        else { return Data(Self.mark.utf8) }
        return redacted.utf8.elementsEqual(text.utf8) ? bytes : Data(redacted.utf8)
    }
}

extension CassetteRedaction {
    /// Returns true if a decoded body with this beginning has to be searched as a whole.
    func mustSearch(_ beginning: Data, _ headers: HTTPHeaders) -> Bool {
        guard hidesValues else { return false }
        let type = headers[.contentType].flatMap(ContentType.init)
        if type?.type == "multipart" || type?.essence == "application/x-www-form-urlencoded" { return true }
        let text = beginning.withoutByteOrderMark
        // A body that begins with white space only may still turn out to be JSON.
        return looksLikeJSON(text, headers) ?? text.allSatisfy { [9, 10, 13, 32].contains($0) }
    }

    /// Returns true if a body is JSON by its type, or by its first character: some servers send JSON as text/plain. Nil
    /// if the body has only blanks.
    private func looksLikeJSON(_ text: Data, _ headers: HTTPHeaders) -> Bool? {
        guard let first = text.first(where: { $0 > 0x20 }) else { return nil }
        return first == UInt8(ascii: "{") || first == UInt8(ascii: "[") || headers.isJSON || headers.isJSONLines
    }
}

extension HTTPHeaders {
    /// True if the content type is JSON Lines or a JSON text sequence.
    fileprivate var isJSONLines: Bool {
        switch self[.contentType].flatMap(ContentType.init)?.subtype {
        case "jsonl", "x-jsonl", "ndjson", "x-ndjson", "jsonlines", "x-jsonlines", "json-seq": true
        default: false
        }
    }
}

extension Data {
    /// The bytes without the UTF-8 byte order mark, which some programs write.
    var withoutByteOrderMark: Data {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        return starts(with: mark) ? Data(dropFirst(mark.count)) : self
    }
}

// MARK: - Multipart forms

extension CassetteRedaction {
    /// Redacts the contents of the secret parts of a multipart form (RFC 2046 §5.1.1). All other bytes are unchanged.
    ///
    /// - Parameters:
    ///   - form: The form.
    ///   - boundary: The boundary between the parts.
    ///   - depth: The number of multipart forms that enclose this one.
    /// - Returns: The redacted form, or nil if it is malformed or nested too deeply.
    private func multipart(_ form: Data, boundary: String, depth: Int) -> Data? {
        guard depth < MultipartParts.maximumDepth, !boundary.isEmpty,
            let parts = MultipartParts(form, boundary: boundary), !parts.parts.isEmpty
        else { return nil }
        var output: [UInt8] = []
        for part in parts.parts {
            output += parts.delimiter + part.head + "\r\n\r\n".utf8
            output += redacted(Data(part.content), head: part.head, depth: depth)
        }
        output += parts.delimiter + parts.end
        return Data(output.dropFirst(2))
    }

    /// Returns true if the content of a part is secret by the name of the part.
    func hidesPart(_ head: ArraySlice<UInt8>) -> Bool {
        hidesValues && rules.hidesPart(fields(ofPart: head)[.contentDisposition] ?? "")
    }

    /// Redacts the content of a part.
    ///
    /// - Parameters:
    ///   - content: The content.
    ///   - head: The fields of the part, each after a line break.
    ///   - depth: The number of multipart forms that enclose the one of the part.
    /// - Returns: The redacted content.
    func redacted(_ content: Data, head: ArraySlice<UInt8>, depth: Int) -> Data {
        if hidesPart(head) { return content.isEmpty ? content : Data(Self.mark.utf8) }
        return body(content, fields(ofPart: head), isDecoded: true, depth: depth + 1)
    }

    private func fields(ofPart head: ArraySlice<UInt8>) -> HTTPHeaders {
        var headers = HTTPHeaders()
        for line in head.split(separator: UInt8(ascii: "\n")) {
            let text = String(decoding: line, as: UTF8.self).filter { $0 != "\r" }
            guard let colon = text.firstIndex(of: ":") else { continue }
            let value = text[colon...].dropFirst().drop { $0 == " " || $0 == "\t" }
            headers.append(HTTPHeaderName(String(text[..<colon])), String(value))
        }
        return headers
    }
}
