import Foundation
import Sluice

// Outcomes read as elsewhere.

// error: Read the outcome of a sender: "sender().value".
func valueProperty() async throws {
    let u = try await shop.get("u", as: User.self).value
    show(u)
}

// error: Read "sender().value", "sender().result" or "sender().response".
func sendIt() async throws {
    let u = try await shop.get("u", as: User.self).send()
    show(u)
}

// error: Read "try result.get()", or the "value" of the sender.
func responseValue() async throws {
    let u = try await shop.get("u", as: User.self).sender().response.value
    show(u)
}

// error: Write "status", or "status?.rawValue" for a number.
func responseStatusCode() async {
    let r = await shop.get("u", as: User.self).sender().response
    print(r.statusCode ?? 0)
}

// error: Write "body".
func responseData() async {
    let r = await shop.get("u", as: User.self).sender().response
    print(r.data?.count ?? 0)
}

// error: Write "head?.headers".
func responseHeaders() async {
    let r = await shop.get("u", as: User.self).sender().response
    print(r.headers["ETag"] ?? "")
}

// error: Write "failure" for the cause, or read the error model from "result".
func responseError() async {
    let r = await shop.get("u", as: User.self).sender().response
    print(r.error as Any)
}

// error: Send the request with "client.string", or read "try string()".
func responseText() async {
    let r = await shop.get("u", as: User.self).sender().response
    print(r.text ?? "")
}

// error: Write "request?.url".
func responseURL() async {
    let r = await shop.get("u", as: User.self).sender().response
    print(r.url as Any)
}

// error: Write "rawValue".
func statusCodeNumber() async {
    let r = await shop.get("u", as: User.self).sender().response
    if let c = r.status?.code { print(c) }
}

// error: Write "uploadProgress" or "downloadProgress".
func progressLoop2() async throws {
    let s = shop.data.get("u").sender()
    async let d = s.value
    for await p in s.progress { print(p.fractionCompleted ?? 0) }
    show(try await d)
}

// error: The handler gets a response: switch over "response.result".
func completionResult() {
    shop.get("u", as: User.self).send { result in
        switch result {
        case .success(let u): show(u);
        case .failure(let e): show(e)
        }
    }
}

// error: Write "send { response in … }".
func completionHandlerLabel() {
    shop.get("u", as: User.self).send(completionHandler: { response in print(response) })
}

// error: Write "send { response in … }", or "sender().response" in async code.
func alamofireResponse() {
    shop.get("u", as: User.self).responseDecodable(of: User.self) { response in print(response) }
}

// error: Write "get("users/1", as: User.self)", and read "sender().value".
func alamofireSerializing() async {
    print(await shop.get("u", as: User.self).serializingDecodable(User.self).value)
}

// error: Write "client.empty", not "client"
func voidSend() async throws {
    _ = try await shop.post("logout", as: Void.self).sender().value
}

// error: Say what the response is: add "as: User.self", give the result a type, or write "client.empty" for none
func discardEmpty() async throws {
    try await shop.delete("users/1").sender().value
}

// error: The model must be decodable: declare it as "Decodable, Sendable". Write "client.empty" for no model.
func voidModel() async throws {
    let _: Void = try await shop.delete("users/1").sender().value
}

// error: The model must be decodable: declare it as "Decodable, Sendable".
func dictionaryAnyModel() async throws {
    let d: [String: Any] = try await shop.get("u").sender().value
    print(d)
}

// error: Name the model with "as: User.self".
func decodeLabel() async throws {
    let u = try await shop.get("u", of: User.self).sender().value
    show(u)
}

// error: Name the model with "as: User.self".
func decodingLabel() async throws {
    let u = try await shop.get("u", decoding: User.self).sender().value
    show(u)
}

// error: Name the model with "as: User.self".
func typeLabel() async throws {
    let u = try await shop.get("u", type: User.self).sender().value
    show(u)
}

// error: Write "get("users")" or "post("users")", or another method with "request("users").method(method)".
func requestMethodLabel() async throws {
    let u = try await shop.request("u", method: .get, as: User.self).sender().value
    show(u)
}

// error: Write "get("users")" or "post("users")", or another method with "request("users").method(method)".
func requestMethodLabel2() async throws {
    let u: User = try await shop.codable.request("u", method: .post).json(User(id: 1, name: "")).sender().value
    show(u)
}

// error: Keep a client: "let shop = APIClient(baseURL: "https://shop.example")".
func clientShared() async throws {
    let u: User = try await APIClient.shared.get("https://a.example").sender().value
    show(u)
}

// error: Set the method after the path: "request("users").method(method)".
func customMethod() {
    let r: APIRequest<User, APIError> = shop.method("REPORT")("u").json(["a": 1])
    show(r)
}

// error: Write "client.image", not "client"
func imageModel() async throws {
    _ = try await shop.get("logo", as: ImageFile.self).sender().value
}

// error: Write "client.empty", not "client"
func voidOfADelete() async throws {
    try await shop.delete("users/1", as: Void.self).sender().value
}

// error: Write "client.empty" and "Empty", not "Void"
func voidOfAService() {
    struct Service: WebService {
        let client: APIClient
        func remove() -> APIRequest<Void, APIError> { server.delete("users/1") }
    }
}

// error: Nothing to close: the connections of a client close with it.
func closedClient() {
    shop.close()
}

// error: Nothing to close: the connections of a client close with it.
func invalidatedClient() {
    shop.invalidate()
}

// error: 'cancelAllRequests()' has been renamed to 'cancelAll'
func cancelledClient() {
    shop.cancelAllRequests()
}

// error: Write "get("users")" or "post("users")".
func requestOfAMethod() {
    show(shop.request(.get, "users"))
}

// error: Write "APIClient(baseURL: base) { $0 = client.configuration; … }".
func changedClient() {
    show(shop.with { $0.headers["A"] = "b" })
}

// error: Declare the model of the request: "get("users/1", as: User.self)".
func mappedResponse() async throws {
    show(try await shop.data.get("users/1").sender().response.map(User.self))
}

// error: Request text: "client.string.get("motto")".
func mappedText() async throws {
    show(try await shop.data.get("motto").sender().response.mapString())
}

// error: Request JSON: "client.json.get("users")".
func mappedJSON() async throws {
    show(try await shop.data.get("users").sender().response.mapJSON())
}

// error: Statuses other than 2xx fail by default: see "validate(statuses:)".
func filteredStatuses() async throws {
    show(try await shop.data.get("users").sender().response.filterSuccessfulStatusCodes())
}
