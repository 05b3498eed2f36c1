import SluiceHTTP

// The types that the properties of a target can have. The compiler ignores a property that has the name of a
// requirement with a default, and another type: the default is used instead. For this reason every property is
// declared twice: here with any type, and in `Target` with its own type. An extension for each accepted type converts
// the first to the second. All other types have only an unavailable conversion, whose message says what to write.

/// The properties of a ``Target`` with the types that it declares them with. Each has a protocol of its own, because the
/// compiler tries all combinations of the types that one protocol has to be given.
public typealias _TargetDeclarations =
    _TargetMethod & _TargetTask & _TargetHeaders & _TargetValidation & _TargetTimeouts & _TargetHost
    & _TargetNetworkAccess & _TargetUsesCookies & _TargetCachePolicy & _TargetDataSource & _TargetCacheExpiration
    & _TargetTags & _TargetCacheTags & _TargetUserInfo & _TargetStub

// MARK: - Method and task

/// A type with ``Target/method`` of any type.
public protocol _TargetMethod {
    /// The declared type.
    associatedtype _Method = HTTPMethod
    /// The declared value.
    var method: _Method { get }
}

/// A type with ``Target/task`` of any type.
public protocol _TargetTask {
    /// The declared type.
    associatedtype _Task = MethodTask
    /// The declared value.
    var task: _Task { get }
}

// The default and its conversion have one name, and are ranked by the protocol that they extend.

extension Target where _Task == MethodTask {
    /// The default: GET, with no parameters and no body.
    public var task: MethodTask { .get() }
}

extension Target where _Task == MethodTask, _Method == HTTPMethod {
    /// The default: the method of the task, which is GET without a task.
    public var method: HTTPMethod {
        let declared: MethodTask = task
        return declared.method
    }
}

extension _TargetTask where _Task == MethodTask {
    /// The task without its method.
    public var task: RequestTask {
        let declared: MethodTask = task
        return declared.task
    }
}

extension _TargetTask {
    /// Unavailable: the property has another type.
    @available(*, unavailable, message: "Declare \"var task: RequestTask\" or \"MethodTask\", or rename it.")
    public var task: RequestTask { .plain }
}

extension _TargetTask where _Task == MethodTask? {
    /// The task without its method; none without a task.
    public var task: RequestTask {
        let declared: MethodTask? = task
        return declared?.task ?? .plain
    }
}

extension Target where _Task == MethodTask?, _Method == HTTPMethod {
    /// The default: the method of the task, which is GET without a task.
    public var method: HTTPMethod {
        let declared: MethodTask? = task
        return declared?.method ?? .get
    }
}

extension _TargetTask where _Task == RequestTask? {
    /// The task; none for nil.
    public var task: RequestTask {
        let declared: RequestTask? = task
        return declared ?? .plain
    }
}

extension Target where _Task == RequestTask?, _Method == HTTPMethod {
    /// Unavailable: a task has no method of its own.
    @available(
        *,
        unavailable,
        message: "Say the method: \"var method: HTTPMethod\", or \"var task: MethodTask\" with \".post(.json(user))\"."
    )
    public var method: HTTPMethod { .get }
}

extension Target where _Task == RequestTask, _Method == HTTPMethod {
    /// Unavailable: a task has no method of its own.
    @available(
        *,
        unavailable,
        message: "Say the method: \"var method: HTTPMethod\", or \"var task: MethodTask\" with \".post(.json(user))\"."
    )
    public var method: HTTPMethod { .get }
}

extension Target {
    /// Unavailable: the property has another type.
    @available(*, unavailable, message: "Declare \"var method: HTTPMethod\", or rename it.")
    public var method: HTTPMethod { .get }
}

// MARK: - Headers

/// A type with ``Target/headers`` of any type.
public protocol _TargetHeaders {
    /// The declared type.
    associatedtype _Headers = HTTPHeaders
    /// The declared value.
    var headers: _Headers { get }
}

extension Target where _Headers == HTTPHeaders {
    /// The default: no headers.
    public var headers: HTTPHeaders { [:] }
}

extension Target where _Headers == HTTPHeaders? {
    /// The declared value.
    @_documentation(visibility: private)
    public var headers: HTTPHeaders {
        let declared: HTTPHeaders? = headers
        return declared ?? [:]
    }
}

extension Target where _Headers == [String: String] {
    /// The declared value.
    @_documentation(visibility: private)
    public var headers: HTTPHeaders {
        let declared: [String: String] = headers
        return HTTPHeaders(sorted: declared)
    }
}

extension Target where _Headers == [String: String]? {
    /// The declared value.
    @_documentation(visibility: private)
    public var headers: HTTPHeaders {
        let declared: [String: String]? = headers
        return HTTPHeaders(sorted: declared ?? [:])
    }
}

extension Target {
    /// Unavailable: the property has another type.
    @available(*, unavailable, message: "Declare \"var headers: HTTPHeaders\" or \"[String: String]\", or rename it.")
    public var headers: HTTPHeaders { [:] }
}

// MARK: - Validation

/// A type with ``Target/validation`` of any type.
public protocol _TargetValidation {
    /// The declared type.
    associatedtype _Validation = Validation
    /// The declared value.
    var validation: _Validation { get }
}

extension Target where _Validation == Validation {
    /// The default: the client's rules.
    public var validation: Validation { .client }
}

extension Target {
    /// Unavailable: the property has another type.
    @available(
        *,
        unavailable,
        message: "Declare \"var validation: Validation\", and write \".client\" for the client's rules, or rename it."
    )
    public var validation: Validation { .client }
}

// MARK: - Timeouts

/// A type with ``Target/timeouts`` of any type.
public protocol _TargetTimeouts {
    /// The declared type.
    associatedtype _Timeouts = Timeouts?
    /// The declared value.
    var timeouts: _Timeouts { get }
}

extension Target where _Timeouts == Timeouts? {
    /// The default: the client's time-outs.
    public var timeouts: Timeouts? { nil }
}

extension Target where _Timeouts == Timeouts {
    /// The declared value.
    @_documentation(visibility: private)
    public var timeouts: Timeouts? {
        let declared: Timeouts = timeouts
        return declared
    }
}

extension Target {
    /// Unavailable: the property has another type.
    @available(*, unavailable, message: "Declare \"var timeouts: Timeouts\", or rename it.")
    public var timeouts: Timeouts? { nil }
}

// MARK: - Host

/// A type with ``Target/host`` of any type.
public protocol _TargetHost {
    /// The declared type.
    associatedtype _Host = String?
    /// The declared value.
    var host: _Host { get }
}

extension Target where _Host == String? {
    /// The default: the URL's host.
    public var host: String? { nil }
}

extension Target where _Host == String {
    /// The declared value.
    @_documentation(visibility: private)
    public var host: String? {
        let declared: String = host
        return declared
    }
}

extension Target {
    /// Unavailable: the property has another type.
    @available(*, unavailable, message: "Declare \"var host: String\", or rename it.")
    public var host: String? { nil }
}

// MARK: - NetworkAccess

/// A type with ``Target/networkAccess`` of any type.
public protocol _TargetNetworkAccess {
    /// The declared type.
    associatedtype _NetworkAccess = NetworkAccess
    /// The declared value.
    var networkAccess: _NetworkAccess { get }
}

extension Target where _NetworkAccess == NetworkAccess {
    /// The default: all networks.
    public var networkAccess: NetworkAccess { .all }
}

extension Target where _NetworkAccess == NetworkAccess? {
    /// The declared value.
    @_documentation(visibility: private)
    public var networkAccess: NetworkAccess {
        let declared: NetworkAccess? = networkAccess
        return declared ?? .all
    }
}

extension Target {
    /// Unavailable: the property has another type.
    @available(*, unavailable, message: "Declare \"var networkAccess: NetworkAccess\", or rename it.")
    public var networkAccess: NetworkAccess { .all }
}

// MARK: - UsesCookies

/// A type with ``Target/usesCookies`` of any type.
public protocol _TargetUsesCookies {
    /// The declared type.
    associatedtype _UsesCookies = Bool
    /// The declared value.
    var usesCookies: _UsesCookies { get }
}

extension Target where _UsesCookies == Bool {
    /// The default: true.
    public var usesCookies: Bool { true }
}

extension Target {
    /// Unavailable: the property has another type.
    @available(*, unavailable, message: "Declare \"var usesCookies: Bool\", or rename it.")
    public var usesCookies: Bool { true }
}

// MARK: - CachePolicy

/// A type with ``Target/cachePolicy`` of any type.
public protocol _TargetCachePolicy {
    /// The declared type.
    associatedtype _CachePolicy = CachePolicy
    /// The declared value.
    var cachePolicy: _CachePolicy { get }
}

extension Target where _CachePolicy == CachePolicy {
    /// The default: no instructions for caches.
    public var cachePolicy: CachePolicy { .standard }
}

extension Target where _CachePolicy == CachePolicy? {
    /// The declared value.
    @_documentation(visibility: private)
    public var cachePolicy: CachePolicy {
        let declared: CachePolicy? = cachePolicy
        return declared ?? .standard
    }
}

extension Target {
    /// Unavailable: the property has another type.
    @available(*, unavailable, message: "Declare \"var cachePolicy: CachePolicy\", or rename it.")
    public var cachePolicy: CachePolicy { .standard }
}

// MARK: - DataSource

/// A type with ``Target/dataSource`` of any type.
public protocol _TargetDataSource {
    /// The declared type.
    associatedtype _DataSource = DataSource?
    /// The declared value.
    var dataSource: _DataSource { get }
}

extension Target where _DataSource == DataSource? {
    /// The default: the client's data source.
    public var dataSource: DataSource? { nil }
}

extension Target where _DataSource == DataSource {
    /// The declared value.
    @_documentation(visibility: private)
    public var dataSource: DataSource? {
        let declared: DataSource = dataSource
        return declared
    }
}

extension Target {
    /// Unavailable: the property has another type.
    @available(*, unavailable, message: "Declare \"var dataSource: DataSource\", or rename it.")
    public var dataSource: DataSource? { nil }
}

// MARK: - CacheExpiration

/// A type with ``Target/cacheExpiration`` of any type.
public protocol _TargetCacheExpiration {
    /// The declared type.
    associatedtype _CacheExpiration = CacheExpiration?
    /// The declared value.
    var cacheExpiration: _CacheExpiration { get }
}

extension Target where _CacheExpiration == CacheExpiration? {
    /// The default: the client's expiration.
    public var cacheExpiration: CacheExpiration? { nil }
}

extension Target where _CacheExpiration == CacheExpiration {
    /// The declared value.
    @_documentation(visibility: private)
    public var cacheExpiration: CacheExpiration? {
        let declared: CacheExpiration = cacheExpiration
        return declared
    }
}

extension Target {
    /// Unavailable: the property has another type.
    @available(*, unavailable, message: "Declare \"var cacheExpiration: CacheExpiration\", or rename it.")
    public var cacheExpiration: CacheExpiration? { nil }
}

// MARK: - Tags

/// A type with ``Target/tags`` of any type.
public protocol _TargetTags {
    /// The declared type.
    associatedtype _Tags = Set<String>
    /// The declared value.
    var tags: _Tags { get }
}

extension Target where _Tags == Set<String> {
    /// The default: no tags.
    public var tags: Set<String> { [] }
}

extension Target where _Tags == Set<String>? {
    /// The declared value.
    @_documentation(visibility: private)
    public var tags: Set<String> {
        let declared: Set<String>? = tags
        return declared ?? []
    }
}

extension Target where _Tags == [String] {
    /// The declared value.
    @_documentation(visibility: private)
    public var tags: Set<String> {
        let declared: [String] = tags
        return Set(declared)
    }
}

extension Target where _Tags == [String]? {
    /// The declared value.
    @_documentation(visibility: private)
    public var tags: Set<String> {
        let declared: [String]? = tags
        return Set(declared ?? [])
    }
}

extension Target {
    /// Unavailable: the property has another type.
    @available(*, unavailable, message: "Declare \"var tags: Set<String>\" or \"[String]\", or rename it.")
    public var tags: Set<String> { [] }
}

// MARK: - Cache tags

/// A type with ``Target/cacheTags`` of any type.
public protocol _TargetCacheTags {
    /// The declared type.
    associatedtype _CacheTags = Set<String>
    /// The declared value.
    var cacheTags: _CacheTags { get }
}

extension Target where _CacheTags == Set<String> {
    /// The default: no tags of responses.
    public var cacheTags: Set<String> { [] }
}

extension Target where _CacheTags == Set<String>? {
    /// The declared value.
    public var cacheTags: Set<String> {
        let declared: Set<String>? = cacheTags
        return declared ?? []
    }
}

extension Target where _CacheTags == [String] {
    /// The declared value.
    public var cacheTags: Set<String> {
        let declared: [String] = cacheTags
        return Set(declared)
    }
}

extension Target where _CacheTags == [String]? {
    /// The declared value.
    public var cacheTags: Set<String> {
        let declared: [String]? = cacheTags
        return Set(declared ?? [])
    }
}

extension Target {
    /// Unavailable: the property has another type.
    @available(*, unavailable, message: "Declare \"var cacheTags: Set<String>\" or \"[String]\", or rename it.")
    public var cacheTags: Set<String> { [] }
}

// MARK: - UserInfo

/// A type with ``Target/userInfo`` of any type.
public protocol _TargetUserInfo {
    /// The declared type.
    associatedtype _UserInfo = [String: any Sendable]
    /// The declared value.
    var userInfo: _UserInfo { get }
}

extension Target where _UserInfo == [String: any Sendable] {
    /// The default: none.
    public var userInfo: [String: any Sendable] { [:] }
}

extension Target {
    /// Unavailable: the property has another type.
    @available(*, unavailable, message: "Declare \"var userInfo: [String: any Sendable]\", or rename it.")
    public var userInfo: [String: any Sendable] { [:] }
}

// MARK: - Stub

/// A type with ``Target/stub`` of any type.
public protocol _TargetStub {
    /// The declared type.
    associatedtype _Stub = Stub?
    /// The declared value.
    var stub: _Stub { get }
}

extension Target where _Stub == Stub? {
    /// The default: no stub.
    public var stub: Stub? { nil }
}

extension Target where _Stub == Stub {
    /// The declared value.
    @_documentation(visibility: private)
    public var stub: Stub? {
        let declared: Stub = stub
        return declared
    }
}

extension Target {
    /// Unavailable: the property has another type.
    @available(*, unavailable, message: "Declare \"var stub: Stub\", or rename it.")
    public var stub: Stub? { nil }
}

extension HTTPHeaders {
    /// Creates fields in the order of their names, so that equal dictionaries are equal requests.
    fileprivate init(sorted fields: [String: String]) {
        self.init(fields.sorted { $0.key < $1.key }.map { (HTTPHeaderName($0.key), $0.value) })
    }
}
