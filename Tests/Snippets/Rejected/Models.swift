import Sluice

// Requests without a model.

// error: Say what the response is
func noModelAtAll() async throws {
    let user = try await shop.get("users/1").sender().value
    show(user)
}

// error: Say what the response is
func noModelInAFactory() async throws {
    let user = try await shop.codable.get("users/1").sender().value
    show(user)
}

// error: Say what the response is
func noModelOfAPost() async throws {
    let user = try await shop.post("users").json(User(id: 1, name: "Ada")).sender().value
    show(user)
}

// error: Say what the response is
func noModelOfAStatement() async throws {
    try await shop.post("users").json(User(id: 1, name: "Ada")).sender().value
}

// error: Say what the response is
func noModelOfAPrintedValue() async throws {
    print(try await shop.get("users/1").sender().value)
}

// error: Say what the response is
func noModelOfAModifiedRequest() async throws {
    let request = shop.get("users/1").query("fields", "id")
    show(try await request.sender().value)
}

// error: Say what the response is
func noModelOfPages() async throws {
    for try await page in shop.get("users").pages(by: .link) { show(page) }
}

// error: The model must be decodable
func modelThatIsNotDecodable() async throws {
    struct Plain: Sendable { var id: Int }
    let plain: Plain = try await shop.get("users/1").sender().value
    show(plain)
}

// error: The model must be decodable
func modelArgumentThatIsNotDecodable() async throws {
    struct Plain: Sendable { var id: Int }
    let plain = try await shop.get("users/1", as: Plain.self).sender().value
    show(plain)
}

// error: does not conform to the 'Sendable' protocol
func modelThatIsAClass() async throws {
    class Box: Codable { var id = 1 }
    let box: Box = try await shop.get("boxes/1").sender().value
    _ = box
}

// error: does not conform to protocol 'ErrorSerializable'
func errorModelThatIsNone() {
    struct Plain: Error {}
    let request: APIRequest<User, Plain> = shop.get("users/1")
    show(request)
}

// error: Write the label: "APIClient(baseURL: "https://shop.example")".
func clientWithoutLabel() {
    let client = APIClient("https://shop.example")
    show(client)
}

// error: Read "sender().value"
func unknownTerminal() async throws {
    let user: User = try await shop.get("users/1").send()
    show(user)
}

// error: Say what the response is
func noModelOfARequestInAVariable() async throws {
    let request = shop.get("users/1")
    show(try await request.sender().value)
}

// error: Say what the response is
func noModelInABatch() async throws {
    let users = try await shop.batch([shop.get("users/1"), shop.get("users/2")])
    show(users)
}

// error: Say what the response is
func noModelInALoop() async throws {
    for request in [shop.get("users/1"), shop.get("users/2")] { show(try await request.sender().value) }
}

// error: Say what the response is
func noModelOfATernary() async throws {
    let request = isNight ? shop.get("night") : shop.get("day")
    show(try await request.sender().value)
}

// error: Say what the response is
func noModelOfAnUpload() async throws {
    let user = try await shop.upload("users", .json(User(id: 1, name: "Ada"))).sender().value
    show(user)
}

// error: Say what the response is
func noModelOfAResponse() async {
    let response = await shop.get("users/1").sender().response
    show(response)
}

// error: Say what the response is
func noModelInATask() async throws {
    let task = Task { try await shop.get("users/1").sender().value }
    show(task)
}

// error: cannot convert
func otherErrorModel() {
    let request = shop.get("users/1", as: User.self)
    send(request)
}
