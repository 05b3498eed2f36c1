import Foundation
import Sluice

// Values whose types are not known, or not those of a function.

// error: The types of the values are not known
func dictionaryOfAny() async throws {
    let values: [String: Any] = ["id": 1]
    let user: User = try await shop.post("users").json(values).sender().value
    show(user)
}

// error: Say what the response is
func dictionaryOfAnyWithoutModel() async throws {
    let values: [String: Any] = ["id": 1]
    _ = try await shop.post("users").json(values).sender().value
}

// error: The types of the values are not known
func dictionaryOfAnyWithErrorModel() -> APIRequest<User, ShopError> {
    let values: [String: Any] = ["id": 1]
    return shop.post("users").json(values)
}

// error: The types of the values are not known
func formOfADictionaryOfAny() async throws {
    let values: [String: Any] = ["id": 1]
    _ = try await shop.empty.post("users").form(values).sender().value
}

// error: The types of the values are not known
func queryOfADictionaryOfAny() async throws {
    let values: [String: Any] = ["id": 1]
    let user: User = try await shop.get("users").query(values).sender().value
    show(user)
}

// error: The types of the values are not known
func parametersOfADictionaryOfAny() async throws {
    let values: [String: Any] = ["id": 1]
    let user = try await shop.get("users", as: User.self).parameters(values).sender().value
    show(user)
}

// error: The types of the values are not known
func taskOfADictionaryOfAny() {
    let values: [String: Any] = ["id": 1]
    let task = RequestTask.parameters(values)
    show(task)
}

// error: The types of the values are not known
func jsonTaskOfADictionaryOfAny() -> RequestTask {
    let values: [String: Any] = ["id": 1]
    return .json(values)
}

// error: The types of the values are not known
func valueOfADictionaryThatIsNotEncodable() async throws {
    struct Plain: Sendable {}
    _ = try await shop.empty.post("users").json(["id": Plain(), "name": "Ada"]).sender().value
}

// error: Give the time-out a unit
func timeoutWithoutUnit() async throws {
    let user: User = try await shop.get("users/1").timeout(5).sender().value
    show(user)
}

// error: Give the time-out a unit
func timeoutOfANumber() async throws {
    let seconds = 2.5
    let user = try await shop.get("users/1", as: User.self).timeout(seconds).sender().value
    show(user)
}

// error: Unwrap the URL
func clientOfAnOptionalURL() {
    let client = APIClient(baseURL: URL(string: "https://shop.example"))
    show(client)
}

// error: Unwrap the URL
func configuredClientOfAnOptionalURL() {
    let url = URL(string: "https://shop.example")
    let client = APIClient(baseURL: url) { $0.timeouts.total = .seconds(5) }
    show(client)
}

// error: Unwrap the URL
func clientOfNil() {
    let client = APIClient(baseURL: nil)
    show(client)
}

// error: missing argument label 'result:' in call
func responseWithoutLabel() {
    let response = APIResponse<User, ShopError>(.success(User(id: 1, name: "Ada")))
    show(response)
}

// error: does not conform to protocol 'StreamParser'
func parserWithoutUnreadBytes() {
    struct Bytes: StreamParser {
        mutating func append(_ chunk: Data) {}
        mutating func finish() {}
        mutating func next() throws(SluiceError) -> UInt8? { nil }
    }
    show(Bytes())
}

// error: does not conform to the 'Sendable' protocol
func closureThatReturnsAClass() {
    class Box { var count = 0 }
    show(shop.serialized { _ in Box() })
}

// error: Write ".file(url, ifExists: .overwrite)"
func fileToOverwrite(_ url: URL) {
    show(shop.download("film", to: .file(url, overwrite: true)))
}

// error: Write ".suggested(in: folder, ifExists: .overwrite)"
func folderToOverwrite(_ url: URL) {
    show(shop.download("film", to: .suggested(in: url, overwrite: true)))
}

// error: Write "delayed(by: .seconds(1))"
func delayOfAStub() {
    show(shop.string.get("motto").stub(.text("late").delay(.seconds(1))))
}

// error: Write "headers["Accept"] = "text/plain""
func headersSet() {
    var headers = HTTPHeaders()
    headers.set("Accept", "text/plain")
}

// error: Write "headers["Accept"] = "text/plain""
func headersSetTo() {
    var headers = HTTPHeaders()
    headers.set("Accept", to: "text/plain")
}

// error: Write "headers["Accept"] = "text/plain""
func headersSetByName() {
    var headers = HTTPHeaders()
    headers.set(name: "Accept", value: "text/plain")
}
