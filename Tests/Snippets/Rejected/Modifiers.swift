import Foundation
import Sluice

// Modifiers as other libraries name them, or with arguments that they do not take.

private let request = shop.get("users/1", as: User.self)

// error: Give the time-out a unit: "timeout(.seconds(5))".
func timeoutInt() {
    show(request.timeout(5))
}

// error: Give the time-out a unit: "timeout(.seconds(5))".
func timeoutDouble() {
    show(request.timeout(2.5))
}

// error: Give the time-out a unit: "timeout(.seconds(5))".
func timeoutInterval() {
    let t: TimeInterval = 5
    show(request.timeout(t))
}

// error: Give the time-out a unit: "timeout(total: .seconds(5))".
func timeoutTotalInt() {
    show(request.timeout(total: 5))
}

// error: Write "timeout(.seconds(5))".
func timeoutSecondsLabel() {
    show(request.timeout(seconds: 5))
}

// error: Write "timeout(.seconds(5))".
func timeoutIntervalLabel() {
    show(request.timeoutInterval(5))
}

// error: A deadline is a point in time: "deadline(.after(.seconds(5)))".
func deadlineDuration() {
    show(request.deadline(.seconds(5)))
}

// error: Write "deadline(.after(.seconds(5)))".
func deadlineDate() {
    show(request.deadline(Date().addingTimeInterval(5)))
}

// error: Set several headers with "headers(["Accept": "text/plain"])".
func headerDict() {
    show(request.header(["a": "b"]))
}

// error: Write "header("Accept", "text/plain")", without labels.
func headerNameValue() {
    show(request.header(name: "a", value: "b"))
}

// error: Name the header first: "header("Accept", "text/plain")".
func headerForName() {
    show(request.header("b", for: "a"))
}

// error: Write "header("Accept", "text/plain")".
func headerForHTTPHeaderField() {
    show(request.setValue("b", forHTTPHeaderField: "a"))
}

// error: Write "header(name, value)"; it replaces an earlier value.
func addHeader() {
    show(request.addHeader("a", "b"))
}

// error: Write the value of a header as text: "header("X-Count", "\(count)")".
func headerInt() {
    show(request.header("X-Count", 5))
}

// error: Write "intercept(BearerToken(token))", sent to the client's origin only.
func bearerAuth() {
    show(request.bearerAuthorization("t"))
}

// error: Write "basicAuthorization("ada", "s3cret")", without labels.
func basicLabels() {
    show(request.basicAuthorization(user: "ada", password: "s3cret"))
}

// error: Write "basicAuthorization(user, password)", or answer challenges with "credentials(ChallengeCredentials(user: user, password: password))".
func authenticate() {
    show(request.authenticate(username: "a", password: "b"))
}

// error: Write "header("User-Agent", text)", or give the client a "UserAgent".
func userAgent() {
    show(request.userAgent("acme/1.0"))
}

// error: Write "query("page", "2")", without labels.
func queryNameValue() {
    show(request.query(name: "a", value: "b"))
}

// error: Write names and values: "query(["page": 2, "name": name])".
func queryItems() {
    show(request.query([URLQueryItem(name: "a", value: "b")]))
}

// error: Write "query(["page": 2, "name": name])".
func queryItemsName() {
    show(request.queryItems([URLQueryItem(name: "a", value: "b")]))
}

// error: The types of the values are not known: pass "try Parameters(any: values)".
func queryAnyDict() {
    let p: [String: Any] = ["a": 1]
    show(request.query(p))
}

// error: Make the enum Encodable, or pass its "rawValue".
func queryEnumRaw() {
    enum Sort: String { case name }
    show(request.query("sort", Sort.name))
}

// error: Write names and values as a dictionary: "query(["page": "2"])".
func queryTuplePairs() {
    show(request.query([("a", "1"), ("b", "2")]))
}

// error: Write "query(name, value)" or "parameters([name: value])".
func parameterMethod() {
    show(request.parameter("a", 1))
}

// error: Write the tags one after the other: "tags("public", "prices")".
func tagsArray() {
    show(request.tags(["a", "b"]))
}

// error: Write "tags("public")".
func tagSingle() {
    show(request.tag("a"))
}

// error: Write "retry(RetryPolicy(maximumAttempts: 3))".
func retryInt() {
    show(request.retry(3))
}

// error: Write "retry(RetryPolicy(maximumAttempts: 3))".
func retryTimes() {
    show(request.retry(times: 3))
}

// error: Write "retry(RetryPolicy(maximumAttempts: 3))".
func retryMax() {
    show(request.retry(maximumAttempts: 3))
}

// error: Write "retry(RetryPolicy(maximumAttempts: 3))".
func retryAttempts() {
    show(request.retry(attempts: 3))
}

// error: Write "retry(policy)".
func retryOkay() {
    show(request.retryPolicy(.standard))
}

// error: Write "hedged(.after(.milliseconds(300)))".
func hedgedAfter() {
    show(request.hedged(after: .milliseconds(300)))
}

// error: Write "header("Idempotency-Key", key)", or "intercept(IdempotencyKey())" for a random key.
func idempotencyKey() {
    show(request.idempotencyKey("abc"))
}

// error: Write "redirects(RedirectPolicy(limit: 3))".
func redirectsInt() {
    show(request.redirects(3))
}

// error: Write "redirects(RedirectPolicy(limit: 3))".
func redirectsLimit() {
    show(request.redirects(limit: 3))
}

// error: Write "redirects(.none)" to follow no redirect.
func followRedirects() {
    show(request.followsRedirects(false))
}

// error: Set "decide" of a RedirectPolicy, and pass it: "redirects(policy)".
func redirectClosure() {
    show(request.redirects { $0.leavesOrigin ? .stop : .follow })
}

// error: A client has the jar, "$0.cookies = CookieJar()", and "cookies(false)" sends a request without it.
func cookiesNil() {
    show(request.cookies(nil))
}

// error: A client has the jar, "$0.cookies = CookieJar()", and "cookies(false)" sends a request without it.
func cookiesNone() {
    show(request.cookies(.none))
}

// error: Write "header("Cookie", "name=value")", or give the client a cookie jar: "$0.cookies = CookieJar()".
func cookiesDict() {
    show(request.cookies(["a": "b"]))
}

// error: Write "header("Cookie", "name=value")", or give the client a cookie jar: "$0.cookies = CookieJar()".
func cookiesPair() {
    show(request.cookie("a", "b"))
}

// error: A client has the jar, "$0.cookies = CookieJar()", and "cookies(false)" sends a request without it.
func cookiesJar() {
    show(request.cookies(CookieJar()))
}

// error: Write "validate(statuses: 200..<300)".
func validateRange() {
    show(request.validate(200..<300))
}

// error: Write "validate(statuses: 200)".
func validateStatusInt() {
    show(request.validate(status: 200))
}

// error: Write the statuses without an array: "validate(statuses: .ok, .notFound)".
func validateStatusesArray() {
    show(request.validate(statuses: [200, 404]))
}

// error: Write "validate(statuses: 200..<300)".
func validateStatusCode() {
    show(request.validate(statusCode: 200..<300))
}

// error: Leave "validate()" out: any other status than 2xx fails already.
func validateAlone() {
    show(request.validate())
}

// error: Write "validate(contentTypes: "application/json", "text/plain")".
func validateContentType() {
    show(request.validate(contentType: ["application/json"]))
}

// error: Write types one by one, or "validate(Validation(contentTypes: types))".
func validateContentTypesArray() {
    show(request.validate(contentTypes: ["application/json"]))
}

// error: A rule gets the head and the body: "validate { head, body in … }".
func validateClosureOne() {
    show(request.validate { response in if response.status == 204 { throw CancellationError() } })
}

// error: Write the statuses without an array: "validate(statuses: .ok, .notFound)".
func validateHTTPStatus() {
    show(request.validate(statuses: [.ok, .notFound]))
}

// error: Write ".reload".
func cachePolicyURLSession() {
    show(request.cachePolicy(.reloadIgnoringLocalCacheData))
}

// error: Write "dataSource(.cacheElseServer)" in place of "cachePolicy".
func cachePolicyElse() {
    show(request.cachePolicy(.returnCacheDataElseLoad))
}

// error: Give the expiration a unit: "expiration: .seconds(60)".
func cacheExpirationInt() {
    show(request.dataSource(.cacheElseServer, expiration: 60))
}

// error: Write "dataSource(.cacheElseServer, expiration: .seconds(60))".
func cacheFor() {
    show(request.cache(for: .seconds(60)))
}

// error: Write "cachePolicy(.reload)".
func noCache() {
    show(request.noCache())
}

// error: Write "credentials(ChallengeCredentials(user: user, password: password))".
func credentialsUserPassword() {
    show(request.credentials(user: "a", password: "b"))
}

// error: Declare a RequestAdapter, and pass it: "intercept(Tenant())".
func interceptClosure() {
    show(request.intercept { request in request.headers["a"] = "b" })
}

// error: Declare a RequestAdapter, and pass it: "intercept(Tenant())".
func interceptClosure2() {
    show(request.intercept { request, context in request.headers["a"] = "b" })
}

// error: Add the interceptors one by one: "intercept(first).intercept(second)".
func interceptorArray() {
    show(request.intercept([BearerToken("x"), UserAgent(product: "a", version: "1")]))
}

// error: Write "intercept(interceptor)".
func interceptorLabel() {
    show(request.interceptor(BearerToken("x")))
}

// error: Write "observer(observer)".
func observeOne() {
    show(request.observe(RequestLog()))
}

// error: Add the observers one by one: "observer(first).observer(second)".
func observersArray() {
    show(request.observers([RequestLog()]))
}

// error: Declare a RequestObserver, and pass it: "observer(SlowRequests())".
func observerClosure() {
    show(request.observer { event in print(event) })
}

// error: Add the plugins one by one: "plugin(first).plugin(second)".
func pluginsArray() {
    struct P: Plugin {}
    show(request.plugins([P()]))
}

// error: Write "withoutGate(OAuth2.self)", or "withoutGate(named: "limit")".
func withoutGateName() {
    show(request.withoutGate("OAuth2"))
}

// error: Write "client.codable(modelDecoder: decoder).get("users")".
func decoderSet() {
    show(request.decoder(JSONDecoder()))
}

// error: Write "client.codable(modelDecoder: decoder).get("users")".
func modelDecoder() {
    show(request.modelDecoder(JSONDecoder()))
}

// error: Begin with "async let value = sender.value", then write "for await progress in sender.downloadProgress".
func onProgress() {
    show(request.downloadProgress { print($0.fractionCompleted ?? 0) })
}

// error: Begin with "async let value = sender.value", then write "for await progress in sender.uploadProgress".
func uploadProgressClosure() {
    show(request.uploadProgress { progress in print(progress) })
}

// error: Gates belong to a client: "$0.gates = [RateLimit(10, every: .seconds(1))]".
func gateOnRequest() {
    show(request.gate(RateLimit(10, every: .seconds(1))))
}

// error: Proxies belong to a client: "$0.connection.proxy = proxy".
func proxyOnRequest() {
    show(request.proxy(.http("p:3128")))
}

// error: Write "intercept(CompressBody())".
func compress() {
    show(request.compressed())
}

// error: Write "try request.httpRequest().curlCommand()".
func cURLDescription() {
    print(request.cURLDescription())
}

// error: Write "dataSource(.cacheElseServer, tags: ["account"])".
func cacheTags0() {
    show(shop.get("a", as: User.self).cacheTags("a", "b"))
}

// error: Write "dataSource(.cacheElseServer, tags: ["account"])".
func cacheTags1() {
    show(shop.get("a", as: User.self).cacheTags(["a"]))
}

// error: Write "dataSource(.cacheElseServer, tags: ["account"])".
func cacheTags2() {
    show(shop.get("a", as: User.self).cacheTag("a"))
}
