import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Converts recorded exchanges to and from the JSON of a cassette.
enum CassetteCoding {
    static func node(of exchange: RecordedExchange) -> JSONNode {
        let request = JSONNode.object([
            "body": body(exchange.request.body, exchange.request.headers),
            "headers": headers(exchange.request.headers),
            "method": .string(exchange.request.method.rawValue),
            "url": .string(exchange.request.url),
        ])
        switch exchange.result {
        case .success(let response):
            let node = JSONNode.object([
                "body": body(response.body, response.head.headers),
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
        let recorded = RecordedRequest(
            method: HTTPMethod(rawValue: method),
            url: url,
            headers: try headers(of: request["headers"]),
            body: try body(of: request["body"])
        )
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
        let bytes = try body(of: response["body"])
        // The length changes if the body was edited, or if its white space was dropped. A body with a content coding is
        // stored decoded, so its recorded length does not apply either way.
        if method != "HEAD", head.headers.contains(.contentLength), !head.headers.contains(.contentEncoding) {
            head.headers[.contentLength] = "\(bytes.count)"
        }
        return RecordedExchange(
            request: recorded,
            result: .success(
                RecordedExchange.Response(head: head, body: bytes, trailers: try headers(of: response["trailers"]))
            )
        )
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
        guard let lines = node.array else { throw RecordingFailure("has headers that are no list") }
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

    private static func body(_ bytes: Data, _ headers: HTTPHeaders) -> JSONNode? {
        if bytes.isEmpty { return nil }
        // The nesting limit leaves room for the levels that the cassette itself adds.
        if headers.isJSON, let node = try? JSONNode(parsing: bytes, within: 128) {
            return .object(["json": node])
        }
        if let text = String(validating: bytes, as: UTF8.self) { return .object(["text": .string(text)]) }
        return .object(["base64": .string(bytes.base64EncodedString())])
    }

    private static func body(of node: JSONNode?) throws(RecordingFailure) -> Data {
        guard let node, node != .null else { return Data() }
        if let json = node["json"] { return json.compact }
        if let text = node["text"]?.string { return Data(text.utf8) }
        guard let base64 = node["base64"]?.string else {
            throw RecordingFailure("has a body that is neither json, text nor base64")
        }
        guard let bytes = Data(base64Encoded: base64) else {
            throw RecordingFailure("has a body that is no valid base64")
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
