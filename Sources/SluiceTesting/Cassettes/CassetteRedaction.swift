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
/// Secrets are found by name, with the same default names as Sluice's own `Redaction`, and removed in the same way: from
/// URLs, header fields, the reasons of errors, JSON, forms, XML and HTML, also inside each other. A comparison uses only
/// letters and digits and ignores case. A `*` at the beginning or end of a name stands for any characters, and `*-` at the
/// beginning for whole words. For `user[password]` or `user.password`, each part and the whole name are compared.
///
/// The rules do not find every secret. A secret in a path or under an unusual name remains, unless ``redact`` removes it.
/// A cassette does not know the `secretHeaders` of a client, so repeat them in ``headers``.
///
/// A body that should be searched but cannot be is replaced by the ``mark``. This applies to a form that is not text, a
/// malformed multipart form, a body that has a JSON content type or starts like JSON but is not valid JSON, and any other
/// text or binary body that contains a secret name. Images, sound, video and fonts are not searched.
///
/// A request body with the content coding gzip is recorded decompressed. For one with another content coding, the cassette
/// has the length and the SHA-256.
///
/// A response that is a gzip or zlib file is recorded as it is if the decompressed file, of up to 32 MiB, contains no
/// secret name. A Zstandard file cannot be searched. A file in another format, such as ZIP, is not decompressed.
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
    /// The defaults are pagination tokens, without which requests for different pages would be indistinguishable, and
    /// the numbers of tokens of language models.
    ///
    /// Requests that differ only in a value with a secret name are the same for playback. By default these are also short names
    /// such as `code`, `key`, `sid`, `session`, `ticket`, `pin` and `pass`: the response to `?code=DE` is then played back for
    /// `?code=US`. If such a name is not secret in an API, add it here.
    public var exemptions =
        ["*page-token", "*continuation-token", "next-token", "*sync-token"] + SecretNames.usualExemptions
    {
        didSet { updateRules() }
    }
    /// Called after the rules, to remove secrets that names do not identify.
    ///
    /// It is also called for each request before comparison. The exchange then has an empty response with status 200.
    ///
    /// A body that the cassette does not contain, such as one of more than 1 MiB, is empty here. One that the closure sets
    /// replaces it, and its file is removed. An empty one leaves it in the cassette: to remove it, set the ``mark``.
    public var redact: (@Sendable (inout RecordedExchange) -> Void)?

    private var rules = SecretRules.usual
    /// The maximum length of a decompressed request body, in bytes.
    private static let decompressedLimit = 16 << 20

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
            removeSecrets(from: &exchange.request)
            switch exchange.result {
            case .success(var response):
                response.body = self.response(response.body, &response.head.headers)
                response.head.headers = fields(response.head.headers)
                response.trailers = fields(response.trailers)
                exchange.result = .success(response)
            case .failure(let error):
                let reason = redactor.text(error.reason)
                if reason != error.reason { exchange.result = .failure(SluiceError(error.code, reason)) }
            }
        }
        redact?(&exchange)
        // A body that the closure has set replaces one that the cassette does not contain.
        if !exchange.request.body.isEmpty { exchange.request.digest = nil }
        if case .success(var response) = exchange.result, response.digest != nil, !response.body.isEmpty {
            response.digest = nil
            exchange.result = .success(response)
        }
        return exchange
    }

    /// Returns a request without its secrets, for comparison.
    func redacted(_ request: RecordedRequest) -> RecordedRequest {
        guard !rules.isNone || redact != nil else { return request }
        let empty = RecordedExchange.Response(head: HTTPResponse(status: .ok))
        return redacted(RecordedExchange(request: request, result: .success(empty))).request
    }

    /// Returns exchanges whose requests have no secrets. Those of a cassette edited by hand may contain values that are removed
    /// from the requests compared with them.
    func redactingRequests(of exchanges: [RecordedExchange]) -> [RecordedExchange] {
        exchanges.map { exchange in
            var exchange = exchange
            exchange.request = redacted(exchange.request)
            return exchange
        }
    }

    /// The redactor of fields and bodies.
    private var redactor: DocumentRedactor { DocumentRedactor(rules, limit: .max, keepsStructure: true) }

    private func fields(_ headers: HTTPHeaders) -> HTTPHeaders {
        redactor.headers(headers)
    }

    /// Removes the secrets from a request. A body that cannot be decoded is replaced by its digest.
    private func removeSecrets(from request: inout RecordedRequest) {
        let codings = request.headers.contentCodings
        request.url = rules.url(request.url)
        if request.digest != nil || rules.parameterNames.isEmpty || request.body.isEmpty || codings.isEmpty {
            request.body = body(request.body, &request.headers)
        } else if codings == ["gzip"] || codings == ["x-gzip"], let decoded = Self.decoded(request.body) {
            request.body = body(decoded, &request.headers)
        } else {
            request.digest = BodyDigest(of: request.body)
            request.body = request.digest == nil ? Data(Self.mark.utf8) : Data()
        }
        request.headers = fields(request.headers)
    }

    /// Decompresses a request body; nil if it is damaged or too long. A recorded body is decompressed already.
    private static func decoded(_ bytes: Data) -> Data? {
        let decoded = bytes.isGzip ? Inflater.decompressed(bytes, limit: decompressedLimit) : bytes
        return decoded.flatMap { $0.isGzip ? nil : $0 }
    }

    /// Returns the decoded body of a response without its secrets. A compressed file is searched like a body of more than 1 MiB.
    private func response(_ bytes: Data, _ headers: inout HTTPHeaders) -> Data {
        guard DocumentRedactor.isCompressed(bytes), !mustSearch(bytes, headers) else { return body(bytes, &headers) }
        return search(bytes, headers)?.mayHaveSecret == true ? Data(Self.mark.utf8) : bytes
    }

    /// Returns a body without its secrets, or the ``mark`` for a body that should be searched but cannot be.
    ///
    /// - Parameters:
    ///   - bytes: The body, without its content coding.
    ///   - headers: The header fields that describe the body. Their charset becomes UTF-8 if the text is changed.
    /// - Returns: The redacted body, or the same bytes if the body contains no secrets.
    private func body(_ bytes: Data, _ headers: inout HTTPHeaders) -> Data {
        // Without names of items and members, only fields and URLs are redacted.
        guard !rules.parameterNames.isEmpty, !bytes.isEmpty else { return bytes }
        let text: String
        switch redactor.body(bytes, contentType: headers[.contentType]) {
        case .text(_, isChanged: false), .binary: return bytes
        case .bytes(let form): return form
        case .text(let redacted, _), .abridged(let redacted): text = redacted
        case .withheld: text = Self.mark
        }
        if let type = headers[.contentType].flatMap(ContentType.init), let charset = type.charset,
            !["utf-8", "utf8"].contains(charset.lowercased())
        {
            headers[.contentType] = "\(type.replacingCharset(with: "utf-8"))"
        }
        return Data(text.utf8)
    }
}

// MARK: - Long bodies

extension CassetteRedaction {
    /// Returns true if a decoded body with this beginning has to be searched as a whole.
    func mustSearch(_ beginning: Data, _ headers: HTTPHeaders) -> Bool {
        guard !rules.parameterNames.isEmpty else { return false }
        return redactor.isReadable(beginning, contentType: headers[.contentType])
    }

    /// Returns the search of a decoded body that need not be searched as a whole, which continues after this beginning; nil if
    /// it need not be searched at all.
    func search(_ beginning: Data, _ headers: HTTPHeaders) -> BinaryBodySearch? {
        guard !rules.parameterNames.isEmpty else { return nil }
        return redactor.search(beginning, contentType: headers[.contentType])
    }

    /// Returns true if the content of a part is secret by the name of the part.
    func hidesPart(_ head: ArraySlice<UInt8>) -> Bool {
        guard !rules.parameterNames.isEmpty else { return false }
        return rules.hidesPart(fields(ofPart: head)[.contentDisposition] ?? "")
    }

    /// Redacts the content of a part.
    ///
    /// - Parameters:
    ///   - content: The content.
    ///   - head: The fields of the part, each after a line break.
    /// - Returns: The redacted content.
    func redacted(_ content: Data, head: ArraySlice<UInt8>) -> Data {
        if hidesPart(head) { return content.isEmpty ? content : Data(Self.mark.utf8) }
        var headers = fields(ofPart: head)
        return body(content, &headers)
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

extension Data {
    /// True if the bytes begin like a gzip file (RFC 1952 §2.3.1).
    fileprivate var isGzip: Bool { starts(with: [0x1F, 0x8B]) }
}
