import Foundation
import Sluice

// Arguments at the call, and values without a model.

// error: Write "sender()", and read its outcome: "sender().value".
func valueOfSend() async throws {
    let user: User = try await shop.get("users/1").send().value
    show(user)
}

// error: Say what the response is: add "as: User.self"
func memberWithoutAModel() async throws {
    let name = try await shop.get("users/1").sender().value.name
    print(name)
}

// error: Say what the response is: add "as: User.self"
func loopWithoutAModel() async throws {
    for user in try await shop.get("users").sender().value { print(user) }
}

// error: Write "client.data.get("logo").sender().response". It has a head and a body.
func dataAndResponse() async throws {
    let (data, response) = try await shop.get("logo").sender().value
    print(data, response)
}

// error: Write "get("users/1", as: User.self)", and read "sender().value".
func valueAs() async throws {
    show(try await shop.get("users/1").value(as: User.self))
}

// error: Write "client.json.get("users/1").sender().value".
func jsonOfARequest() async throws {
    print(try await shop.get("users/1", as: User.self).json())
}

// error: Name the model with "as: User.self".
func modelWithoutALabel() async throws {
    show(try await shop.get("users/1", User.self).sender().value)
}

// error: 'responseDecodable(of:completionHandler:)' is unavailable
func responseDecodableWithoutAModel() {
    shop.get("users/1").responseDecodable(of: User.self) { print($0) }
}

// error: Write "post("users").json(user).headers(["Accept": "text/plain"])".
func jsonAndHeaders() async throws {
    let user: User = try await shop.post("users", json: User(id: 1, name: "a"), headers: ["A": "b"]).sender().value
    show(user)
}

// error: Write "get("users").query(["page": 1]).headers(["Accept": "text/plain"])".
func queryAndHeaders() async throws {
    let user: User = try await shop.get("users", query: ["page": 1], headers: ["A": "b"]).sender().value
    show(user)
}

// error: Write "post("users").json(user)".
func bodyOfAPost() async throws {
    let user: User = try await shop.post("users", body: .json(User(id: 1, name: "a"))).sender().value
    show(user)
}

// error: Write "post("users").json(user)".
func bodyWithoutALabel() async throws {
    let user: User = try await shop.post("users", User(id: 1, name: "a")).sender().value
    show(user)
}

// error: Write "post("users").json(user)".
func methodAndBody() async throws {
    let user: User = try await shop.request("users", method: .post, body: User(id: 1, name: "a")).sender().value
    show(user)
}

// error: Write "post("users").multipart(form)".
func multipartOfAPost() async throws {
    let user: User = try await shop.post("users", multipart: MultipartForm()).sender().value
    show(user)
}

// error: Write "get("users").timeout(.seconds(5))".
func timeoutOfAGet() async throws {
    let user: User = try await shop.get("users", timeout: .seconds(5)).sender().value
    show(user)
}

// error: Write "get(template.expanding(["id": 1]))".
func templateOfAGet() async throws {
    let template: URITemplate = "users/{id}"
    let user: User = try await shop.get(template).sender().value
    show(user)
}

// error: Set it on a "JSONDecoder", then write "$0.modelDecoder = decoder".
func strategyOfTheDecoder() {
    show(APIClient(baseURL: "https://shop.example") { $0.modelDecoder.keyDecodingStrategy = .convertFromSnakeCase })
}

// error: Write "APIClient(baseURL: url) { $0.headers = ["Accept": "text/plain"] }".
func headersOfAClient() {
    show(APIClient(baseURL: "https://shop.example", headers: ["A": "b"]))
}
