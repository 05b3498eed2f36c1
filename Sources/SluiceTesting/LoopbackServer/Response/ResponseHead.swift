import SluiceFoundation
import SluiceHTTP

/// The head of a response, serialized once.
struct ResponseHead: Sendable {
    /// The message framing that the head announces.
    enum Framing: Sendable {
        case length(Int)
        case chunked
        case none
    }

    let status: HTTPStatus
    let headers: HTTPHeaders
    let bytes: Data

    /// Creates a head. Fields in `headers` take precedence over `contentType` and `framing`.
    init(_ status: HTTPStatus, _ headers: HTTPHeaders = [:], contentType: String? = nil, framing: Framing) {
        var headers = headers
        if let contentType, !headers.contains(.contentType) { headers.append(.contentType, contentType) }
        if !headers.contains(.contentLength), !headers.contains(.transferEncoding) {
            switch framing {
            case .length(let length): headers.append(.contentLength, "\(length)")
            case .chunked: headers.append(.transferEncoding, "chunked")
            case .none: break
            }
        }
        self.init(status: status, headers: headers)
    }

    private init(status: HTTPStatus, headers: HTTPHeaders) {
        self.status = status
        self.headers = headers
        let text = "HTTP/1.1 \(status) \(ResponseHead.reason(status))\r\n"
        var bytes = Data(text.utf8)
        for index in headers.indices { bytes.append(headers.lineBytes(at: index)) }
        bytes.append(contentsOf: [13, 10])
        self.bytes = bytes
    }

    func adding(_ name: HTTPHeaderName, _ value: String) -> ResponseHead {
        var headers = headers
        headers[name] = value
        return ResponseHead(status: status, headers: headers)
    }

    /// Returns the reason phrase. Clients ignore it (RFC 9112 §4), but it helps in packet captures.
    private static func reason(_ status: HTTPStatus) -> String {
        switch status {
        case .ok: "OK"
        case .created: "Created"
        case .noContent: "No Content"
        case .found: "Found"
        case .notModified: "Not Modified"
        case .badRequest: "Bad Request"
        case .unauthorized: "Unauthorized"
        case .forbidden: "Forbidden"
        case .notFound: "Not Found"
        case .tooManyRequests: "Too Many Requests"
        case .internalServerError: "Internal Server Error"
        case .serviceUnavailable: "Service Unavailable"
        default:
            switch status.class {
            case .informational: "Informational"
            case .success: "Success"
            case .redirection: "Redirection"
            case .clientError: "Client Error"
            case .serverError: "Server Error"
            case .unknown: "Unknown"
            }
        }
    }
}

extension HTTPHeaders {
    /// Returns the bytes of a field line, including the line ending.
    func lineBytes(at index: Int) -> Data {
        let line = line(at: index)
        return Data(bytes[line.offset..<line.end]) + [13, 10]
    }
}
