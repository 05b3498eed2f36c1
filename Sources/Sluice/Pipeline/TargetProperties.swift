// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
import SluiceHTTP

// The types that the properties of a target can have. The compiler ignores a property that has the name of a
// requirement with a default, and another type: the default is used instead. For this reason every property is
// declared twice: here with any type, and in `Target` with its own type. An extension for each accepted type converts
// the first to the second. All other types have only an unavailable conversion, whose message says what to write.

/// The properties of a ``Target`` with the types that it declares them with. No protocol has more than four, because the
/// compiler tries all combinations of the types that one protocol has to be given.
public typealias _TargetDeclarations = _TargetContent & _TargetTransfer & _TargetCaching & _TargetHandling

/// The method, task and headers of a ``Target``, each of any type.
public protocol _TargetContent {
    associatedtype _Method = HTTPMethod
    var method: _Method { get }
    associatedtype _Task = MethodTask
    var task: _Task { get }
    associatedtype _Headers = HTTPHeaders
    var headers: _Headers { get }
}

/// The options of the transfer of a ``Target``, each of any type.
public protocol _TargetTransfer {
    associatedtype _Timeouts = Timeouts?
    var timeouts: _Timeouts { get }
    associatedtype _Host = String?
    var host: _Host { get }
    associatedtype _NetworkAccess = NetworkAccess
    var networkAccess: _NetworkAccess { get }
    associatedtype _UsesCookies = Bool
    var usesCookies: _UsesCookies { get }
}

/// The options of the cache of a ``Target``, each of any type.
public protocol _TargetCaching {
    associatedtype _CachePolicy = CachePolicy
    var cachePolicy: _CachePolicy { get }
    associatedtype _DataSource = DataSource?
    var dataSource: _DataSource { get }
    associatedtype _CacheExpiration = CacheExpiration?
    var cacheExpiration: _CacheExpiration { get }
    associatedtype _CacheTags = Set<String>
    var cacheTags: _CacheTags { get }
}

/// The rules, values and stub of a ``Target``, each of any type.
public protocol _TargetHandling {
    associatedtype _Validation = Validation
    var validation: _Validation { get }
    associatedtype _Tags = Set<String>
    var tags: _Tags { get }
    associatedtype _UserInfo = [String: any Sendable]
    var userInfo: _UserInfo { get }
    associatedtype _Stub = Stub?
    var stub: _Stub { get }
}

// MARK: - Task and method

// The default and its conversion have one name, and are ranked by the protocol that they extend.

extension Target where _Task == MethodTask {
    /// The default: GET, with no parameters and no body.
    public var task: MethodTask { .get() }
}

extension Target where _Task == MethodTask, _Method == HTTPMethod {
    /// The default: the method of the task, which is GET without a task.
    public var method: HTTPMethod { (task as MethodTask).method }
}

@_documentation(visibility: private)
extension Target where _Task == MethodTask?, _Method == HTTPMethod {
    public var method: HTTPMethod { (task as MethodTask?)?.method ?? .get }
}

extension _TargetContent where _Task == MethodTask {
    public var task: RequestTask { (task as MethodTask).task }
}

extension _TargetContent where _Task == MethodTask? {
    public var task: RequestTask { (task as MethodTask?)?.task ?? .plain }
}

extension _TargetContent where _Task == RequestTask? {
    public var task: RequestTask { task as RequestTask? ?? .plain }
}

// MARK: - Headers

extension Target where _Headers == HTTPHeaders {
    /// The default: no headers.
    public var headers: HTTPHeaders { [:] }
}

@_documentation(visibility: private)
extension Target where _Headers == HTTPHeaders? {
    public var headers: HTTPHeaders { headers as HTTPHeaders? ?? [:] }
}

@_documentation(visibility: private)
extension Target where _Headers == [String: String] {
    public var headers: HTTPHeaders { HTTPHeaders(sorted: headers) }
}

@_documentation(visibility: private)
extension Target where _Headers == [String: String]? {
    public var headers: HTTPHeaders { HTTPHeaders(sorted: headers ?? [:]) }
}

extension HTTPHeaders {
    /// Creates fields in the order of their names, so that equal dictionaries are equal requests.
    fileprivate init(sorted fields: [String: String]) {
        self.init(fields.sorted { $0.key < $1.key }.map { (HTTPHeaderName($0.key), $0.value) })
    }
}

// MARK: - Options of the transfer

extension Target where _Timeouts == Timeouts? {
    /// The default: the client's time-outs.
    public var timeouts: Timeouts? { nil }
}

@_documentation(visibility: private)
extension Target where _Timeouts == Timeouts {
    public var timeouts: Timeouts? { timeouts as Timeouts }
}

extension Target where _Host == String? {
    /// The default: the URL's host.
    public var host: String? { nil }
}

@_documentation(visibility: private)
extension Target where _Host == String {
    public var host: String? { host as String }
}

extension Target where _NetworkAccess == NetworkAccess {
    /// The default: all networks.
    public var networkAccess: NetworkAccess { .all }
}

@_documentation(visibility: private)
extension Target where _NetworkAccess == NetworkAccess? {
    public var networkAccess: NetworkAccess { networkAccess as NetworkAccess? ?? .all }
}

extension Target where _UsesCookies == Bool {
    /// The default: true.
    public var usesCookies: Bool { true }
}

// MARK: - Options of the cache

extension Target where _CachePolicy == CachePolicy {
    /// The default: no instructions for caches.
    public var cachePolicy: CachePolicy { .standard }
}

@_documentation(visibility: private)
extension Target where _CachePolicy == CachePolicy? {
    public var cachePolicy: CachePolicy { cachePolicy as CachePolicy? ?? .standard }
}

extension Target where _DataSource == DataSource? {
    /// The default: the client's data source.
    public var dataSource: DataSource? { nil }
}

@_documentation(visibility: private)
extension Target where _DataSource == DataSource {
    public var dataSource: DataSource? { dataSource as DataSource }
}

extension Target where _CacheExpiration == CacheExpiration? {
    /// The default: the client's expiration.
    public var cacheExpiration: CacheExpiration? { nil }
}

@_documentation(visibility: private)
extension Target where _CacheExpiration == CacheExpiration {
    public var cacheExpiration: CacheExpiration? { cacheExpiration as CacheExpiration }
}

extension Target where _CacheTags == Set<String> {
    /// The default: no tags of responses.
    public var cacheTags: Set<String> { [] }
}

@_documentation(visibility: private)
extension Target where _CacheTags == Set<String>? {
    public var cacheTags: Set<String> { cacheTags as Set<String>? ?? [] }
}

@_documentation(visibility: private)
extension Target where _CacheTags == [String] {
    public var cacheTags: Set<String> { Set(cacheTags as [String]) }
}

@_documentation(visibility: private)
extension Target where _CacheTags == [String]? {
    public var cacheTags: Set<String> { Set(cacheTags as [String]? ?? []) }
}

// MARK: - Rules, values and stub

extension Target where _Validation == Validation {
    /// The default: the client's rules.
    public var validation: Validation { .client }
}

extension Target where _Tags == Set<String> {
    /// The default: no tags.
    public var tags: Set<String> { [] }
}

@_documentation(visibility: private)
extension Target where _Tags == Set<String>? {
    public var tags: Set<String> { tags as Set<String>? ?? [] }
}

@_documentation(visibility: private)
extension Target where _Tags == [String] {
    public var tags: Set<String> { Set(tags as [String]) }
}

@_documentation(visibility: private)
extension Target where _Tags == [String]? {
    public var tags: Set<String> { Set(tags as [String]? ?? []) }
}

extension Target where _UserInfo == [String: any Sendable] {
    /// The default: none.
    public var userInfo: [String: any Sendable] { [:] }
}

extension Target where _Stub == Stub? {
    /// The default: no stub.
    public var stub: Stub? { nil }
}

@_documentation(visibility: private)
extension Target where _Stub == Stub {
    public var stub: Stub? { stub as Stub }
}

// MARK: - Other types

extension _TargetContent {
    @available(*, unavailable, message: "Declare \"var task: RequestTask\" or \"MethodTask\", or rename it.")
    public var task: RequestTask { .plain }
}

extension Target where _Method == HTTPMethod {
    @available(
        *,
        unavailable,
        message: "Say the method: \"var method: HTTPMethod\", or \"var task: MethodTask\" with \".post(.json(user))\"."
    )
    public var method: HTTPMethod { .get }
}

extension Target {
    @available(*, unavailable, message: "Declare \"var method: HTTPMethod\", or rename it.")
    public var method: HTTPMethod { .get }
    @available(*, unavailable, message: "Declare \"var headers: HTTPHeaders\" or \"[String: String]\", or rename it.")
    public var headers: HTTPHeaders { [:] }
    @available(*, unavailable, message: "Declare \"var timeouts: Timeouts\", or rename it.")
    public var timeouts: Timeouts? { nil }
    @available(*, unavailable, message: "Declare \"var host: String\", or rename it.")
    public var host: String? { nil }
    @available(*, unavailable, message: "Declare \"var networkAccess: NetworkAccess\", or rename it.")
    public var networkAccess: NetworkAccess { .all }
    @available(*, unavailable, message: "Declare \"var usesCookies: Bool\", or rename it.")
    public var usesCookies: Bool { true }
    @available(*, unavailable, message: "Declare \"var cachePolicy: CachePolicy\", or rename it.")
    public var cachePolicy: CachePolicy { .standard }
    @available(*, unavailable, message: "Declare \"var dataSource: DataSource\", or rename it.")
    public var dataSource: DataSource? { nil }
    @available(*, unavailable, message: "Declare \"var cacheExpiration: CacheExpiration\", or rename it.")
    public var cacheExpiration: CacheExpiration? { nil }
    @available(*, unavailable, message: "Declare \"var cacheTags: Set<String>\" or \"[String]\", or rename it.")
    public var cacheTags: Set<String> { [] }
    @available(*, unavailable, message: "Declare \"var validation: Validation\" (\".client\" for nil), or rename it.")
    public var validation: Validation { .client }
    @available(*, unavailable, message: "Declare \"var tags: Set<String>\" or \"[String]\", or rename it.")
    public var tags: Set<String> { [] }
    @available(*, unavailable, message: "Declare \"var userInfo: [String: any Sendable]\", or rename it.")
    public var userInfo: [String: any Sendable] { [:] }
    @available(*, unavailable, message: "Declare \"var stub: Stub\", or rename it.")
    public var stub: Stub? { nil }
}
