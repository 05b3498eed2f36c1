import Foundation
import Sluice
import SluiceTesting

// First typings of time-outs, streams, Moya's tasks, uploads, downloads, retries, cookies and stubs.

private struct Filter: Encodable, Sendable {
    var page = 1
}

// error: Write "timeout(connect: .seconds(5), idle: .seconds(30))".
func connectAndRead() {
    show(shop.get("u", as: User.self).timeout(connect: .seconds(1), read: .seconds(2)))
}

// error: Write "timeout(total: .seconds(60), idle: .seconds(30))".
func totalAndReadOfAStream() {
    show(shop.stream("u").timeout(total: .seconds(1), read: .seconds(2)))
}

// error: Write "timeout(idle: .seconds(30))", the time without a byte.
func readTimeOut() {
    show(shop.get("u", as: User.self).timeout(read: .seconds(2)))
}

// error: Write "timeout(.seconds(10)).retry(RetryPolicy(attemptTimeout: .seconds(2)))".
func totalAndAttempt() {
    show(shop.empty.post("u").json(Filter()).timeout(total: .seconds(10), attempt: .seconds(2)))
}

// error: Write "retry(RetryPolicy(attemptTimeout: .seconds(2)))".
func attemptTimeOut() {
    show(shop.get("u", as: User.self).timeout(attempt: .seconds(2)))
}

// error: Write "deadline(Deadline(instant))", or "deadline(.after(.seconds(5)))".
func instantAsADeadline() {
    show(shop.get("u", as: User.self).timeout(deadline: ContinuousClock.now + .seconds(10)))
}

// error: Write "deadline(deadline)", or "deadline(.after(.seconds(5)))".
func deadlineAsATimeOut(deadline: Deadline) {
    show(shop.get("u", as: User.self).timeout(deadline: deadline))
}

// error: Write "timeout(total: .seconds(60), connect: .seconds(5))".
func connectBeforeTotal() {
    show(shop.get("u", as: User.self).timeout(connect: .seconds(1), total: .seconds(10)))
}

// error: Write "timeout(.seconds(5))".
func requestTimeOut() {
    show(shop.get("u", as: User.self).timeout(request: .seconds(10)))
}

// error: Write "timeouts(Timeouts(total: .seconds(60)))".
func timeOutsInOneValue() {
    show(shop.get("u", as: User.self).timeout(.init(total: .seconds(10))))
}

// error: Write "CacheStore(storage: nil) { $0.memory.bytes = 16 << 20 }".
func cacheInMemoryWithALimit() {
    show(APIClient { $0.cache = .inMemory(limit: 1 << 20) })
}

// error: Write "try await body.collect(upTo: 1 << 20)".
func dataOfABody(request: HTTPRequest) async throws {
    show(try await request.body.data(upTo: 10))
}

// error: Write "RetryPolicy(maximumAttempts: 3)".
func attemptsAsAPolicy() {
    show(shop.get("u", as: User.self).retry(.attempts(5)))
}

// error: Write "await jar.cookies.filter { $0.domain == "shop.example" }".
func cookiesForAURL(jar: CookieJar) async {
    show(await jar.cookies(for: "https://shop.example"))
}

// error: Write "try await jar.set(cookie)".
func storedCookie(jar: CookieJar) {
    jar.store(Cookie(name: "a", value: "b", domain: "shop.example"))
}

// error: Write "try await jar.set(cookie)".
func addedCookie(jar: CookieJar) async throws {
    try await jar.add(Cookie(name: "a", value: "b", domain: "shop.example"))
}

// error: Write "await jar.cookies".
func allCookies(jar: CookieJar) {
    show(jar.all)
}

// error: Write "await jar.removeAll()".
func clearedJar(jar: CookieJar) {
    jar.clear()
}

// error: Write "for try await chunk in response.bytes", or "try await response.collect(upTo: 1 << 20)".
func bodyOfAStream() async throws {
    let response = try await shop.stream("log").response()
    for try await chunk in response.body { show(chunk) }
}

// error: Write "for try await chunk in response.bytes", or "try await response.collect(upTo: 1 << 20)".
func collectedBodyOfAStream() async throws {
    let response = try await shop.stream("log").response()
    show(try await response.body.collect(upTo: 1024))
}

// error: Write "response.bytes", ".lines" or ".serverSentEvents()".
func streamedResponseAsASequence() async throws {
    let response = try await shop.stream("log").response()
    for try await chunk in response { show(chunk) }
}

// error: Write "for try await chunk in response.bytes".
func chunksOfAStream() async throws {
    let response = try await shop.stream("log").response()
    for try await chunk in response.chunks { show(chunk) }
}

// error: Write "head.headers".
func headersOfAStream() async throws {
    let response = try await shop.stream("log").response()
    show(response.headers["Content-Length"] ?? "")
}

// error: Collect the response: "try await client.stream("log").response().collect(upTo: 1 << 20)".
func collectedBytes() async throws {
    let response = try await shop.stream("log").response()
    show(try await response.bytes.collect(upTo: 1024))
}

// error: Write ".plain".
func requestPlain() -> RequestTask {
    .requestPlain
}

// error: Write ".data(data, contentType: "image/png")".
func requestData(data: Data) -> RequestTask {
    .requestData(data)
}

// error: Write ".json(user)".
func requestJSONEncodable(user: User) -> RequestTask {
    .requestJSONEncodable(user)
}

// error: Write ".json(user, encoder: encoder)".
func requestCustomJSONEncodable(user: User) -> RequestTask {
    .requestCustomJSONEncodable(user, encoder: JSONEncoder())
}

// error: Write ".parameters(["page": 1])", ".json([…])" or ".form([…])".
func requestParameters() -> RequestTask {
    .requestParameters(parameters: ["page": 1, "name": "Ada"], encoding: URLEncoding.default)
}

// error: Write ".parameters(["page": 1])", ".query([…])" or ".form([…])".
func encodingOfParameters() -> RequestTask {
    .requestParameters(parameters: ["page": 1], encoding: URLEncoding.queryString)
}

// error: Write ".json(["name": name])".
func jsonEncodingOfParameters() -> RequestTask {
    .requestParameters(parameters: ["name": "Ada"], encoding: JSONEncoding.default)
}

// error: Write ".json(["name": name]).query(["page": 1])".
func requestCompositeParameters() -> RequestTask {
    .requestCompositeParameters(bodyParameters: ["a": "b"], bodyEncoding: 0, urlParameters: ["page": 1])
}

// error: Write ".data(data, contentType: "image/png").query(["page": 1])".
func requestCompositeData(data: Data) -> RequestTask {
    .requestCompositeData(bodyData: data, urlParameters: ["page": 1])
}

// error: Write ".file(url)".
func uploadFile(url: URL) -> RequestTask {
    .uploadFile(url)
}

// error: Write ".multipart([.file(url, name: "picture")])".
func uploadMultipart(data: Data) -> RequestTask {
    .uploadMultipart([.data(data, name: "picture")])
}

// error: Write ".multipart([.file(url, name: "picture")]).query(["page": 1])".
func uploadCompositeMultipart(data: Data) -> RequestTask {
    .uploadCompositeMultipart([.data(data, name: "picture")], urlParameters: ["page": 1])
}

// error: Write ".plain", and send the target with "client.download(Shop.film, to: .file(url))".
func downloadDestination(url: URL) -> RequestTask {
    .downloadDestination(.file(url))
}

// error: Write ".parameters(["page": 1])", and send the target with "client.download(Shop.film, to: .file(url))".
func downloadParameters(url: URL) -> RequestTask {
    .downloadParameters(parameters: ["page": 1], encoding: URLEncoding.default, destination: .file(url))
}

// error: Write "client.data.post("export").json(filter).download(to: .file(url))".
func postOfADownload(url: URL) {
    show(shop.download("export", to: .file(url)).post(.json(["page": 1])))
}

// error: Write "client.data.post("export").json(filter).download(to: .file(url))".
func postWithoutABodyOfADownload(url: URL) {
    show(shop.download("export", to: .file(url)).post().json(["page": 1]))
}

// error: Write "client.data.post("export").json(filter).download(to: .file(url))".
func jsonOfADownload(url: URL) {
    show(shop.download("export", to: .file(url)).json(Filter()))
}

// error: Write "client.data.post("export").json(filter).download(to: .file(url))".
func methodOfADownload(url: URL) {
    show(shop.download("export", to: .file(url)).method(.post).body(.json(["page": 1])))
}

// error: Write "client.data.post("export").json(filter).download(to: .file(url))".
func methodAfterDownload(url: URL) {
    show(shop.download.post("export", to: .file(url)).json(["page": 1]))
}

// error: Write "file(url, range: start..<(start + count))".
func offsetOfAFile(url: URL) {
    show(shop.empty.put("film").file(url, offset: 0, length: 5))
}

// error: Write ".file(url, range: start..<(start + count))".
func offsetOfAnUpload(url: URL) {
    show(shop.empty.upload("film", .file(url, offset: 0, length: 5)))
}

// error: Write "upload("pictures", body).put()".
func methodOfAnUpload(url: URL) {
    show(shop.empty.upload("film", .file(url), method: .put))
}

// error: Write "upload("pictures", body).put()".
func methodOfAnUploadWithoutAModel(url: URL) {
    show(shop.upload("film", .file(url), method: .put))
}

// error: Write "upload("pictures", .file(url))".
func uploadedFileFirst(url: URL) {
    show(shop.empty.upload(url, to: "film"))
}

// error: Write "upload("pictures", .data(data))".
func uploadedDataFirst(data: Data) {
    show(shop.string.upload(data, to: "film"))
}

// error: Write brackets: "multipart([.text("Ada", name: "name")])".
func multipartWithoutBrackets(url: URL) {
    show(shop.post("u", as: User.self).multipart(.text("a", name: "b"), .file(url, name: "c")))
}

// error: Write brackets: ".multipart([.text("Ada", name: "name")])".
func multipartBodyWithoutBrackets(url: URL) {
    show(shop.empty.upload("u", .multipart(.text("a", name: "b"), .file(url, name: "c"))))
}

// error: Write brackets: ".multipart([.text("Ada", name: "name")])".
func multipartTaskWithoutBrackets(url: URL) -> RequestTask {
    .multipart(.text("a", name: "b"), .file(url, name: "c"))
}

// error: Idempotent methods are retried. Where a POST may be, write "idempotent()" after it, or "intercept(IdempotencyKey())".
func methodsOfAPolicy() {
    show(APIClient { $0.retry = RetryPolicy(maximumAttempts: 3, methods: [.get, .post]) })
}

// error: Idempotent methods are retried. Where a POST may be, write "idempotent()" after it, or "intercept(IdempotencyKey())".
func statusesAndMethodsOfAPolicy() {
    show(APIClient { $0.retry = RetryPolicy(maximumAttempts: 3, statuses: [.conflict], methods: [.post]) })
}

// error: Write "RetryPolicy(maximumAttempts: 3, backoff: .constant(.seconds(1)))".
func delayOfAPolicy() {
    show(APIClient { $0.retry = RetryPolicy(maximumAttempts: 3, delay: .seconds(1)) })
}

// error: Write "RetryPolicy(maximumAttempts: 3, backoff: .exponential)".
func backoffAsADelay() {
    show(APIClient { $0.retry = RetryPolicy(maximumAttempts: 3, delay: .exponential) })
}

// error: Write "Backoff(base: .seconds(1), factor: 2, limit: .seconds(30))".
func exponentialBackoffWithAFactor() {
    show(APIClient { $0.retry.backoff = .exponential(initial: .seconds(1), factor: 2, max: .seconds(30)) })
}

// error: "Set((500...599).map { HTTPStatus($0) })".
func statusAndRange() {
    show(APIClient { $0.retry = RetryPolicy(maximumAttempts: 5, statuses: [429, 500...599]) })
}

// error: Write ".standard", or "RetryPolicy(maximumAttempts: 3, backoff: .exponential)".
func exponentialBackoffAsAPolicy() {
    show(APIClient { $0.retry = .exponentialBackoff })
}

// error: Write "CircuitBreaker(failureRatio: 0.5, of: 20, openFor: .seconds(30))".
func coolDownOfABreaker() {
    show(CircuitBreaker(threshold: 5, cooldown: .seconds(30)))
}

// error: Call "try stubs.verify()": it throws the first unmatched request.
func unmatchedRequests(stubs: StubTransport) {
    print(stubs.unmatched)
}

// error: Add a last rule: "stubs.on(.any, .status(.notFound))".
func fallbackOfStubs(stubs: StubTransport) {
    stubs.fallback = .status(404)
}

// error: Add a last rule: "stubs.on(.any, .status(.notFound))".
func defaultOfStubs(stubs: StubTransport) {
    stubs.default = .status(.notFound)
}

// error: Write "stubs.on(.any, .status(.notFound))".
func anyOfStubs(stubs: StubTransport) {
    stubs.onAny(.status(404))
}

// error: Write "let stubs = StubTransport()", then "stubs.on(.any) { request in … }".
func closureOfStubs() {
    show(APIClient { $0.transport = StubTransport { request in .json(#"{"id":1}"#) } })
}

// error: Write "let stubs = StubTransport()", then "stubs.on(.get("/users"), .json("[]"))".
func dictionaryOfStubs() {
    show(APIClient { $0.transport = StubTransport([.get("/u"): .json("{}")]) })
}

// error: Write ".key { $0.tags.contains("search") ? "search" : nil }".
func scopeMadeByAClosure() {
    show(RateLimit.fromServer(per: GateScope { $0.tags.contains("search") ? "search" : "core" }))
}

// error: Write "get("users").query(["page": 1])".
func queryArgumentOfData() {
    show(shop.data.get("users", query: ["page": 1]))
}

// error: Write "get("users").query(["page": 1])".
func parametersArgumentOfText() {
    show(shop.string.get("users", parameters: ["page": 1]))
}

// error: Write "get("users").headers(["Accept": "text/plain"])".
func headersArgumentOfData() {
    show(shop.data.get("users", headers: ["Accept": "text/plain"]))
}

// error: Write "post("users").query(["page": 1])".
func queryArgumentOfPostedData() {
    show(shop.data.post("users", query: ["page": 1]))
}

// error: Write "post("users").headers(["Accept": "text/plain"])".
func headersArgumentOfPostedData() {
    show(shop.data.post("users", headers: ["Accept": "text/plain"]))
}

// error: Write "post("users").json(user)".
func jsonArgumentOfPostedData(user: User) {
    show(shop.data.post("users", json: user))
}

// error: Write "post("users").json(user)".
func bodyArgumentOfPostedText(user: User) {
    show(shop.string.post("users", body: user))
}

// error: Write "get("users")" or "post("users")".
func methodArgumentWithoutAModel() {
    show(shop.request("users", method: .post))
}
