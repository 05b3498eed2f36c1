import Foundation
import Sluice
import SluiceTesting

// Members and arguments that people try first.

struct Problem: Decodable, Sendable {
    let title: String
}

func statusOfANumber(_ code: Int) {
    show(HTTPStatus(code))
    show(shop.get("u", as: User.self).stub(.status(HTTPStatus(code))))
    show(HTTPStatus(404))
}

func classOfAStatus() async {
    do {
        show(try await shop.get("u", as: User.self).sender().value)
    } catch {
        if error.status?.isServerError == true || error.status?.isClientError == true { print(error) }
    }
}

func bodyOfAnError() async {
    do {
        show(try await shop.get("u", as: User.self).sender().value)
    } catch {
        let problem = try? error.decoded(as: Problem.self)
        show(problem?.title)
        if let cause = error.authorizationError { print(cause.code) }
    }
}

func authorizationErrorOfATypedError() async {
    do {
        show(try await shop.get("u", as: User.self, error: TypedAPIError<Problem>.self).sender().value)
    } catch {
        if let cause = error.authorizationError { print(cause.code) }
    }
}

func statusOfAFailure() {
    enum Own: ErrorSerializable {
        case signedOut, other(SluiceError)
        init(_ failure: RequestFailure) {
            self = failure.status == .unauthorized ? .signedOut : .other(failure.error)
        }
    }
}

func statusOfAnOutcome() {
    struct Log: Plugin {
        func didReceive(_ outcome: TransportOutcome, context: RequestContext) {
            if outcome.status == 429 { print("slow down") }
        }
    }
    show(RetryPolicy(maximumAttempts: 2) { $0.outcome.status == .unauthorized })
}

func queryOfAnInterceptor() {
    struct Key: RequestAdapter {
        func adapt(_ request: inout HTTPRequest, context: RequestContext) {
            request.addQuery("key", "k3y")
            print(request.url, context.request.url, request.headers["Accept"] ?? "")
        }
    }
}

func cachingOfAClient() {
    show(
        APIClient(baseURL: "https://shop.example") {
            $0.caching = Caching(source: .cacheElseServer, expiration: .days(1), tags: ["catalogue"])
            $0.envelope = Envelope(status: "code", success: 0, payload: "data")
        }
    )
}

func redactionOfACassette(_ file: URL) {
    var redaction = CassetteRedaction()
    redaction.members.append("email")
    show(CassetteTransport(replaying: file, redaction: redaction))
}

func responsesOfAServer() throws {
    let server = try LoopbackServer()
    server.on(.get, "/slow", .text("x").delayed(by: .milliseconds(10)))
    server.on(.get, "/echo") { request in
        let user = try JSONDecoder().decode(User.self, from: request.body)
        return .json(encoding: user)
    }
    server.on("/raw", .raw("HTTP/1.1 200 OK\r\n\r\n"))
    server.on("/status") { _ in .status(404) }
}

func eventsOfARequest(_ event: RequestEvent) {
    switch event {
    case .began(let request), .sending(let request): print(request)
    case .retrying(let delay, let outcome): print(delay, outcome.status as Any)
    case .finished(.failure(let error)): print(error)
    case .finished(.success): print("done")
    case .hedging: print("hedging")
    default: break
    }
}

func downloadedFile() async throws {
    let file = try await shop.download("film", to: .temporary).sender().value
    print(file.url)
}

func membersNamedAsFunctionsOfASequence(_ json: JSON) {
    print(json.name.first.stringValue, json.min.intValue, json.object.stringValue)
    for item in json["items"].arrayValue { print(item.name.stringValue) }
}

func interceptorsOfBothKinds() {
    struct Waiting: RequestInterceptor {
        func intercept(_ request: HTTPRequest, context: RequestContext) async throws -> HTTPRequest { request }
    }
    struct Immediate: RequestInterceptor {
        func intercept(_ request: HTTPRequest, context: RequestContext) -> HTTPRequest { request }
    }
    struct Tenant: RequestAdapter {
        func adapt(_ request: inout HTTPRequest, context: RequestContext) { request.headers["X-Tenant"] = "a" }
    }
    struct Both: RequestAdapter, OutcomeAdapter {
        func adapt(_ request: inout HTTPRequest, context: RequestContext) {}
        func adapt(_ outcome: inout TransportOutcome, context: RequestContext) {}
    }
    struct Rewritten: ResponseInterceptor {
        func intercept(_ outcome: TransportOutcome, context: RequestContext) async -> TransportOutcome { outcome }
    }
    show([Waiting(), Immediate(), Tenant(), Both()] as [any RequestInterceptor])
    show([Both(), Rewritten()] as [any ResponseInterceptor])
}

func rangesOfAValidation() {
    show(Validation())
    show(Validation(statuses: [200..<300, 404..<405]))
    show(Validation(statuses: 200..<300))
    show(Validation(statuses: 200..<300, 404..<405, contentTypes: ["application/json"]))
    show(Validation(statuses: 200...299, 404...404))
    show(shop.get("u", as: User.self).validate(Validation(statuses: 200...299, contentTypes: ["text/*"])))
}

func parametersOfADictionary(_ settings: [String: any Encodable & Sendable], _ names: [String: String]) {
    show(Parameters(settings))
    show(Parameters(names, nilValues: .null))
    show(Parameters(["name": "Ada", "age": nil, "tags": ["a", "b"]]))
    show(shop.post("u", as: User.self).json(Parameters(settings)))
    show(shop.get("u", as: User.self).query(Parameters(names)))
}

func namesOfHeaders(_ name: String, _ fields: [String: String]) {
    var headers = HTTPHeaders(fields.map { (HTTPHeaderName($0), $1) })
    headers["Accept"] = "text/plain"
    headers["X-\(name)"] = name
    headers[HTTPHeaderName(name)] = nil
    headers.append("Accept", "*/*")
    headers.append("X-\(name)", name)
    headers.append(.accept, name)
    headers.remove("Accept")
    if headers.contains("X-\(name)") || headers.contains(.accept) { print(headers.values(for: "Accept")) }
    show(headers)
    print(headers["Accept"] ?? "", headers["X-\(name)"] ?? "")
    let copy = HTTPHeaders([("Accept", "text/plain")])
    show(shop.get("u", as: User.self).header("Accept", name).header("X-\(name)", nil).header(.accept, "*/*"))
    show(shop.get("u", as: User.self).headers(["Accept": name]).headers(copy))
}

func requestsWithoutAModel() -> [APIRequest<Empty, ShopError>] {
    [shop.empty.delete("a"), shop.empty.post("a").json(["id": 1]), shop.empty.request("a")]
}

func policiesThatAreOptional(_ policy: RetryPolicy?) {
    let none: RetryPolicy? = nil
    if policy == nil { show(none) }
    show(shop.get("u", as: User.self).retry(.none))
    show(APIClient(baseURL: "https://shop.example") { $0.retry = .none })
}

func membersOfJSON(_ price: Double, _ name: String?) {
    var empty = JSON()
    empty["count"] = 1
    show(empty)
    var json: JSON = ["price": JSON(price), "name": JSON(name), "tags": ["a", 1, nil]]
    json["price"] = 2.5
    json["count"] = 3
    json["name"] = nil
    json["name"] = JSON(name)
    json["items"][0]["price"] = JSON(price)
    json["list"][0]["name"] = "Ada"
    json.owner.name = "Ada"
    if case .number(let number) = json["price"] { show(number) }
    if let number = json["price"].double, let count = json["items"][0]["count"].int { print(number, count) }
    print(json["name"].stringValue, json["items"][0]["price"].doubleValue, json["name"] == "Ada")
    for item in json["items"].arrayValue { print(item["name"].stringValue) }
}

func deadlineOfTypedErrors() async throws(APIError) {
    let text = try await Deadline.withDeadline(.seconds(1)) { () async throws(APIError) -> String in
        try await shop.string.get("x").sender().value
    }
    show(text)
    show(await Deadline.withDeadline(.seconds(1)) { await shop.string.get("x").sender().result })
}

@MainActor func oneMorePage() async throws(APIError) {
    var pages = shop.get("users", as: [User].self).pages(by: .link).makeAsyncIterator()
    show(try await pages.next(isolation: #isolation) ?? [])
}
