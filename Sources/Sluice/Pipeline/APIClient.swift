import SluiceFoundation
import SluiceHTTP

#if os(Linux)
import SluiceEngine
#else
import SluiceURLSession
#endif

/// A client for one API: it creates requests that share a base URL and a configuration.
///
/// ```swift
/// let github = APIClient(baseURL: "https://api.github.com") {
///     $0.headers["Accept"] = "application/vnd.github+json"
/// }
/// let user: User = try await github.get("users/apple").sender().value
/// ```
///
/// A client is a value and needs no shutdown. A base URL that is not valid fails each request with
/// ``SluiceError/Code/invalidURL``.
public struct APIClient: Sendable {
    /// Shared by all copies and by every request, which hold only a pointer to it.
    let pipeline: Pipeline

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - baseURL: An absolute http or https URL, to which the paths of requests are appended. It can be omitted if
    ///     every request has its own, as a ``Target`` does.
    ///   - configure: Called with the default configuration, to change it. An error it throws is rethrown.
    public init(baseURL: String = "", configure: (inout Configuration) throws -> Void) rethrows {
        var configuration = Configuration()
        try configure(&configuration)
        pipeline = Pipeline(baseURL: baseURL, configuration: configuration)
    }

    /// Creates a client with the default configuration.
    ///
    /// - Parameter baseURL: An absolute http or https URL, to which the paths of requests are appended.
    public init(baseURL: String = "") {
        self.init(baseURL: baseURL) { _ in }
    }

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - baseURL: An absolute http or https URL, to which the paths of requests are appended.
    ///   - configure: Called with the default configuration, to change it. An error it throws is rethrown.
    public init(baseURL: URL, configure: (inout Configuration) throws -> Void) rethrows {
        try self.init(baseURL: baseURL.absoluteString, configure: configure)
    }

    /// Creates a client with the default configuration.
    public init(baseURL: URL) {
        self.init(baseURL: baseURL.absoluteString)
    }

    /// Unavailable: the URL is optional.
    @available(*, unavailable, message: "Unwrap the URL, or pass its text.")
    public init(baseURL: URL?, configure: (inout Configuration) -> Void = { _ in }) {
        self.init()
    }

    /// Unavailable: the transport is an option.
    @available(*, unavailable, message: "Write \"APIClient(baseURL: url) { $0.transport = transport }\".")
    public init(baseURL: String, transport: any Transport, configure: (inout Configuration) -> Void = { _ in }) {
        self.init()
    }

    /// A copy of the configuration that the client was created with.
    ///
    /// The encoder is copied too, so that its options can be changed for another client. An encoder of a subclass is not.
    public var configuration: Configuration {
        var configuration = pipeline.configuration
        configuration.encoder = configuration.encoder.copied
        return configuration
    }

    /// The configuration's clock, without a copy of the configuration.
    package var clock: any SluiceClock { pipeline.clock }

    init(pipeline: Pipeline) {
        self.pipeline = pipeline
    }

    /// Waits until the client's observers have received all events so far, for example before a
    /// report is written or in a test.
    ///
    /// Observers that `observer(_:)` adds to one request are not included.
    public func observersCaughtUp() async {
        for observer in pipeline.steps.observers { await observer.deliverAll() }
    }
}

// MARK: - Description

extension APIClient: CustomStringConvertible, CustomReflectable, RedactedMirror {
    /// The client's base URL, without secrets. ``configuration`` has everything else.
    public var description: String {
        pipeline.baseURL.isEmpty
            ? "a client without a base URL" : "a client with the base URL \(SecretRules.usual.url(pipeline.baseURL))"
    }
}

// MARK: - Web services

/// An API as a type whose functions return requests.
///
/// ```swift
/// struct GitHubAPI: WebService {
///     let client: APIClient
///
///     func user(_ id: Int) -> APIRequest<User, GitHubError> {
///         server.get("user/\(id)")
///     }
///     func createGist(_ gist: NewGist) -> APIRequest<Gist, GitHubError> {
///         server.post("gists").json(gist)
///     }
///     func zen() -> APIRequest<String, GitHubError> {
///         server.string.get("zen")
///     }
/// }
///
/// let user = try await GitHubAPI(client: github).user(10_639_145).sender().value
/// ```
///
/// A path is used as it is. For a text in a path, expand a ``URITemplate``, which encodes it.
///
/// A service with static functions needs no protocol. Its client is a `static let server = APIClient(baseURL: …)`.
///
/// A body on a method without one, as in `server.get("users").json(user)`, does not compile.
public protocol WebService: Sendable {
    /// The client that sends the requests.
    var client: APIClient { get }
}

extension WebService {
    /// The client, as the start of the service's requests: `get`, `post` and the other methods.
    public var server: APIClient { client }
}

// MARK: - Configuration

extension APIClient {
    /// The settings that all requests of a client share. Some of them have a modifier that
    /// overrides them for one request.
    public struct Configuration: Sendable {
        /// The headers of every request; `User-Agent: Sluice/` and the version by default. A header of the request
        /// replaces the one with the same name.
        ///
        /// `Authorization`, `Cookie` and `Proxy-Authorization` are sent to the origin of the base URL, and to a host or
        /// base URL that the request sets. They are not sent if the path is a whole URL with another origin. A client
        /// without a base URL sends all headers to every URL.
        public var headers: HTTPHeaders = [.userAgent: SluiceVersion.product]
        /// The time-outs: 10 s to connect and 60 s without a byte, for each transfer; the total, none by default,
        /// covers the whole request. The total does not apply to streams and downloads, not even to their gates and the
        /// wait for the head. For these, set ``ModifiableRequest/timeout(total:connect:idle:)``, or
        /// ``limitsDownloadTime``.
        public var timeouts = Timeouts()
        /// True to apply the total time-out of ``timeouts`` to downloads too, from the first request to the last byte;
        /// false by default. A download that reaches it fails with ``SluiceError/Code/timedOut`` and keeps its partial
        /// file for a later send.
        public var limitsDownloadTime = false
        /// The limits on a response: 64 KiB of headers, and 64 MiB of body, because the body is held in memory.
        public var limits = ResponseLimits(body: 64 << 20)
        /// The rules for successful responses; by default, any 2xx status is a success.
        public var validation = Validation()
        /// The redirects that are followed; up to 10 by default.
        public var redirects = RedirectPolicy()
        /// The cookie jar; nil, the default, neither stores nor sends cookies.
        public var cookies: CookieJar?
        /// The credentials that answer a challenge from the base URL's origin. With nil, the
        /// default, the 401 is the response.
        public var credentials: ChallengeCredentials?
        /// The connection settings: TLS, proxies, name resolution, addresses and versions of HTTP.
        public var connection = ConnectionOptions()
        /// The decoder of models. The default is the strict `JSONDecoder`, whose strategies are read when the client is
        /// created.
        public var modelDecoder: any DataDecoder = JSONDecoder()
        /// The envelope that the API wraps its models in; nil, the default, for none.
        public var envelope: Envelope?
        /// The decoder of the bodies of failed responses; nil, the default, for `modelDecoder`.
        public var errorDecoder: (any DataDecoder)?
        /// The encoder of JSON bodies.
        public var encoder = JSONEncoder()
        /// The encoder of queries and forms.
        public var formEncoder = URLEncodedFormEncoder()
        /// The rule that combines base URL and path.
        public var urlBuilder = URLBuilder.appending
        /// Changes the description that an endpoint gives of its request; nil by default. Called with the endpoint and
        /// its description. An error it throws fails the request.
        ///
        /// ```swift
        /// $0.endpointMapping = { endpoint, draft in
        ///     endpoint is GitHub ? draft.header("Accept", "application/vnd.github+json") : draft
        /// }
        /// ```
        public var endpointMapping: (@Sendable (any Endpoint, RequestDraft) throws -> RequestDraft)?
        /// Changes the built request before any gate; nil by default. An error it throws fails the request.
        public var requestMapping: (@Sendable (HTTPRequest) throws -> HTTPRequest)?
        /// The constraints that every request must meet before it is sent. They are satisfied concurrently, except
        /// for those that need each other.
        public var constraints: [any Constraint] = []
        /// The gates that must admit every request before it is sent. Gates with ``Gate/reservesResource`` false are
        /// asked first, together with the constraints. The others follow in this order.
        public var gates: [any Gate] = []
        /// The interceptors that can change a request before it is sent, in this order.
        public var requestInterceptors: [any RequestInterceptor] = []
        /// The interceptors that can change an outcome before the caller gets it, in this order.
        public var responseInterceptors: [any ResponseInterceptor] = []
        /// The rules for sending failed requests again; no retries by default. Setting a rule, such as `retry.statuses`, allows
        /// up to two.
        public var retry = RetryPolicy.none
        /// The limit on all retries of the client, so that retries do not overload a server in trouble.
        public var retryBudget = RetryBudget()
        /// The rules for sending a slow request a second time; never by default.
        public var hedging = HedgingPolicy.none
        /// The plugins, which can change the request and the outcome of each attempt, in this order, after the
        /// interceptors.
        public var plugins: [any Plugin] = []
        /// The observers, which are notified of every step.
        public var observers: [any RequestObserver] = []
        /// The headers that hold secrets, besides `Authorization`, `Cookie` and `Proxy-Authorization`, and those of a
        /// ``CustomToken`` or ``SuppliedToken``. They are removed where a redirect, or a whole URL in place of a path,
        /// leads to another origin. They do not appear in logs.
        public var secretHeaders: [HTTPHeaderName] = []
        /// The clock; the system's by default.
        public var clock: any SluiceClock = SystemClock()
        /// Returns 64 random bits for jitter at each call.
        public var randomness: @Sendable () -> UInt64 = { UInt64.random(in: .min ... .max) }
        /// The store of responses and values; nil, the default, for no cache. Clients can share one.
        public var cache: CacheStore?
        /// The rules for using the cache. By default, requests go to the server, and responses
        /// are stored as RFC 9111 allows.
        public var caching = Caching()
        /// The requests that share the transfer of an equal request that is already running; none by default.
        public var sharing = RequestSharing.none
        /// The stub for requests without their own stub; nil, the default, for none.
        public var stub: Stub?
        /// The rule by which stubs answer requests instead of the server; immediately by default. With
        /// ``StubMode/never``, a client sends requests in spite of their stubs. A request can override it.
        public var stubMode = StubMode.immediate
        /// The transport: `SocketTransport` on Linux, URLSession on Apple platforms. By default, all clients share one.
        public var transport: any Transport = Configuration.platformTransport

        /// Creates a configuration with the defaults.
        public init() {}

        #if os(Linux)
        /// Shared by all clients that set no transport.
        private static let platformTransport = SocketTransport()
        #else
        private static let platformTransport = URLSessionTransport()
        #endif
    }
}

extension APIClient.Configuration {
    /// True if the transport delivers encoded bodies as they are.
    var keepsContentCodings: Bool {
        #if os(Linux)
        (transport as? SocketTransport)?.decompressesResponses == false
        #else
        false
        #endif
    }
}
