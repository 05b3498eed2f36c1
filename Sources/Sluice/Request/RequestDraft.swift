import SluiceHTTP

/// All that a request says of itself, without its types: what an ``Endpoint`` gives, and what a client's
/// ``APIClient/Configuration/endpointMapping`` may change.
public struct RequestDraft: ModifiableRequest {
    /// The method; GET by default.
    public var method: HTTPMethod
    /// Appended to the base URL, with a query if it has one; or a whole URL in its place.
    public var path: String
    /// Headers; each replaces the client's of the same name.
    public var headers: HTTPHeaders = [:]
    /// What is sent after the head.
    public var body: RequestBody?
    private(set) var query: [QueryPart] = []
    /// What most requests say nothing of.
    private var rare = Rare.none

    /// Makes a draft of a path and nothing else.
    public init(method: HTTPMethod = .get, path: String) {
        self.method = method
        self.path = path
    }

    /// The draft itself.
    public var draft: RequestDraft {
        get { self }
        set { self = newValue }
    }

    mutating func add(_ part: QueryPart) {
        // Where there is one item there are others, as a rule.
        if query.isEmpty { query.reserveCapacity(4) }
        query.append(part)
    }

    /// Options behind one pointer: requests are copied often, and these would be most of what is copied.
    private final class Rare: Sendable {
        static let none = Rare(RequestOptions())
        let options: RequestOptions

        init(_ options: RequestOptions) {
            self.options = options
        }
    }

    var options: RequestOptions {
        // Lent, not copied: there is much in it, and it is asked for little things.
        _read { yield rare.options }
        set { rare = Rare(newValue) }
    }
}

/// What a request can say of itself besides its method, path, headers, query and body.
struct RequestOptions: Sendable {
    var baseURL: String?
    var host: String?
    var urlBuilder: URLBuilder?
    var tags: Set<String> = []
    var networkAccess = NetworkAccess.all
    var priority = RequestPriority.normal
    var usesCookies = true
    var route: String?
    var steps = OwnSteps()
    var retry: RetryPolicy?
    var hedging: HedgingPolicy?
    var isIdempotent: Bool?
    var redirects: RedirectPolicy?
    /// Nil within where it goes without the client's.
    var credentials: ChallengeCredentials??
    var stub: Stub?
    var stubMode: StubMode?
    var parameters: [RequestParameters] = []
    var timeouts = Override<Timeouts>()
    /// When all of it must be over, whatever its time-outs.
    var deadline: Deadline?
    var limits = Override<ResponseLimits>()
    var validation = Override<Validation>()
    var caching = Override<Caching>()
    var sharing: RequestSharing?
    var modelLocation = ModelLocation()
    /// Whether the client's steps are not all there is to it.
    var changesSteps: Bool { !steps.isEmpty || retry != nil || hedging != nil || redirects != nil }
    /// Why there can be no request, where making the draft had failed.
    var failure: SluiceError?
}

extension RequestDraft {
    /// The base URL in place of the client's.
    public var baseURL: String? {
        get { options.baseURL }
        set { options.baseURL = newValue }
    }
    /// The host the request is sent to in place of the URL's: `cdn.example.com`, `[::1]:8080`, or with another scheme,
    /// `http://cdn.example.com`.
    public var host: String? {
        get { options.host }
        set { options.host = newValue }
    }
    /// How base URL and path become one, in place of the client's way.
    public var urlBuilder: URLBuilder? {
        get { options.urlBuilder }
        set { options.urlBuilder = newValue }
    }
    /// Words of one's own by which gates and interceptors tell requests apart.
    public var tags: Set<String> {
        get { options.tags }
        set { options.tags = newValue }
    }
    /// What requests of its kind have in common, for metrics: `users/{id}`. Nil for the path without what looks like an ID.
    public var route: String? {
        get { options.route }
        set { options.route = newValue }
    }
    /// Which networks may carry the request.
    public var networkAccess: NetworkAccess {
        get { options.networkAccess }
        set { options.networkAccess = newValue }
    }
    /// Whether it goes before others that wait.
    public var priority: RequestPriority {
        get { options.priority }
        set { options.priority = newValue }
    }
    /// Whether the request takes part in the client's cookies, where it keeps any.
    public var usesCookies: Bool {
        get { options.usesCookies }
        set { options.usesCookies = newValue }
    }
    /// What answers in the server's place; nil for the client's stub.
    public var stub: Stub? {
        get { options.stub }
        set { options.stub = newValue }
    }
}
