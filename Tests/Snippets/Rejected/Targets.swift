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

// error: this request takes none
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
