import Sluice
import SluiceFoundation
import SluiceHTTP

/// The recorded exchanges in the file of a ``CassetteTransport``, which describes the format.
package struct Cassette: Sendable {
    /// The version that is written, and the newest version that can be read.
    package static let version = 1

    /// The exchanges, in recorded order.
    package var exchanges: [RecordedExchange]

    package init(exchanges: [RecordedExchange] = []) {
        self.exchanges = exchanges
    }

    /// Creates a cassette from its JSON text.
    ///
    /// - Parameters:
    ///   - data: The JSON text.
    ///   - name: The name of the cassette in error messages.
    /// - Throws: A ``SluiceError`` with the code `cassetteUnreadable`. Its message names the problem: the place where the
    ///   text ends early, the unsupported version, or the exchange that lacks a value.
    package init(_ data: Data, named name: String = "cassette") throws(SluiceError) {
        do {
            let root = try JSONNode.recording(data)
            guard let version = root["version"]?.integer else { throw RecordingFailure("it has no version") }
            guard version <= Self.version, version > 0 else {
                throw RecordingFailure(
                    "its version is \(version), but the newest supported version is \(Self.version)"
                )
            }
            guard let nodes = root["exchanges"]?.array else { throw RecordingFailure("it has no exchanges") }
            exchanges = []
            for (place, node) in nodes.enumerated() {
                do {
                    exchanges.append(try CassetteCoding.exchange(of: node))
                } catch {
                    throw RecordingFailure("exchange \(place + 1) \(error)")
                }
            }
        } catch {
            throw .unreadableCassette(name, "\(error)")
        }
    }

    package var data: Data { Self.data(of: exchanges.map(Self.text)) }

    /// Returns the text of an exchange, indented as in a cassette.
    static func text(of exchange: RecordedExchange) -> String {
        CassetteCoding.node(of: exchange).text(indentedBy: 2)
    }

    /// Returns the text of a cassette that contains exchanges with the given texts.
    static func data(of exchanges: [String]) -> Data {
        var text = "{\n  \"exchanges\": ["
        for (place, exchange) in exchanges.enumerated() { text += (place == 0 ? "\n    " : ",\n    ") + exchange }
        text += (exchanges.isEmpty ? "" : "\n  ") + "],\n  \"version\": \(version)\n}\n"
        return Data(text.utf8)
    }
}

extension SluiceError.Code {
    /// A cassette or an archive cannot be read: the file is missing, damaged, truncated or of a newer version.
    public static let cassetteUnreadable = SluiceError.Code("cassetteUnreadable")
    /// A cassette or an archive has no exchange that matches the request.
    public static let cassetteUnmatched = SluiceError.Code("cassetteUnmatched")
    /// A cassette could not be written.
    public static let cassetteUnwritable = SluiceError.Code("cassetteUnwritable")
}

extension SluiceError {
    static func unreadableCassette(_ name: String, _ reason: String) -> SluiceError {
        SluiceError(.cassetteUnreadable, "The cassette “\(name)” cannot be read: \(reason).")
    }
}

// MARK: - The JSON of a cassette

/// Converts recorded exchanges to and from the JSON of a cassette.
enum CassetteCoding {
    static func node(of exchange: RecordedExchange) -> JSONNode {
        let request = JSONNode.object([
            "body": body(exchange.request.body, exchange.request.headers, exchange.request.digest),
            "headers": headers(exchange.request.headers),
            "method": .string(exchange.request.method.rawValue),
            "url": .string(exchange.request.url),
        ])
        switch exchange.result {
        case .success(let response):
            let node = JSONNode.object([
                "body": body(response.body, response.head.headers, response.digest),
                "headers": headers(response.head.headers),
                "status": .number("\(response.head.status.rawValue)"),
                "trailers": headers(response.trailers),
                "version": .string(response.head.version.description),
            ])
            return .object(["request": request, "response": node])
        case .failure(let error):
            let node = JSONNode.object(["code": .string(error.code.description), "reason": .string(error.reason)])
            return .object(["error": node, "request": request])
        }
    }

    static func exchange(of node: JSONNode) throws(RecordingFailure) -> RecordedExchange {
        guard let request = node["request"], let url = request["url"]?.string else {
            throw RecordingFailure("has no request with a url")
        }
        guard let method = request["method"]?.string else { throw RecordingFailure("has no method") }
        var recorded = RecordedRequest(
            method: HTTPMethod(rawValue: method),
            url: url,
            headers: try headers(of: request["headers"])
        )
        recorded.digest = try digest(of: request["body"])
        if recorded.digest == nil { recorded.body = try body(of: request["body"]) }
        if let error = node["error"] {
            guard let code = error["code"]?.string else { throw RecordingFailure("has an error without a code") }
            let reason = error["reason"]?.string ?? "The recorded request failed with \(code)."
            return RecordedExchange(request: recorded, result: .failure(SluiceError(SluiceError.Code(code), reason)))
        }
        guard let response = node["response"] else { throw RecordingFailure("has neither response nor error") }
        guard let status = response["status"]?.integer, (100...999).contains(status) else {
            throw RecordingFailure("has a response without a status of three digits")
        }
        var head = HTTPResponse(
            status: HTTPStatus(rawValue: status),
            headers: try headers(of: response["headers"]),
            version: version(of: response["version"]?.string)
        )
        let digest = try digest(of: response["body"])
        let bytes = digest == nil ? try body(of: response["body"]) : Data()
        // The length changes if the body was edited, or if its white space was dropped. A body with a content coding is
        // stored decoded, so its recorded length does not apply either way. That of a response to HEAD and of a 304 is the
        // length of a body that is not sent (RFC 9110 §8.6).
        let hasBody = method != "HEAD" && head.status != .notModified
        if hasBody, head.headers.contains(.contentLength), !head.headers.contains(.contentEncoding) {
            head.headers[.contentLength] = "\(digest?.length ?? Int64(bytes.count))"
        }
        let trailers = try headers(of: response["trailers"])
        var result = RecordedExchange.Response(head: head, body: bytes, trailers: trailers)
        result.digest = digest
        return RecordedExchange(request: recorded, result: .success(result))
    }

    /// Returns the version for `HTTP/1.1`, `HTTP/2`, `h2` and similar names, or HTTP/1.1 for an unknown name.
    static func version(of text: String?) -> HTTPVersion {
        switch text?.lowercased() {
        case "http/1.0": .http1_0
        case "http/2", "http/2.0", "h2": .http2
        case "http/3", "http/3.0", "h3": .http3
        default: .http1_1
        }
    }

    private static func headers(_ headers: HTTPHeaders) -> JSONNode? {
        if headers.isEmpty { return nil }
        return .array(
            headers.map { field in
                let line = "\(field.name): \(field.value)"
                guard let bytes = field.bytes else { return .string(line) }
                // The text does not preserve the bytes of a value that is not valid UTF-8, so they are stored as Base64.
                let value = JSONNode.string(Data(bytes).base64EncodedString())
                return .object(["base64": value, "name": .string(field.name.rawValue)])
            }
        )
    }

    private static func headers(of node: JSONNode?) throws(RecordingFailure) -> HTTPHeaders {
        guard let node else { return [:] }
        guard let lines = node.array else { throw RecordingFailure("has headers that are not a list") }
        var headers = HTTPHeaders()
        for line in lines {
            if let name = line["name"]?.string, let base64 = line["base64"]?.string {
                guard let bytes = Data(base64Encoded: base64) else {
                    throw RecordingFailure("has a header whose base64 is not valid")
                }
                headers.append(HTTPHeaderName(name), value: FieldValue(bytes: bytes))
                continue
            }
            guard let line = line.string, let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) else {
                throw RecordingFailure("has a header that is not written as “Name: value”")
            }
            let value = Substring(line.utf8[colon...].dropFirst().drop { $0 == UInt8(ascii: " ") })
            headers.append(HTTPHeaderName(String(line[..<colon])), String(value))
        }
        return headers
    }

    private static func body(_ bytes: Data, _ headers: HTTPHeaders, _ digest: BodyDigest?) -> JSONNode? {
        if let digest { return .object(["length": .number("\(digest.length)"), "sha256": .string(digest.sha256)]) }
        if bytes.isEmpty { return nil }
        // The nesting limit leaves room for the levels that the cassette itself adds.
        if headers.isJSON, let node = try? JSONNode(parsing: bytes, within: 128) {
            return .object(["json": node])
        }
        if let text = String(validating: bytes, as: UTF8.self) { return .object(["text": .string(text)]) }
        return .object(["base64": .string(bytes.base64EncodedString())])
    }

    /// Returns the digest of a body that the cassette does not contain, or nil if it contains the body.
    private static func digest(of node: JSONNode?) throws(RecordingFailure) -> BodyDigest? {
        guard let text = node?["sha256"]?.string else { return nil }
        // The digest is the name of a file, so it must have nothing but digits.
        guard let length = node?["length"]?.integer, let digest = BodyDigest(length: Int64(length), sha256: text) else {
            throw RecordingFailure("has a body whose length or sha256 is not valid")
        }
        return digest
    }

    private static func body(of node: JSONNode?) throws(RecordingFailure) -> Data {
        guard let node, node != .null else { return Data() }
        if let json = node["json"] { return json.compact }
        if let text = node["text"]?.string { return Data(text.utf8) }
        guard let base64 = node["base64"]?.string else {
            throw RecordingFailure("has a body that is neither json, text nor base64")
        }
        guard let bytes = Data(base64Encoded: base64) else {
            throw RecordingFailure("has a body that is not valid base64")
        }
        return bytes
    }
}

extension HTTPHeaders {
    /// True if the content type is `application/json` or has the suffix `+json`.
    var isJSON: Bool {
        guard let type = self[.contentType].flatMap(ContentType.init) else { return false }
        return type.subtype == "json" || type.subtype.hasSuffix("+json")
    }
}

/// A problem with a cassette or an archive. The description continues a sentence that starts with the name of the file.
struct RecordingFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }

    /// Creates a failure for a JSON syntax error, with its line.
    init(_ error: JSONSyntaxError, in data: Data) {
        let isCutShort = error.offset >= data.count
        description = "\(isCutShort ? "it ends too early" : error.reason), in line \(error.line)"
    }
}

extension JSONNode {
    /// Parses the JSON text of a cassette or an archive.
    static func recording(_ data: Data) throws(RecordingFailure) -> JSONNode {
        do {
            return try JSONNode(parsing: data)
        } catch {
            throw RecordingFailure(error, in: data)
        }
    }
}

// MARK: - Recorded exchange

/// A request and its result, as stored in a cassette.
public struct RecordedExchange: Sendable {
    /// A response with its complete body.
    public struct Response: Sendable {
        /// The status, header fields and version.
        public var head: HTTPResponse
        /// The body, decoded. Empty if there is none, or if the body has more than 1 MiB and is in a file of its own.
        public var body: Data
        /// The digest of a body that is in a file of its own; nil for all others.
        package var digest: BodyDigest?
        /// The trailer section after the body. Empty if there is none.
        public var trailers: HTTPHeaders

        package init(head: HTTPResponse, body: Data = Data(), trailers: HTTPHeaders = [:]) {
            self.trailers = trailers
            self.head = head
            self.body = body
        }
    }

    /// The request.
    public var request: RecordedRequest
    /// The response, or the error with which the exchange failed.
    public var result: Result<Response, SluiceError>

    /// Creates an exchange.
    package init(request: RecordedRequest, result: Result<Response, SluiceError>) {
        self.request = request
        self.result = result
    }

    /// Returns the recorded response to a request, as a transport would, or throws the recorded error.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - context: The context, for its body limit and its meter.
    ///   - bodies: The bodies of the cassette.
    /// - Returns: The response.
    /// - Throws: The recorded error, ``SluiceError/Code/bodyTooLarge`` for an announced length, or a ``SluiceError`` with
    ///   the code `cassetteUnreadable`.
    func response(
        to request: HTTPRequest,
        _ context: TransferContext,
        _ bodies: CassetteBodies
    ) async throws(SluiceError) -> TransportResponse {
        if case .failure(let error) = result, error.code.isBeforeSending { throw error.with(request: request) }
        let sent = self.request.digest?.length ?? Int64(self.request.body.count)
        let reporter = context.meter?.begin(uploading: sent)
        reporter?.sent(sent)
        switch result {
        case .failure(let error): throw error.with(request: request)
        case .success(let response):
            let limit = context.limits.body
            try context.limits.checkAnnouncedLength(of: response.head, to: request)
            let count = response.digest?.length ?? Int64(response.body.count)
            reporter?.expected(count)
            var metrics = TransferMetrics()
            metrics.bytesSent = sent
            metrics.bytesReceived = count
            if let digest = response.digest {
                let body = try await bodies.body(digest, of: response, upTo: limit, metrics, reporter)
                return TransportResponse(head: response.head, body: body)
            }
            if let limit, count > limit {
                let body = ResponseBody { _ throws(SluiceError) in throw SluiceError.bodyTooLarge(limit: limit) }
                return TransportResponse(head: response.head, body: body)
            }
            reporter?.received(count)
            return TransportResponse(
                head: response.head,
                body: ResponseBody(response.body, metrics: metrics, trailers: response.trailers)
            )
        }
    }
}

extension RecordedExchange.Response: CustomReflectable, RedactedMirror {
    /// Everything except the contents of the body, which may contain secrets.
    package var shown: [Mirror.Child] {
        [("head", head), ("body", "\(digest?.length ?? Int64(body.count)) bytes"), ("trailers", trailers)]
    }
}
