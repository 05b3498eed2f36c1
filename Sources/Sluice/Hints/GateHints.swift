// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import SluiceFoundation
import SluiceHTTP

// Names and arguments of other libraries, and those that people try first. None can be used: each says what to write.

extension RateLimit {
    @available(*, unavailable, message: "Write \"RateLimit(10, every: .seconds(1))\".")
    public convenience init(_ count: Int, every seconds: Double, _ hint: Void = ()) {
        self.init(count, every: .seconds(seconds))
    }
    @available(*, unavailable, message: "Write \"RateLimit(10, every: .seconds(1))\".")
    public convenience init(perSecond: Int, _ hint: Void = ()) {
        self.init(perSecond, every: .seconds(1))
    }
    @available(*, unavailable, message: "Write \"RateLimit(10, every: .seconds(1))\".")
    public convenience init(_ requests: Int, per interval: Duration, _ hint: Void = ()) {
        self.init(requests, every: interval)
    }
    @available(*, unavailable, message: "Write \"RateLimit(10, every: .seconds(1))\".")
    public convenience init(requestsPerSecond: Int, _ hint: Void = ()) {
        self.init(requestsPerSecond, every: .seconds(1))
    }
    @available(*, unavailable, message: "Write \"RateLimit(10, every: .seconds(1))\".")
    public convenience init(requests: Int, per interval: Duration, _ hint: Void = ()) {
        self.init(requests, every: interval)
    }
}

extension ConcurrencyLimit {
    @available(*, unavailable, message: "Write the limit of all hosts first: \"ConcurrencyLimit(64, perHost: 6)\".")
    public convenience init(perHost: Int) { self.init(perHost) }
}

extension CircuitBreaker {
    @available(*, unavailable, message: "Write \"CircuitBreaker(failureRatio: 0.5, of: 20, openFor: .seconds(30))\".")
    public convenience init(failureThreshold: Int, resetTimeout: Duration, _ hint: Void = ()) { self.init() }
    @available(*, unavailable, message: "Write \"CircuitBreaker(failureRatio: 0.5, of: 20, openFor: .seconds(30))\".")
    public convenience init(failureThreshold: Int, openFor duration: Duration, _ hint: Void = ()) { self.init() }
    @available(*, unavailable, message: "Write \"CircuitBreaker(failureRatio: 0.5, of: 20, openFor: .seconds(30))\".")
    public convenience init(maximumFailures: Int, resetAfter duration: Duration, _ hint: Void = ()) { self.init() }
    @available(*, unavailable, message: "Write \"CircuitBreaker(failureRatio: 0.5, of: 20, openFor: .seconds(30))\".")
    public convenience init(failures: Int, openFor duration: Duration, _ hint: Void = ()) { self.init() }
    @available(*, unavailable, message: "Write \"CircuitBreaker(failureRatio: 0.5, of: 20, openFor: .seconds(30))\".")
    public convenience init(failures: Int) { self.init() }
    @available(*, unavailable, message: "Write \"CircuitBreaker(failureRatio: 0.5, of: 20, openFor: .seconds(30))\".")
    public convenience init(failureThreshold: Int) { self.init() }
    @available(*, unavailable, message: "Write \"CircuitBreaker(failureRatio: 0.5, of: 20, openFor: .seconds(30))\".")
    public convenience init(maxFailures: Int) { self.init() }
    @available(*, unavailable, message: "Write \"CircuitBreaker(failureRatio: 0.5, of: 20, openFor: .seconds(30))\".")
    public convenience init(threshold: Int, openFor duration: Duration, _ hint: Void = ()) { self.init() }
    @available(*, unavailable, message: "Write \"CircuitBreaker(failureRatio: 0.5, of: 20, openFor: .seconds(30))\".")
    public convenience init(threshold: Int) { self.init() }
    @available(*, unavailable, message: "Write \"CircuitBreaker(failureRatio: 0.5, of: 20, openFor: .seconds(30))\".")
    public convenience init(threshold: Int, timeout: Duration, _ hint: Void = ()) { self.init() }
    @available(*, unavailable, message: "Write \"CircuitBreaker(failureRatio: 0.5, of: 20, openFor: .seconds(30))\".")
    public convenience init(threshold: Int, cooldown: Duration, _ hint: Void = ()) { self.init() }
}

extension OAuth2 {
    @available(*, unavailable, message: "Write \"OAuth2(.clientCredentials(id: id, secret: secret), tokenURL: url)\".")
    public convenience init(tokenURL: String, clientID: String, clientSecret: some SecretConvertible) {
        self.init(.clientCredentials(id: clientID, secret: clientSecret), tokenURL: tokenURL)
    }
    @available(*, unavailable, message: "Write \"OAuth2(.clientCredentials(id: id, secret: secret), tokenURL: url)\".")
    public convenience init(
        clientID: String,
        clientSecret: some SecretConvertible,
        tokenURL: String,
        scopes: [String] = []
    ) { self.init(.clientCredentials(id: clientID, secret: clientSecret), tokenURL: tokenURL) }
    @available(
        *,
        unavailable,
        message:
            "The scope belongs to the grant: \".clientCredentials(id: id, secret: secret, scope: \"orders.read\")\"."
    )
    public convenience init(_ grant: Grant, tokenURL: String, scopes: [String]) { self.init(grant, tokenURL: tokenURL) }
    @available(
        *,
        unavailable,
        message:
            "The scope belongs to the grant: \".clientCredentials(id: id, secret: secret, scope: \"orders.read\")\"."
    )
    public convenience init(_ grant: Grant, tokenURL: String, scope: String) { self.init(grant, tokenURL: tokenURL) }
    @available(*, unavailable, message: "Write \"OAuth2(grant, tokenURL: url)\".")
    public convenience init(_ grant: Grant, tokenEndpoint: String) { self.init(grant, tokenURL: tokenEndpoint) }
    @available(*, unavailable, message: "Write \"OAuth2(grant, tokenURL: url)\".")
    public convenience init(_ grant: Grant, tokenEndpoint: URL) { self.init(grant, tokenURL: "") }
    @available(*, unavailable, message: "Write \"OAuth2(grant, tokenURL: url) { $0.store = FileTokenStore(file) }\".")
    public convenience init(_ grant: Grant, tokenURL: String, store: any TokenStore) {
        self.init(grant, tokenURL: tokenURL)
    }
    @available(*, unavailable, message: "Write \"OAuth2(grant, tokenURL: url) { $0.store = FileTokenStore(file) }\".")
    public convenience init(_ grant: Grant, tokenURL: URL, store: any TokenStore) {
        self.init(grant, tokenURL: tokenURL)
    }
}

extension OAuth2.Grant {
    @available(*, unavailable, message: "Write \".clientCredentials(id: id, secret: secret)\".")
    public static func clientCredentials(
        clientID: String,
        clientSecret: some SecretConvertible,
        scope: String? = nil
    ) -> OAuth2.Grant { .clientCredentials(id: clientID, secret: clientSecret) }
    @available(
        *,
        unavailable,
        message: "Write \".clientCredentials(id: id, secret: secret, parameters: [\"audience\": \"orders\"])\"."
    )
    public static func clientCredentials(id: String, secret: some SecretConvertible, audience: String) -> OAuth2.Grant {
        .clientCredentials(id: id, secret: secret)
    }
    @available(*, unavailable, message: "Separate the scopes by spaces: \"scope: \"orders.read orders.write\"\".")
    public static func clientCredentials(
        id: String,
        secret: some SecretConvertible,
        scope: [String],
        parameters: Parameters = [:]
    ) -> OAuth2.Grant { .clientCredentials(id: id, secret: secret) }
    @available(*, unavailable, message: "Separate the scopes by spaces: \"scope: \"orders.read orders.write\"\".")
    public static func refreshToken(
        _ refreshToken: some SecretConvertible,
        id: String,
        secret: (any SecretConvertible)? = nil,
        scope: [String],
        parameters: Parameters = [:]
    ) -> OAuth2.Grant { .refreshToken(refreshToken, id: id) }
    @available(*, unavailable, message: "Separate the scopes by spaces: \"scope: \"orders.read orders.write\"\".")
    public static func password(
        username: String,
        password: some SecretConvertible,
        id: String,
        secret: (any SecretConvertible)? = nil,
        scope: [String],
        parameters: Parameters = [:]
    ) -> OAuth2.Grant { .password(username: username, password: password, id: id) }
    @available(*, unavailable, message: "Separate the scopes by spaces: \"scope: \"orders.read orders.write\"\".")
    public static func authorizationCode(
        id: String,
        secret: (any SecretConvertible)? = nil,
        authorizationURL: String,
        redirectURL: String,
        scope: [String],
        issuer: String? = nil,
        parameters: Parameters = [:]
    ) -> OAuth2.Grant { .authorizationCode(id: id, authorizationURL: authorizationURL, redirectURL: redirectURL) }
    @available(*, unavailable, message: "Write the URLs as text: \"authorizationURL: url.absoluteString\".")
    public static func authorizationCode(
        id: String,
        secret: (any SecretConvertible)? = nil,
        authorizationURL: URL,
        redirectURL: URL,
        scope: String? = nil,
        issuer: String? = nil,
        parameters: Parameters = [:]
    ) -> OAuth2.Grant { .authorizationCode(id: id, authorizationURL: "", redirectURL: "") }
}

extension TokenStore where Self == FileTokenStore {
    @available(*, unavailable, message: "Write \"FileTokenStore(url)\".")
    public static func file(_ url: URL) -> FileTokenStore { FileTokenStore(url) }
}

@available(*, unavailable, message: "A token is an interceptor: \"$0.requestInterceptors = [BearerToken(token)]\".")
extension BearerToken: Gate {
    public func admit(_ request: RequestContext) async throws(SluiceError) -> Permit {
        throw SluiceError(.gateFailed, "A BearerToken is not a gate but an interceptor.", step: .gate)
    }
}

@available(*, unavailable, message: "OAuth2 is a gate: \"$0.gates = [oauth]\".")
extension OAuth2: RequestInterceptor {
    public func intercept(_ request: HTTPRequest, context: RequestContext) async throws -> HTTPRequest {
        throw SluiceError(.interceptorFailed, "An OAuth2 is not an interceptor but a gate.", step: .requestInterceptor)
    }
}

extension Backoff {
    @available(*, unavailable, message: "Write \"Backoff(base: .seconds(1), factor: 2, limit: .seconds(30))\".")
    public init(initial: Duration, multiplier: Double, max: Duration) { self = .exponential }
    @available(*, unavailable, message: "Write \"Backoff(base: .seconds(1), limit: .seconds(30))\".")
    public init(base: Duration, factor: Double = 2, maximum: Duration) { self.init(base: base) }
    @available(*, unavailable, message: "Write \"Backoff(base: .seconds(1), limit: .seconds(30))\".")
    public init(base: Duration, factor: Double = 2, max: Duration) { self.init(base: base) }
    @available(*, unavailable, message: "Write \"Backoff(base: .seconds(1), limit: .seconds(30))\".")
    public init(base: Duration, factor: Double = 2, cap: Duration) { self.init(base: base) }
    @available(*, unavailable, message: "Write \"Backoff(base: .seconds(1), limit: .seconds(30))\".")
    public init(initial: Duration, factor: Double = 2, maximum: Duration = .zero) { self.init(base: initial) }
    @available(*, unavailable, message: "Write \"Backoff(base: .seconds(1), limit: .seconds(30))\".")
    public init(initial: Duration, factor: Double = 2, max: Duration) { self.init(base: initial) }
    @available(*, unavailable, message: "Write \"Backoff(base: .seconds(1), limit: .seconds(30))\".")
    public static func exponential(
        base: Duration,
        factor: Double = 2,
        limit: Duration = .zero,
        maximum: Duration = .zero,
        max: Duration = .zero,
        cap: Duration = .zero
    ) -> Backoff { .exponential }
    @available(*, unavailable, message: "Write \"Backoff(base: .seconds(1), limit: .seconds(30))\".")
    public static func exponential(initial: Duration, maximum: Duration = .zero) -> Backoff { .exponential }
    @available(*, unavailable, message: "Write \"Backoff(base: .seconds(1), factor: 2, limit: .seconds(30))\".")
    public static func exponential(initial: Duration, factor: Double = 2, max: Duration) -> Backoff { .exponential }
}

// MARK: - Authorization hints

// Names and arguments of other libraries, and those that people try first. None can be used: each says what to write.

@available(*, unavailable, message: "Write \"OAuth2.Token\".")
public typealias OAuth2Token = OAuth2.Token

extension OAuth2 {
    @available(*, unavailable, message: "\"token()\" renews an expired token. A refused one is renewed without a call.")
    @discardableResult
    public func refresh() async throws(SluiceError) -> Token { try await token() }
    @available(*, unavailable, message: "\"token()\" renews an expired token. A refused one is renewed without a call.")
    @discardableResult
    public func refreshToken() async throws(SluiceError) -> Token { try await token() }
    @available(*, unavailable, message: "Write \"(try? await oauth.token()) != nil\".")
    public var isSignedIn: Bool { false }
    @available(*, unavailable, message: "Write \"(try? await oauth.token()) != nil\".")
    public var isAuthorized: Bool { false }
    @available(*, unavailable, message: "Write \"signOut()\".")
    public func logout() async throws(SluiceError) {}
    @available(*, unavailable, message: "Write \"signOut()\".")
    public func revoke() async throws(SluiceError) {}
    @available(*, unavailable, message: "Write \"token().accessToken\".")
    public func accessToken() async throws(SluiceError) -> String { "" }
    @available(*, unavailable, message: "Write \"token().accessToken\".")
    public var accessToken: String? { nil }
    @available(*, unavailable, message: "Pass text: \"signIn(redirectedTo: url.absoluteString, for: request)\".")
    @discardableResult
    public func signIn(redirectedTo redirect: URL, for request: AuthorizationRequest) async throws(SluiceError) -> Token
    {
        try await token()
    }
    @available(*, unavailable, message: "Write \"signIn(redirectedTo: url, for: request)\".")
    @discardableResult
    public func signIn(with redirect: URL) async throws(SluiceError) -> Token { try await token() }
}

extension OAuth2.Token {
    @available(*, unavailable, message: "Compare \"expiresAt\" to the date. The gate renews a token before it expires.")
    public var isExpired: Bool { false }
    @available(*, unavailable, message: "Write \"expiresAt\".")
    public var expirationDate: Date? { expiresAt }
}

extension OAuth2.Grant {
    @available(*, unavailable, message: "Write \".clientCredentials(id: id, secret: secret, scope: \"orders.read\")\".")
    public static func clientCredentials(
        clientID: String,
        clientSecret: some SecretConvertible,
        scopes: [String]
    ) -> OAuth2.Grant { .clientCredentials(id: "", secret: "") }
    @available(*, unavailable, message: "Separate the scopes by spaces: \"scope: \"orders.read orders.write\"\".")
    public static func clientCredentials(
        id: String,
        secret: some SecretConvertible,
        scopes: [String]
    ) -> OAuth2.Grant { .clientCredentials(id: "", secret: "") }
    @available(
        *,
        unavailable,
        message:
            "Write \".authorizationCode(id: id, authorizationURL: url, redirectURL: redirect, scope: \"profile orders\")\"."
    )
    public static func authorizationCode(
        clientID: String,
        authorizationURL: String = "",
        redirectURI: String = "",
        scope: String? = nil,
        scopes: [String] = []
    ) -> OAuth2.Grant { .clientCredentials(id: "", secret: "") }
    @available(
        *,
        unavailable,
        message:
            "Write \".authorizationCode(id: id, authorizationURL: url, redirectURL: redirect, scope: \"profile orders\")\"."
    )
    public static func authorizationCode(
        clientID: String,
        authorizationURL: String,
        redirectURL: String,
        scope: String? = nil,
        scopes: [String] = []
    ) -> OAuth2.Grant { .clientCredentials(id: "", secret: "") }
    @available(*, unavailable, message: "Write \"redirectURL:\" in place of \"redirectURI:\".")
    public static func authorizationCode(
        id: String,
        secret: (any SecretConvertible)? = nil,
        authorizationURL: String,
        redirectURI: String,
        scope: String? = nil
    ) -> OAuth2.Grant { .clientCredentials(id: "", secret: "") }
    @available(*, unavailable, message: "Separate the scopes by spaces: \"scope: \"profile orders\"\".")
    public static func authorizationCode(
        id: String,
        secret: (any SecretConvertible)? = nil,
        authorizationURL: String,
        redirectURL: String,
        scopes: [String]
    ) -> OAuth2.Grant { .clientCredentials(id: "", secret: "") }
}

extension GateScope {
    @available(*, unavailable, message: "Write \".key { $0.tags.contains(\"search\") ? \"search\" : nil }\".")
    public init(_ key: (RequestContext) -> String?) { self = .client }
}
