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
/// All requirements except ``baseURL`` and ``path`` have defaults, and a target with a ``RequestTask`` must say its
/// ``method``. One client can send targets of any number of types.
public protocol Target: Endpoint {
    /// The type of ``task``: ``MethodTask``, or ``RequestTask`` in a target that declares its ``method``.
    associatedtype SpecifiedTask: TargetProperty<RequestTask> = MethodTask
    /// The type of ``validation``: ``Validation``.
    associatedtype SpecifiedValidation: TargetValidation = Validation
    /// The type of ``timeouts``: ``Timeouts``, optional or not.
    associatedtype SpecifiedTimeouts: TargetProperty<Timeouts> = Timeouts?
    /// The type of ``host``: `String`, optional or not.
    associatedtype SpecifiedHost: TargetProperty<String> = String?
    /// The type of ``stub``: ``Stub``, optional or not.
    associatedtype SpecifiedStub: TargetProperty<Stub> = Stub?
    /// The type of ``cacheTags``: a set or an array of texts.
    associatedtype SpecifiedCacheTags: Sequence<String> = Set<String>

    /// An absolute http or https URL, which replaces the client's.
    var baseURL: String { get }
    /// The path, which is appended to the base URL, optionally with a query.
    var path: String { get }
    /// The method; by default that of a ``MethodTask``, and GET without a task.
    var method: HTTPMethod { get }
    /// Parameters and body, as a ``RequestTask`` or, with the method of each case, as a ``MethodTask``. Without
    /// parameters and body by default.
    var task: SpecifiedTask { get }
    /// The headers, which replace the client's of the same name; none by default.
    var headers: HTTPHeaders { get }
    /// The rules for successful responses; ``Validation/client`` by default.
    var validation: SpecifiedValidation { get }
    /// The time-outs; nil, the default, for the client's.
    var timeouts: SpecifiedTimeouts { get }
    /// Another host to send to, such as a CDN's; nil by default.
    var host: SpecifiedHost { get }
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
    /// The tags of the responses that the cache stores, by which ``CacheStore/remove(tag:)`` removes them together. They
    /// are added to the client's; none by default.
    var cacheTags: SpecifiedCacheTags { get }
    /// The tags, by which gates and interceptors distinguish requests; none by default.
    var tags: Set<String> { get }
    /// Values of the target's own, which plugins and the other steps can read; none by default. They are not sent.
    var userInfo: [String: any Sendable] { get }
    /// The stub that answers instead of the server; nil by default. A client whose
    /// ``APIClient/Configuration/stubMode`` is ``StubMode/never`` ignores it.
    var stub: SpecifiedStub { get }
}

/// The type of a property of a ``Target`` that need not be declared. The property may be optional or not.
public protocol TargetProperty<TargetValue> {
    /// The type without the optional.
    associatedtype TargetValue
}

extension Timeouts: TargetProperty {
    /// Time-outs.
    public typealias TargetValue = Timeouts
}

extension Stub: TargetProperty {
    /// A stub.
    public typealias TargetValue = Stub
}

extension String: TargetProperty {
    /// A host.
    public typealias TargetValue = String
}

extension RequestTask: TargetProperty {
    /// A task.
    public typealias TargetValue = RequestTask
}

extension MethodTask: TargetProperty {
    /// The task without its method.
    public typealias TargetValue = RequestTask
}

extension Optional: TargetProperty where Wrapped: TargetProperty {
    /// The type without the optional.
    public typealias TargetValue = Wrapped.TargetValue
}

/// The type of ``Target/validation``: ``Validation``.
public protocol TargetValidation {}

extension Validation: TargetValidation {}

/// Unavailable: in an optional, `.none` is nil.
@available(
    *,
    unavailable,
    message: "Declare \"var validation: Validation\", and write \".client\" for the client's rules."
)
extension Optional: TargetValidation where Wrapped == Validation {}

extension Target where SpecifiedTask == MethodTask {
    /// The default: the method of the task, which is GET without a task.
    public var method: HTTPMethod { task.method }
}

extension Target where SpecifiedTask == RequestTask {
    /// Unavailable: a task has no method of its own.
    @available(
        *,
        unavailable,
        message: "Say the method: \"var method: HTTPMethod\", or \"var task: MethodTask\" with \".post(.json(user))\"."
    )
    public var method: HTTPMethod { .get }
}

extension Target {
    /// The default: GET, with no parameters and no body.
    public var task: MethodTask { .get() }
    /// The default: no headers.
    public var headers: HTTPHeaders { [:] }
    /// The default: the client's rules.
    public var validation: Validation { .client }
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
    /// The default: the client's tags.
    public var cacheTags: Set<String> { [] }
    /// The default: no tags.
    public var tags: Set<String> { [] }
    /// The default: none.
    public var userInfo: [String: any Sendable] { [:] }
    /// The default: no stub.
    public var stub: Stub? { nil }

    /// Returns the request that the target describes.
    ///
    /// It fails with ``SluiceError/Code/invalidMethod`` when it is sent if its task has a body and its method is GET,
    /// HEAD or TRACE.
    public func draft() -> RequestDraft {
        var draft = RequestDraft(method: method, path: path)
        var options = RequestOptions()
        options.baseURL = baseURL
        options.host = host as? String
        options.tags = tags
        options.networkAccess = networkAccess
        options.usesCookies = usesCookies
        options.stub = stub as? Stub
        if let validation = validation as? Validation { options.validation.replace(by: validation) }
        if let timeouts = timeouts as? Timeouts { options.timeouts.replace(with: timeouts) }
        options.isTarget = true
        draft.options = options
        draft.headers = headers
        if cachePolicy != .standard { draft = draft.cachePolicy(cachePolicy) }
        let userInfo = userInfo
        if !userInfo.isEmpty { draft.options.userInfo = userInfo }
        if let dataSource, method.isSafe { draft = draft.dataSource(dataSource) }
        if let cacheExpiration { draft = draft.caching { $0.expiration = cacheExpiration } }
        let cacheTags = Set(cacheTags)
        if !cacheTags.isEmpty { draft = draft.caching { $0.tags.formUnion(cacheTags) } }
        let task = task
        (task as? RequestTask ?? (task as? MethodTask)?.task)?.apply(to: &draft)
        return draft
    }
}
