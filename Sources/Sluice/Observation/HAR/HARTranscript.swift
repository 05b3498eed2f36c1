import SluiceFoundation
import SluiceHTTP

/// Converts requests and responses to the format's values, without their secrets.
struct HARTranscript {
    let redaction: Redaction
    let maximumBodyBytes: Int

    /// Returns an entry without times.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - outcome: The outcome.
    ///   - secret: The headers whose values are secret.
    ///   - received: The time of the outcome, from which the lifetimes of cookies count.
    /// - Returns: The entry.
    func entry(
        _ request: HTTPRequest,
        _ outcome: TransportOutcome,
        _ secret: [HTTPHeaderName],
        received: Date
    ) -> HAR.Entry {
        let metrics = try? outcome.get().metrics
        var entry = HAR.Entry(
            startedDateTime: Date(timeIntervalSince1970: 0),
            request: self.request(request, metrics, secret)
        )
        switch outcome {
        case .success(let response):
            entry.response = self.response(response, secret, received)
            if response.source.isCache { entry.comment = "From the cache." }
            entry.request.httpVersion = entry.response.httpVersion
            if response.metrics.total > .zero { entry.request.bodySize = Int(clamping: response.metrics.bytesSent) }
            if let (host, port) = response.metrics.remoteAddress.flatMap(Self.parts) {
                entry.serverIPAddress = host
                entry.connection = port
            }
        case .failure(let error):
            entry.error = text(of: error)
        }
        return entry
    }

    /// Returns the code and the reason of an error: `timedOut: The request exceeded …`
    func text(of error: SluiceError) -> String {
        redaction.text("\(error.code): \(error.reason)")
    }

    private func request(
        _ request: HTTPRequest,
        _ metrics: TransferMetrics?,
        _ secret: [HTTPHeaderName]
    ) -> HAR.Request {
        let url = redaction.url(request.url)
        let sent = sentHeaders(of: request, metrics)
        let headers = redaction.headers(sent, secretHeaders: secret)
        var result = HAR.Request(method: request.method.rawValue, url: url)
        result.headers = headers.map(HAR.Parameter.init)
        result.headersSize = metrics?.sentRequest?.headLength
        result.cookies = zip(sent, headers)
            .flatMap { $0.name == .cookie ? HAR.Cookie.sent($0.value, isHidden: $0.value != $1.value) : [] }
        result.queryString = HAR.Parameter.query(of: url)
        result.bodySize = request.body.length.map { Int(clamping: $0) }
        result.postData = postData(request.body, request.headers, shownType: headers[.contentType])
        return result
    }

    /// Returns the header fields that the transport sent, as far as they are known.
    private func sentHeaders(of request: HTTPRequest, _ metrics: TransferMetrics?) -> HTTPHeaders {
        if let sent = metrics?.sentRequest { return sent.headers }
        // Without a transfer, nothing was sent. All transfers have a host.
        guard let metrics, metrics.total > .zero, !request.headers.contains(.host) else { return request.headers }
        var headers: HTTPHeaders = [.host: request.authority]
        headers.append(contentsOf: request.headers)
        return headers
    }

    private func response(_ response: ServerResponse, _ secret: [HTTPHeaderName], _ received: Date) -> HAR.Response {
        let head = response.head
        let headers = redaction.headers(head.headers, secretHeaders: secret)
        var result = HAR.Response(status: head.status.rawValue, httpVersion: head.version.description)
        result.headers = headers.map(HAR.Parameter.init)
        result.cookies = zip(head.headers, headers)
            .compactMap { field, shown in
                guard field.name == .setCookie else { return nil }
                let isHidden = field.value != shown.value
                return HAR.Cookie(set: field.value, isHidden: isHidden, received: received, redaction: redaction)
            }
        result.redirectURL = headers.values(for: .location).first ?? ""
        if response.metrics.total > .zero { result.bodySize = Int(clamping: response.metrics.bytesReceived) }
        if response.body.isEmpty, response.metrics.bytesReceived > 0 {
            // A download or a stream has taken the body, whose length without a coding is the transferred one.
            let isCoded = head.headers.contains(.contentEncoding)
            result.content.size = isCoded ? -1 : Int(clamping: response.metrics.bytesReceived)
        } else {
            result.content.size = response.body.count
        }
        result.content.mimeType = headers[.contentType] ?? ""
        if head.headers.contains(.contentEncoding), let bodySize = result.bodySize,
            (0..<response.body.count).contains(bodySize)
        {
            result.content.compression = response.body.count - bodySize
        }
        if !response.body.isEmpty {
            let body = text(of: response.body, head.headers[.contentType])
            result.content.text = body.text
            result.content.encoding = body.encoding
            result.content.comment = body.comment
        }
        return result
    }

    private func postData(_ body: RequestBody, _ headers: HTTPHeaders, shownType: String?) -> HAR.PostData? {
        let contentType = headers[.contentType]
        var result = HAR.PostData(mimeType: shownType ?? "")
        switch body.source {
        case .none: return nil
        case .file: result.comment = "A file, which is not recorded."
        case .stream: result.comment = "A stream, which is not recorded."
        case .deferred, .encoded: result.comment = "Encoded when it was sent, and not recorded."
        case .data(let data):
            let body = text(of: data, contentType, headers[.contentEncoding])
            let isForm = contentType.flatMap(ContentType.init)?.essence == "application/x-www-form-urlencoded"
            if isForm, let text = body.text, body.encoding == nil {
                result.params = HAR.Parameter.pairs(of: text)
            } else {
                result.text = body.text ?? ""
                result.encoding = body.encoding
            }
            result.comment = body.comment
        }
        return result
    }

    /// Returns a body as text, or the reason why it is missing.
    private func text(
        of body: Data,
        _ contentType: String?,
        _ contentEncoding: String? = nil
    ) -> (text: String?, encoding: String?, comment: String?) {
        guard body.count <= maximumBodyBytes else { return (nil, nil, "Too long to record: \(body.count) bytes.") }
        switch redaction.body(body, contentType: contentType, contentEncoding: contentEncoding) {
        case .text(let text): return (text, nil, nil)
        case .binary: return (body.base64EncodedString(), "base64", nil)
        case .withheld(let reason): return (nil, nil, "Withheld: \(reason).")
        }
    }

    /// Splits `127.0.0.1:80` or `[::1]:80` into host and port.
    private static func parts(of address: String) -> (String, String)? {
        guard let colon = address.utf8.lastIndex(of: UInt8(ascii: ":")) else { return nil }
        let host = address[..<colon].utf8.drop { $0 == UInt8(ascii: "[") }
        let end = host.last == UInt8(ascii: "]") ? host.dropLast() : host
        return (String(Substring(end)), String(address[colon...].utf8.dropFirst()) ?? "")
    }
}

extension HAR.Parameter {
    fileprivate init(_ field: HTTPHeaders.Field) {
        self.init(name: field.name.rawValue, value: field.value)
    }

    static func query(of url: String) -> [HAR.Parameter] {
        guard let question = url.utf8.firstIndex(of: UInt8(ascii: "?")) else { return [] }
        let query = url.utf8[question...].dropFirst().prefix { $0 != UInt8(ascii: "#") }
        return pairs(of: String(decoding: query, as: UTF8.self))
    }

    /// Decodes pairs of names and values in form encoding. Text that is not correctly encoded stays as it is.
    static func pairs(of text: String) -> [HAR.Parameter] {
        text.utf8.split(separator: UInt8(ascii: "&")).map { pair in
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            return HAR.Parameter(
                name: decoded(parts.first ?? pair),
                value: parts.count > 1 ? decoded(parts[1]) : ""
            )
        }
    }

    private static func decoded(_ text: Substring.UTF8View) -> String {
        let bytes = PercentEncoding.decoded(text, plusIsSpace: true)
        return String(validating: bytes, as: UTF8.self) ?? String(Substring(text))
    }
}

// MARK: - Cookies

extension HAR.Cookie {
    /// Parses the cookies of a `Cookie` field (RFC 6265 §4.2.1).
    ///
    /// - Parameters:
    ///   - field: The field's value.
    ///   - isHidden: True if the cookies' values are secret.
    /// - Returns: A cookie for each pair.
    static func sent(_ field: String, isHidden: Bool) -> [HAR.Cookie] {
        field.utf8.split(separator: UInt8(ascii: ";")).compactMap { pair in
            let (name, value) = parts(of: pair)
            if name.isEmpty { return nil }
            // A cookie without an equals sign has only a value.
            guard isHidden else { return HAR.Cookie(name: name, value: value ?? "") }
            return HAR.Cookie(name: value == nil ? Redaction.mark : name, value: Redaction.mark)
        }
    }

    /// Parses the cookie of a `Set-Cookie` field (RFC 6265 §5.2); nil if it sets none.
    ///
    /// - Parameters:
    ///   - field: The field's value.
    ///   - isHidden: True if the cookie's value is secret.
    ///   - received: The time from which `Max-Age` counts.
    ///   - redaction: The redaction of path and domain.
    init?(set field: String, isHidden: Bool, received: Date, redaction: Redaction = .none) {
        var pairs = field.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)[...]
        guard let first = pairs.popFirst() else { return nil }
        let (name, value) = HAR.Cookie.parts(of: first)
        guard !name.isEmpty, let value else { return nil }
        self.init(name: name, value: isHidden ? Redaction.mark : value)
        var maxAge: Int64?
        for pair in pairs {
            let (name, value) = HAR.Cookie.parts(of: pair)
            switch name.asWord {
            case "path": path = value.map(redaction.url)
            case "domain": domain = value.map(redaction.text)
            case "expires": expires = value.flatMap(Self.expiry) ?? expires
            case "max-age": maxAge = value.flatMap(Self.age) ?? maxAge
            case "httponly": httpOnly = true
            case "secure": secure = true
            default: break
            }
        }
        // RFC 6265 §5.3: Max-Age takes precedence over Expires.
        if let maxAge { expires = Self.expiry(of: maxAge, after: received) }
    }

    /// The last second of the year 9999, the last year of ISO 8601 with four digits.
    private static let lastSecond = 253_402_300_799.0

    /// Converts a date in any form that servers use (RFC 6265 §5.1.1) to ISO 8601; nil for an invalid date.
    private static func expiry(_ text: String) -> String? {
        CookieDate.seconds(text.utf8).map { HARDate.text(of: Date(timeIntervalSince1970: Double($0))) }
    }

    private static func expiry(of maxAge: Int64, after received: Date) -> String {
        let seconds = maxAge > 0 ? received.timeIntervalSince1970 + Double(maxAge) : 0
        return HARDate.text(of: Date(timeIntervalSince1970: min(seconds, lastSecond)))
    }

    /// Returns a number of seconds (RFC 6265 §5.2.2), clamped to the range of `Int64`; nil if the text is not a number.
    private static func age(_ text: String) -> Int64? {
        let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
        guard !digits.isEmpty, digits.allSatisfy(\.isDigit) else { return nil }
        return Int64(text) ?? (text.utf8.first == UInt8(ascii: "-") ? .min : .max)
    }

    private static func parts(of pair: Substring.UTF8View) -> (name: String, value: String?) {
        let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        let texts = parts.map { String(Substring($0.trimmed)) }
        return (texts.first ?? "", texts.count > 1 ? texts[1] : nil)
    }
}
