#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Stub {
    /// A JSON text, not looked at.
    public static func json(_ text: String, status: HTTPStatus = .ok, headers: HTTPHeaders = [:]) -> Stub {
        .data(Data(text.utf8), contentType: "application/json", status: status, headers: headers)
    }

    /// A value as JSON; one that cannot be encoded fails the request with ``SluiceError/Code/stubUnavailable``.
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

    /// Plain text in UTF-8.
    public static func text(_ text: String, status: HTTPStatus = .ok, headers: HTTPHeaders = [:]) -> Stub {
        .data(Data(text.utf8), contentType: "text/plain; charset=utf-8", status: status, headers: headers)
    }

    /// Bytes.
    ///
    /// - Parameters:
    ///   - data: The body; left out of an answer to HEAD, and of a 204 or 304.
    ///   - contentType: The `Content-Type`, unless `headers` have one; nil for none.
    ///   - status: The status.
    ///   - headers: Further fields. None is added to them, a `Content-Length` neither.
    /// - Returns: The stub.
    public static func data(
        _ data: Data,
        contentType: String? = "application/octet-stream",
        status: HTTPStatus = .ok,
        headers: HTTPHeaders = [:]
    ) -> Stub {
        Stub(.response(head(status, headers, contentType), data))
    }

    /// A file, read anew for each request.
    ///
    /// One that is missing or cannot be read fails the request with ``SluiceError/Code/stubUnavailable``, which names it.
    ///
    /// - Parameters:
    ///   - url: Where it is.
    ///   - contentType: The `Content-Type`, unless `headers` have one; nil, the default, for `application/json` where the file's name ends
    ///     so, and `application/octet-stream` else.
    ///   - status: The status.
    ///   - headers: Further fields.
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

    /// A status without a body.
    public static func status(_ status: HTTPStatus, headers: HTTPHeaders = [:]) -> Stub {
        .data(Data(), contentType: nil, status: status, headers: headers)
    }

    /// A redirect: 302, by default, to a location that may be relative.
    public static func redirect(to location: String, status: HTTPStatus = .found) -> Stub {
        .status(status, headers: [.location: location])
    }

    /// No answer: the network fails.
    ///
    /// - Parameters:
    ///   - code: How: ``SluiceError/Code/cannotConnect``, ``SluiceError/Code/timedOut`` or any other.
    ///   - reason: The error's sentence; one that names the stub by default.
    /// - Returns: The stub.
    public static func failure(_ code: SluiceError.Code, _ reason: String? = nil) -> Stub {
        .error(SluiceError(code, reason ?? "The stub fails the request with \(code)."))
    }

    /// No answer, but this error.
    public static func error(_ error: SluiceError) -> Stub { Stub(.failure(error)) }

    /// What a closure answers to the request, whose body is in memory then.
    ///
    /// What it throws fails the request: a ``SluiceError`` as it is, any other with ``SluiceError/Code/stubUnavailable``.
    public static func answering(_ answer: @escaping @Sendable (HTTPRequest) async throws -> Stub) -> Stub {
        Stub(.closure(answer))
    }

    /// One answer after the other, each for one sending of a request.
    ///
    /// All copies of it share their place: keep it in a `static let` where a `Target` is to give it.
    ///
    /// - Parameters:
    ///   - stubs: The answers in their order.
    ///   - ending: What follows the last of them; the last again by default.
    /// - Returns: The stub.
    public static func sequence(_ stubs: [Stub], then ending: SequenceEnd = .repeatLast) -> Stub {
        Stub(.sequence(StubSequence(stubs, ending)))
    }

    /// What follows the last answer of a sequence.
    public enum SequenceEnd: Sendable, Hashable {
        /// The last answer again and again.
        case repeatLast
        /// ``SluiceError/Code/stubExhausted``.
        case fail
        /// All of them from the first.
        case startAgain
    }

    private static func head(_ status: HTTPStatus, _ headers: HTTPHeaders, _ contentType: String?) -> HTTPResponse {
        var head = HTTPResponse(status: status, headers: headers)
        if let contentType, !headers.contains(.contentType) { head.headers.append(.contentType, contentType) }
        return head
    }
}
