import Sluice

// Plugins, targets, batches, chains and services, as programs that came from other libraries write them.

enum Store: Target {
    case user(Int)
    case search(String, page: Int)
    case create(User)

    var baseURL: String { "https://store.example" }
    var path: String {
        switch self {
        case .user(let id): "users/\(id)"
        case .search: "search"
        case .create: "users"
        }
    }
    var method: HTTPMethod {
        if case .create = self { .post } else { .get }
    }
    var task: RequestTask {
        switch self {
        case .user: .plain
        case .search(let words, let page): .parameters(["q": words, "page": page])
        case .create(let user): .json(user)
        }
    }
    var dataSource: DataSource? {
        if case .search = self { .cacheElseServer } else { nil }
    }
    var cacheExpiration: CacheExpiration? { .days(1) }
    var userInfo: [String: any Sendable] { ["origin": "store"] }
}

struct SignedIn: Constraint {
    func isSatisfied(for request: RequestContext) async -> Bool { true }
    func satisfy(for request: RequestContext) async throws {}
}

enum StoreService {
    static let server = APIClient(baseURL: "https://store.example")

    static func user(_ id: Int) -> APIRequest<User, ShopError> { server.get("users/\(id)") }
    static func users() -> APIRequest<[User], ShopError> { server.get("users") }
    static func create(_ user: User) -> APIRequest<User, ShopError> { server.post("users").json(user) }
    static func remove(_ id: Int) -> APIRequest<Empty, ShopError> { server.empty.delete("users/\(id)") }
    static func motto() -> APIRequest<String, ShopError> { server.string.get("motto") }
}

func pluginOfATarget() {
    struct Analytics: Plugin {
        func willSend(_ request: HTTPRequest, context: RequestContext) {
            if case Store.user(let id) = context.endpoint { print("user \(id)") }
            switch context.endpoint {
            case Store.search(let words, _): print(words)
            case let other as Store: print(other.path)
            default: break
            }
            guard let target = context.endpoint as? Store else { return }
            print(target.path)
        }
    }
    show(APIClient { $0.plugins = [Analytics()] })
}

func pluginOfResults() {
    struct Results: Plugin {
        func didFinish(_ result: Result<any Sendable, any Error>, context: RequestContext) {
            switch result {
            case .success(let user as User): print(user.name)
            case .success(let model): print(type(of: model))
            case .failure(let error as ShopError): print(error.message)
            case .failure(let error): print(error, context.id, context.attempt)
            }
        }
    }
    show(shop.get("users/1", as: User.self).plugin(Results()))
}

func pluginWithUserInfo() {
    struct Screens: Plugin {
        func prepare(_ request: HTTPRequest, context: RequestContext) async throws -> HTTPRequest {
            var request = request
            if let screen = context.userInfo["screen"] as? String { request.headers["X-Screen"] = screen }
            return request
        }
    }
    let client = APIClient(baseURL: "https://shop.example") { $0.plugins = [Screens()] }
    show(client.get("users/1", as: User.self).userInfo("screen", "start").userInfo("count", 1))
}

func contextOfATest() {
    let request = HTTPRequest(scheme: "https", authority: "shop.example", path: "/")
    show(RequestContext(request: request, endpoint: Store.user(1), userInfo: ["screen": "start"]).userInfo)
}

func timeoutOfAnInterceptor() {
    struct Reports: RequestAdapter {
        func adapt(_ request: inout HTTPRequest, context: RequestContext) {
            if context.tags.contains("report") { request.setTimeouts(total: .seconds(120), idle: .seconds(60)) }
        }
    }
    show(APIClient { $0.requestInterceptors = [Reports()] })
}

func timeoutOfARequestMapping() {
    let client = APIClient {
        $0.requestMapping = { request in
            var request = request
            request.setTimeouts(total: .seconds(5))
            return request
        }
    }
    show(client)
}

func queryOfATargetReplaced() {
    let next: APIRequest<[User], ShopError> = shop.request(Store.search("tea", page: 1))
    show(next.withoutQuery("page").query("page", 2))
    show(next.withoutQuery("page", "q"))
    show(next.withoutQuery())
}

func queryReplacedInAMapping() {
    let client = APIClient {
        $0.endpointMapping = { endpoint, draft in
            guard case Store.search = endpoint else { return draft }
            return draft.withoutQuery("page").query("limit", 50)
        }
    }
    show(client)
}

func cachedTarget() async throws {
    let found: [User] = try await shop.request(Store.search("tea", page: 1)).sender().value
    let fresh: [User] = try await shop.request(Store.search("tea", page: 1)).dataSource(.server).sender().value
    show([found, fresh])
}

func gateSkippedByType() {
    show(shop.get("motto", as: String.self).withoutGate(OAuth2.self))
    show(shop.get("motto", as: String.self).withoutGate(SignedIn.self))
    show(shop.get("motto", as: String.self).withoutGate(RateLimit.self, CircuitBreaker.self).withoutGate(SignedIn.self))
    show(shop.get("motto", as: String.self).withoutGate(named: "orders", "search"))
}

func activityOfRequests() {
    let activity = ActivityCounter { isActive, request in
        if case Store.user = request.endpoint { print(isActive, request.route, request.tags) }
    }
    show(APIClient { $0.observers = [activity] })
    print(activity.requests.map(\.route))
}

func activityOfAll() async {
    let activity = ActivityCounter { isActive in print(isActive) }
    let short = ActivityCounter { print($0) }
    let quiet = ActivityCounter()
    for await isActive in quiet.changes { print(isActive, activity.count, short.count) }
}

func responsesOfABatch() async throws {
    let sender = shop.batchSender([1, 2].map { shop.get("users/\($0)", as: User.self) }, failsFast: false)
    for response in await sender.responses {
        print(response.status ?? 0, response.head?.headers["ETag"] ?? "", response.body.count)
    }
    let names = await sender.results.compactMap { try? $0.get().name }
    show(names)
}

func responsesOfATuple() async {
    let (user, orders) = await shop.batchSender(
        shop.get("users/1", as: User.self),
        shop.get("orders", as: [Order].self, error: ShopError.self)
    ).responses
    print(user.status ?? 0, orders.failure?.code ?? "none")
}

func progressOfAChain() async throws {
    let order: APIRequest<Order, ShopError> = shop.post("orders").json(["id": 1])
    let chain = shop.chain(order) { response in
        guard let order = try? response.result.get(), order.total == 0 else { return nil }
        return shop.get("orders/\(order.id)")
    }
    let bar = Task { for await progress in chain.progress { print(progress.request, progress.download.completed) } }
    for try await response in chain { print(response.status ?? 0) }
    await bar.value
}

func postsWithoutABodyInABatch() async throws {
    let start = shop.post("start", as: Order.self)
    let (order, user) = try await shop.batch(start, shop.get("users/1", as: User.self))
    let orders = try await shop.batch([start, start])
    show((order, user, orders))
}

func postWithoutABodyInAChain() async throws {
    let start = shop.post("start", as: Order.self)
    for try await response in shop.chain(start, next: { _ in nil }) { print(response.status ?? 0) }
    show(ChainLink<Int>(start) { $0.status?.rawValue ?? 0 })
}

func postsWithoutABodyInAGraph() async throws {
    let start = shop.post("start", as: Order.self)
    var graph = RequestGraph()
    let order = graph.add("order", start)
    let user = graph.add("user", after: order) { order in shop.get("users/\(order.id)", as: User.self) }
    print(try await graph.run().value(of: user).name)
}

func postWithoutABodyReadInEachWay() async throws {
    let start = shop.post("start", as: [Order].self)
    for try await order in start.pages(by: .link).items(\.self) { show(order) }
    for try await line in start.stream().lines { print(line) }
    print(try await start.download(to: .temporary).sender().responseURL)
    start.send { response in print(response.status ?? 0) }
}

func functionOfAnyRequest() async throws {
    func load<Request: TypedRequest>(_ request: Request) async throws(Request.ErrorModel) -> Request.Model {
        try await request.sender().value
    }
    func loadUser(_ request: some TypedRequest<User, ShopError>) async throws -> User {
        try await request.sender().value
    }
    let user = try await load(shop.get("users/1", as: User.self))
    let start = try await load(shop.post("start", as: Order.self))
    let other = try await loadUser(shop.get("users/1"))
    show((user, start, other))
}

func staticService() async throws {
    let user = try await StoreService.user(1).sender().value
    _ = try await StoreService.remove(user.id).sender().value
    print(try await StoreService.motto().sender().value, try await StoreService.users().sender().value.count)
    let result = await StoreService.create(user).sender().result
    if case .failure(let error) = result { print(error.message) }
}

func modelThatIsAFinalClass() async throws {
    final class Box: Codable, Sendable {
        let id: Int

        init(id: Int) { self.id = id }
    }
    let box: Box = try await shop.get("boxes/1").sender().value
    print(box.id)
}

func modelsThatAreSubclasses() async throws {
    class Animal: Codable, @unchecked Sendable {
        let name: String

        init(name: String) { self.name = name }
    }
    final class Dog: Animal, @unchecked Sendable {}
    let animals: [Animal] = try await shop.get("animals").sender().value
    let dog = try await shop.get("dogs/1", as: Dog.self).sender().value
    print(animals.count, dog.name)
}

@MainActor func modelOfTheMainActor() async throws {
    @MainActor class Profile {
        var name = ""

        func load() async throws { name = try await shop.get("users/1", as: User.self).sender().value.name }
    }
    let profile = Profile()
    try await profile.load()
    print(profile.name)
}

func functionsOfAPlugin(
    _ plugin: any Plugin,
    _ request: HTTPRequest,
    _ error: APIError,
    _ context: RequestContext
) async throws {
    struct Empty: Plugin {}
    struct Tracker: Plugin {
        func didReceive(_ outcome: TransportOutcome, context: RequestContext) {
            if case .success(let response) = outcome { didReceive(response, context: context) }
        }
        private func didReceive(_ response: ServerResponse, context: RequestContext) { print(response.head.status) }
        func didFinish(_ result: Result<any Sendable, any Error>, context: RequestContext) {}
    }
    let tracker = Tracker()
    tracker.didReceive(.failure(error.error), context: context)
    tracker.didFinish(.failure(error), context: context)
    Empty().didFinish(.failure(error), context: context)
    plugin.didFinish(.failure(error), context: context)
    plugin.didFinish(.success(1), context: context)
    plugin.willSend(try await plugin.prepare(request, context: context), context: context)
    _ = try await Empty().prepare(request, context: context)
    plugin.didReceive(await plugin.process(.failure(error.error), context: context), context: context)
    let outcome = await Empty().process(.failure(error.error), context: context)
    Empty().didReceive(outcome, context: context)
}

func interestsOfAnObserver(_ observer: any RequestObserver) {
    struct Ends: RequestObserver {
        var interests: [RequestEvent.Kinds] { [.finished] }
        func observe(_ event: RequestEvent, of request: ObservedRequest) {}
    }
    if observer.interests.contains(.began) { show([observer, Ends()]) }
}
