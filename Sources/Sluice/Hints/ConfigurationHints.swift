// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import SluiceFoundation
import SluiceHTTP

// Options named as elsewhere. None can be set: each says what to write.

/// The type of configurations, for names that have a second type.
public protocol _ConfigurationNames {}

extension APIClient.Configuration: _ConfigurationNames {}

/// The value of options and modifiers that do not exist, such as `.bearer("…")`.
public struct _Authorization {
    public static func bearer(_ token: String) -> Self { Self() }
    public static func basic(_ user: String, _ password: String) -> Self { Self() }
    public static func basic(username: String, password: String) -> Self { Self() }
    public static func apiKey(_ key: String, header: String) -> Self { Self() }
}

/// The value of the options for a log, which are observers in Sluice.
public struct _LogOption: ExpressibleByArrayLiteral, ExpressibleByBooleanLiteral {
    public init(arrayLiteral observers: any RequestObserver...) {}
    public init(booleanLiteral isOn: Bool) {}
    public static var none: Self { false }
    public static var failures: Self { true }
    public static var error: Self { true }
    public static var info: Self { true }
    public static var summary: Self { true }
    public static var headers: Self { true }
    public static var debug: Self { true }
    public static var trace: Self { true }
    public static var verbose: Self { true }
    public static var full: Self { true }
    public static var all: Self { true }
}

extension _ConfigurationNames {
    @available(*, unavailable, message: "Write \"$0.observers = [RequestLog(.summary)]\".")
    public var logging: _LogOption {
        get { true }
        set {}
    }
    @available(*, unavailable, message: "Write \"$0.observers = [RequestLog(.summary)]\".")
    public var log: _LogOption {
        get { true }
        set {}
    }
    @available(*, unavailable, message: "Write \"$0.observers = [RequestLog(.summary)]\".")
    public var logLevel: _LogOption {
        get { true }
        set {}
    }
    @available(*, unavailable, message: "Set one of the time-outs: \"$0.timeouts.total = .seconds(5)\".")
    public var timeout: Double {
        get { 0 }
        set {}
    }
    @available(*, unavailable, message: "Write \"$0.gates = [RateLimit(10, every: .seconds(1))]\".")
    public var gate: [any Gate] {
        get { [] }
        set {}
    }
    @available(*, unavailable, message: "Write \"$0.observers = [RequestLog()]\".")
    public var logger: _LogOption {
        get { true }
        set {}
    }
    @available(*, unavailable, message: "Write \"$0.connection.proxy = .http(\"proxy.example:3128\")\".")
    public var proxy: String {
        get { "" }
        set {}
    }
    @available(
        *,
        unavailable,
        message: "Write \"$0.requestInterceptors = [BearerToken(token)]\". OAuth2 is one of \"$0.gates\"."
    )
    public var auth: _Authorization {
        get { _Authorization() }
        set {}
    }
    @available(
        *,
        unavailable,
        message: "Write \"$0.requestInterceptors = [BearerToken(token)]\". OAuth2 is one of \"$0.gates\"."
    )
    public var authentication: _Authorization {
        get { _Authorization() }
        set {}
    }
    @available(
        *,
        unavailable,
        message: "Write \"$0.requestInterceptors = [BearerToken(token)]\". OAuth2 is one of \"$0.gates\"."
    )
    public var authorization: _Authorization {
        get { _Authorization() }
        set {}
    }
}

extension APIClient.Configuration {
    @available(*, unavailable, message: "Set one of the time-outs: \"$0.timeouts.total = .seconds(5)\".")
    public var timeout: Duration {
        get { .zero }
        set {}
    }
    @available(*, unavailable, message: "Write \"$0.headers\".")
    public var defaultHeaders: HTTPHeaders {
        get { headers }
        set {}
    }
    @available(*, unavailable, message: "Set the header \"$0.headers[\"User-Agent\"]\" or a \"UserAgent\" interceptor.")
    public var userAgent: String {
        get { "" }
        set {}
    }
    @available(*, unavailable, message: "Write \"$0.modelDecoder\", and \"$0.errorDecoder\" for the bodies of errors.")
    public var decoder: any DataDecoder {
        get { modelDecoder }
        set {}
    }
    @available(*, unavailable, message: "Write \"$0.encoder\".")
    public var jsonEncoder: JSONEncoder {
        get { encoder }
        set {}
    }
    @available(*, unavailable, message: "Write \"$0.encoder\".")
    public var bodyEncoder: JSONEncoder {
        get { encoder }
        set {}
    }
    @available(*, unavailable, message: "Write \"$0.modelDecoder\", and \"$0.errorDecoder\" for the bodies of errors.")
    public var jsonDecoder: JSONDecoder {
        get { JSONDecoder() }
        set {}
    }
    @available(*, unavailable, message: "Set it on a \"JSONDecoder\", then write \"$0.modelDecoder = decoder\".")
    public var keyDecodingStrategy: JSONDecoder.KeyDecodingStrategy {
        get { .useDefaultKeys }
        set {}
    }
    @available(*, unavailable, message: "Write \"$0.requestInterceptors = [BearerToken(token)]\".")
    public var bearerToken: String {
        get { "" }
        set {}
    }
    @available(*, unavailable, message: "Write \"$0.observers = [RequestLog()]\".")
    public var logging: Bool {
        get { false }
        set {}
    }
    @available(*, unavailable, message: "Write \"$0.observers = [RequestLog()]\".")
    public var log: any RequestObserver {
        get { RequestLog() }
        set {}
    }
    @available(*, unavailable, message: "Write \"$0.observers = [RequestLog(.summary)]\".")
    public var logLevel: RequestLog.Level {
        get { .summary }
        set {}
    }
    @available(*, unavailable, message: "Write \"$0.requestInterceptors\", or \"$0.responseInterceptors\".")
    public var interceptors: [any RequestInterceptor] {
        get { requestInterceptors }
        set {}
    }
    @available(*, unavailable, message: "Write \"$0.gates = [RateLimit(10, every: .seconds(1))]\".")
    public var gate: any Gate {
        get { ConcurrencyLimit(1) }
        set {}
    }
    @available(*, unavailable, message: "Write \"$0.observers = [RequestLog()]\".")
    public var logger: any RequestObserver {
        get { RequestLog() }
        set {}
    }
    @available(*, unavailable, message: "Write \"$0.connection.proxy\".")
    public var proxy: ProxySelection {
        get { connection.proxy }
        set {}
    }
    @available(*, unavailable, message: "Write \"$0.connection.tls\".")
    public var tls: TLSConfiguration {
        get { connection.tls }
        set {}
    }
    @available(*, unavailable, message: "Write \"$0.retry\".")
    public var retryPolicy: RetryPolicy {
        get { retry }
        set {}
    }
    @available(
        *,
        unavailable,
        message: "Write \"$0.retry = RetryPolicy(maximumAttempts: 3)\", which includes the first attempt."
    )
    public var retries: Int {
        get { 0 }
        set {}
    }
    @available(
        *,
        unavailable,
        message: "Write \"$0.retry = RetryPolicy(maximumAttempts: 3)\", which includes the first attempt."
    )
    public var maxRetries: Int {
        get { 0 }
        set {}
    }
    @available(*, unavailable, message: "Write \"$0.cookies\".")
    public var cookieJar: CookieJar? {
        get { cookies }
        set {}
    }
    @available(*, unavailable, message: "Pass the URL to the client: \"APIClient(baseURL: \"https://shop.example\")\".")
    public var baseURL: String {
        get { "" }
        set {}
    }
}

extension ProxySelection {
    @available(*, unavailable, message: "Write \".http(\"proxy.example:3128\")\".")
    public static func http(host: String, port: Int) -> ProxySelection { .none }
    @available(*, unavailable, message: "Write \".socks5(\"127.0.0.1:1080\")\".")
    public static func socks(host: String, port: Int) -> ProxySelection { .none }
    @available(*, unavailable, message: "Write \".always(try Proxy(\"http://proxy.example:3128\"))\".")
    public static func url(_ url: String) -> ProxySelection { .none }
}

extension TLSConfiguration.Trust {
    @available(*, unavailable, message: "Write \".insecurelyAnyCertificate\".")
    public static var insecure: TLSConfiguration.Trust { .system }
    @available(*, unavailable, message: "Write \".insecurelyAnyCertificate\".")
    public static var none: TLSConfiguration.Trust { .system }
    @available(*, unavailable, message: "Write \".systemAnd(.file(\"own-ca.pem\"))\".")
    public static func system(adding authorities: CertificateSource) -> TLSConfiguration.Trust { .system }
    @available(*, unavailable, message: "Write \".systemAnd(.file(\"own-ca.pem\"))\".")
    public static func system(and authorities: CertificateSource) -> TLSConfiguration.Trust { .system }
    @available(*, unavailable, message: "Write \".systemAnd(.file(\"own-ca.pem\"))\".")
    public static func adding(_ authorities: CertificateSource) -> TLSConfiguration.Trust { .system }
    @available(*, unavailable, message: "Write \".only(.file(\"ca.pem\"))\", or \".systemAnd(.file(\"ca.pem\"))\".")
    public static func file(_ path: String) -> TLSConfiguration.Trust { .system }
    @available(*, unavailable, message: "Write \".only(.file(\"ca.pem\"))\", or \".systemAnd(.file(\"ca.pem\"))\".")
    public static func custom(_ authorities: CertificateSource) -> TLSConfiguration.Trust { .system }
}

extension TLSVersion {
    @available(*, unavailable, message: "Write \".tls12\".")
    public static var tlsv12: TLSVersion { .tls12 }
    @available(*, unavailable, message: "Write \".tls13\".")
    public static var tlsv13: TLSVersion { .tls13 }
}

extension TLSConfiguration {
    @available(
        *,
        unavailable,
        message:
            "Certificates are verified. To accept any, write \"$0.connection.tls.trust = .insecurelyAnyCertificate\"."
    )
    public var verifiesCertificates: Bool {
        get { true }
        set {}
    }
    @available(
        *,
        unavailable,
        message:
            "Certificates are verified. To accept any, write \"$0.connection.tls.trust = .insecurelyAnyCertificate\"."
    )
    public var verify: Bool {
        get { true }
        set {}
    }
    @available(
        *,
        unavailable,
        message:
            "Certificates are verified. To accept any, write \"$0.connection.tls.trust = .insecurelyAnyCertificate\"."
    )
    public var certificateVerification: TLSConfiguration.Trust {
        get { .system }
        set {}
    }
    @available(
        *,
        unavailable,
        message: "Write \"trust = .only(.file(\"ca.pem\"))\", or \".systemAnd(.file(\"ca.pem\"))\"."
    )
    public var trustRoots: TLSConfiguration.Trust {
        get { .system }
        set {}
    }
}

@available(*, unavailable, message: "Write \".file(\"ca.pem\")\".")
extension CertificateSource: ExpressibleByStringLiteral {
    public init(stringLiteral path: String) { self = .file(path) }
}

@available(*, unavailable, message: "Write \"PublicKeyPins(\"sha256/…\", backups: \"sha256/…\")\".")
extension PublicKeyPins: ExpressibleByArrayLiteral {
    public init(arrayLiteral pins: String...) { self.init([]) }
}

extension Timeouts {
    @available(*, unavailable, message: "Write \"total\", or \"idle\" for the time without a byte.")
    public var request: Duration? {
        get { total }
        set {}
    }
    @available(*, unavailable, message: "Write \"idle\", the time without a byte.")
    public var read: Duration? {
        get { idle }
        set {}
    }
    @available(*, unavailable, message: "Set one of the time-outs: \"$0.timeouts.total = .seconds(5)\".")
    public static func seconds(_ seconds: Double) -> Timeouts { Timeouts() }
    @available(*, unavailable, message: "Write \"Timeouts(connect: .seconds(5), idle: .seconds(30))\".")
    public init(connect: Duration, read: Duration) { self.init() }
    @available(*, unavailable, message: "Write \"Timeouts(idle: .seconds(30))\", the time without a byte.")
    public init(read: Duration) { self.init() }
}

extension RequestLog {
    @available(*, unavailable, message: "Write \"RequestLog(.summary, to: write)\".")
    public init(_ level: Level, _ write: (String) -> Void) { self.init(level) }
    @available(*, unavailable, message: "Write \"RequestLog(.summary, to: write)\".")
    public init(_ level: Level = .failures, write: (String) -> Void) { self.init(level) }
    @available(*, unavailable, message: "Write \"RequestLog(.summary)\", without a label.")
    public init(level: Level, curl: Bool = false, to destination: ((String) -> Void)? = nil) { self.init(level) }
}

extension RequestLog.Level {
    @available(*, unavailable, message: "Write \".failures\", \".summary\", \".headers\" or \".full\".")
    public static var debug: Self { .full }
    @available(*, unavailable, message: "Write \".failures\", \".summary\", \".headers\" or \".full\".")
    public static var info: Self { .full }
    @available(*, unavailable, message: "Write \".failures\", \".summary\", \".headers\" or \".full\".")
    public static var verbose: Self { .full }
    @available(*, unavailable, message: "Write \".failures\", \".summary\", \".headers\" or \".full\".")
    public static var all: Self { .full }
}

extension ChallengeCredentials {
    @available(*, unavailable, message: "Write \"ChallengeCredentials(user: \"ada\", password: \"s3cret\")\".")
    public static func basic(_ user: String, _ password: String) -> ChallengeCredentials {
        ChallengeCredentials(user: user, password: password)
    }
    @available(*, unavailable, message: "Write \"ChallengeCredentials(user: \"ada\", password: \"s3cret\")\".")
    public init(username: String, password: some SecretConvertible) { self.init(user: username, password: password) }
}

extension HTTPVersionPolicy {
    @available(
        *,
        unavailable,
        message:
            "Over TLS \".automatic\" uses HTTP/2 with servers that support it; \".http2PriorKnowledge\" uses nothing else."
    )
    public static var http2: HTTPVersionPolicy { .automatic }
}

extension RedirectPolicy {
    @available(*, unavailable, message: "Write \".none\".")
    public static var doNotFollow: RedirectPolicy { .none }
    @available(*, unavailable, message: "Write \".none\".")
    public static var disallow: RedirectPolicy { .none }
    @available(*, unavailable, message: "Write \"$0.redirects.limit = 5\". Cycles are followed with a cookie jar only.")
    public static func follow(max: Int, allowCycles: Bool = false) -> RedirectPolicy { .none }
}

extension StubMode {
    @available(*, unavailable, message: "Write \".immediate\", or \".delayed(.seconds(1))\".")
    public static var always: StubMode { .immediate }
}

extension RetryBudget {
    @available(*, unavailable, message: "Write \"$0.retryBudget = .unlimited\".")
    public static var none: RetryBudget { .unlimited }
}

extension CookieJar {
    @available(*, unavailable, message: "Write \"CookieJar(file: url.path)\".")
    public convenience init(file url: URL) { self.init() }
}

extension Stub {
    @available(*, unavailable, message: "Write \"delayed(by: .seconds(1))\".")
    public func delay(_ duration: Duration) -> Stub { self }
    @available(*, unavailable, message: "Write \"delayed(by: .seconds(1))\".")
    public func delayed(_ duration: Duration) -> Stub { self }
    @available(*, unavailable, message: "Write \".json(\"{}\", status: .ok)\", \".text(\"…\")\" or \".data(data)\".")
    public init(status: HTTPStatus, headers: HTTPHeaders = [:], body: String = "") { self = .status(status) }
    @available(*, unavailable, message: "Write \".json(\"{}\", status: .ok)\", \".text(\"…\")\" or \".data(data)\".")
    public init(status: HTTPStatus, headers: HTTPHeaders = [:], body: Data) { self = .status(status) }
    @available(*, unavailable, message: "Write \".failure(.timedOut)\".")
    @_disfavoredOverload
    public static func error(_ code: SluiceError.Code) -> Stub { .failure(code) }
    @available(*, unavailable, message: "Write \".failure(.timedOut)\".")
    public static var timeout: Stub { .failure(.timedOut) }
    @available(
        *,
        unavailable,
        message: "Write \".json(\"{}\", status: .notFound)\", or \".text(\"…\", status: .notFound)\"."
    )
    public static func status(_ status: HTTPStatus, body: String) -> Stub { .status(status) }
    @available(*, unavailable, message: "Write \".json(encoding: user)\".")
    public static func json(_ value: some Encodable, status: HTTPStatus = .ok, headers: HTTPHeaders = [:]) -> Stub {
        .status(status)
    }
}

extension DataDecoder {
    @available(*, unavailable, message: "Set it on a \"JSONDecoder\", then write \"$0.modelDecoder = decoder\".")
    public var keyDecodingStrategy: JSONDecoder.KeyDecodingStrategy {
        get { .useDefaultKeys }
        nonmutating set {}
    }
    @available(*, unavailable, message: "Set it on a \"JSONDecoder\", then write \"$0.modelDecoder = decoder\".")
    public var dateDecodingStrategy: JSONDecoder.DateDecodingStrategy {
        get { .deferredToDate }
        nonmutating set {}
    }
}

extension APIClient.Configuration {
    @available(
        *,
        unavailable,
        message: "Write \"$0.connection.httpVersion\", such as \".http1\" or \".automatic\"."
    )
    public var http2: Bool {
        get { false }
        set {}
    }
    @available(*, unavailable, message: "Write \"$0.redirects = .none\".")
    public var followRedirects: Bool {
        get { false }
        set {}
    }
    @available(*, unavailable, message: "Write \"$0.redirects = .none\".")
    public var followsRedirects: Bool {
        get { false }
        set {}
    }
    @available(
        *,
        unavailable,
        message: "Set \"maximumTransfersPerHost\" of a \"SocketTransport.Configuration\"."
    )
    public var maxConnections: Int {
        get { 0 }
        set {}
    }
    @available(
        *,
        unavailable,
        message: "Put it into the base URL, which may have a query, or add it in \"$0.requestInterceptors\"."
    )
    public var query: [String: String] {
        get { [:] }
        set {}
    }
    @available(
        *,
        unavailable,
        message: "Put it into the base URL, which may have a query, or add it in \"$0.requestInterceptors\"."
    )
    public var parameters: Parameters {
        get { [:] }
        set {}
    }
    @available(
        *,
        unavailable,
        message: "Leave it out: responses are decompressed. For a request, write \"intercept(CompressBody())\"."
    )
    public var compression: Bool {
        get { false }
        set {}
    }
}

extension APIClient {
    @available(
        *,
        unavailable,
        message: "Set it when the client is created: \"APIClient(baseURL: url) { $0.headers[\"A\"] = \"b\" }\"."
    )
    public var headers: HTTPHeaders {
        get { [:] }
        nonmutating set {}
    }
    @available(*, unavailable, message: "Keep the \"CacheStore\" that you give the client.")
    public var cache: CacheStore { CacheStore(storage: nil) }
    @available(*, unavailable, message: "Write \"get(\"users\", as: [User].self).pages(by: .link)\".")
    public func pages(_ endpoint: some Endpoint) -> APIRequest<Void, APIError> { serialized { _ in () }.request("") }
}

extension RetryPolicy {
    @available(*, unavailable, renamed: "maximumAttempts")
    public var attempts: Int {
        get { maximumAttempts }
        set {}
    }
}

extension TLSConfiguration.Trust {
    @available(*, unavailable, renamed: "insecurelyAnyCertificate")
    public static var all: Self { .system }
}

extension ModifiableRequest {
    @available(*, unavailable, message: "Write \"query(\"page\", 1)\".")
    public func query(_ item: URLQueryItem) -> Self { self }
}

extension MultipartForm {
    @available(*, unavailable, message: "Write \"append(.text(\"Ada\", name: \"name\"))\".")
    public mutating func add(name: String, value: String) {}
    @available(
        *,
        unavailable,
        message: "Write \"append(.data(data, name: \"file\", fileName: \"a.png\", contentType: \"image/png\"))\"."
    )
    public mutating func append(data: Data, name: String, fileName: String, mimeType: String) {}
}

extension ConcurrencyLimit {
    @available(*, unavailable, message: "Write \"ConcurrencyLimit(5)\".")
    public convenience init(max: Int) { self.init(max) }
}
