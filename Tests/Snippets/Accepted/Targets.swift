import Foundation
import Sluice

// Targets, stubs and status rules.

func plainTarget() async throws {
    enum Shop: Target {
        case user(Int), motto
        var baseURL: String { "https://shop.example" }
        var path: String {
            switch self {
            case .user(let id): "users/\(id)"
            case .motto: "motto"
            }
        }
    }
    let user: User = try await shop.request(Shop.user(1)).sender().value
    let motto = try await shop.string.request(Shop.motto).sender().value
    show(user.name + motto)
}

func targetOfMethodAndTask() async throws {
    enum Shop: Target {
        case user(Int), create(User)
        var baseURL: String { "https://shop.example" }
        var path: String {
            switch self {
            case .user(let id): "users/\(id)"
            case .create: "users"
            }
        }
        var method: HTTPMethod {
            switch self {
            case .user: .get
            case .create: .post
            }
        }
        var task: RequestTask {
            switch self {
            case .user: .plain
            case .create(let user): .json(user)
            }
        }
    }
    let user: User = try await shop.request(Shop.create(User(id: 1, name: "Ada"))).sender().value
    show(user)
}

func targetWhoseTasksSayTheMethod() async throws {
    enum Shop: Target {
        case user(Int), search(String), create(User), rename(Int, String), remove(Int), picture(Data), lock
        var baseURL: String { "https://shop.example" }
        var path: String { "users" }
        var task: MethodTask {
            switch self {
            case .user: .get()
            case .search(let words): .get(.parameters(["q": words, "page": 1]))
            case .create(let user): .post(.json(user).query(["notify": true]))
            case .rename(_, let name): .patch(.json(["name": name]))
            case .remove: .delete()
            case .picture(let data): .put(.data(data, contentType: "image/png"))
            case .lock: .init("LOCK")
            }
        }
    }
    let users: [User] = try await shop.request(Shop.search("ada")).sender().value
    show(users)
}

func targetOfOneMethod() {
    struct Login: Target {
        let name: String
        var baseURL: String { "https://shop.example" }
        var path: String { "login" }
        var method: HTTPMethod { .post }
        var task: RequestTask { .form(["name": name]) }
    }
    show(shop.request(Login(name: "ada"), as: User.self))
}

func structWithStoredProperties() {
    struct Page: Target {
        let baseURL: String
        let path: String
        let method: HTTPMethod
        let task: RequestTask
    }
    let page = Page(baseURL: "https://shop.example", path: "pages", method: .get, task: .parameters(["number": 1]))
    show(shop.request(page, as: [User].self))
}

func validationOfATarget() {
    struct Probe: Target {
        var baseURL: String { "https://shop.example" }
        var path: String { "probe" }
        var validation: Validation { .none }
    }
    show(shop.empty.request(Probe()))
}

func validationOfSomeCases() {
    enum Shop: Target {
        case user, motto
        var baseURL: String { "https://shop.example" }
        var path: String { "x" }
        var validation: Validation {
            switch self {
            case .user: Validation(statuses: [200..<300, 404..<405])
            case .motto: .client
            }
        }
    }
    show(shop.request(Shop.user, as: User.self))
}

func timeoutsOfATarget() {
    struct Report: Target {
        var baseURL: String { "https://shop.example" }
        var path: String { "report" }
        var timeouts: Timeouts { Timeouts(total: .seconds(90)) }
        var host: String { "reports.example" }
        var stub: Stub { .json(#"{"id":1,"name":"Ada"}"#) }
    }
    show(shop.request(Report(), as: User.self))
}

func timeoutsOfSomeCases() {
    enum Shop: Target {
        case user, report
        var baseURL: String { "https://shop.example" }
        var path: String { "x" }
        var timeouts: Timeouts? { self == .report ? Timeouts(total: .seconds(90)) : nil }
        var host: String? { self == .report ? "reports.example" : nil }
        var stub: Stub? {
            switch self {
            case .user: .json(encoding: User(id: 1, name: "Ada"))
            case .report: nil
            }
        }
    }
    show(shop.request(Shop.report, as: User.self))
}

func otherOptionsOfATarget() {
    struct Feed: Target {
        var baseURL: String { "https://shop.example" }
        var path: String { "feed" }
        var headers: HTTPHeaders { ["Accept": "application/json"] }
        var networkAccess: NetworkAccess { .expensive }
        var usesCookies: Bool { false }
        var cachePolicy: CachePolicy { .reload }
        var tags: Set<String> { ["slow"] }
    }
    show(shop.request(Feed(), as: [User].self))
}

func targetsOfSeveralTypes() {
    struct First: Target {
        var baseURL: String { "https://a.example" }
        var path: String { "1" }
    }
    struct Second: Target {
        var baseURL: String { "https://b.example" }
        var path: String { "2" }
        var task: MethodTask { .post(.json(["id": 2])) }
    }
    let targets: [any Target] = [First(), Second()]
    for target in targets { show(shop.string.request(target)) }
}

func targetInAGenericFunction() {
    struct Item: Target {
        var baseURL: String { "https://a.example" }
        var path: String { "1" }
    }
    func load(_ target: some Target) -> APIRequest<User, ShopError> { shop.request(target) }
    send(load(Item()))
}

func targetWithAnErrorModel() {
    struct Item: Target {
        var baseURL: String { "https://a.example" }
        var path: String { "1" }
        var task: MethodTask { .put(.json(User(id: 1, name: "Ada"))) }
    }
    let request: APIRequest<User, ShopError> = shop.request(Item())
    send(request)
}

func mappedTargets() {
    enum Shop: Target {
        case user
        var baseURL: String { "https://shop.example" }
        var path: String { "x" }
    }
    let client = APIClient {
        $0.endpointMapping = { endpoint, draft in endpoint is Shop ? draft.header("X-Shop", "1") : draft }
    }
    show(client)
}

func stubOfARequest() async throws {
    let user = try await shop.get("users/1", as: User.self).stub(.json(#"{"id":1,"name":"Ada"}"#)).sender().value
    show(user)
}

func stubOfAPost() async throws {
    let user: User = try await shop.post("users").json(["name": "Ada"])
        .stub(.json(encoding: User(id: 1, name: "Ada"), status: .created))
        .sender().value
    show(user)
}

func stubOfAClient() {
    let preview = APIClient(baseURL: "https://shop.example") { $0.stub = .status(.serviceUnavailable) }
    let slow = APIClient(baseURL: "https://shop.example") { $0.stubMode = .delayed(.seconds(1)) }
    let real = APIClient(baseURL: "https://shop.example") { $0.stubMode = .never }
    show([preview, slow, real])
}

func stubTurnedOff() {
    let request = shop.get("users/1", as: User.self).stub(.json("{}"))
    show([request.stubMode(.never), request.stub(nil), request.stub(.text("late"), mode: .delayed(.seconds(1)))])
}

func acceptedStatuses() async throws {
    let request = shop.string.get("motto")
    show(request.validate(statuses: 200..<300, 404..<405))
    show(request.validate(statuses: 200...299, 404...404))
    show(request.validate(statuses: 0...Int.max))
    show(request.validate(.none))
    show(request.validate(.client))
}

func filteredStatuses() async throws {
    let response = await shop.string.get("motto").validate(.none).sender().response
    show(try response.filter(statuses: 200..<300).string())
    show(try response.filter(statuses: 200...Int.max).string())
    show(try response.filter(status: .notFound).string())
    show(try response.filter(status: HTTPStatus(rawValue: .max)).string())
    show(try response.filterSuccesses().string())
}

func oneConstraintOfTwoClients() {
    actor SignedIn: Constraint {
        private var isSignedIn = false
        func isSatisfied(for request: RequestContext) async -> Bool { isSignedIn }
        func satisfy(for request: RequestContext) async throws { isSignedIn = true }
    }
    let signedIn = SignedIn()
    let users = APIClient(baseURL: "https://users.example") { $0.constraints = [signedIn] }
    let orders = APIClient(baseURL: "https://orders.example") { $0.constraints = [signedIn] }
    show([users, orders])
}

func oneGateOfTwoClients() {
    struct SignedIn: Constraint {
        func isSatisfied(for request: RequestContext) async -> Bool { true }
        func satisfy(for request: RequestContext) async throws {}
    }
    let signedIn = SignedIn().makeGate()
    let users = APIClient(baseURL: "https://users.example") { $0.gates = [signedIn] }
    let orders = APIClient(baseURL: "https://orders.example") { $0.gates = [signedIn] }
    show([users, orders])
}

func defaultsOfRenamedKeys() throws {
    struct Company: Codable, Sendable, DefaultInitializable {
        var id = 0
        var name = "unnamed"
        enum CodingKeys: String, CodingKey {
            case id
            case name = "nickname"
        }
    }
    let careless = APIClient(baseURL: "https://shop.example") { $0.modelDecoder = LenientJSONDecoder() }
    show(careless.get("company", as: Company.self))
}

func propertiesOfOtherTypesOfATarget() {
    struct Feed: Target {
        var baseURL: String { "https://shop.example" }
        var path: String { "feed" }
        var headers: [String: String] { ["Accept": "application/json"] }
        var networkAccess: NetworkAccess? { nil }
        var cachePolicy: CachePolicy? { .reload }
        var dataSource: DataSource { .cacheElseServer }
        var cacheExpiration: CacheExpiration { .seconds(60) }
        var tags: [String] { ["slow"] }
    }
    show(shop.request(Feed(), as: [User].self))
}

func optionalPropertiesOfATarget() {
    struct Feed: Target {
        var baseURL: String { "https://shop.example" }
        var path: String { "feed" }
        var task: MethodTask? { nil }
        var headers: [String: String]? { nil }
        let tags: [String]?
    }
    struct Create: Target {
        var baseURL: String { "https://shop.example" }
        var path: String { "users" }
        var method: HTTPMethod { .post }
        var task: RequestTask? { .json(["name": "Ada"]) }
        var headers: HTTPHeaders? { ["Accept": "application/json"] }
        let tags: Set<String>?
    }
    show(shop.request(Feed(tags: nil), as: [User].self))
    show(shop.request(Create(tags: ["slow"]), as: User.self))
}

func targetOfATarget() {
    struct Versioned<Base: Target>: Target {
        let base: Base
        var baseURL: String { base.baseURL }
        var path: String { "v2/" + base.path }
        var method: HTTPMethod { base.method }
        var task: RequestTask { base.task.query(["version": 2]) }
        var headers: HTTPHeaders {
            var headers = base.headers
            headers["X-Version"] = "2"
            return headers
        }
        var tags: Set<String> { base.tags.union(["v2"]) }
        var stub: Stub? { base.stub }
    }
    struct Item: Target {
        var baseURL: String { "https://a.example" }
        var path: String { "1" }
        var headers: [String: String] { ["Accept": "text/plain"] }
    }
    show(shop.string.request(Versioned(base: Item())))
}

func propertiesOfAnyTarget() {
    func show(_ target: any Target) {
        let headers = target.headers
        if target.method == .get, target.tags.contains("slow"), let accept = headers["Accept"] { print(accept) }
        if let screen = target.userInfo["screen"] { print(screen, target.task) }
        if let host = target.host, let source = target.dataSource { print(host, source) }
    }
    struct Item: Target {
        var baseURL: String { "https://a.example" }
        var path: String { "1" }
    }
    show(Item())
}
