import SluiceFoundation
import SluiceHTTP

/// A description that a request can be created from: a path, a ``URITemplate`` with its variables, or a ``Target``.
public protocol Endpoint: Sendable {
    /// Returns the description of the request.
    ///
    /// - Returns: The description of the request.
    /// - Throws: Any error. The request fails with it when it is sent.
    func draft() throws -> RequestDraft
}

/// A path that is appended to the base URL, optionally with a query, or a whole URL that replaces it.
extension String: Endpoint {
    /// Returns a GET request to this path.
    public func draft() -> RequestDraft { RequestDraft(path: self) }
}

/// A whole URL that replaces the base URL, or a path if the URL is relative.
extension URL: Endpoint {
    /// Returns a GET request to this URL.
    public func draft() -> RequestDraft { RequestDraft(path: relativeString) }
}

// MARK: - Targets

/// A part of an API as a type, usually an enum with one case for each request.
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
/// All requirements except ``baseURL`` and ``path`` have defaults. One client can send targets of any number of types.
public protocol Target: Endpoint {
    /// An absolute http or https URL, which replaces the client's.
    var baseURL: String { get }
    /// The path, which is appended to the base URL, optionally with a query.
    var path: String { get }
    /// The method; GET by default.
    var method: HTTPMethod { get }
    /// Parameters and body; ``RequestTask/plain`` by default.
    var task: RequestTask { get }
    /// The headers, which replace the client's of the same name; none by default.
    var headers: HTTPHeaders { get }
    /// The rules for successful responses; nil, the default, for the client's.
    var validation: Validation? { get }
    /// The time-outs; nil, the default, for the client's.
    var timeouts: Timeouts? { get }
    /// Another host to send to, such as a CDN's; nil by default.
    var host: String? { get }
    /// The networks that can carry the request; all by default.
    var networkAccess: NetworkAccess { get }
    /// True if the request sends and stores cookies, where the client has a cookie store. The default is true.
    var usesCookies: Bool { get }
    /// The instructions for caches; none by default.
    var cachePolicy: CachePolicy { get }
    /// The source of the response: the server, or a stored response to an earlier request. Nil, the default, for the
    /// client's. Like the client's, it applies to safe methods only.
    var dataSource: DataSource? { get }
    /// The expiration of the responses that the ``dataSource`` stores; nil, the default, for the client's.
    var cacheExpiration: CacheExpiration? { get }
    /// The tags, by which gates and interceptors distinguish requests; none by default.
    var tags: Set<String> { get }
    /// Values of the target's own, which plugins and the other steps can read; none by default. They are not sent.
    var userInfo: [String: any Sendable] { get }
    /// The stub that answers instead of the server, where ``APIClient/Configuration/stubMode``
    /// enables stubs; nil by default.
    var stub: Stub? { get }
}

extension Target {
    /// The default: GET.
    public var method: HTTPMethod { .get }
    /// The default: no parameters and no body.
    public var task: RequestTask { .plain }
    /// The default: no headers.
    public var headers: HTTPHeaders { [:] }
    /// The default: the client's rules.
    public var validation: Validation? { nil }
    /// The default: the client's time-outs.
    public var timeouts: Timeouts? { nil }
    /// The default: the URL's host.
    public var host: String? { nil }
    /// The default: all networks.
    public var networkAccess: NetworkAccess { .all }
    /// The default: true.
    public var usesCookies: Bool { true }
    /// The default: no instructions for caches.
    public var cachePolicy: CachePolicy { .standard }
    /// The default: the client's data source.
    public var dataSource: DataSource? { nil }
    /// The default: the client's expiration.
    public var cacheExpiration: CacheExpiration? { nil }
    /// The default: no tags.
    public var tags: Set<String> { [] }
    /// The default: none.
    public var userInfo: [String: any Sendable] { [:] }
    /// The default: no stub.
    public var stub: Stub? { nil }

    /// Returns the request that the target describes.
    public func draft() -> RequestDraft {
        var draft = RequestDraft(method: method, path: path)
        draft.baseURL = baseURL
        draft.headers = headers
        draft.host = host
        draft.tags = tags
        draft.networkAccess = networkAccess
        draft.usesCookies = usesCookies
        if cachePolicy != .standard { draft = draft.cachePolicy(cachePolicy) }
        let userInfo = userInfo
        if !userInfo.isEmpty { draft.options.userInfo = userInfo }
        if let stub { draft.stub = stub }
        if let validation { draft.options.validation.replace(with: validation) }
        if let timeouts { draft.options.timeouts.replace(with: timeouts) }
        if let dataSource, method.isSafe { draft = draft.dataSource(dataSource) }
        if let cacheExpiration { draft = draft.caching { $0.expiration = cacheExpiration } }
        task.apply(to: &draft)
        return draft
    }
}
