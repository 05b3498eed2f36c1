import Foundation
import Sluice
import SluiceTesting

// Names and arguments of Alamofire, Moya, OkHttp and async-http-client, and values of the wrong type.

private let base = "https://shop.example"
struct Page: Codable, Sendable { var next: String? }
private func current() async throws -> String { "" }

// error: Write the key first: "CustomToken(key, header: "X-API-Key")".
func headerBeforeKey() {
    show(APIClient(baseURL: base) { $0.requestInterceptors = [CustomToken("X-API-Key", "k")] })
}

// error: Write the key first: "CustomToken(key, header: "X-API-Key")".
func headerAndValue() {
    show(APIClient(baseURL: base) { $0.requestInterceptors = [CustomToken(header: "X-API-Key", value: "k")] })
}

// error: Write the key first: "CustomToken(key, header: "X-API-Key")".
func keyWithName() {
    show(APIClient(baseURL: base) { $0.requestInterceptors = [CustomToken("k", name: "X-API-Key")] })
}

// error: Write "CustomToken(key, header: "X-API-Key")".
func apiKey() {
    show(APIClient(baseURL: base) { $0.requestInterceptors = [APIKey("k", header: "X-API-Key")] })
}

// error: Write "SuppliedToken { context in await store.token() }".
func bearerTokenOfAFunction() {
    show(APIClient(baseURL: base) { $0.requestInterceptors = [BearerToken { try await current() }] })
}

// error: Write "SuppliedToken { context in await store.token() }".
func suppliedTokenWithoutContext() {
    show(APIClient(baseURL: base) { $0.requestInterceptors = [SuppliedToken { try await current() }] })
}

// error: Write "BasicCredentials(user: "ada", password: "s3cret")".
func basicAuth() {
    show(APIClient(baseURL: base) { $0.requestInterceptors = [BasicAuth(user: "ada", password: "s3cret")] })
}

// error: Write "BasicCredentials(user: "ada", password: "s3cret")".
func basicUserName() {
    show(APIClient(baseURL: base) { $0.requestInterceptors = [BasicCredentials(username: "ada", password: "s")] })
}

// error: Write "$0.requestInterceptors = [BearerToken(token)]". OAuth2 is one of "$0.gates".
func authOption() {
    show(APIClient(baseURL: base) { $0.auth = .bearer("t") })
}

// error: Write "intercept(BearerToken(token))", or "basicAuthorization("ada", "s3cret")".
func authModifier() {
    show(shop.get("users/1", as: User.self).auth(.bearer("t")))
}

// error: A token is an interceptor: "$0.requestInterceptors = [BearerToken(token)]".
func tokenAsGate() {
    show(APIClient(baseURL: base) { $0.gates = [BearerToken("t")] })
}

// error: OAuth2 is a gate: "$0.gates = [oauth]".
func gateAsInterceptor(oauth: OAuth2) {
    show(APIClient(baseURL: base) { $0.requestInterceptors = [oauth] })
}

// error: Give the client a "BearerToken(token)", or write "headers["Authorization"]".
func authorizationProperty() {
    show(APIClient(baseURL: base) { $0.headers.authorization = "Bearer t" })
}

// error: Write "ChallengeCredentials(user: "ada", password: "s3cret")".
func basicCredentials() {
    show(APIClient(baseURL: base) { $0.credentials = .basic("ada", "s3cret") })
}

// error: A request sends itself: "try await request.sender().value".
func clientSends() async throws {
    show(try await shop.send(shop.get("users/1", as: User.self)))
}

// error: Read the outcome of a sender: "sender().value".
func execute() async throws {
    show(try await shop.get("users/1", as: User.self).execute())
}

// error: Write "data(data, contentType: "image/png")".
func bodyWithContentType(data: Data) {
    let request: APIRequest<User, APIError> = shop.put("pictures/1").body(data, contentType: "image/png")
    show(request)
}

// error: Write "data(Data(bytes), contentType: "image/png")".
func bodyOfBytes(bytes: [UInt8]) {
    let request: APIRequest<User, APIError> = shop.put("pictures/1").body(bytes)
    show(request)
}

// error: Write "request("users").method(.delete).json(user)".
func deleteWithBody(user: User) {
    let request: APIRequest<User, APIError> = shop.delete("users", body: user)
    show(request)
}

// error: Write "errorBody".
func modelOfTypedError(error: TypedAPIError<Page>) {
    show(error.model?.next)
}

// error: Begin with "async let value = sender.value", then write "for await progress in sender.downloadProgress".
func progressOfARequest() async {
    for await progress in shop.download("film", to: .temporary).downloadProgress { show(progress) }
}

// error: Say where the next page is: "pages(by: .link)"
func pagesWithoutRule() {
    show(shop.get("users", as: [User].self).pages())
}

// error: Name the parameter first: "cursor("after", at: { $0.next })".
func cursorWithoutParameter() {
    show(shop.get("users", as: Page.self).pages(by: .cursor(\.next)))
}

// error: Write ".link".
func linkHeader() {
    show(shop.get("users", as: [User].self).pages(by: .linkHeader))
}

// error: Change the value: "try await request.sender().value.name".
func mapOfARequest() {
    show(shop.get("users/1", as: User.self).map(\.name))
}

// error: Await one value after the other
func flatMapOfARequest() {
    show(shop.get("users/1", as: User.self).flatMap { shop.get("users/\($0.id)", as: User.self) })
}

// error: Write "maximumInFlight: 3".
func maxConcurrent(requests: [APIRequest<User, APIError>]) async throws {
    show(try await shop.batch(requests, maxConcurrent: 3))
}

// error: Write "$0.connection.proxy = .http("proxy.example:3128")".
func proxyText() {
    show(APIClient(baseURL: base) { $0.proxy = "http://proxy.example:3128" })
}

// error: Write "PublicKeyPins("sha256/…", backups: "sha256/…")".
func pinsOfTexts() {
    show(APIClient(baseURL: base) { $0.connection.tls.pins = ["sha256/jQJTbIh0grw0/1TkHSumWb+Fs0Ggogr621gT3PvPKG0="] })
}

// error: Write ".file("ca.pem")".
func certificatePath() {
    show(APIClient(baseURL: base) { $0.connection.tls.trust = .only("ca.pem") })
}

// error: Certificates are verified. To accept any, write "$0.connection.tls.trust = .insecurelyAnyCertificate".
func verifiesCertificates() {
    show(APIClient(baseURL: base) { $0.connection.tls.verifiesCertificates = false })
}

// error: Write "total", or "idle" for the time without a byte.
func requestTimeout() {
    show(APIClient(baseURL: base) { $0.timeouts.request = .seconds(3) })
}

// error: Set one of the time-outs: "$0.timeouts.total = .seconds(5)".
func timeoutsAsDuration() {
    show(APIClient(baseURL: base) { $0.timeouts = .seconds(3) })
}

// error: Write "RetryPolicy(maximumAttempts: 3)", which includes the first attempt.
func standardMaxAttempts() {
    show(APIClient(baseURL: base) { $0.retry = .standard(maxAttempts: 3) })
}

// error: Write "$0.retry = RetryPolicy(maximumAttempts: 3)", which includes the first attempt.
func retries() {
    show(APIClient(baseURL: base) { $0.retries = 3 })
}

// error: Write "maximumAttempts", which includes the first attempt.
func maxAttempts() {
    show(APIClient(baseURL: base) { $0.retry.maxAttempts = 3 })
}

// error: Write "cachePolicy(.reload)".
func cacheOfAPolicy() {
    show(shop.get("users/1", as: User.self).cache(.reload))
}

// error: Write ".failures", ".summary", ".headers" or ".full".
func debugLevel() {
    show(RequestLog(.debug))
}

// error: Write "OAuth2(.clientCredentials(id: id, secret: secret), tokenURL: url)".
func oauthByLabels() {
    show(OAuth2(clientID: "a", clientSecret: "b", tokenURL: "https://a.example/token", scopes: ["orders"]))
}

// error: The scope belongs to the grant: ".clientCredentials(id: id, secret: secret, scope: "orders.read")".
func scopesOfTheGate() {
    show(OAuth2(.clientCredentials(id: "a", secret: "b"), tokenURL: "https://a.example/token", scopes: ["orders"]))
}

// error: Write ".clientCredentials(id: id, secret: secret, parameters: ["audience": "orders"])".
func audience() {
    show(OAuth2(.clientCredentials(id: "a", secret: "b", audience: "orders"), tokenURL: "https://a.example/token"))
}

// error: Write ".failure(.timedOut)".
func stubWithCode() {
    show(Stub.error(.timedOut))
}

// error: Write ".json("{}", status: .notFound)", or ".text("…", status: .notFound)".
func stubWithBody() {
    show(Stub.status(.notFound, body: "{}"))
}

// error: Write "append(.data(data, name: …, fileName: …, contentType: …))".
func partWithMIMEType(data: Data) {
    var form = MultipartForm()
    form.append(data, name: "picture", fileName: "a.png", mimeType: "image/png")
    show(form)
}

// error: Write "upload("pictures", .file(URL(filePath: path)))".
func uploadOfAPath() {
    let request: APIRequest<User, APIError> = shop.upload("pictures", file: "/tmp/a.png")
    show(request)
}

// error: Write "CacheStore(storage: nil) { $0.memory.bytes = 16 << 20 }", or name a "directory:".
func cacheWithCapacity() {
    show(APIClient(baseURL: base) { $0.cache = CacheStore(memoryCapacity: 1 << 20) })
}

// error: Write "CacheStore(storage: nil)".
func cacheInMemory() {
    show(APIClient(baseURL: base) { $0.cache = .memory })
}

// error: A client creates it: "client.post("users", as: User.self).json(user)".
func requestWithoutClient(user: User) {
    show(APIRequest<User, APIError>(method: .post, path: "users", body: user))
}

// error: Write ".json("{}", status: .ok)", ".text("…")" or ".data(data)".
func stubByLabels() {
    show(Stub(status: .ok, headers: [:], body: "{}"))
}

// error: Begin with "async let value = sender.value"
func senderProgress() {
    let sender = shop.data.get("film").sender()
    sender.downloadProgress { print($0.fraction ?? 0) }
}

// error: Write "try await pages.reduce(into: []) { $0.append($1) }".
func pagesCollect() async throws {
    let pages = shop.get("users", as: [User].self).pages(by: .link)
    print(try await pages.collect())
}

// error: Nothing to shut down
func clientShutdown() async throws {
    try await shop.shutdown()
}

// error: Nothing to shut down
func clientSyncShutdown() throws {
    try shop.syncShutdown()
}

// error: Write "RateLimit(10, every: .seconds(1))".
func rateLimitSeconds() {
    show(RateLimit(10, every: 1))
}

// error: Read the header
func errorRetryAfter() async {
    do { _ = try await shop.data.get("a").sender().value } catch { print(error.retryAfter ?? .zero) }
}

// error: Write "String(decoding: body, as: UTF8.self)".
func failureText(_ failure: RequestFailure) {
    print(failure.text)
}

// error: Write "try decoded(as: JSON.self)".
func failureJSON(_ failure: RequestFailure) {
    print(failure.json ?? .null)
}

// error: Write "Timeouts(connect: .seconds(5), idle: .seconds(30))"
func timeoutsToRead() {
    show(Timeouts(connect: .seconds(1), read: .seconds(2)))
}

// error: Write "$0.redirects.limit = 5"
func redirectsToFollow() {
    _ = APIClient { $0.redirects = .follow(max: 5, allowCycles: false) }
}

// error: Certificates are verified.
func certificateVerification() {
    _ = APIClient { $0.connection.tls.certificateVerification = .none }
}

// error: Write "$0.retryBudget = .unlimited"
func noRetryBudget() {
    _ = APIClient { $0.retryBudget = .none }
}

// error: Write "CookieJar(file: url.path)"
func cookieJarOfAURL(_ url: URL) {
    show(CookieJar(file: url))
}

// error: Write "CircuitBreaker(failureRatio: 0.5, of: 20, openFor: .seconds(30))"
func circuitBreakerOfFailures() {
    show(CircuitBreaker(maxFailures: 5))
}

// error: Write "Backoff(base: .seconds(1), factor: 2, limit: .seconds(30))"
func backoffWithAMultiplier() {
    show(Backoff(initial: .seconds(1), multiplier: 2, max: .seconds(30)))
}

// error: Set the budget of the client
func retryPolicyWithABudget() {
    show(RetryPolicy(maximumAttempts: 3, budget: .unlimited))
}

// error: Write ".fail", ".overwrite" or ".keepBoth"
func downloadToSkip(_ url: URL) {
    show(shop.download("film", to: .file(url, ifExists: .skip)))
}

// error: Count the attempts with an observer
func attemptsOfAResponse() async {
    show(await shop.string.get("motto").sender().response.attempts)
}

// error: Write "serializingErrors
func mappedError() {
    show(shop.string.get("motto").mapError { $0 })
}

// error: Write "intercept(BearerToken(token))"
func bearerAuthorization() {
    show(shop.string.get("motto").authorization(bearer: "token"))
}

// error: or a template
func valuesOfATemplateBesideThePath() async throws {
    let user: User = try await shop.get("users/{id}", ["id": 1]).sender().value
    show(user)
}

// error: Write "stream("prices").serverSentEvents()"
func eventsOfAClient() async throws {
    for try await event in shop.sse("prices") { show(event) }
}

// error: Write "upload("pictures", .file(url))"
func fileBeforeThePath() async throws {
    try await shop.upload(URL(filePath: "/tmp/a"), to: "pictures").sender().value
}

// error: $0.timeouts.total
func timeoutOfAClient() {
    show(APIClient(baseURL: "https://shop.example", timeout: .seconds(3)))
}

// error: for the whole body
func collectedStream() async throws {
    show(try await shop.stream("log").collect(upTo: 1 << 20))
}

// error: Write "download("film", to: .file(url))"
func destinationAfterTheDownload() async throws {
    show(try await shop.download("film").to("/tmp/film").sender().value)
}

// error: which send the request
func sendOfASender() async throws {
    try await shop.data.get("users").sender().send()
}

// error: Write "send { response in … }"
func closureOfASender() {
    shop.get("users/1", as: User.self).sender { response in print(response) }
}

// error: and read "sender().value"
func responseDecodableWithoutAClosure() async throws {
    show(try await shop.get("users/1", as: User.self).responseDecodable(of: User.self))
}

// error: connection.httpVersion
func http2Switch() {
    show(APIClient(baseURL: base) { $0.http2 = true })
}

// error: $0.redirects = .none
func followRedirectsSwitch() {
    show(APIClient(baseURL: base) { $0.followRedirects = false })
}

// error: maximumTransfersPerHost
func connectionsOfAClient() {
    show(APIClient(baseURL: base) { $0.maxConnections = 8 })
}

// error: Put it into the base URL
func queryOfAClient() {
    show(APIClient(baseURL: base) { $0.query["key"] = "k" })
}

// error: responses are decompressed
func compressionSwitch() {
    show(APIClient(baseURL: base) { $0.compression = true })
}

// error: maximumAttempts
func attemptsOfARetry() {
    show(APIClient(baseURL: base) { $0.retry.attempts = 3 })
}

// error: insecurelyAnyCertificate
func trustOfAll() {
    show(APIClient(baseURL: base) { $0.connection.tls.trust = .all })
}

// error: Set it when the client is created
func headerOfAFinishedClient() {
    shop.headers["A"] = "b"
}

// error: Keep the "CacheStore"
func cacheOfAClient() {
    show(shop.cache)
}

// error: pages(by: .link)
func pagesOfAClient() {
    show(shop.pages("users"))
}

// error: Write "query("page", 1)"
func queryItemOfARequest() {
    show(shop.get("users", as: User.self).query(URLQueryItem(name: "page", value: "1")))
}

// error: Write "append(.text("Ada", name: "name"))"
func textOfAForm() {
    var form = MultipartForm()
    form.add(name: "name", value: "Ada")
    show(form)
}

// error: Write "ConcurrencyLimit(5)"
func labelOfALimit() {
    show(ConcurrencyLimit(max: 5))
}
