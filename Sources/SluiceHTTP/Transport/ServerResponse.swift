import SluiceFoundation

/// A response with its whole body, before it is validated and decoded into a model.
public struct ServerResponse: Sendable {
    /// The request of the response, after interceptors and redirects.
    public var request: HTTPRequest
    /// Status, headers and version.
    public var head: HTTPResponse
    /// The body, decompressed.
    public var body: Data
    /// The metrics of the transfer; of the last one if there were redirects.
    public var metrics: TransferMetrics
    /// The source of the response: the server or the cache.
    public var source: ResponseSource
    /// The trailer section that follows the body (RFC 9110 §6.5); empty if there was none. The cache does not store it.
    public var trailers: HTTPHeaders
    /// The error in whose place a stored response is used (`stale-if-error`, RFC 5861 §4); nil otherwise.
    package var failure: SluiceError?
    /// The decoded model of the stored body that this response was made from; nil if the response came from the server.
    package var storedModel: StoredModel?

    /// Creates a response.
    public init(
        request: HTTPRequest,
        head: HTTPResponse,
        body: Data,
        metrics: TransferMetrics = TransferMetrics(),
        source: ResponseSource = .server,
        trailers: HTTPHeaders = [:]
    ) {
        self.trailers = trailers
        self.source = source
        self.request = request
        self.head = head
        self.body = body
        self.metrics = metrics
    }

    /// The status of the head.
    public var status: HTTPStatus { head.status }
}

/// The outcome of sending a request: the server's response, whatever its status, or the error for which none was
/// received.
public typealias TransportOutcome = Result<ServerResponse, SluiceError>

extension TransportOutcome {
    /// The status of the response, also of one that an error contains; nil if none was received.
    public var status: HTTPStatus? {
        switch self {
        case .success(let response): response.head.status
        case .failure(let error): error.status
        }
    }
}

/// The source of a response.
///
/// ```swift
/// let response = await request.sender().response
/// if case .cache(let info) = response.source, !info.isFresh { banner.show("As of \(info.age) ago") }
/// ```
public enum ResponseSource: Sendable, Hashable {
    /// The server.
    case server
    /// The cache.
    case cache(CachedResponseInfo)

    /// True if the response came from the cache, revalidated or not.
    public var isCache: Bool {
        if case .cache = self { true } else { false }
    }
}

/// Information about a response from the cache.
public struct CachedResponseInfo: Sendable, Hashable {
    /// The age of the response: since the origin server generated or last validated it (RFC 9111 §4.2.3), or, for a
    /// ``DataSource``, since it was stored.
    public var age: Duration
    /// True if the response is fresh. Responses of a ``DataSource`` always are.
    public var isFresh: Bool
    /// True if the origin server has just validated the response (RFC 9110 §15.4.5).
    public var isRevalidated: Bool
    /// True if a concurrent request fetched the response.
    public var isShared: Bool

    /// Creates the information, by default about a fresh response.
    public init(age: Duration, isFresh: Bool = true, isRevalidated: Bool = false, isShared: Bool = false) {
        self.age = age
        self.isFresh = isFresh
        self.isRevalidated = isRevalidated
        self.isShared = isShared
    }
}
