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
    public var headers = SecretNames.usualHeaders { didSet { headerNames = SecretNames(headers) } }
    /// The query items, form items and JSON members with secret values.
    public var members = SecretNames.usualMembers { didSet { updateNames() } }
    /// Additional query and form items with secret values. In JSON, these names commonly have other meanings.
    public var parameters = SecretNames.usualParameters { didSet { updateNames() } }
    /// Names that are not secret although another pattern matches them.
    ///
    /// The defaults are pagination tokens, without which requests for different pages would be indistinguishable.
    public var exemptions = ["*page-token", "*continuation-token", "next-token", "*sync-token"] {
        didSet { exempt = SecretNames(exemptions) }
    }
    /// Called after the rules, to remove secrets that names do not identify.
    ///
    /// It is also called for each request before comparison. The exchange then has an empty response with status 200.
    public var redact: (@Sendable (inout RecordedExchange) -> Void)?

    private var headerNames: SecretNames
    private var memberNames: SecretNames
    private var parameterNames: SecretNames
    private var exempt: SecretNames

    private init() {
        headerNames = SecretNames(headers)
        memberNames = SecretNames(members)
        parameterNames = memberNames.union(SecretNames(parameters))
        exempt = SecretNames(exemptions)
    }

    private mutating func updateNames() {
        memberNames = SecretNames(members)
        parameterNames = memberNames.union(SecretNames(parameters))
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
        if hidesNames {
            let request = exchange.request
            exchange.request.url = url(request.url)
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
        guard hidesNames || redact != nil else { return request }
        let empty = RecordedExchange.Response(head: HTTPResponse(status: .ok))
        return redacted(RecordedExchange(request: request, result: .success(empty))).request
    }

    /// True if there are names of secret header fields, items or members.
    private var hidesNames: Bool { !headerNames.isEmpty || hidesValues }
    /// True if there are names of secret items or members.
    var hidesValues: Bool { !parameterNames.isEmpty }

    func isSecret(header name: String) -> Bool { headerNames.contains(name, except: exempt) }
    func isSecret(member name: String) -> Bool { memberNames.contains(name, except: exempt) }
    func isSecret(parameter name: String) -> Bool { parameterNames.contains(name, except: exempt) }

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
        if isSecret(header: field.name.rawValue) { return Self.mark }
        return switch field.name {
        case .location, "Content-Location", "Referer", "Origin": url(field.value)
        case "Link": links(field.value)
        default: text(field.value)
        }
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
    func body(_ bytes: Data, _ headers: HTTPHeaders, isDecoded: Bool, depth: Int = 0) -> Data {
        guard hidesValues, !bytes.isEmpty else { return bytes }
        if !isDecoded, headers.hasContentCoding { return Data(Self.mark.utf8) }
        let type = headers[.contentType].flatMap(ContentType.init)
        if type?.type == "multipart", let boundary = type?["boundary"] {
            return multipart(bytes, boundary: boundary, depth: depth) ?? Data(Self.mark.utf8)
        }
        if type?.essence == "application/x-www-form-urlencoded" {
            guard let text = String(validating: bytes, as: UTF8.self) else { return Data(Self.mark.utf8) }
            return Data(form(text[...]).utf8)
        }
        let text = bytes.withoutByteOrderMark
        // Some servers send JSON as text/plain, so a body that looks like JSON is redacted whatever its content type.
        guard let first = text.first(where: { $0 > 0x20 }),
            first == UInt8(ascii: "{") || first == UInt8(ascii: "[") || headers.isJSON || headers.isJSONLines
        else { return bytes }
        if let node = try? JSONNode(parsing: text) {
            let redacted = json(node, isSecret: false)
            return redacted == node ? bytes : redacted.compact
        }
        return lines(text) ?? Data(Self.mark.utf8)
    }

    /// Returns JSON Lines, or a JSON text sequence (RFC 7464), without secrets. Returns nil if a line is not JSON.
    private func lines(_ text: Data) -> Data? {
        let lines = Array(text).split(separator: 0x0A, omittingEmptySubsequences: false)
        if lines.count < 2 { return nil }
        var result: [[UInt8]] = []
        for line in lines {
            // The record separator that starts each text of a JSON text sequence.
            let sign = line.prefix { $0 == 0x1E }
            let rest = line[sign.endIndex...]
            if rest.allSatisfy({ $0 <= 0x20 }) {
                result.append(Array(line))
                continue
            }
            guard let node = try? JSONNode(parsing: Data(rest)) else { return nil }
            let redacted = json(node, isSecret: false)
            result.append(redacted == node ? Array(line) : Array(sign) + redacted.compact)
        }
        return Data(result.joined(separator: [0x0A]))
    }

    private func json(_ node: JSONNode, isSecret: Bool) -> JSONNode {
        switch node {
        case .null, .bool: node
        case .number: isSecret ? .number("0") : node
        case .string(let value): isSecret && !value.isEmpty ? .string(Self.mark) : .string(text(value))
        case .array(let elements): .array(elements.map { json($0, isSecret: isSecret) })
        case .object(let members):
            .object(
                members.map { member in
                    let hides = isSecret || self.isSecret(member: member.name)
                    return JSONNode.Member(name: member.name, value: json(member.value, isSecret: hides))
                }
            )
        }
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
    /// The maximum nesting depth of multipart forms.
    private static let maximumFormDepth = 8

    /// Redacts the contents of the secret parts of a multipart form (RFC 2046 §5.1.1). All other bytes are unchanged.
    ///
    /// - Parameters:
    ///   - form: The form.
    ///   - boundary: The boundary between the parts.
    ///   - depth: The number of multipart forms that enclose this one.
    /// - Returns: The redacted form, or nil if it is malformed or nested too deeply.
    func multipart(_ form: Data, boundary: String, depth: Int) -> Data? {
        guard depth < Self.maximumFormDepth, !boundary.isEmpty else { return nil }
        let delimiter = Array("\r\n--\(boundary)".utf8)
        // The first boundary may start at the first byte of the form.
        let bytes = Array("\r\n".utf8) + form
        var places: [Range<Int>] = []
        while let place = bytes[(places.last?.upperBound ?? 0)...].firstRange(of: delimiter) { places.append(place) }
        guard let first = places.first, let last = places.last, first.lowerBound == 0, places.count > 1,
            bytes[last.upperBound...].starts(with: "--".utf8)
        else { return nil }
        var output: [UInt8] = []
        for (place, next) in zip(places, places.dropFirst()) {
            guard let part = part(bytes[place.upperBound..<next.lowerBound], depth: depth) else { return nil }
            output += delimiter + part
        }
        output += bytes[last.lowerBound...]
        return Data(output.dropFirst(2))
    }

    /// Redacts a part. The bytes start after its boundary. Returns nil if the part has no header section.
    private func part(_ part: ArraySlice<UInt8>, depth: Int) -> [UInt8]? {
        let blank = Array("\r\n\r\n".utf8)
        guard part.starts(with: "\r\n".utf8), let end = part.firstRange(of: blank) else { return nil }
        let content = Data(part[end.upperBound...])
        var headers = HTTPHeaders()
        for line in part[..<end.lowerBound].split(separator: UInt8(ascii: "\n")) {
            let text = String(decoding: line, as: UTF8.self).filter { $0 != "\r" }
            guard let colon = text.firstIndex(of: ":") else { continue }
            let value = text[colon...].dropFirst().drop { $0 == " " || $0 == "\t" }
            headers.append(HTTPHeaderName(String(text[..<colon])), String(value))
        }
        let shown: Data
        if isSecret(disposition: headers["Content-Disposition"] ?? "") {
            shown = content.isEmpty ? content : Data(Self.mark.utf8)
        } else {
            shown = body(content, headers, isDecoded: true, depth: depth + 1)
        }
        return Array(part[..<end.upperBound]) + shown
    }

    /// Returns true if the name of a part is secret.
    ///
    /// If there is no plain `name` parameter, for example because the name is written as `name*=`, the part is secret if any
    /// word of the disposition is a secret name.
    private func isSecret(disposition: String) -> Bool {
        if let name = ContentType("part/\(disposition)")?["name"] { return isSecret(parameter: name) }
        let words = disposition.split { !$0.isLetter && !$0.isNumber && $0 != "_" && $0 != "-" }
        return words.contains { isSecret(parameter: String($0)) }
    }
}

// MARK: - URLs and forms

extension CassetteRedaction {
    /// The maximum nesting depth of URLs in query items.
    private static let maximumDepth = 4

    /// Returns a URL without user name and password, and without the secrets in its query and fragment.
    ///
    /// URLs and forms are processed byte by byte. As `Character` values, a delimiter followed by a combining mark would not
    /// be found.
    func url(_ url: String, depth: Int = 0) -> String {
        let bytes = url.utf8
        var start = bytes.startIndex
        var result = ""
        if let mark = bytes.firstRange(of: "://".utf8) {
            start = mark.upperBound
            result += Substring(bytes[..<start])
            let authority = bytes[start...].prefix { $0 != UInt8(ascii: "/") && !Self.beginsItems($0) }
            if let at = authority.lastIndex(of: UInt8(ascii: "@")) {
                result += Self.mark
                start = at
            }
        }
        let end = bytes[start...].firstIndex(where: Self.beginsItems) ?? bytes.endIndex
        result += Substring(bytes[start..<end])
        guard end < bytes.endIndex else { return result }
        result += bytes[end] == UInt8(ascii: "?") ? "?" : "#"
        return result
            + bytes[end...].dropFirst()
            .split(separator: UInt8(ascii: "#"), maxSplits: 1, omittingEmptySubsequences: false)
            .map { form(Substring($0), depth: depth) }.joined(separator: "#")
    }

    private static func beginsItems(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }

    /// Returns a text with the secrets removed from the URLs that it contains.
    func text(_ text: String) -> String {
        if !Self.holdsURL(text) { return text }
        return pieces(of: text, where: Self.isURLEnd) { piece in
            Self.holdsURL(piece) ? url(piece) : piece
        }
    }

    /// Redacts the targets of a `Link` field (RFC 8288 §3), which stand in angle brackets and may be relative.
    func links(_ field: String) -> String {
        pieces(of: field, where: Self.isURLEnd) { piece in url(piece) }
    }

    /// Returns a query or a form without its secrets.
    func form(_ text: Substring, depth: Int = 0) -> String {
        text.utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).map { bytes in
            let source = Substring(bytes)
            let item = FormItems.item(of: source)
            guard let value = item.value, !value.isEmpty else { return String(source) }
            // A route in a fragment may contain a query.
            let name =
                item.name.utf8.split(separator: UInt8(ascii: "?")).last.map { String(Substring($0)) } ?? item.name
            let isSecret = isSecret(parameter: name) || holdsSecret(value, depth: depth)
            return isSecret ? "\(Substring(bytes.prefix { $0 != UInt8(ascii: "=") }))=\(Self.mark)" : String(source)
        }.joined(separator: "&")
    }

    /// Returns true if a value, for example a return URL, is a URL that contains a secret.
    private func holdsSecret(_ value: String, depth: Int) -> Bool {
        if !Self.holdsURL(value) { return false }
        return depth >= Self.maximumDepth || url(value, depth: depth + 1) != value
    }

    private static func holdsURL(_ text: String) -> Bool {
        text.utf8.firstRange(of: "://".utf8) != nil
    }

    private func pieces(
        of text: String,
        where isEnd: (Unicode.Scalar) -> Bool,
        _ change: (String) -> String
    ) -> String {
        var result = ""
        var rest = text.unicodeScalars[...]
        while !rest.isEmpty {
            let piece = rest.prefix { !isEnd($0) }
            if !piece.isEmpty { result += change(String(piece)) }
            rest = rest[piece.endIndex...]
            if let end = rest.popFirst() { result.unicodeScalars.append(end) }
        }
        return result
    }

    private static func isURLEnd(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value <= 0x20 || "\"'<>`".unicodeScalars.contains(scalar)
    }
}
