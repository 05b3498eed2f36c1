#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Stub {
    /// Responds with a JSON text, which is not parsed.
    public static func json(_ text: String, status: HTTPStatus = .ok, headers: HTTPHeaders = [:]) -> Stub {
        .data(Data(text.utf8), contentType: "application/json", status: status, headers: headers)
    }

    /// Responds with a value as JSON. If encoding fails, the request fails with ``SluiceError/Code/stubUnavailable``.
    public static func json(
        encoding value: some Encodable,
        encoder: JSONEncoder = JSONEncoder(),
        status: HTTPStatus = .ok,
        headers: HTTPHeaders = [:]
    ) -> Stub {
        do {
            let data = try encoder.encode(value)
            return .data(data, contentType: "application/json", status: status, headers: headers)
        } catch {
            let reason = "The stub's \(type(of: value)) cannot be encoded as JSON."
            return .error(SluiceError(.stubUnavailable, reason, underlyingError: error))
        }
    }

    /// Responds with plain text in UTF-8.
    public static func text(_ text: String, status: HTTPStatus = .ok, headers: HTTPHeaders = [:]) -> Stub {
        .data(Data(text.utf8), contentType: "text/plain; charset=utf-8", status: status, headers: headers)
    }

    /// Responds with bytes.
    ///
    /// - Parameters:
    ///   - data: The body. It is omitted for HEAD requests and for the statuses 204 and 304.
    ///   - contentType: The `Content-Type`, unless `headers` contain one; nil for none.
    ///   - status: The status.
    ///   - headers: The other header fields. No field is added to them, not even `Content-Length`.
    /// - Returns: The stub.
    public static func data(
        _ data: Data,
        contentType: String? = "application/octet-stream",
        status: HTTPStatus = .ok,
        headers: HTTPHeaders = [:]
    ) -> Stub {
        Stub(.response(head(status, headers, contentType), data))
    }

    /// Responds with a file, read again for each request.
    ///
    /// If the file is missing or unreadable, the request fails with ``SluiceError/Code/stubUnavailable``, which names
    /// the file.
    ///
    /// - Parameters:
    ///   - url: The file's location.
    ///   - contentType: The `Content-Type`, unless `headers` contain one. With nil, the default, it is
    ///     `application/json` if the file's extension is `json`, and `application/octet-stream` otherwise.
    ///   - status: The status.
    ///   - headers: The other header fields.
    /// - Returns: The stub.
    public static func file(
        _ url: URL,
        contentType: String? = nil,
        status: HTTPStatus = .ok,
        headers: HTTPHeaders = [:]
    ) -> Stub {
        let isJSON = url.pathExtension.lowercased() == "json"
        let type = contentType ?? (isJSON ? "application/json" : "application/octet-stream")
        return Stub(.file(head(status, headers, type), url))
    }

    /// Responds with a status and no body.
    public static func status(_ status: HTTPStatus, headers: HTTPHeaders = [:]) -> Stub {
        .data(Data(), contentType: nil, status: status, headers: headers)
    }

    /// Responds with a redirect, 302 by default, to a location that may be relative.
    public static func redirect(to location: String, status: HTTPStatus = .found) -> Stub {
        .status(status, headers: [.location: location])
    }

    /// Fails the request as if the network had failed.
    ///
    /// - Parameters:
    ///   - code: The code of the error, such as ``SluiceError/Code/cannotConnect`` or ``SluiceError/Code/timedOut``.
    ///   - reason: The error's message; by default one that names the stub.
    /// - Returns: The stub.
    public static func failure(_ code: SluiceError.Code, _ reason: String? = nil) -> Stub {
        .error(SluiceError(code, reason ?? "The stub fails the request with \(code)."))
    }

    /// Fails the request with an error.
    public static func error(_ error: SluiceError) -> Stub { Stub(.failure(error)) }

    /// Responds with the stub that a closure returns for the request. The request's body is in memory.
    ///
    /// If the closure throws a ``SluiceError``, the request fails with it. Any other error fails the request with
    /// ``SluiceError/Code/stubUnavailable``.
    public static func answering(_ answer: @escaping @Sendable (HTTPRequest) async throws -> Stub) -> Stub {
        Stub(.closure(answer))
    }

    /// Responds with one stub after the other, each for one attempt of a request.
    ///
    /// All copies share their position: if a `Target` returns the sequence, store it in a `static let`.
    ///
    /// - Parameters:
    ///   - stubs: The responses in their order.
    ///   - ending: The behavior after the last response; by default it repeats.
    /// - Returns: The stub.
    public static func sequence(_ stubs: [Stub], then ending: SequenceEnd = .repeatLast) -> Stub {
        Stub(.sequence(StubSequence(stubs, ending)))
    }

    /// The behavior of a sequence after its last response.
    public enum SequenceEnd: Sendable, Hashable {
        /// Repeats the last response.
        case repeatLast
        /// Fails with ``SluiceError/Code/stubExhausted``.
        case fail
        /// Starts again with the first response.
        case startAgain
    }

    private static func head(_ status: HTTPStatus, _ headers: HTTPHeaders, _ contentType: String?) -> HTTPResponse {
        var head = HTTPResponse(status: status, headers: headers)
        if let contentType, !headers.contains(.contentType) { head.headers.append(.contentType, contentType) }
        return head
    }
}
