import SluiceHTTP

/// A part of an API described by a type, as a rule an enum with a case a request.
///
/// ```swift
/// enum GitHub: Target {
///     case zen, user(String), star(repo: String)
///
///     var baseURL: String { "https://api.github.com" }
///     var path: String {
///         switch self {
///         case .zen: "zen"
///         case .user(let name): "users/\(name)"
///         case .star(let repo): "user/starred/\(repo)"
///         }
///     }
///     var method: HTTPMethod {
///         if case .star = self { .put } else { .get }
///     }
/// }
///
/// let user: User = try await client.request(GitHub.user("apple")).sender().value
/// let zen = try await client.string.request(GitHub.zen).sender().value
/// ```
///
/// All but ``baseURL`` and ``path`` has a default. One client sends targets of any number of types.
public protocol Target: Endpoint {
    /// An absolute http or https URL; takes the place of the client's.
    var baseURL: String { get }
    /// Appended to the base URL, with a query if it has one.
    var path: String { get }
    /// The method; GET by default.
    var method: HTTPMethod { get }
    /// Parameters and body; ``RequestTask/plain`` by default.
    var task: RequestTask { get }
    /// Headers, which replace the client's of the same name; none by default.
    var headers: HTTPHeaders { get }
    /// Which responses are successes; nil, the default, for the client's rules.
    var validation: Validation? { get }
    /// Time-outs; nil, the default, for the client's.
    var timeouts: Timeouts? { get }
    /// Another host to send to, a CDN's for example; nil by default.
    var host: String? { get }
    /// Which networks may carry the request; all by default.
    var networkAccess: NetworkAccess { get }
    /// Whether the request takes part in the client's cookies, where it keeps any; true by default.
    var usesCookies: Bool { get }
    /// What is asked of the caches on the way; nothing by default.
    var cachePolicy: CachePolicy { get }
    /// Words by which gates and interceptors tell requests apart; none by default.
    var tags: Set<String> { get }
    /// What answers in the server's place where ``APIClient/Configuration/stubMode`` lets it; nil by default.
    var stub: Stub? { get }
}

extension Target {
    /// GET.
    public var method: HTTPMethod { .get }
    /// Neither parameters nor body.
    public var task: RequestTask { .plain }
    /// No headers of its own.
    public var headers: HTTPHeaders { [:] }
    /// The client's rules.
    public var validation: Validation? { nil }
    /// The client's time-outs.
    public var timeouts: Timeouts? { nil }
    /// The URL's own host.
    public var host: String? { nil }
    /// All networks.
    public var networkAccess: NetworkAccess { .all }
    /// With the client's cookies.
    public var usesCookies: Bool { true }
    /// Nothing is asked of caches.
    public var cachePolicy: CachePolicy { .standard }
    /// No tags.
    public var tags: Set<String> { [] }
    /// No stub.
    public var stub: Stub? { nil }

    /// The request this target describes.
    public func draft() -> RequestDraft {
        var draft = RequestDraft(method: method, path: path)
        draft.baseURL = baseURL
        draft.headers = headers
        draft.host = host
        draft.tags = tags
        draft.networkAccess = networkAccess
        draft.usesCookies = usesCookies
        if cachePolicy != .standard { draft = draft.cachePolicy(cachePolicy) }
        if let stub { draft.stub = stub }
        if let validation { draft.options.validation.replace(with: validation) }
        if let timeouts { draft.options.timeouts.replace(with: timeouts) }
        task.apply(to: &draft)
        return draft
    }
}
