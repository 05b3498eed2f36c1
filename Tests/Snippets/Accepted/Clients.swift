import Foundation
import Sluice

// The configuration of clients, gates, connections and caches.

private let base = "https://shop.example"
private struct Session: Sendable { func token() async throws -> String { "" } }

func headersSubscript() {
    show(APIClient(baseURL: base) { $0.headers["Accept"] = "a" })
}

func headersLiteral() {
    show(APIClient(baseURL: base) { $0.headers = ["Accept": "a", "X": "b"] })
}

func headersTyped() {
    show(APIClient(baseURL: base) { $0.headers[.accept] = "a" })
}

func namedClosureParameter() {
    show(APIClient(baseURL: base) { configuration in configuration.timeouts.total = .seconds(5) })
}

func timeoutsTotal() {
    show(APIClient(baseURL: base) { $0.timeouts.total = .seconds(5) })
}

func timeoutsWhole() {
    show(
        APIClient(baseURL: base) { $0.timeouts = Timeouts(connect: .seconds(1), idle: .seconds(2), total: .seconds(3)) }
    )
}

func retryStd() {
    show(APIClient(baseURL: base) { $0.retry = .standard })
}

func retryMax() {
    show(APIClient(baseURL: base) { $0.retry = RetryPolicy(maximumAttempts: 5) })
}

func retryTweaked() {
    show(
        APIClient(baseURL: base) {
            $0.retry = .standard; $0.retry.maximumAttempts = 5; $0.retry.statuses = [.tooManyRequests, 503]
        }
    )
}

func retryShould() {
    show(APIClient(baseURL: base) { $0.retry.shouldRetry = { _ in true } })
}

func retryStatuses() {
    show(APIClient(baseURL: base) { $0.retry = RetryPolicy(maximumAttempts: 3, statuses: [500, 502]) })
}

func decoder() {
    show(APIClient(baseURL: base) { $0.modelDecoder = JSONDecoder() })
}

func decoderSnake() {
    let d = JSONDecoder()
    d.keyDecodingStrategy = .convertFromSnakeCase
    show(APIClient(baseURL: base) { $0.modelDecoder = d })
}

func decoderSnakeInside() {
    show(
        APIClient(baseURL: base) {
            let d = JSONDecoder(); d.dateDecodingStrategy = .iso8601; $0.modelDecoder = d
        }
    )
}

func encoderShort() {
    show(APIClient(baseURL: base) { $0.encoder = JSONEncoder() })
}

func interceptors() {
    show(
        APIClient(baseURL: base) { $0.requestInterceptors = [BearerToken("t"), UserAgent(product: "a", version: "1")] }
    )
}

func interceptorsAppend() {
    show(APIClient(baseURL: base) { $0.requestInterceptors.append(BearerToken("t")) })
}

func supplied() {
    let s = Session()
    show(APIClient(baseURL: base) { $0.requestInterceptors = [SuppliedToken { _ in try await s.token() }] })
}

func apiKey() {
    show(APIClient(baseURL: base) { $0.requestInterceptors = [CustomToken("k", header: "X-API-Key")] })
}

func basicCredentials() {
    show(APIClient(baseURL: base) { $0.requestInterceptors = [BasicCredentials(user: "a", password: "b")] })
}

func userAgentString() {
    show(APIClient(baseURL: base) { $0.requestInterceptors = [UserAgent("acme/1.0")] })
}

func oauthCC() {
    show(
        APIClient(baseURL: base) {
            $0.gates = [OAuth2(.clientCredentials(id: "a", secret: "b"), tokenURL: "https://id.example/token")]
        }
    )
}

func oauthScope() {
    show(
        APIClient(baseURL: base) {
            $0.gates = [
                OAuth2(.clientCredentials(id: "a", secret: "b", scope: "x y"), tokenURL: "https://id.example/token")
            ]
        }
    )
}

func oauthRefresh() {
    show(
        OAuth2(.refreshToken("r", id: "tool"), tokenURL: "https://id.example/token") {
            $0.store = FileTokenStore(URL(filePath: "/a"))
        }
    )
}

func oauthSignIn() async throws {
    let o = OAuth2(
        .authorizationCode(id: "app", authorizationURL: "https://a", redirectURL: "b:/c", scope: "p"),
        tokenURL: "https://t"
    )
    let q = try o.authorizationRequest()
    print(q.url)
    try await o.signIn(redirectedTo: "b:/c?code=1", for: q)
}

func oauthSignOut() async throws {
    let o = OAuth2(.refreshToken("r", id: "tool"), tokenURL: "https://id.example/token")
    try await o.signOut()
}

func rate() {
    show(APIClient(baseURL: base) { $0.gates = [RateLimit(10, every: .seconds(1))] })
}

func rateBurst() {
    show(APIClient(baseURL: base) { $0.gates = [RateLimit(10, every: .seconds(1), burst: 20)] })
}

func concurrency() {
    show(APIClient(baseURL: base) { $0.gates = [ConcurrencyLimit(64, perHost: 6)] })
}

func concurrencyOne() {
    show(APIClient(baseURL: base) { $0.gates = [ConcurrencyLimit(4)] })
}

func breaker() {
    show(APIClient(baseURL: base) { $0.gates = [CircuitBreaker()] })
}

func gatesMixed() {
    let o = OAuth2(.refreshToken("r", id: "t"), tokenURL: "https://i")
    show(
        APIClient(baseURL: base) {
            $0.gates = [o, RateLimit(10, every: .seconds(1)), ConcurrencyLimit(3), CircuitBreaker()]
        }
    )
}

func gatesAppend() {
    show(APIClient(baseURL: base) { $0.gates.append(CircuitBreaker()) })
}

func proxyHTTP() {
    show(APIClient(baseURL: base) { $0.connection.proxy = .http("proxy.example:3128") })
}

func proxySOCKS() {
    show(APIClient(baseURL: base) { $0.connection.proxy = .socks5("127.0.0.1:1080") })
}

func proxyNone() {
    show(APIClient(baseURL: base) { $0.connection.proxy = .none })
}

func proxyUser() {
    show(APIClient(baseURL: base) { $0.connection.proxy = .http("p:1", user: "a", password: "b") })
}

func tlsInsecure() {
    show(APIClient(baseURL: base) { $0.connection.tls.trust = .insecurelyAnyCertificate })
}

func tlsMin() {
    show(APIClient(baseURL: base) { $0.connection.tls.minimumVersion = .tls13 })
}

func tlsCA() {
    show(APIClient(baseURL: base) { $0.connection.tls.trust = .only(.file("ca.pem")) })
}

func tlsCAPEM() {
    show(APIClient(baseURL: base) { $0.connection.tls.trust = .only(.pem("-----BEGIN")) })
}

func tlsPins() {
    show(APIClient(baseURL: base) { $0.connection.tls.pins = PublicKeyPins("sha256/a=", backups: "sha256/b=") })
}

func tlsClient() {
    show(
        APIClient(baseURL: base) {
            $0.connection.tls.clientCertificate = .pem(certificate: .file("c.pem"), key: .file("c.key"))
        }
    )
}

func tlsByHost() {
    show(APIClient(baseURL: base) { $0.connection.tlsByHost["a.example"] = TLSConfiguration(minimumVersion: .tls13) })
}

func httpVersion() {
    show(APIClient(baseURL: base) { $0.connection.httpVersion = .http1 })
}

func unixSocket() {
    show(APIClient(baseURL: "http://docker") { $0.connection.unixSocket = "/var/run/docker.sock" })
}

func hostAddresses() {
    show(APIClient(baseURL: base) { $0.connection.hostAddresses["a"] = [IPAddress(127, 0, 0, 1)] })
}

func publicOnly() {
    show(APIClient { $0.connection.addresses = .publicOnly })
}

func hostsDeny() {
    show(APIClient { $0.connection.hosts = HostRules(denying: ["*.a"]) })
}

func hostsAllow() {
    show(APIClient { $0.connection.hosts = HostRules(allowing: ["*.a"]) })
}

func cookies() {
    show(APIClient(baseURL: base) { $0.cookies = CookieJar() })
}

func cookiesRead() async {
    let jar = CookieJar()
    for c in await jar.cookies { print(c.name, c.value) }
}

func redirectsLimit() {
    show(APIClient(baseURL: base) { $0.redirects.limit = 3 })
}

func redirectsNone() {
    show(APIClient(baseURL: base) { $0.redirects = .none })
}

func redirectsDecide() {
    show(APIClient(baseURL: base) { $0.redirects.decide = { $0.leavesOrigin ? .stop : .follow } })
}

func redirectsDecideNamed() {
    show(
        APIClient(baseURL: base) {
            $0.redirects.decide = { redirect in
                print(redirect.request.url); return .follow
            }
        }
    )
}

func validation() {
    show(APIClient(baseURL: base) { $0.validation = Validation(contentTypes: ["application/json"]) })
}

func validationNone() {
    show(APIClient(baseURL: base) { $0.validation = .none })
}

func validationStatusesArray() {
    show(APIClient(baseURL: base) { $0.validation = Validation(statuses: [200..<400]) })
}

func limitsBody() {
    show(APIClient(baseURL: base) { $0.limits.body = 1 << 20 })
}

func limitsBodyNil() {
    show(APIClient(baseURL: base) { $0.limits.body = nil })
}

func observers() {
    show(APIClient(baseURL: base) { $0.observers = [RequestLog(), RequestMetrics()] })
}

func observersLevel() {
    show(APIClient(baseURL: base) { $0.observers = [RequestLog(.full)] })
}

func logClosure() {
    show(APIClient(baseURL: base) { $0.observers = [RequestLog(.summary) { print($0) }] })
}

func logCurl() {
    show(APIClient(baseURL: base) { $0.observers = [RequestLog(.summary, curl: true)] })
}

func activity() {
    show(APIClient(baseURL: base) { $0.observers = [ActivityCounter { print($0) }] })
}

func har() {
    let h = HARRecorder()
    show(APIClient(baseURL: base) { $0.observers = [h] })
}

func harWrite() async throws {
    let h = HARRecorder()
    try await h.write(to: URL(filePath: "/a"))
}

func harHar() async throws {
    let h = HARRecorder()
    let x = h.har()
    print(x.entries.count)
}

func harParse() throws {
    let h = try HAR(parsing: Data())
    print(h.entries.map(\.request.url))
}

func metricsSnap() {
    let m = RequestMetrics()
    print(m.snapshot())
}

func metricsPct() {
    let m = RequestMetrics()
    print(m.snapshot()["GET users"]?.latency.percentile(99) ?? .zero)
}

func plugins() {
    struct P: Plugin {}
    show(APIClient(baseURL: base) { $0.plugins = [P()] })
}

func stubMode() {
    show(
        APIClient(baseURL: base) {
            $0.stub = .json("[]"); $0.stubMode = .immediate
        }
    )
}

func cacheDir() {
    show(APIClient(baseURL: base) { $0.cache = CacheStore(directory: URL(filePath: "/a")) })
}

func cacheConfigured() {
    let s = CacheStore(directory: URL(filePath: "/a")) {
        $0.memory.bytes = 1 << 20; $0.expiration = .days(7)
    }
    show(s)
}

func cacheConfiguredLimits() {
    let s = CacheStore(directory: URL(filePath: "/a")) { $0.disk = CacheLimits(bytes: 1 << 20) }
    show(s)
}

func cacheExpirationClient() {
    show(APIClient(baseURL: base) { $0.caching.expiration = .days(1) })
}

func cachingSource() {
    show(APIClient(baseURL: base) { $0.caching.source = .cacheElseServer })
}

func cachingHTTPNil() {
    show(APIClient(baseURL: base) { $0.caching.http = nil })
}

func cachingStale() {
    show(APIClient(baseURL: base) { $0.caching.http?.staleIfError = .seconds(60) })
}

func storeSet() async throws {
    let s = CacheStore(directory: URL(filePath: "/a"))
    try await s.set(User(id: 1, name: ""), for: "me", expiration: .days(7))
}

func storeSetNoExp() async throws {
    let s = CacheStore(directory: URL(filePath: "/a"))
    try await s.set(User(id: 1, name: ""), for: "me")
}

func storeGet() async throws {
    let s = CacheStore(directory: URL(filePath: "/a"))
    let u: User? = try await s.value(for: "me")
    show(u)
}

func storeGetAs() async throws {
    let s = CacheStore(directory: URL(filePath: "/a"))
    let u = try await s.value(for: "me", as: User.self)
    show(u)
}

func storeRemove() async throws {
    let s = CacheStore(directory: URL(filePath: "/a"))
    try await s.remove("me")
    try await s.removeAll()
}

func storeSize() async throws {
    let s = CacheStore(directory: URL(filePath: "/a"))
    print(try await s.size)
}

func envelope() {
    show(
        APIClient(baseURL: base) { $0.envelope = Envelope(status: "code", success: 0, message: "msg", payload: "data") }
    )
}

func envelopeStrings() {
    show(
        APIClient(baseURL: base) {
            $0.envelope = Envelope(status: "status", success: "ok", message: "msg", payload: "data")
        }
    )
}

func transportSocket() {
    show(APIClient(baseURL: base) { $0.transport = SocketTransport() })
}

func transportConfigured() {
    var c = SocketTransport.Configuration()
    c.maximumTransfersPerHost = 4
    show(APIClient(baseURL: base) { $0.transport = SocketTransport(configuration: c) })
}

func credentials() {
    show(APIClient(baseURL: base) { $0.credentials = ChallengeCredentials(user: "a", password: "b") })
}

func constraints() {
    struct C: Constraint {
        func isSatisfied(for r: RequestContext) async -> Bool { true };
        func satisfy(for r: RequestContext) async throws {}
    }
    show(APIClient(baseURL: base) { $0.constraints = [C()] })
}

func endpointMapping() {
    show(APIClient { $0.endpointMapping = { endpoint, draft in draft.header("a", "b") } })
}

func requestMapping() {
    show(
        APIClient {
            $0.requestMapping = { request in
                var r = request; r.headers["a"] = "b"; return r
            }
        }
    )
}

func secretFromEnv() {
    let t = Secret(environment: "T") ?? "x"
    show(APIClient(baseURL: base) { $0.requestInterceptors = [BearerToken(t)] })
}

func tokenVariable() {
    let t = ProcessInfo.processInfo.environment["T"] ?? ""
    show(APIClient(baseURL: base) { $0.requestInterceptors = [BearerToken(t)] })
}

func clockTest() {
    show(APIClient(baseURL: base) { $0.clock = SystemClock() })
}

func priorityQueue() {
    show(APIClient(baseURL: base) { $0.sharing = .safeMethods })
}

func hedging() {
    show(APIClient(baseURL: base) { $0.hedging = .after(.milliseconds(300)) })
}

func closureReturning() {
    show(
        APIClient(baseURL: base) { c in
            c.retry = .standard; c.observers = [RequestLog()]; return
        }
    )
}

func ifInClosure() {
    show(APIClient(baseURL: base) { if isNight { $0.retry = .standard } })
}
