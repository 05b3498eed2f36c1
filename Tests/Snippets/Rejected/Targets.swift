import Foundation
import Sluice

// Targets that would silently do something else.

// error: Say the method
func taskWithoutMethod() {
    struct Create: Target {
        let user: User
        var baseURL: String { "https://shop.example" }
        var path: String { "users" }
        var task: RequestTask { .json(user) }
    }
    show(shop.request(Create(user: User(id: 1, name: "Ada")), as: User.self))
}

// error: Say the method
func tasksOfAnEnumWithoutMethod() {
    enum Shop: Target {
        case user(Int), create(User)
        var baseURL: String { "https://shop.example" }
        var path: String { "users" }
        var task: RequestTask {
            switch self {
            case .user: .plain
            case .create(let user): .json(user)
            }
        }
    }
}

// error: Say the method
func storedTaskWithoutMethod() {
    struct Page: Target {
        var baseURL = "https://shop.example"
        var path = "page"
        var task = RequestTask.form(["id": 1])
    }
}

// error: Declare "var validation: Validation"
func optionalValidation() {
    struct Probe: Target {
        var baseURL: String { "https://shop.example" }
        var path: String { "probe" }
        var validation: Validation? { .none }
    }
}

// error: Declare "var validation: Validation"
func nilValidation() {
    enum Shop: Target {
        case user, motto
        var baseURL: String { "https://shop.example" }
        var path: String { "x" }
        var validation: Validation? { self == .user ? Validation(statuses: [200..<300]) : nil }
    }
}

// error: Declare "var validation: Validation"
func storedOptionalValidation() {
    struct Probe: Target {
        var baseURL = "https://shop.example"
        var path = "probe"
        var validation: Validation?
    }
}

// error: does not conform to protocol 'Target'
func targetWithoutPath() {
    struct Probe: Target {
        var baseURL: String { "https://shop.example" }
    }
}

// error: does not conform to protocol 'Target'
func targetWithoutBaseURL() {
    enum Shop: Target {
        case user
        var path: String { "user" }
    }
}

// error: does not conform to protocol 'Target'
func targetWithAURL() {
    struct Probe: Target {
        var baseURL: URL { URL(filePath: "/") }
        var path: String { "probe" }
    }
}

// error: does not conform to protocol 'Target'
func optionalTaskWithoutMethod() {
    struct Probe: Target {
        var baseURL: String { "https://shop.example" }
        var path: String { "probe" }
        var task: RequestTask? { nil }
    }
}

// error: cannot convert value of type 'String' to specified type 'Stub'
func stubOfText() {
    let stub: Stub? = "text"
    show(shop.get("users/1", as: User.self).stub(stub))
}

// error: Say what the response is
func targetWithoutModel() async throws {
    struct Probe: Target {
        var baseURL: String { "https://shop.example" }
        var path: String { "probe" }
    }
    let user = try await shop.request(Probe()).sender().value
    show(user)
}

// error: Set one body, and only after
func bodyOfATarget() {
    struct Probe: Target {
        var baseURL: String { "https://shop.example" }
        var path: String { "probe" }
    }
    show(shop.request(Probe(), as: User.self).json(User(id: 1, name: "Ada")))
}

// error: Say the last status
func statusesWithoutEnd() {
    show(shop.string.get("motto").validate(statuses: 200...))
}

// error: Say the last status
func filteredStatusesWithoutEnd() async throws {
    let response = await shop.string.get("motto").sender().response
    show(try response.filter(statuses: 400...).string())
}

// Properties with the name of a requirement and another type. The default would be used in place of them.

// error: Declare "var headers: HTTPHeaders" or "[String: String]"
func headersOfNumbers() {
    struct Probe: Target {
        var baseURL: String { "https://shop.example" }
        var path: String { "probe" }
        var headers: [String: Int] { ["X-Count": 1] }
    }
}

// error: Declare "var tags: Set<String>" or "[String]"
func tagsThatAreNumbers() {
    struct Probe: Target {
        var baseURL: String { "https://shop.example" }
        var path: String { "probe" }
        var tags: [Int] { [1] }
    }
}

// error: Declare "var userInfo: [String: any Sendable]"
func userInfoOfAnyType() {
    struct Probe: Target {
        var baseURL: String { "https://shop.example" }
        var path: String { "probe" }
        var userInfo: [String: Any] { [:] }
    }
}

// error: Declare "var dataSource: DataSource"
func sourceThatIsText() {
    struct Probe: Target {
        var baseURL: String { "https://shop.example" }
        var path: String { "probe" }
        var dataSource: String { "cache" }
    }
}

// error: Declare "var cacheExpiration: CacheExpiration"
func expirationThatIsADuration() {
    struct Probe: Target {
        var baseURL: String { "https://shop.example" }
        var path: String { "probe" }
        var cacheExpiration: Duration { .seconds(60) }
    }
}

// error: Declare "var cachePolicy: CachePolicy"
func cachePolicyThatIsText() {
    struct Probe: Target {
        var baseURL: String { "https://shop.example" }
        var path: String { "probe" }
        var cachePolicy: String { "reload" }
    }
}

// error: Declare "var networkAccess: NetworkAccess"
func networkAccessThatIsABool() {
    struct Probe: Target {
        var baseURL: String { "https://shop.example" }
        var path: String { "probe" }
        var networkAccess: Bool { true }
    }
}

// error: Declare "var method: HTTPMethod"
func methodThatIsText() {
    struct Probe: Target {
        var baseURL: String { "https://shop.example" }
        var path: String { "probe" }
        var method: String { "POST" }
    }
}

// error: Declare "var method: HTTPMethod"
func optionalMethod() {
    struct Probe: Target {
        var baseURL: String { "https://shop.example" }
        var path: String { "probe" }
        var method: HTTPMethod? { .post }
    }
}

// error: Declare "var task: RequestTask" or "MethodTask"
func taskThatIsData() {
    struct Probe: Target {
        var baseURL: String { "https://shop.example" }
        var path: String { "probe" }
        var task: Data { Data() }
    }
}

// error: Declare "var timeouts: Timeouts"
func timeoutsThatAreADuration() {
    struct Probe: Target {
        var baseURL: String { "https://shop.example" }
        var path: String { "probe" }
        var timeouts: Duration { .seconds(5) }
    }
}

// error: Declare "var stub: Stub"
func stubThatIsData() {
    struct Probe: Target {
        var baseURL: String { "https://shop.example" }
        var path: String { "probe" }
        var stub: Data { Data() }
    }
}

// error: Declare "var host: String"
func hostThatIsAURL() {
    struct Probe: Target {
        var baseURL: String { "https://shop.example" }
        var path: String { "probe" }
        var host: URL { URL(filePath: "/") }
    }
}

// error: Declare "var validation: Validation"
func validationThatIsARange() {
    struct Probe: Target {
        var baseURL: String { "https://shop.example" }
        var path: String { "probe" }
        var validation: Range<Int> { 200..<300 }
    }
}

// error: Declare "var usesCookies: Bool"
func optionalUseOfCookies() {
    struct Probe: Target {
        var baseURL: String { "https://shop.example" }
        var path: String { "probe" }
        var usesCookies: Bool? { nil }
    }
}
