import SluiceFoundation

/// A response with its whole body, before it is validated and decoded into a model.
public struct ServerResponse: Sendable {
    private struct Parts: Sendable {
        var request: HTTPRequest
        var head: HTTPResponse
        /// The fields that the head lacks; nil if it is complete.
        var addedFields: CacheAddedFields?
        var body: Data
        var metrics: TransferMetrics
        var source: ResponseSource
        var trailers: HTTPHeaders
        var failure: SluiceError?
        var storedModel: StoredModel?
        var serverHead: HTTPResponse?
        var isRedirected = false
    }

    /// One element, in an array for the reason given in ``HTTPRequest``.
    private var storage: [Parts]

    /// The request of the response, after interceptors and redirects.
    public var request: HTTPRequest {
        get { storage[0].request }
        _modify { yield &storage[0].request }
    }
    /// Status, headers and version.
    public var head: HTTPResponse {
        get {
            guard let fields = storage[0].addedFields else { return storage[0].head }
            var head = storage[0].head
            fields.append(to: &head.headers)
            return head
        }
        _modify {
            completeHead()
            yield &storage[0].head
        }
    }
    /// The body, decompressed.
    public var body: Data {
        get { storage[0].body }
        _modify { yield &storage[0].body }
    }
    /// The number of bytes of the body, without a copy of it.
    package var bodyCount: Int { storage[0].body.count }
    /// The metrics of the transfer; of the last one if there were redirects.
    public var metrics: TransferMetrics {
        get { storage[0].metrics }
        _modify { yield &storage[0].metrics }
    }
    /// The source of the response: the server or the cache.
    public var source: ResponseSource {
        get { storage[0].source }
        _modify { yield &storage[0].source }
    }
    /// The trailer section that follows the body (RFC 9110 §6.5); empty if there was none. The cache does not store it.
    public var trailers: HTTPHeaders {
        get { storage[0].trailers }
        _modify { yield &storage[0].trailers }
    }
    /// The error in whose place a stored response is used (`stale-if-error`, RFC 5861 §4); nil otherwise.
    package var failure: SluiceError? {
        get { storage[0].failure }
        _modify { yield &storage[0].failure }
    }
    /// The decoded model of the stored body that this response was made from; nil if the response came from the server.
    package var storedModel: StoredModel? {
        get { storage[0].storedModel }
        _modify { yield &storage[0].storedModel }
    }

    /// True if a redirect led to the request of this response.
    package var isRedirected: Bool {
        get { storage[0].isRedirected }
        _modify { yield &storage[0].isRedirected }
    }

    /// The head of the server's 304 if this is a stored response that it has confirmed; nil otherwise.
    package var serverHead: HTTPResponse? {
        get { storage[0].serverHead }
        _modify { yield &storage[0].serverHead }
    }

    /// Creates a response.
    public init(
        request: HTTPRequest,
        head: HTTPResponse,
        body: Data,
        metrics: TransferMetrics = TransferMetrics(),
        source: ResponseSource = .server,
        trailers: HTTPHeaders = [:]
    ) {
        storage = [
            Parts(request: request, head: head, body: body, metrics: metrics, source: source, trailers: trailers)
        ]
    }

    /// Creates a response from a stored one and its model.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - head: The stored head.
    ///   - addedFields: The fields that are added to the head whenever it is read, because few readers of a model need them.
    ///   - body: The stored body.
    ///   - source: The source.
    ///   - storedModel: The model; nil if it is not reused.
    package init(
        request: HTTPRequest,
        head: HTTPResponse,
        addedFields: CacheAddedFields? = nil,
        body: Data,
        source: ResponseSource,
        storedModel: StoredModel?
    ) {
        storage = [
            Parts(
                request: request,
                head: head,
                addedFields: addedFields,
                body: body,
                metrics: TransferMetrics(),
                source: source,
                trailers: [:],
                storedModel: storedModel
            )
        ]
    }

    /// The status of the head.
    public var status: HTTPStatus { storage[0].head.status }

    /// Adds the fields that the head lacks, for readers that read it several times.
    package mutating func completeHead() {
        guard let fields = storage[0].addedFields.take() else { return }
        fields.append(to: &storage[0].head.headers)
    }
}

/// The outcome of sending a request: the server's response, whatever its status, or the error for which none was
/// received.
public typealias TransportOutcome = Result<ServerResponse, SluiceError>

extension TransportOutcome {
    /// The status of the response, also of one that an error contains; nil if none was received.
    public var status: HTTPStatus? {
        switch self {
        case .success(let response): response.status
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
    /// ``DataSource``, since it was stored; 3,000 years if the clock has been set back since.
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

// MARK: - Stored model

/// The model that was last decoded from a stored body, for the next cache hit.
package final class StoredModel: Sendable {
    /// The maximum size in bytes of a body whose model is stored. Larger models cost too much memory.
    private static let maximumBodySize = 256 << 10

    private let body: Data
    /// The address of the body's bytes; nil for a small body.
    private let address: UInt?
    private let decoded = Locked<DecodedModel?>(nil)

    package init(of body: Data) {
        self.body = body
        address = body.sharedAddress
    }

    /// The estimated memory size of the stored model in bytes; 0 if there is none.
    package var bytes: Int { decoded.withLock { $0?.bytes } ?? 0 }

    /// Returns the model of a body: the stored model if the body is the stored one and the decoder is the same,
    /// otherwise a new one.
    ///
    /// A body changed by interceptors or envelopes always produces a new model. So does a model that is an object,
    /// because it may be mutable.
    package func model<Model: Sendable, Failure: Error>(
        of body: Data,
        by decoder: any AnyObject & Sendable,
        make: () throws(Failure) -> Model
    ) throws(Failure) -> Model {
        guard !(Model.self is AnyObject.Type), let address, body.count == self.body.count,
            body.sharedAddress == address
        else { return try make() }
        if let last = decoded.withLock({ $0 }), last.decoder === decoder, last.type == Model.self {
            return unsafeDowncast(last.box, to: ModelBox<Model>.self).model
        }
        let model = try make()
        if body.count <= Self.maximumBodySize {
            let new = DecodedModel(ModelBox(model), Model.self, by: decoder, bytes: 3 * body.count)
            decoded.withLock { $0 = new }
        }
        return model
    }
}

/// A decoded model without its type.
///
/// The type is compared, and the cast to it is unchecked in a release build, because a checked cast looks up metadata.
private final class DecodedModel: Sendable {
    /// A ``ModelBox``.
    let box: any AnyObject & Sendable
    /// The type of the model.
    let type: any Sendable.Type
    let decoder: any AnyObject & Sendable
    /// The estimated memory size of the model in bytes, because it cannot be measured.
    let bytes: Int

    init<Model: Sendable>(
        _ box: ModelBox<Model>,
        _ type: Model.Type,
        by decoder: any AnyObject & Sendable,
        bytes: Int
    ) {
        self.box = box
        self.type = type
        self.decoder = decoder
        self.bytes = bytes
    }
}

/// A model as an object, whose type an unchecked cast restores.
package final class ModelBox<Model: Sendable>: Sendable {
    package let model: Model

    package init(_ model: consuming Model) {
        self.model = model
    }
}

extension Data {
    /// The address of the bytes, which copies share and which are immutable while they are shared. Nil for at most 32 bytes, which may be
    /// stored inside the value.
    fileprivate var sharedAddress: UInt? {
        count > 32 ? withUnsafeBytes { UInt(bitPattern: $0.baseAddress) } : nil
    }
}

// MARK: - Replaced responses

extension SluiceError {
    /// The response that a response interceptor or plugin has replaced by this error, for the error model of the request.
    package var replacedResponse: ServerResponse? { replaced as? ServerResponse }

    /// Returns the error of a response interceptor or plugin with the response that it has replaced.
    ///
    /// The step becomes ``Step/responseInterceptor`` if the error has the default one.
    package func replacing(_ response: ServerResponse) -> SluiceError {
        with(
            step: step == .transport ? .responseInterceptor : nil,
            request: response.request,
            response: response.head,
            replaced: response
        )
    }

    /// The error without the response that it has replaced, whose body it would keep in memory.
    package var withoutReplacedResponse: SluiceError {
        guard replaced != nil else { return self }
        let bare = SluiceError(code, reason, step: step, underlyingError: underlyingError)
        return bare.with(request: request, response: response, isAfterRedirect: isAfterRedirect)
    }
}
