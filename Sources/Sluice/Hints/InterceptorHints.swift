// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import SluiceFoundation
import SluiceHTTP

// Names and arguments of other libraries, and those that people try first. None can be used: each says what to write.

extension HTTPRequest {
    @available(*, unavailable, message: "Write \"headers[\"Accept\"] = \"text/plain\"\".")
    public mutating func setValue(_ value: String?, forHTTPHeaderField name: String) {}
    @available(*, unavailable, message: "Write \"headers.append(\"Accept\", \"text/plain\")\".")
    public mutating func addValue(_ value: String, forHTTPHeaderField name: String) {}
    @available(*, unavailable, message: "Write \"headers[\"Accept\"]\".")
    public func value(forHTTPHeaderField name: String) -> String? { nil }
    @available(*, unavailable, message: "Write \"headers[\"Accept\"] = \"text/plain\"\".")
    public mutating func setHeader(_ name: HTTPHeaderName, _ value: String?) {}
    @available(*, unavailable, message: "Write \"headers[\"Accept\"] = \"text/plain\"\".")
    public mutating func setHeader(_ value: String?, for name: HTTPHeaderName) {}
    @available(*, unavailable, message: "Write \"headers[\"Accept\"] = \"text/plain\"\".")
    public mutating func setHeader(name: HTTPHeaderName, value: String?) {}
    @available(*, unavailable, message: "Write \"headers.append(\"Accept\", \"text/plain\")\".")
    public mutating func addHeader(_ name: HTTPHeaderName, _ value: String) {}
    @available(*, unavailable, message: "Write \"headers.append(\"Accept\", \"text/plain\")\".")
    public mutating func addHeader(name: HTTPHeaderName, value: String) {}
    @available(*, unavailable, message: "Write \"headers\".")
    public var allHTTPHeaderFields: HTTPHeaders {
        get { headers }
        set {}
    }
    @available(*, unavailable, message: "Write \"addQuery(\"page\", \"2\")\". The path contains the query.")
    public var query: [String: String] {
        get { [:] }
        set {}
    }
    @available(*, unavailable, message: "Write \"addQuery(\"page\", \"2\")\". The path contains the query.")
    public var queryItems: [URLQueryItem] {
        get { [] }
        set {}
    }
    @available(*, unavailable, message: "Write \"addQuery(\"page\", \"2\")\".")
    public mutating func query(_ name: String, _ value: String?) {}
    @available(*, unavailable, message: "Write \"addQuery(\"page\", \"2\")\".")
    public mutating func addQuery(name: String, value: String?) {}
    @available(*, unavailable, message: "Write \"addQuery(\"page\", \"2\")\".")
    public mutating func addQueryItem(_ name: String, _ value: String?) {}
    @available(*, unavailable, message: "Write \"setTimeouts(total: .seconds(5))\".")
    public var timeout: Duration {
        get { .zero }
        set {}
    }
    @available(*, unavailable, message: "Write \"setTimeouts(total: .seconds(5))\".")
    public var timeoutInterval: Duration {
        get { .zero }
        set {}
    }
    @available(*, unavailable, message: "Write \"method\".")
    public var httpMethod: HTTPMethod {
        get { method }
        set {}
    }
    @available(*, unavailable, message: "Write \"body = .data(data)\".")
    public var httpBody: Data? {
        get { nil }
        set {}
    }
    @available(*, unavailable, message: "Write \"origin.host\", or \"authority\" with the port.")
    public var host: String { authority }
}

extension RequestBody {
    @available(*, unavailable, message: "Read the bytes: \"try await body.collect(upTo: 1 << 20)\".")
    public var data: Data? { nil }
    @available(*, unavailable, message: "Write \"try await body.collect(upTo: 1 << 20)\".")
    public func data(upTo limit: Int64? = nil) async throws -> Data { Data() }
    @available(*, unavailable, message: "Write \"length\".")
    public var count: Int { 0 }
    @available(*, unavailable, message: "Write \"isNone\".")
    public var isEmpty: Bool { isNone }
}

extension RequestContext {
    @available(*, unavailable, message: "Write \"request.url\".")
    public var url: String { "" }
    @available(*, unavailable, message: "Write \"request.method\".")
    public var method: HTTPMethod { .get }
    @available(*, unavailable, message: "Write \"request.headers\".")
    public var headers: HTTPHeaders { [:] }
    @available(*, unavailable, message: "Write \"attempt > 1\".")
    public var isRetry: Bool { false }
    @available(*, unavailable, message: "Write \"attempt - 1\".")
    public var retryCount: Int { 0 }
}

extension TransportOutcome {
    @available(*, unavailable, message: "Write \"try? outcome.get()\".")
    public var response: ServerResponse? { nil }
    @available(*, unavailable, message: "Write \"try? outcome.get()\".")
    public var value: ServerResponse? { nil }
    @available(*, unavailable, message: "Match the failure: \"if case .failure(let error) = outcome\".")
    public var error: SluiceError? { nil }
    @available(*, unavailable, message: "Write \"try? outcome.get().head\".")
    public var head: HTTPResponse? { nil }
    @available(*, unavailable, message: "Write \"status\", or \"status?.rawValue\" for a number.")
    public var statusCode: Int? { nil }
}

extension RetryProposal {
    @available(*, unavailable, message: "Write \"outcome.status\".")
    public var status: HTTPStatus? { nil }
    @available(*, unavailable, message: "Write \"outcome.status\", or \"outcome.status?.rawValue\" for a number.")
    public var statusCode: Int? { nil }
    @available(*, unavailable, message: "Write \"try? outcome.get()\".")
    public var response: ServerResponse? { nil }
    @available(*, unavailable, message: "Match the failure: \"if case .failure(let error) = proposal.outcome\".")
    public var error: SluiceError? { nil }
    @available(*, unavailable, message: "The \"backoff\" of the policy determines the delay.")
    public var delay: Duration { .zero }
    @available(*, unavailable, message: "Write \"attempt - 1\".")
    public var retryCount: Int { 0 }
}

extension Backoff {
    @available(*, unavailable, message: "Write \".constant(.zero)\".")
    public static var none: Backoff { .constant(.zero) }
    @available(*, unavailable, message: "Write \".constant(.seconds(1))\".")
    public static func fixed(_ duration: Duration) -> Backoff { .constant(duration) }
}

extension RetryPolicy {
    @available(*, unavailable, message: "Write \"RetryPolicy(maximumAttempts: 3, backoff: .exponential)\".")
    public static func exponential(maxAttempts: Int) -> RetryPolicy { .standard }
    @available(*, unavailable, message: "Write \"RetryPolicy(maximumAttempts: 3, backoff: .exponential)\".")
    public static func exponential(maximumAttempts: Int) -> RetryPolicy { .standard }
    @available(*, unavailable, message: "Write \"RetryPolicy(maximumAttempts: 3, backoff: .exponential)\".")
    public static func exponential(_ attempts: Int) -> RetryPolicy { .standard }
    @available(*, unavailable, message: "Write \"RetryPolicy(maximumAttempts: 3, backoff: .exponential)\".")
    public static func exponential(limit attempts: Int) -> RetryPolicy { .standard }
    @available(*, unavailable, message: "Write \"RetryPolicy(maximumAttempts: 3, statuses: [.badGateway])\".")
    public init(limit: Int, statuses: Set<HTTPStatus>) { self.init() }
    @available(*, unavailable, message: "Set the budget of the client: \"$0.retryBudget = .unlimited\".")
    public init(maximumAttempts: Int, budget: RetryBudget) { self.init() }
    @available(*, unavailable, message: "Write \"RetryPolicy(maximumAttempts: 3)\".")
    public static func attempts(_ count: Int) -> RetryPolicy { .standard }
    @available(
        *,
        unavailable,
        message: "Write \".standard\", or \"RetryPolicy(maximumAttempts: 3, backoff: .exponential)\"."
    )
    public static var exponentialBackoff: RetryPolicy { .standard }
    @available(
        *,
        unavailable,
        message:
            "Idempotent methods are retried. Where a POST may be, write \"idempotent()\" after it, or \"intercept(IdempotencyKey())\"."
    )
    public init(
        maximumAttempts: Int = 3,
        backoff: Backoff = .exponential,
        statuses: Set<HTTPStatus> = [],
        methods: Set<HTTPMethod>
    ) { self.init() }
    @available(*, unavailable, message: "Write \"RetryPolicy(maximumAttempts: 3, backoff: .constant(.seconds(1)))\".")
    public init(maximumAttempts: Int = 3, delay: Duration) { self.init() }
    @available(*, unavailable, message: "Write \"RetryPolicy(maximumAttempts: 3, backoff: .exponential)\".")
    @_disfavoredOverload
    public init(maximumAttempts: Int = 3, delay: Backoff) { self.init() }
    @available(
        *,
        unavailable,
        message:
            "Write ranges with \"shouldRetry: { $0.outcome.status?.isServerError == true }\", or \"Set((500...599).map { HTTPStatus($0) })\"."
    )
    @_disfavoredOverload
    public init(maximumAttempts: Int = 3, backoff: Backoff = .exponential, statuses: [Any]) { self.init() }
    @available(
        *,
        unavailable,
        message: "Write \"RetryPolicy(maximumAttempts: 3, backoff: Backoff(base: .seconds(1)))\"."
    )
    public init(retryLimit: Int, exponentialBackoffBase: Int) { self.init() }
    @available(
        *,
        unavailable,
        message:
            "Write ranges with \"shouldRetry: { $0.outcome.status?.isServerError == true }\", or \"Set((500...599).map { HTTPStatus($0) })\"."
    )
    public init(
        maximumAttempts: Int = 3,
        maximumElapsedTime: Duration? = .seconds(60),
        backoff: Backoff = .exponential,
        maximumRetryAfter: Duration = .seconds(30),
        statuses: [ClosedRange<Int>],
        codes: Set<SluiceError.Code> = [],
        attemptTimeout: Duration? = nil,
        shouldRetry: (@Sendable (RetryProposal) -> Bool)? = nil
    ) { self.init() }
    @available(
        *,
        unavailable,
        message:
            "Write ranges with \"shouldRetry: { $0.outcome.status?.isServerError == true }\", or \"Set((500...599).map { HTTPStatus($0) })\"."
    )
    public init(
        maximumAttempts: Int = 3,
        maximumElapsedTime: Duration? = .seconds(60),
        backoff: Backoff = .exponential,
        maximumRetryAfter: Duration = .seconds(30),
        statuses: ClosedRange<Int>,
        codes: Set<SluiceError.Code> = [],
        attemptTimeout: Duration? = nil,
        shouldRetry: (@Sendable (RetryProposal) -> Bool)? = nil
    ) { self.init() }
    @available(
        *,
        unavailable,
        message:
            "Write ranges with \"shouldRetry: { $0.outcome.status?.isServerError == true }\", or \"Set((500...599).map { HTTPStatus($0) })\"."
    )
    public init(
        maximumAttempts: Int = 3,
        maximumElapsedTime: Duration? = .seconds(60),
        backoff: Backoff = .exponential,
        maximumRetryAfter: Duration = .seconds(30),
        statuses: [Int],
        codes: Set<SluiceError.Code> = [],
        attemptTimeout: Duration? = nil,
        shouldRetry: (@Sendable (RetryProposal) -> Bool)? = nil
    ) { self.init() }
    @available(
        *,
        unavailable,
        message:
            "\"shouldRetry\" is synchronous. A token is renewed by an OAuth2 gate, or by a SuppliedToken, which runs for each attempt."
    )
    public init(
        maximumAttempts: Int = 3,
        maximumElapsedTime: Duration? = .seconds(60),
        backoff: Backoff = .exponential,
        maximumRetryAfter: Duration = .seconds(30),
        statuses: Set<HTTPStatus> = [],
        codes: Set<SluiceError.Code> = [],
        attemptTimeout: Duration? = nil,
        shouldRetry: @Sendable (RetryProposal) async -> Bool
    ) { self.init() }
    @available(*, unavailable, message: "Write \"RetryPolicy(maximumAttempts: 3)\".")
    public init(maxAttempts: Int) { self.init() }
    @available(*, unavailable, message: "Write \"RetryPolicy(maximumAttempts: 3)\".")
    public init(_ attempts: Int) { self.init() }
    @available(*, unavailable, message: "Write \".standard\".")
    public static var `default`: RetryPolicy { .standard }
    @available(*, unavailable, message: "Write \".none\".")
    public static var never: RetryPolicy { .none }
    @available(*, unavailable, message: "Write \"RetryPolicy(maximumAttempts: 3)\", which includes the first attempt.")
    public init(maxRetries: Int) { self.init() }
    @available(*, unavailable, message: "Write \"RetryPolicy(maximumAttempts: 3)\", which includes the first attempt.")
    public init(retryLimit: Int) { self.init() }
    @available(*, unavailable, message: "Write \"RetryPolicy(maximumAttempts: 3)\", which includes the first attempt.")
    public init(limit: Int) { self.init() }
    @available(*, unavailable, message: "Write \"RetryPolicy(maximumAttempts: 3)\", which includes the first attempt.")
    public static func standard(maxAttempts: Int) -> RetryPolicy { .standard }
    @available(*, unavailable, message: "Write \"RetryPolicy(maximumAttempts: 3)\", which includes the first attempt.")
    public static func max(_ attempts: Int) -> RetryPolicy { .standard }
    @available(*, unavailable, message: "Write \"maximumAttempts\", which includes the first attempt.")
    public var maxAttempts: Int {
        get { maximumAttempts }
        set {}
    }
}

extension [any RequestInterceptor] {
    @available(*, unavailable, message: "Declare a RequestAdapter, and append it: \"append(Tenant())\".")
    public mutating func append(_ adapt: (inout HTTPRequest, RequestContext) throws -> Void) {}
}

extension BearerToken {
    @available(*, unavailable, message: "Write \"SuppliedToken { context in await store.token() }\".")
    public init(
        scope: CredentialScope = .baseURL,
        when condition: (@Sendable (RequestContext) -> Bool)? = nil,
        token: @escaping @Sendable (RequestContext) async throws -> (any SecretConvertible)?
    ) { self.init("") }
    @available(*, unavailable, message: "Write \"BearerToken(token)\", without a label.")
    public init(token: some SecretConvertible) { self.init("") }
    @available(*, unavailable, message: "Write \"SuppliedToken { context in await store.token() }\".")
    public init(_ token: () async throws -> (any SecretConvertible)?) { self.init("") }
}

extension RequestEvent {
    @available(*, unavailable, message: "Write \"case .began(let request)\".")
    public static var started: RequestEvent { .hedging }
}

@available(*, unavailable, message: "Match an event with its values: \"if case .finished(let outcome) = event\".")
public func ~= (pattern: RequestEvent, event: RequestEvent) -> Bool { false }

extension RequestInterceptor {
    @available(
        *,
        unavailable,
        message:
            "Declare \"func intercept(_ request: HTTPRequest, context: RequestContext) async throws -> HTTPRequest\", or conform to RequestAdapter, which has \"adapt\"."
    )
    public func intercept(_ request: HTTPRequest, context: RequestContext) async throws -> HTTPRequest { request }
}

extension ResponseInterceptor {
    @available(
        *,
        unavailable,
        message:
            "Declare \"func intercept(_ outcome: TransportOutcome, context: RequestContext) async -> TransportOutcome\", or conform to OutcomeAdapter, which has \"adapt\"."
    )
    public func intercept(_ outcome: TransportOutcome, context: RequestContext) async -> TransportOutcome { outcome }
}

extension CustomToken {
    @available(*, unavailable, message: "Write the key first: \"CustomToken(key, header: \"X-API-Key\")\".")
    public init(_ header: String, _ key: some SecretConvertible) { self.init("") }
    @available(*, unavailable, message: "Write the key first: \"CustomToken(key, header: \"X-API-Key\")\".")
    public init(_ key: some SecretConvertible, name: HTTPHeaderName) { self.init("") }
    @available(*, unavailable, message: "Write the key first: \"CustomToken(key, header: \"X-API-Key\")\".")
    public init(header: HTTPHeaderName, value: some SecretConvertible) { self.init("") }
    @available(*, unavailable, message: "Write the key first: \"CustomToken(key, header: \"X-API-Key\")\".")
    public init(header: HTTPHeaderName, token: some SecretConvertible) { self.init("") }
}

extension SuppliedToken {
    @available(*, unavailable, message: "Write \"SuppliedToken { context in await store.token() }\".")
    public init(_ token: () async throws -> (any SecretConvertible)?) { self.init { _ in nil } }
}

extension BasicCredentials {
    @available(*, unavailable, message: "Write \"BasicCredentials(user: \"ada\", password: \"s3cret\")\".")
    public init(username: String, password: some SecretConvertible) { self.init(user: "", password: "") }
    @available(*, unavailable, message: "Write \"BasicCredentials(user: \"ada\", password: \"s3cret\")\".")
    public init(_ user: String, _ password: some SecretConvertible) { self.init(user: "", password: "") }
}

@available(*, unavailable, message: "Write \"CustomToken(key, header: \"X-API-Key\")\".")
public typealias APIKey = CustomToken
@available(*, unavailable, message: "Write \"BasicCredentials(user: \"ada\", password: \"s3cret\")\".")
public typealias BasicAuth = BasicCredentials
