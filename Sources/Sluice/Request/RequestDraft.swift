import SluiceHTTP

/// All that a request says of itself, without its types: what an ``Endpoint`` gives, and what a client's
/// ``APIClient/Configuration/endpointMapping`` may change.
public struct RequestDraft: ModifiableRequest {
    /// The method; GET by default.
    public var method: HTTPMethod
    /// Appended to the base URL, with a query if it has one; or a whole URL in its place.
    public var path: String
    /// The base URL in place of the client's.
    public var baseURL: String?
    /// The host the request is sent to in place of the URL's: `cdn.example.com`, `[::1]:8080`, or with another scheme,
    /// `http://cdn.example.com`.
    public var host: String?
    /// How base URL and path become one, in place of the client's way.
    public var urlBuilder: URLBuilder?
    /// Headers; each replaces the client's of the same name.
    public var headers: HTTPHeaders
    /// What is sent after the head.
    public var body: RequestBody?
    /// Words of one's own by which gates and interceptors tell requests apart.
    public var tags: Set<String>
    /// Which networks may carry the request.
    public var networkAccess: NetworkAccess
    /// Whether the request takes part in the client's cookies, where it keeps any.
    public var usesCookies: Bool
    /// What the server would answer; nil where nobody has said.
    public var sampleResponse: SampleResponse?

    var query: [QueryPart] = []
    var parameters: [RequestParameters] = []
    var timeouts = Override<Timeouts>()
    var limits = Override<ResponseLimits>()
    var validation = Override<Validation>()
    var modelLocation = ModelLocation()
    /// Why there can be no request, where making the draft had failed.
    var failure: SluiceError?

    /// Makes a draft of a path and nothing else.
    public init(method: HTTPMethod = .get, path: String) {
        self.method = method
        self.path = path
        headers = [:]
        tags = []
        networkAccess = .all
        usesCookies = true
    }

    /// The draft itself.
    public var draft: RequestDraft {
        get { self }
        set { self = newValue }
    }
}

/// A value that stands in for another's, and changes to whatever stands there.
struct Override<Value: Sendable>: Sendable {
    private var replacement: Value?
    private var changes: [@Sendable (inout Value) -> Void] = []

    /// Takes the place of all that was said before.
    mutating func replace(with value: Value) {
        replacement = value
        changes = []
    }

    mutating func change(_ change: @escaping @Sendable (inout Value) -> Void) {
        changes.append(change)
    }

    func applied(to value: Value) -> Value {
        var result = replacement ?? value
        for change in changes { change(&result) }
        return result
    }
}
