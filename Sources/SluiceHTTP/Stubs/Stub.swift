import SluiceFoundation

/// A predefined response to a request, for tests and previews without a server.
///
/// ```swift
/// let request = client.codable.get("users/1", as: User.self)
///     .stub(.json(#"{"id":1,"name":"Ada"}"#).delayed(by: .seconds(1)))
/// ```
///
/// A request's stub replaces the transport. The cache is neither read nor written, and all other steps of the pipeline
/// run as usual. Delays use the client's ``SluiceClock``. A delay or gap that exceeds one of the request's time-outs
/// fails the request with that time-out's error.
public struct Stub: Sendable {
    enum Content: Sendable {
        case response(HTTPResponse, Data)
        case file(HTTPResponse, URL)
        case failure(SluiceError)
        case sequence(StubSequence)
        case closure(@Sendable (HTTPRequest) async throws -> Stub)
    }

    /// The pace of a body: the size of a chunk and the pause between chunks.
    struct Pace: Sendable {
        let bytes: Int
        let gap: Duration
    }

    /// The number of bytes of the response's body after which the connection is lost, and the resulting error.
    struct Truncation: Sendable {
        let bytes: Int
        let error: SluiceError
    }

    var content: Content
    var latency = Duration.zero
    var upload: Pace?
    var download: Pace?
    var truncation: Truncation?
    var trailers = HTTPHeaders()

    init(_ content: Content) {
        self.content = content
    }

    /// Returns the stub with a delay added.
    public func delayed(by delay: Duration) -> Stub {
        var stub = self
        stub.latency += delay
        return stub
    }

    /// Returns the stub with a body that arrives in chunks, for tests of download progress or streams.
    ///
    /// Each chunk is sent only after the previous one has been read.
    ///
    /// - Parameters:
    ///   - bytes: The length of a chunk; at least 1.
    ///   - gap: The pause between chunks; none by default.
    /// - Returns: The stub with that pace.
    public func streamed(by bytes: Int, every gap: Duration = .zero) -> Stub {
        var stub = self
        stub.download = Pace(bytes: max(1, bytes), gap: gap)
        return stub
    }

    /// Returns the stub with a request body that is received in chunks before the response, for tests of upload
    /// progress.
    ///
    /// - Parameters:
    ///   - bytes: The length of a chunk; at least 1.
    ///   - gap: The pause between chunks; none by default.
    /// - Returns: The stub with that pace.
    public func receivingBody(by bytes: Int, every gap: Duration = .zero) -> Stub {
        var stub = self
        stub.upload = Pace(bytes: max(1, bytes), gap: gap)
        return stub
    }

    /// Returns the stub with a truncated body: the connection is lost after a number of bytes.
    ///
    /// - Parameters:
    ///   - bytes: The number of bytes to deliver. A body that is not longer is delivered without an error.
    ///   - code: The code of the resulting error.
    /// - Returns: The truncated stub.
    public func truncated(after bytes: Int, _ code: SluiceError.Code = .truncatedBody) -> Stub {
        var stub = self
        stub.truncation = Truncation(
            bytes: max(0, bytes),
            error: SluiceError(code, "The stub truncated the response after \(bytes) bytes.")
        )
        return stub
    }

    /// Returns the stub with a trailer section (RFC 9110 §6.5).
    ///
    /// - Parameter trailers: The fields of the section, which replace any existing ones.
    /// - Returns: The stub. A response without a body has no trailers either.
    public func withTrailers(_ trailers: HTTPHeaders) -> Stub {
        var stub = self
        stub.trailers = trailers
        return stub
    }
}

extension Stub: CustomReflectable, RedactedMirror {
    /// The delay only, since the response may contain secrets.
    package var shown: [Mirror.Child] { [("delay", latency)] }
}

// MARK: - Responses

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

    /// Responds with text in UTF-8.
    public static func text(
        _ text: String,
        contentType: String = "text/plain; charset=utf-8",
        status: HTTPStatus = .ok,
        headers: HTTPHeaders = [:]
    ) -> Stub {
        .data(Data(text.utf8), contentType: contentType, status: status, headers: headers)
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
        .error(SluiceError(code, reason ?? "The stub failed the request with \(code)."))
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

// MARK: - Sequences

extension Stub {
    /// Returns the next stub of a sequence, or the stub itself.
    ///
    /// The sequence's delay is added. Its other settings apply if the next stub does not set them.
    func next() throws(SluiceError) -> Stub {
        guard case .sequence(let sequence) = content else { return self }
        var next = try sequence.next().next()
        next.latency += latency
        next.upload = next.upload ?? upload
        next.download = next.download ?? download
        next.truncation = next.truncation ?? truncation
        if next.trailers.isEmpty { next.trailers = trailers }
        return next
    }

    /// True if the stub fails before a transport would have sent anything. The result of a closure is not known.
    var failsBeforeSending: Bool {
        if case .failure(let error) = content { error.code.isBeforeSending } else { false }
    }

    /// True if the stub has no delay, pace or truncation.
    var isPlain: Bool { latency <= .zero && upload == nil && download == nil && truncation == nil }
}

/// A sequence of stubs with its current position.
final class StubSequence: Sendable {
    private let stubs: [Stub]
    private let ending: Stub.SequenceEnd
    private let position = Locked(0)

    init(_ stubs: [Stub], _ ending: Stub.SequenceEnd) {
        self.stubs = stubs
        self.ending = ending
    }

    /// Returns the next stub and advances the position.
    func next() throws(SluiceError) -> Stub {
        let index = position.withLock { position in
            defer { position += 1 }
            return position
        }
        if index < stubs.count { return stubs[index] }
        switch ending {
        case .repeatLast: if let last = stubs.last { return last }
        case .startAgain: if !stubs.isEmpty { return stubs[index % stubs.count] }
        case .fail: break
        }
        let reason =
            switch stubs.count {
            case 0: "The stub sequence is empty."
            case 1: "The stub sequence is exhausted: its only stub has been used."
            default: "The stub sequence is exhausted: all \(stubs.count) of its stubs have been used."
            }
        throw SluiceError(.stubExhausted, reason)
    }
}

// MARK: - Error codes

extension SluiceError.Code {
    /// A stub cannot produce its response: its file cannot be read, its model cannot be encoded, or its closure threw
    /// an error.
    public static let stubUnavailable = SluiceError.Code("stubUnavailable")
    /// A stub has no more responses.
    public static let stubExhausted = SluiceError.Code("stubExhausted")
}

/// The mode of a client's stubs: disabled, immediate or delayed.
///
/// ```swift
/// let preview = APIClient { $0.stubMode = .delayed(.seconds(1)) }
/// ```
public struct StubMode: Sendable, Hashable {
    private enum Kind: Sendable, Hashable {
        case never
        case after(Duration)
    }

    private let kind: Kind
    /// True if stubbed requests bypass gates and constraints. False by default; see ``skippingGates()``.
    package private(set) var skipsGates = false

    private init(kind: Kind) {
        self.kind = kind
    }

    /// Sends all requests and ignores stubs.
    public static let never = StubMode(kind: .never)
    /// Stubs respond immediately, or after their own delay; the default.
    public static let immediate = StubMode(kind: .after(.zero))

    /// Stubs respond after a delay, added to their own.
    public static func delayed(_ delay: Duration) -> StubMode { StubMode(kind: .after(delay)) }

    /// Returns the mode with gates and constraints bypassed for stubbed requests. For example, no token is fetched for
    /// them.
    public func skippingGates() -> StubMode {
        var mode = self
        mode.skipsGates = true
        return mode
    }

    /// The delay of stubs; nil if stubs are disabled.
    package var delay: Duration? {
        if case .after(let delay) = kind { delay } else { nil }
    }
}
