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
func noModelOfAModifiedRequest() {
    let request = shop.get("users/1").query("fields", "id")
    show(request)
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
func noModelInJSON() async throws {
    let user = try await shop.json.get("users/1").sender().value
    show(user)
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

// error: has no member 'json'
func bodyOfAGet() async throws {
    let user: User = try await shop.get("users", as: User.self).json(User(id: 1, name: "Ada")).sender().value
    show(user)
}
