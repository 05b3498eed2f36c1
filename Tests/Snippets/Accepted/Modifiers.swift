import Foundation
import Sluice

// The modifiers of a request, as first written.

private let request = shop.get("users/1", as: User.self)

func timeoutDuration() {
    show(request.timeout(.seconds(5)))
}

func timeoutConnect() {
    show(request.timeout(connect: .seconds(2), idle: .seconds(3)))
}

func timeoutsValue() {
    show(request.timeouts(Timeouts(total: .seconds(5))))
}

func timeoutsLiteral() {
    show(request.timeouts(.init(connect: .seconds(1))))
}

func deadlineAfter() {
    show(request.deadline(.after(.seconds(5))))
}

func headerPair() {
    show(request.header("a", "b"))
}

func headersDict() {
    show(request.headers(["a": "b"]))
}

func headersHTTP() {
    let h: HTTPHeaders = ["Accept": "text/plain"]
    show(request.headers(h))
}

func headerOptional() {
    let token: String? = nil
    show(request.header("X-Token", token))
}

func headerInterpolated() {
    let id = 5
    show(request.header("X-ID", "\(id)"))
}

func headerTypedName() {
    show(request.header(.accept, "text/plain"))
}

func headerAuthorization() {
    show(request.header(.authorization, "Bearer x"))
}

func headerAccept() {
    show(request.accept("application/json"))
}

func basic() {
    show(request.basicAuthorization("ada", "s3cret"))
}

func contentType() {
    show(request.contentType("application/json"))
}

func queryPair() {
    show(request.query("a", 1))
}

func queryPairString() {
    show(request.query("a", "b"))
}

func queryDictInt() {
    show(request.query(["a": 1]))
}

func queryDictMixed() {
    show(request.query(["a": 1, "b": "c", "d": true]))
}

func queryDictNil() {
    let s: String? = nil
    show(request.query(["a": 1, "b": s]))
}

func queryDictNilLiteral() {
    show(request.query(["a": 1, "b": nil]))
}

func queryStringDict() {
    let p: [String: String] = ["a": "1"]
    show(request.query(p))
}

func queryOptionalDict() {
    let p: [String: String?] = ["a": "1"]
    show(request.query(p))
}

func queryArrayValue() {
    show(request.query("tags", ["a", "b"]))
}

func queryOptionalValue() {
    let c: String? = nil
    show(request.query("city", c))
}

func queryEncodable() {
    struct Q: Encodable, Sendable { var a = 1 }
    show(request.query(Q()))
}

func queryEncodableNotSendable() {
    struct Q: Encodable { var a = [1] }
    show(request.query(Q()))
}

func queryEnum() {
    enum Sort: String, Encodable { case name }
    show(request.query("sort", Sort.name))
}

func queryDate() {
    show(request.query("since", Date()))
}

func queryUUID() {
    show(request.query("id", UUID()))
}

func queryURL() {
    show(request.query("u", URL(filePath: "/a")))
}

func queryLabelEncoder() {
    show(request.query(["a": [1, 2]], encoder: URLEncodedFormEncoder(arrayEncoding: .noBrackets)))
}

func queryBuiltDictionary() {
    var p = ["a": 1]
    p["b"] = 2
    show(request.query(p))
}

func queryParametersVar() {
    var p: Parameters = ["a": 1]
    p["b"] = "x"
    show(request.query(p))
}

func parametersDict() {
    show(request.parameters(["a": 1]))
}

func tagsVariadic() {
    show(request.tags("a", "b"))
}

func routeSet() {
    show(request.route("users/{id}"))
}

func priorityHigh() {
    show(request.priority(.high))
}

func retryStandard() {
    show(request.retry(.standard))
}

func retryNone() {
    show(request.retry(.none))
}

func retryPolicy() {
    show(request.retry(RetryPolicy(maximumAttempts: 3)))
}

func retryShort() {
    show(request.retry(.init(maximumAttempts: 5)))
}

func retryShould() {
    var policy = RetryPolicy.standard
    policy.shouldRetry = { proposal in proposal.attempt < 2 }
    show(request.retry(policy))
}

func retryBackoffConstant() {
    show(request.retry(RetryPolicy(maximumAttempts: 3, backoff: .constant(.seconds(1)))))
}

func hedged() {
    show(request.hedged(.after(.milliseconds(300))))
}

func idempotent() {
    show(request.idempotent())
}

func redirectsNone() {
    show(request.redirects(.none))
}

func redirectsPolicy() {
    show(request.redirects(RedirectPolicy(limit: 3)))
}

func cookiesFalse() {
    show(request.cookies(false))
}

func validateStatuses() {
    show(request.validate(statuses: 200..<300))
}

func validateSingleStatuses() {
    show(request.validate(statuses: 200, 404))
    show(request.validate(statuses: .ok, .notFound))
    show(request.validate(statuses: 304))
}

func validateClosedRange() {
    show(request.validate(statuses: 200...299))
}

func validateContentTypes() {
    show(request.validate(contentTypes: "application/json", "text/plain"))
}

func validateNone() {
    show(request.validate(.none))
}

func validateClosure() {
    show(request.validate { head, body in if body.isEmpty { throw CancellationError() } })
}

func cachePolicyReload() {
    show(request.cachePolicy(.reload))
}

func cacheOnly() {
    show(request.dataSource(.cache))
}

func cacheElse() {
    show(request.dataSource(.cacheElseServer))
}

func cacheThen() {
    show(request.dataSource(.cacheThenServer))
}

func cacheExpirationDays() {
    show(request.dataSource(.cacheElseServer, expiration: .days(1)))
}

func cacheExpirationSeconds() {
    show(request.dataSource(.cacheElseServer, expiration: .seconds(60)))
}

func cachePartition() {
    show(request.cachePartition("u"))
}

func httpCachingNil() {
    show(request.httpCaching(nil))
}

func cacheTags() {
    show(request.dataSource(.cacheElseServer, tags: ["a"]))
}

func credentialsNil() {
    show(request.credentials(nil))
}

func credentialsValue() {
    show(request.credentials(ChallengeCredentials(user: "a", password: "b")))
}

func interceptOne() {
    show(request.intercept(BearerToken("x")))
}

func observerOne() {
    show(request.observer(RequestLog()))
}

func pluginOne() {
    struct P: Plugin {}
    show(request.plugin(P()))
}

func withoutGates() {
    show(request.withoutGates())
}

func withoutGateType() {
    show(request.withoutGate(OAuth2.self))
}

func stubJSON() {
    show(request.stub(.json(#"{"id":1}"#)))
}

func stubStatus() {
    show(request.stub(.status(404)))
}

func stubStatusName() {
    show(request.stub(.status(.notFound)))
}

func stubMode() {
    show(request.stub(.text("a"), mode: .immediate))
}

func stubFile() {
    show(request.stub(.file(URL(filePath: "/tmp/a"))))
}

func keyPathText() {
    show(request.keyPath("data.user"))
}

func envelopeOff() {
    show(request.envelope(nil))
}

func envelopeOn() {
    show(request.envelope(Envelope(status: "code", success: 0, message: "msg", payload: "data")))
}

func allowingEmpty() {
    show(request.allowingEmptyBody())
}

func hostSet() {
    show(request.host("cdn.example"))
}

func baseURLSet() {
    show(request.baseURL("https://b.example"))
}

func limitsBody() {
    show(request.limits(ResponseLimits(body: 1 << 20)))
}

func sharedIt() {
    show(request.shared())
}

func methodSet() {
    show(request.method(.put))
}

func expectsContinue() {
    show(request.expectsContinue())
}

func pathAppend() {
    show(request.path("users/2"))
}

func loggedCURL() throws {
    print(try request.httpRequest().curlCommand())
}
