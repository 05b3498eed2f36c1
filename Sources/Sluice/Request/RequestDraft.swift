import SluiceHTTP

/// The description of a request, without its types. An ``Endpoint`` provides it, and a client's
/// ``APIClient/Configuration/endpointMapping`` can change it.
public struct RequestDraft: ModifiableRequest {
    /// The method; GET by default.
    public var method: HTTPMethod
    /// The path, which is appended to the base URL, optionally with a query, or a whole URL that replaces it.
    public var path: String
    /// The headers. Each replaces the client's header of the same name.
    public var headers: HTTPHeaders = [:]
    /// The body; nil for none.
    public var body: RequestBody?
    private(set) var query: [QueryPart] = []
    /// The options that most requests do not set.
    private var rare = Rare.none

    /// Creates a draft with a method and a path.
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
        // A query with one item usually gets more.
        if query.isEmpty { query.reserveCapacity(4) }
        query.append(part)
    }

    /// The options behind one pointer. They would be the largest part of a request, which is copied often.
    private final class Rare: Sendable {
        static let none = Rare(RequestOptions())
        let options: RequestOptions

        init(_ options: RequestOptions) {
            self.options = options
        }
    }

    var options: RequestOptions {
        // Yields the options instead of copying them.
        _read { yield rare.options }
        set { rare = Rare(newValue) }
    }
}

/// The options of a request besides its method, path, headers, query and body.
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
    /// The outer nil is for the client's credentials, the inner nil for none.
    var credentials: ChallengeCredentials??
    var stub: Stub?
    var stubMode: StubMode?
    var parameters: [RequestParameters] = []
    var timeouts = Override<Timeouts>()
    /// The time by which the request must be complete.
    var deadline: Deadline?
    var limits = Override<ResponseLimits>()
    var validation = Override<Validation>()
    var caching = Override<Caching>()
    var sharing: RequestSharing?
    var modelLocation = ModelLocation()
    /// True if the request changes the steps of the client.
    var changesSteps: Bool { !steps.isEmpty || retry != nil || hedging != nil || redirects != nil }
    /// The reason why the draft could not be created.
    var failure: SluiceError?
}

extension RequestDraft {
    /// The base URL that replaces the client's; nil for the client's.
    public var baseURL: String? {
        get { options.baseURL }
        set { options.baseURL = newValue }
    }
    /// The host that replaces the URL's: `cdn.example.com`, `[::1]:8080`, or with another
    /// scheme, `http://cdn.example.com`.
    public var host: String? {
        get { options.host }
        set { options.host = newValue }
    }
    /// The rule for combining base URL and path; nil for the client's.
    public var urlBuilder: URLBuilder? {
        get { options.urlBuilder }
        set { options.urlBuilder = newValue }
    }
    /// The tags, by which gates and interceptors distinguish requests.
    public var tags: Set<String> {
        get { options.tags }
        set { options.tags = newValue }
    }
    /// The name that similar requests share in metrics: `users/{id}`. Nil for the path without
    /// the parts that look like an ID.
    public var route: String? {
        get { options.route }
        set { options.route = newValue }
    }
    /// The networks that can carry the request.
    public var networkAccess: NetworkAccess {
        get { options.networkAccess }
        set { options.networkAccess = newValue }
    }
    /// The priority over other requests that wait.
    public var priority: RequestPriority {
        get { options.priority }
        set { options.priority = newValue }
    }
    /// True if the request sends and stores cookies, where the client has a cookie store.
    public var usesCookies: Bool {
        get { options.usesCookies }
        set { options.usesCookies = newValue }
    }
    /// The stub that answers instead of the server; nil for the client's.
    public var stub: Stub? {
        get { options.stub }
        set { options.stub = newValue }
    }
}
