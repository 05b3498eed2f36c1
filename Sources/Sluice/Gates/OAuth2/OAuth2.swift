import SluiceFoundation
import SluiceHTTP

/// A gate that adds an access token to requests. It obtains tokens, and replaces them before they expire or after an API
/// has refused them.
///
/// ```swift
/// let client = APIClient(baseURL: "https://api.example.com") {
///     $0.gates = [
///         OAuth2(
///             .clientCredentials(id: "reports", secret: secret, scope: "orders.read"),
///             tokenURL: "https://id.example.com/token"
///         )
///     ]
/// }
/// ```
///
/// - A request waits if there is no valid token, or for up to two seconds while a token that is about to expire is
///   replaced. One request to the authorization server serves all that wait. A cancelled request stops waiting at once.
///   If no other request waits, the request for a token is cancelled. It goes on if the last request that waited for it
///   timed out, so that a later one finds the token. A refresh is never cancelled, because the server may already have
///   invalidated the old token.
/// - If the replacement fails or takes more than two seconds, requests use the old token until it expires. Ten seconds
///   later, one request makes the next attempt and waits for it. The others use the old token.
/// - A request that the API answers with 401 is sent once more with a new token, if its body can be sent again. A
///   second refusal is the outcome of the request. A 401 counts if the request carried the token, unless it names an
///   error other than `invalid_token` (RFC 6750 §3.1). Many servers name none.
/// - A new token is stored before it is used. If storing fails, the token is kept in memory, and the
///   next request stores it first. `RedisTokenStore` stores it in the background, and requests use it meanwhile.
/// - The token is sent only to the origin of the client's base URL, or to ``Configuration/origins``. Requests to other
///   origins, and requests with their own `Authorization` header, are admitted unchanged.
///
/// Failures are a ``SluiceError`` with code ``SluiceError/Code/authorizationFailed`` and an underlying ``OAuth2Error``,
/// or with code ``SluiceError/Code/authorizationRequired`` if the user has to sign in. All waiting requests fail with
/// it. The next request tries again.
///
/// A gate can serve several clients. Requests to the authorization server bypass all gates and interceptors of a
/// client, and carry none of its headers.
public final class OAuth2: ImmediateGate {
    /// The name by which requests opt out of the gate.
    public let name: String
    let grant: Grant
    let configuration: Configuration
    let tokenURL: String
    let shared: Locked<SharedState>
    let audience: Audience

    /// False: all requests share one token.
    public var reservesResource: Bool { false }

    /// Creates a gate.
    ///
    /// - Parameters:
    ///   - grant: The grant by which tokens are obtained.
    ///   - tokenURL: The authorization server's token endpoint. RFC 6749 §3.2 requires https: http is refused except on
    ///     the loopback interface, see ``Configuration/insecurelyAllowsUnencryptedEndpoints``.
    ///   - configure: Called with the default configuration, to change it.
    public init(_ grant: Grant, tokenURL: String, configure: (inout Configuration) -> Void = { _ in }) {
        var configuration = Configuration()
        configure(&configuration)
        self.grant = grant
        self.tokenURL = tokenURL
        self.configuration = configuration
        name = configuration.name
        audience = Audience(configuration.origins)
        shared = Locked(SharedState(state: TokenState(grant, configuration)))
    }

    /// Creates a gate with a token endpoint that is a `URL`.
    public convenience init(_ grant: Grant, tokenURL: URL, configure: (inout Configuration) -> Void = { _ in }) {
        self.init(grant, tokenURL: tokenURL.absoluteString, configure: configure)
    }

    /// Admits a request without waiting if there is a valid token for it, or if it needs none.
    ///
    /// - Parameter request: The request to admit.
    /// - Returns: A permit, or nil if the request has to wait or to be refused.
    public func admitImmediately(_ request: RequestContext) -> Permit? {
        if request.request.headers.contains(.authorization) { return Permit() }
        switch audience.decision(for: request) {
        case .withoutToken: return Permit()
        case .refused: return nil
        case .withToken:
            let date = (configuration.client ?? request.client).pipeline.clock.date
            let (credential, owner) = shared.withLock { ($0.state.credential(at: date), $0.state.owner) }
            return credential.map { TokenPermit(of: self, $0, owner, for: request).permit }
        }
    }

    /// Admits a request once there is a valid token for it.
    ///
    /// - Parameter request: The request to admit.
    /// - Returns: A permit that adds the token.
    /// - Throws: A ``SluiceError`` with code ``SluiceError/Code/authorizationFailed``,
    ///   ``SluiceError/Code/authorizationRequired`` or ``SluiceError/Code/cancelled``.
    public func admit(_ request: RequestContext) async throws(SluiceError) -> Permit {
        if request.request.headers.contains(.authorization) { return Permit() }
        switch audience.decision(for: request) {
        case .withoutToken: return Permit()
        case .refused(let error): throw error
        case .withToken:
            let client = configuration.client ?? request.client
            let owner = owner
            return TokenPermit(of: self, try await credential(by: client, for: request), owner, for: request).permit
        }
    }
}

extension OAuth2: CustomReflectable, RedactedMirror {
    /// The gate's name, grant and token URL, without secrets.
    package var shown: [Mirror.Child] {
        [("name", name), ("grant", "\(grant)"), ("tokenURL", SecretRules.usual.url(tokenURL))]
    }
}

extension OAuth2 {
    /// The settings of an ``OAuth2`` gate besides its grant and token URL.
    public struct Configuration: Sendable {
        /// The name by which requests opt out of the gate; `OAuth2` by default. Two gates in one client need two names.
        public var name = "OAuth2"
        /// The way in which a client with a secret authenticates itself; an `Authorization` header by default.
        public var authentication = ClientAuthentication.basic
        /// The origins that the token is sent to: `["https://api.example.com"]`. Nil, the default, for the
        /// origin of the client's base URL. A client without one then refuses its requests with
        /// ``OAuth2Error/Code/unsupported``.
        ///
        /// Requests to other origins are admitted without a token. The token is sent to an http origin only if that
        /// origin is listed here, or if it is the base URL's and on the loopback interface. A proxy counts as another host.
        public var origins: [String]?
        /// The store that keeps the token; in memory by default.
        public var store: any TokenStore = MemoryTokenStore()
        /// The revocation endpoint (RFC 7009); nil, the default, for a server without one.
        public var revocationURL: String?
        /// The time before its expiry at which a token is replaced; 60 seconds by default, but at
        /// most a tenth of its lifetime.
        public var refreshMargin: Duration = .seconds(60)
        /// The limit on requests for tokens; 5 in 30 seconds by default.
        public var refreshLimit = RefreshLimit()
        /// The time limit of a request to the authorization server; 30 seconds by default.
        public var timeout: Duration = .seconds(30)
        /// True to treat a token without the type that RFC 6749 §5.1 requires as a Bearer token; false by default.
        public var acceptsMissingTokenType = false
        /// True to send secrets, codes and tokens to an authorization server over http, where anyone on the network can
        /// read them; false by default.
        ///
        /// RFC 6749 §3.1 and §3.2 and RFC 7009 §2 require TLS for all endpoints. With false, an endpoint with http that is
        /// not on the loopback interface, or that a proxy is used for, fails with ``OAuth2Error/Code/unsupported``, and
        /// nothing is sent to it.
        public var insecurelyAllowsUnencryptedEndpoints = false
        /// The client whose transport, connection settings, time-outs and clock are used for requests to the
        /// authorization server. Nothing else of it is used. Nil, the default, for the client of the request that needs
        /// the token. Without a request, as in ``OAuth2/signOut()``, nil means a client with default settings.
        public var client: APIClient?
        /// Returns the given number of random bytes, for states and verifiers. The default is the system's generator.
        package var randomBytes: @Sendable (_ count: Int) -> [UInt8] = { count in
            var generator = SystemRandomNumberGenerator()
            return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        }
    }

    /// The way in which a client authenticates itself to the authorization server (RFC 6749 §2.3.1).
    public enum ClientAuthentication: Sendable {
        /// HTTP Basic. Characters of the id and the secret that form decoding would change are percent-encoded. For such a secret, a server that
        /// does not decode needs `body`.
        case basic
        /// `client_id` and `client_secret` in the body, for servers that do not support Basic.
        case body
    }

    /// The limit on requests to the authorization server, which prevents a loop where an API refuses every token.
    ///
    /// When the limit is reached, requests with an expired token fail with ``OAuth2Error/Code/tooManyRefreshes``. If an
    /// API refuses a token then, its response is returned as it is. While there is no valid token because the authorization
    /// server cannot be reached, or responds with 5xx, one more request is sent every two seconds. Once it responds again, the
    /// failed requests before no longer count. A server that answers with 429 or 503 and `Retry-After` gets no request to replace a token for
    /// that time, but for five minutes at most. Requests without a valid token then fail with its error, and the response of an API that
    /// refuses a token is returned as it is. A sign-in does not wait, and ends the pause.
    public struct RefreshLimit: Sendable {
        /// The number of requests, failures included. A request that is cancelled, because no request waits for its token, does not count.
        public var count: Int
        /// The time in which they are counted.
        public var interval: Duration

        /// Creates a limit; 5 requests in 30 seconds by default.
        public init(count: Int = 5, per interval: Duration = .seconds(30)) {
            self.count = count
            self.interval = interval
        }
    }
}

/// The context of a permit that adds the token. Both closures of the permit capture one pointer.
private struct TokenPermit: Sendable {
    private struct Admission {
        let gate: OAuth2
        let owner: Int
        let context: RequestContext

        var clock: any SluiceClock { (gate.configuration.client ?? context.client).pipeline.clock }
    }

    /// The credential of the admission, and once the request is sent, the one that it is sent with.
    private let admission: LockedObject<Admission, Credential>

    init(of gate: OAuth2, _ credential: Credential, _ owner: Int, for request: RequestContext) {
        admission = LockedObject(Admission(gate: gate, owner: owner, context: request), credential)
    }

    var permit: Permit {
        var permit = Permit(
            modifyRequest: { [self] request in authorize(&request) },
            onOutcome: { [self] outcome in decision(about: outcome) }
        )
        permit.isToken = true
        return permit
    }

    private func authorize(_ request: inout HTTPRequest) {
        let (gate, owner) = (admission.constants.gate, admission.constants.owner)
        guard !request.headers.contains(.authorization),
            gate.audience.includes(request, of: admission.constants.context.client.pipeline)
        else { return }
        // The request may have waited at other gates since its admission, longer than the token is valid.
        let date = admission.constants.clock.date
        let newest = gate.shared.withLock { $0.state.owner == owner ? $0.state.credential(at: date) : nil }
        let credential = admission.withLock { credential in
            if let newest { credential = newest }
            return credential
        }
        request.headers.append(.authorization, credential.authorization)
    }

    private func decision(about outcome: TransportOutcome) -> Permit.Decision {
        let credential = admission.withLock { $0 }
        guard case .success(let response) = outcome, credential.isRefused(by: response) else { return .settled }
        let (gate, context) = (admission.constants.gate, admission.constants.context)
        // Only the first refusal of a request causes a replay, because an API that refuses a new token would refuse the
        // next one too. A download that has progressed since then was accepted with the new token.
        let first = context.value(forKey: "Sluice.OAuth2.\(gate.name).\(context.progress)") { context.attempt }
        guard context.attempt == first else { return .settled }
        let moment = ClockReading(admission.constants.clock)
        let isReplayed = gate.shared.withLock { $0.state.refused(version: credential.version, at: moment) }
        // If the request for the result of a POST was refused, a replay would send the POST again. The token is renewed
        // for later requests.
        return isReplayed && context.mayBeRepeated ? .replay : .settled
    }
}

extension OAuth2: TokenOwning {
    var owner: Int { shared.withLock { $0.state.owner } }
    var session: Int { shared.withLock { $0.state.session } }

    func mayAuthorize(_ request: HTTPRequest, of pipeline: Pipeline) -> Bool {
        audience.includes(request, of: pipeline)
    }
}

extension TokenState {
    fileprivate init(_ grant: OAuth2.Grant, _ configuration: OAuth2.Configuration) {
        var rules = Rules(scope: grant.scope, margin: configuration.refreshMargin, limit: configuration.refreshLimit)
        if let store = configuration.store as? any SharedTokenStore {
            rules.sharesStore = true
            rules.allowsUnsavedTokens = store.allowsUnsavedTokens
        }
        var initialRefreshToken: Secret?
        switch grant.kind {
        case .clientCredentials:
            rules.isRepeatable = true
            rules.usesRefreshTokens = false
        case .password: rules.isRepeatable = true
        case .refreshToken(let token): initialRefreshToken = token
        case .authorizationCode: break
        }
        self.init(rules, initialRefreshToken: initialRefreshToken)
    }
}

// MARK: - Limit

/// The times of recent requests for tokens, and the limit on them.
struct RefreshWindow: Sendable {
    /// The time between the requests beyond the limit, while the server is not available.
    private static let outagePause = Duration.seconds(2)

    let limit: OAuth2.RefreshLimit
    private var times: [ContinuousClock.Instant] = []
    /// The times of the requests since the last one that the server has answered. They count until it answers again, because their
    /// failures are no loop of refused tokens.
    private var unanswered: [ContinuousClock.Instant] = []
    /// The error with which the server has asked to wait, and the end of the wait, at most five minutes later.
    private var pause: (error: OAuth2Error, end: ContinuousClock.Instant)?

    init(_ limit: OAuth2.RefreshLimit) {
        self.limit = limit
    }

    /// True if the limit allows another request.
    func isOpen(at now: ContinuousClock.Instant) -> Bool {
        (times + unanswered).count { isWithin($0, now) } < max(1, limit.count)
    }

    /// True if a request beyond the limit may find out if the server is available again.
    func allowsTrial(at now: ContinuousClock.Instant) -> Bool {
        unanswered.last.map { $0.duration(to: now) >= Self.outagePause } ?? false
    }

    /// The server's error, while it has asked to wait.
    func refusal(at now: ContinuousClock.Instant) -> OAuth2Error? {
        pause.flatMap { now < $0.end ? $0.error : nil }
    }

    /// Records the result of the request that was added last.
    mutating func record(_ result: Result<OAuth2.Token, OAuth2Error>, at now: ContinuousClock.Instant) {
        pause = nil
        if case .failure(let error) = result, let wait = error.retryAfter {
            pause = (error, now + min(wait, .seconds(300)))
        }
        if case .failure(let error) = result, error.isOutage {
            if let last = times.popLast() { unanswered = unanswered.suffix(max(1, limit.count)) + [last] }
        } else {
            unanswered = []
        }
    }

    mutating func add(_ now: ContinuousClock.Instant) {
        times = times.filter { isWithin($0, now) } + [now]
    }

    /// Removes the last request, which was cancelled.
    mutating func removeLast() {
        _ = times.popLast()
    }

    mutating func removeAll() {
        self = RefreshWindow(limit)
    }

    private func isWithin(_ time: ContinuousClock.Instant, _ now: ContinuousClock.Instant) -> Bool {
        time.duration(to: now) < limit.interval
    }
}
