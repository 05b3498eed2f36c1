import Foundation
import Sluice

// Options named as elsewhere.

private let base = "https://shop.example"
private struct Session: Sendable { func token() async throws -> String { "" } }

// error: Write "$0.headers".
func headersDefaults() {
    show(APIClient(baseURL: base) { $0.defaultHeaders["Accept"] = "a" })
}

// error: Write "APIClient(baseURL: url) { $0.timeouts.total = .seconds(5) }".
func configurationValue() {
    var c = APIClient.Configuration()
    c.timeouts.total = .seconds(5)
    show(APIClient(baseURL: base, configuration: c))
}

// error: Set one of the time-outs: "$0.timeouts.total = .seconds(5)".
func timeoutShort() {
    show(APIClient(baseURL: base) { $0.timeout = .seconds(5) })
}

// error: Write "$0.modelDecoder", and "$0.errorDecoder" for the bodies of errors.
func decoderShort() {
    show(APIClient(baseURL: base) { $0.decoder = JSONDecoder() })
}

// error: Write "$0.encoder".
func encoder() {
    show(APIClient(baseURL: base) { $0.jsonEncoder = JSONEncoder() })
}

// error: Write "$0.encoder".
func bodyEncoder() {
    show(APIClient(baseURL: base) { $0.bodyEncoder = JSONEncoder() })
}

// error: Write "$0.requestInterceptors", or "$0.responseInterceptors".
func interceptorsShort() {
    show(APIClient(baseURL: base) { $0.interceptors = [BearerToken("t")] })
}

// error: Set the header "$0.headers["User-Agent"]" or a "UserAgent" interceptor.
func userAgentProp() {
    show(APIClient(baseURL: base) { $0.userAgent = "acme/1.0" })
}

// error: Write "RateLimit(10, every: .seconds(1))".
func ratePer() {
    show(APIClient(baseURL: base) { $0.gates = [RateLimit(10, per: .seconds(1))] })
}

// error: Write "RateLimit(10, every: .seconds(1))".
func rateRequestsPerSecond() {
    show(APIClient(baseURL: base) { $0.gates = [RateLimit(requestsPerSecond: 10)] })
}

// error: Write the limit of all hosts first: "ConcurrencyLimit(64, perHost: 6)".
func concurrencyPerHost() {
    show(APIClient(baseURL: base) { $0.gates = [ConcurrencyLimit(perHost: 4)] })
}

// error: Write "CircuitBreaker(failureRatio: 0.5, of: 20, openFor: .seconds(30))".
func breakerThreshold() {
    show(APIClient(baseURL: base) { $0.gates = [CircuitBreaker(failureThreshold: 5, resetTimeout: .seconds(30))] })
}

// error: Write ".http("proxy.example:3128")".
func proxyHostPort() {
    show(APIClient(baseURL: base) { $0.connection.proxy = .http(host: "proxy.example", port: 3128) })
}

// error: Write "$0.connection.proxy".
func proxyShort() {
    show(APIClient(baseURL: base) { $0.proxy = .http("proxy.example:3128") })
}

// error: Write ".always(try Proxy("http://proxy.example:3128"))".
func proxyURL() {
    show(APIClient(baseURL: base) { $0.connection.proxy = .url("http://proxy.example:3128") })
}

// error: Write ".socks5("127.0.0.1:1080")".
func proxySOCKSPort() {
    show(APIClient(baseURL: base) { $0.connection.proxy = .socks(host: "127.0.0.1", port: 1080) })
}

// error: Write ".insecurelyAnyCertificate".
func tlsInsecure2() {
    show(APIClient(baseURL: base) { $0.connection.tls.trust = .insecure })
}

// error: Write "$0.connection.tls".
func tlsShort() {
    show(APIClient(baseURL: base) { $0.tls.minimumVersion = .tls13 })
}

// error: Write ".tls13".
func tlsMinAHC() {
    show(APIClient(baseURL: base) { $0.connection.tls.minimumVersion = .tlsv13 })
}

// error: Over TLS ".automatic" uses HTTP/2 with servers that support it; ".http2PriorKnowledge" uses nothing else.
func httpVersion2() {
    show(APIClient(baseURL: base) { $0.connection.httpVersion = .http2 })
}

// error: Write ".immediate", or ".delayed(.seconds(1))".
func stubsAlways() {
    show(
        APIClient(baseURL: base) {
            $0.stub = .json("[]"); $0.stubMode = .always
        }
    )
}

// error: Write "CacheStore(directory: URL(filePath: path))".
func cacheDirString() {
    show(APIClient(baseURL: base) { $0.cache = CacheStore(directory: "/a") })
}

// error: Name a folder, "CacheStore(directory: folder)", or keep entries in memory only, "CacheStore(storage: nil)".
func cacheMemory() {
    show(APIClient(baseURL: base) { $0.cache = CacheStore() })
}

// error: Write "set(user, for: "me")".
func storeSetLabel() async throws {
    let s = CacheStore(directory: URL(filePath: "/a"))
    try await s.set(User(id: 1, name: ""), forKey: "me")
}

// error: Say what the value is: add "as: User.self", or give the result a type.
func storeGetUntyped() async throws {
    let s = CacheStore(directory: URL(filePath: "/a"))
    let u = try await s.value(for: "me")
    show(u)
}

// error: Write "remove("me")".
func storeRemoveFor() async throws {
    let s = CacheStore(directory: URL(filePath: "/a"))
    try await s.remove(for: "me")
}

// error: Write "CircuitBreaker(failureRatio: 0.5, of: 20, openFor: .seconds(30))".
func breaker1() {
    show(APIClient(baseURL: base) { $0.gates = [CircuitBreaker(failures: 5, openFor: .seconds(30))] })
}

// error: Write "CircuitBreaker(failureRatio: 0.5, of: 20, openFor: .seconds(30))".
func breaker2() {
    show(APIClient(baseURL: base) { $0.gates = [CircuitBreaker(failures: 5)] })
}

// error: Write "CircuitBreaker(failureRatio: 0.5, of: 20, openFor: .seconds(30))".
func breaker3() {
    show(APIClient(baseURL: base) { $0.gates = [CircuitBreaker(threshold: 5)] })
}

// error: Write "CircuitBreaker(failureRatio: 0.5, of: 20, openFor: .seconds(30))".
func breaker4() {
    show(APIClient(baseURL: base) { $0.gates = [CircuitBreaker(threshold: 5, openFor: .seconds(30))] })
}

// error: Write "CircuitBreaker(failureRatio: 0.5, of: 20, openFor: .seconds(30))".
func breaker5() {
    show(APIClient(baseURL: base) { $0.gates = [CircuitBreaker(threshold: 5, timeout: .seconds(30))] })
}

// error: Write "CircuitBreaker(failureRatio: 0.5, of: 20, openFor: .seconds(30))".
func breaker6() {
    show(APIClient(baseURL: base) { $0.gates = [CircuitBreaker(maximumFailures: 5, resetAfter: .seconds(30))] })
}

// error: Write "CircuitBreaker(failureRatio: 0.5, of: 20, openFor: .seconds(30))".
func breaker7() {
    show(APIClient(baseURL: base) { $0.gates = [CircuitBreaker(failureThreshold: 5, openFor: .seconds(30))] })
}

// error: Write "RateLimit(10, every: .seconds(1))".
func rateRequestsPer() {
    show(APIClient(baseURL: base) { $0.gates = [RateLimit(requests: 10, per: .seconds(1))] })
}

// error: Write "Backoff(base: .seconds(1), limit: .seconds(30))".
func backoff1() {
    show(RetryPolicy(backoff: Backoff(base: .seconds(1), maximum: .seconds(30))))
}

// error: Write "Backoff(base: .seconds(1), limit: .seconds(30))".
func backoff2() {
    show(RetryPolicy(backoff: Backoff(base: .seconds(1), factor: 2, max: .seconds(30))))
}

// error: Write "Backoff(base: .seconds(1), limit: .seconds(30))".
func backoff3() {
    show(RetryPolicy(backoff: Backoff(base: .seconds(1), cap: .seconds(30))))
}

// error: Write "Backoff(base: .seconds(1), limit: .seconds(30))".
func backoff4() {
    show(RetryPolicy(backoff: Backoff(initial: .seconds(1))))
}

// error: Write "Backoff(base: .seconds(1), limit: .seconds(30))".
func backoff5() {
    show(RetryPolicy(backoff: Backoff(initial: .seconds(1), maximum: .seconds(30))))
}

// error: Write "Backoff(base: .seconds(1), limit: .seconds(30))".
func backoff6() {
    show(RetryPolicy(backoff: Backoff(initial: .seconds(1), max: .seconds(30))))
}

// error: Write "Backoff(base: .seconds(1), limit: .seconds(30))".
func backoff7() {
    show(RetryPolicy(backoff: .exponential(base: .seconds(1))))
}

// error: Write "Backoff(base: .seconds(1), limit: .seconds(30))".
func backoff8() {
    show(RetryPolicy(backoff: .exponential(base: .seconds(1), factor: 2)))
}

// error: Write "Backoff(base: .seconds(1), limit: .seconds(30))".
func backoff9() {
    show(RetryPolicy(backoff: .exponential(base: .seconds(1), maximum: .seconds(30))))
}

// error: Write "Backoff(base: .seconds(1), limit: .seconds(30))".
func backoff10() {
    show(RetryPolicy(backoff: .exponential(initial: .seconds(1), maximum: .seconds(30))))
}

// error: Write ".systemAnd(.file("own-ca.pem"))".
func trust1() {
    show(APIClient(baseURL: base) { $0.connection.tls.trust = .system(adding: .file("ca.pem")) })
}

// error: Write ".systemAnd(.file("own-ca.pem"))".
func trust2() {
    show(APIClient(baseURL: base) { $0.connection.tls.trust = .system(and: .file("ca.pem")) })
}

// error: Write ".systemAnd(.file("own-ca.pem"))".
func trust3() {
    show(APIClient(baseURL: base) { $0.connection.tls.trust = .adding(.file("ca.pem")) })
}

// error: Write ".only(.file("ca.pem"))", or ".systemAnd(.file("ca.pem"))".
func trust4() {
    show(APIClient(baseURL: base) { $0.connection.tls.trust = .custom(.file("ca.pem")) })
}

// error: Write "OAuth2(grant, tokenURL: url)".
func oauth1() {
    show(OAuth2(.refreshToken("a", id: "b"), tokenEndpoint: "https://a.example"))
}

// error: Write "OAuth2(grant, tokenURL: url)".
func oauth2() {
    show(OAuth2(.refreshToken("a", id: "b"), tokenEndpoint: URL(filePath: "/a")))
}

// error: $0.store = FileTokenStore(file) }
func oauth3() {
    show(OAuth2(.refreshToken("a", id: "b"), tokenURL: "https://a.example", store: MemoryTokenStore()))
}

// error: $0.store = FileTokenStore(file) }
func oauth4() {
    show(OAuth2(.refreshToken("a", id: "b"), tokenURL: URL(filePath: "/a"), store: MemoryTokenStore()))
}

// error: Write "FileTokenStore(url)".
func oauth5() {
    show(OAuth2(.refreshToken("a", id: "b"), tokenURL: "https://a.example") { $0.store = .file(URL(filePath: "/a")) })
}

// error: has no member 'clock'
func oauthOption() {
    show(OAuth2(.refreshToken("a", id: "b"), tokenURL: "https://a.example") { $0.clock = 1 })
}

// error: Write ".clientCredentials(id: id, secret: secret)".
func oauth6() {
    show(OAuth2(.clientCredentials(clientID: "a", clientSecret: "b"), tokenURL: "https://a.example"))
}

// error: Separate the scopes by spaces
func oauth7() {
    show(OAuth2(.clientCredentials(id: "a", secret: "b", scope: ["c", "d"]), tokenURL: "https://a.example"))
}

// error: Separate the scopes by spaces
func oauth8() {
    show(OAuth2(.refreshToken("a", id: "b", scope: ["c", "d"]), tokenURL: "https://a.example"))
}

// error: Separate the scopes by spaces
func oauth9() {
    show(OAuth2(.password(username: "a", password: "b", id: "c", scope: ["c", "d"]), tokenURL: "https://a.example"))
}

// error: Separate the scopes by spaces
func oauthCodeScopes() {
    show(OAuth2.Grant.authorizationCode(id: "a", authorizationURL: "b", redirectURL: "c", scope: ["d"]))
}

// error: Write the URLs as text: "authorizationURL: url.absoluteString".
func oauthCodeURLs(url: URL) {
    show(OAuth2.Grant.authorizationCode(id: "a", authorizationURL: url, redirectURL: url))
}

// error: Write "$0.memory.bytes = 16 << 20", and "$0.disk.bytes" for the files.
func storeLimits(url: URL) {
    show(CacheStore(directory: url) { $0.limits.memory.bytes = 16 << 20 })
}

// error: Remove the tags one after the other: "remove(tag: "account")".
func storeRemoveTags(store: CacheStore) async throws {
    try await store.remove(tags: ["a", "b"])
}

// error: Write "remove(tag: "account")".
func storeInvalidate(store: CacheStore) async throws {
    try await store.invalidate(tag: "a")
}

// error: Write "remove(tag: "account")".
func storeRemoveAllTag(store: CacheStore) async throws {
    try await store.removeAll(tag: "a")
}

// error: missing argument for parameter 'every' in call
func ratePeriodWithAnotherLabel() {
    show(APIClient(baseURL: base) { $0.gates = [RateLimit(10, within: Duration.seconds(1))] })
}

// error: extra argument
func breakerWithOtherLabels() {
    show(APIClient(baseURL: base) { $0.gates = [CircuitBreaker(maxFailures: 5, reset: Duration.seconds(30))] })
}

// error: Write ".only(.file("ca.pem"))", or ".systemAnd(.file("ca.pem"))".
func trustFile() {
    show(APIClient(baseURL: base) { $0.connection.tls.trust = .file("ca.pem") })
}

// error: Write "removeAll()".
func storeClear(store: CacheStore) async throws {
    try await store.clear()
}

// error: value of type 'APIClient.Configuration' has no member 'nothing'
func twoMistakesInAConfiguration() {
    _ = APIClient(baseURL: "https://shop.example") { $0.nothing = $0.baseline + $0.other }
}

// error: Write "APIClient(baseURL: url) { $0.timeouts.total
func configurationAsAnArgument() {
    _ = APIClient(baseURL: "https://shop.example", configuration: APIClient.Configuration())
}

// error: Set one of the time-outs
func timeoutOfAConfigurationInSeconds() {
    _ = APIClient(baseURL: "https://shop.example") { $0.timeout = 30 }
}

// error: Set one of the time-outs
func timeoutOfAConfigurationInFractions() {
    _ = APIClient(baseURL: "https://shop.example") { $0.timeout = 0.5 }
}

// error: Set one of the time-outs
func timeoutOfAConfigurationAsADuration() {
    _ = APIClient(baseURL: "https://shop.example") { $0.timeout = .seconds(5) }
}

// error: Write "$0.gates = [RateLimit(10, every: .seconds(1))]"
func gateOfAConfiguration() {
    _ = APIClient(baseURL: "https://shop.example") { $0.gate = RateLimit(10, every: .seconds(1)) }
}

// error: Write "$0.gates = [RateLimit(10, every: .seconds(1))]"
func gatesOfAConfiguration() {
    _ = APIClient(baseURL: "https://shop.example") { $0.gate = [RateLimit(10, every: .seconds(1))] }
}

// error: Write "$0.observers = [RequestLog()]"
func loggerOfAConfiguration() {
    _ = APIClient(baseURL: "https://shop.example") { $0.logger = RequestLog() }
}
