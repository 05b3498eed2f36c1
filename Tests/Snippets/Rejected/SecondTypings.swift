import Foundation
import Sluice
import SluiceTesting

// Names and arguments that people try who have read only the documents.

// error: Write "deadline(.after(.seconds(5)))"
func instantAsDeadline() {
    show(shop.get("a", as: User.self).deadline(.now + .seconds(3)))
}

// error: Write "deadline(.after(.seconds(5)))"
func instantOfAClockAsDeadline() {
    show(shop.get("a", as: User.self).deadline(ContinuousClock.now + .seconds(3)))
}

// error: The name is a variable: write "header(HTTPHeaderName(name), value)".
func headerNameOfAVariable(name: String) {
    show(shop.get("a", as: User.self).header(name, "b"))
}

// error: The name is a variable: write "header(HTTPHeaderName(name), value)".
func headerAndValueOfVariables(name: String, value: String?) {
    show(shop.get("a", as: User.self).header(name, value))
}

// error: Write "headers(HTTPHeaders(fields.map { (HTTPHeaderName($0), $1) }))".
func headersOfADictionary(fields: [String: String]) {
    show(shop.get("a", as: User.self).headers(fields))
}

// error: Write "HTTPHeaders(fields.map { (HTTPHeaderName($0), $1) })".
func headerCollectionOfADictionary(fields: [String: String]) {
    show(HTTPHeaders(fields))
}

// error: The name is a variable: write "headers[HTTPHeaderName(name)]".
func headerSetByAVariable(name: String) {
    var headers = HTTPHeaders()
    headers[name] = "v"
    show(headers)
}

// error: The name is a variable: write "headers[HTTPHeaderName(name)]".
func headerReadByAVariable(name: String, headers: HTTPHeaders) {
    print(headers[name] ?? "")
}

// error: The name is a variable: write "append(HTTPHeaderName(name), value)".
func headerAppendedByAVariable(name: String) {
    var headers = HTTPHeaders()
    headers.append(name, "v")
    show(headers)
}

// error: write "Empty", not "Void"
func emptyAsVoid() -> APIRequest<Void, ShopError> {
    shop.empty.delete("a")
}

// error: write "Empty", not "Void"
func emptyRequestAsVoid() -> APIRequest<Void, ShopError> {
    shop.empty.request("a")
}

// error: write "Empty", not "Void"
func emptyBodyAsVoid() -> APIRequest<Void, APIError> {
    shop.empty.post("a").json(["id": 1])
}

// error: Write "client.empty" and "Empty", not "Void"
func voidModel() -> APIRequest<Void, APIError> {
    shop.delete("a")
}

// error: Write "client.empty" and "Empty", not "Void"
func voidModelWithErrorModel() -> APIRequest<Void, ShopError> {
    shop.delete("a")
}

// error: Write "client.empty" and "Empty", not "Void"
func voidModelOfABody() -> APIRequest<Void, ShopError> {
    shop.post("a").json(["id": 1])
}

// error: Leave the array out
func validationOfAnArrayOfClosedRanges() {
    show(Validation(statuses: [200...299, 404...404]))
}

// error: Write ranges: "Validation(statuses: 200...299, 404...404)".
func validationOfNumbers() {
    show(Validation(statuses: [200, 404]))
}

// error: Write ranges of one kind
func validationOfTwoKindsOfRanges() {
    show(Validation(statuses: 200..<300, 404...404))
}

// error: Write ".none" to send a request once.
func noRetryOfAClient() throws {
    show(APIClient(baseURL: "https://shop.example") { $0.retry = nil })
}

// error: Write ".none" to send a request once.
func noRetryOfARequest() {
    show(shop.get("a", as: User.self).retry(nil))
}

// error: Write "JSON(value)"
func doubleAsJSON(price: Double) {
    var json: JSON = [:]
    json["price"] = .double(price)
    show(json)
}

// error: Write "JSON(value)"
func integerAsJSON(count: Int) {
    var json: JSON = [:]
    json["count"] = .int(count)
    show(json)
}

// error: Write "JSON(value)"
func numberAsJSON(price: Double) {
    var json: JSON = [:]
    json["price"] = .number(price)
    show(json)
}

// error: Write "JSON(value)"
func integerNumberAsJSON(count: Int) {
    var json: JSON = [:]
    json["count"] = .number(count)
    show(json)
}

// error: Write "JSON(value)" to set a member
func variableAsMemberOfJSON(price: Double) {
    var json: JSON = [:]
    json["price"] = price
    show(json)
}

// error: Write "JSON(value)"
func optionalAsMemberOfJSON(name: String?) {
    var json: JSON = [:]
    json["name"] = name
    show(json)
}

// error: "json["name"].string" to read one.
func memberOfJSONAsText(json: JSON) -> String? {
    json["name"]
}

// error: The name is a variable: write "remove(HTTPHeaderName(name))".
func headerRemovedByAVariable(name: String) {
    var headers = HTTPHeaders()
    headers.remove(name)
    show(headers)
}

// error: The name is a variable: write "contains(HTTPHeaderName(name))".
func headerFoundByAVariable(name: String, headers: HTTPHeaders) {
    print(headers.contains(name))
}

// error: The name is a variable: write "values(for: HTTPHeaderName(name))".
func headersOfAVariable(name: String, headers: HTTPHeaders) {
    print(headers.values(for: name))
}

// error: Write ".expired".
func expiryOfACertificate(failure: TLSFailure) {
    if failure.check == .expiry { print(failure) }
}

// error: Write ".expired" or ".notYetValid".
func validityOfACertificate(failure: TLSFailure) {
    if failure.check == .validity { print(failure) }
}

// error: Write ".hostName".
func hostnameOfACertificate(failure: TLSFailure) {
    if failure.check == .hostname { print(failure) }
}

// error: Write ".authority" or ".selfSigned".
func trustOfACertificate(failure: TLSFailure) {
    switch failure.check {
    case .trust: print(failure)
    default: break
    }
}

// error: Write ".http1_1".
func versionWithoutMinor(response: APIResponse<User, APIError>) {
    if response.head?.version == .http1 { print(response) }
}

// error: Names are equal in any case. Write "rawValue" for the text.
func lowercasedHeaderName(name: HTTPHeaderName) {
    print(name.lowercased())
}

// error: Write "phases.gates".
func gatesOfARoute(route: RequestMetrics.Route) {
    print(route.gates.count)
}

// error: Write "phases.gates".
func gateTimeOfARoute(route: RequestMetrics.Route) {
    print(route.gateTime.count)
}

// error: Write "phases.gates".
func gateWaitOfARoute(route: RequestMetrics.Route) {
    print(route.gateWait.count)
}

// error: Write "phases.gates".
func waitingOfARoute(route: RequestMetrics.Route) {
    print(route.waiting.count)
}

// error: Write "maximum".
func maximumOfAHistogram(latency: LatencyHistogram) {
    print(latency.max ?? .zero)
}

// error: Write "minimum".
func minimumOfAHistogram(latency: LatencyHistogram) {
    print(latency.min ?? .zero)
}

// error: Write "sum".
func totalOfAHistogram(latency: LatencyHistogram) {
    print(latency.total)
}

// error: Write "mean".
func averageOfAHistogram(latency: LatencyHistogram) {
    print(latency.average ?? .zero)
}

// error: Write "percentile(99)".
func percentileOfAHistogram(latency: LatencyHistogram) {
    print(latency.p99 ?? .zero)
}

// error: Write "sha256("9f86d0…")".
func checksumOfADownload() {
    show(shop.download("a", to: .temporary).checksum(.sha256("00")))
}

// error: Write "header("Idempotency-Key", key)"
func idempotentByAKey(key: String) {
    show(shop.post("a", as: User.self).json(["id": 1]).idempotent(key: key))
}

// error: Give the request its method first
func streamWithAMethod() {
    show(shop.stream("a", method: .put))
}

// error: Write "RateLimit(10, every: .seconds(1))".
func rateLimitPerSecond() {
    show(RateLimit(perSecond: 10))
}

// error: tags: ["account"])".
func cachedTags() {
    show(shop.get("a", as: User.self).cached(tags: ["a"]))
}

// error: tags: ["account"])".
func cachedTagsOneByOne() {
    show(shop.get("a", as: User.self).cached(tags: "a", "b"))
}

// error: Only a response can wait
func asyncRoute() throws {
    let server = try LoopbackServer()
    server.on(.get, "/x") { _ in
        try await Task.sleep(for: .seconds(1))
        return .status(.ok)
    }
}

// error: Only a response can wait
func asyncRouteOfAnyMethod() throws {
    let server = try LoopbackServer()
    server.on("/x") { _ in
        try await Task.sleep(for: .seconds(1))
        return .status(.ok)
    }
}

// error: Give the request a tag
func requestWithoutInterceptors() {
    show(shop.get("a", as: User.self).withoutInterceptors())
}
