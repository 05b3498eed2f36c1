import Sluice

// Requests with a body.

func jsonBody() async throws {
    let user: User = try await shop.post("users").json(User(id: 1, name: "Ada")).sender().value
    show(user)
}

func jsonBodyWithModelArgument() async throws {
    let user = try await shop.post("users", as: User.self).json(User(id: 1, name: "Ada")).sender().value
    show(user)
}

func jsonBodyWithErrorModel() {
    let request: APIRequest<User, ShopError> = shop.post("users").json(User(id: 1, name: "Ada"))
    send(request)
}

func jsonBodyOfADictionary() async throws {
    let user: User = try await shop.put("users/1").json(["name": "Ada", "age": 36]).sender().value
    show(user)
}

func formBody() async throws {
    let user: User = try await shop.post("login").form(["name": "Ada"]).sender().value
    show(user)
}

func postWithoutBody() async throws {
    let user: User = try await shop.post("users").sender().value
    show(user)
}

func postWithoutBodyAsARequest() {
    let request: APIRequest<User, ShopError> = shop.post("users")
    send(request)
}

func bodyRequestWithErrorModel() {
    let request: BodyRequest<User, ShopError> = shop.post("users")
    send(request.json(User(id: 1, name: "Ada")))
}

func bodyAddedInAFunction() -> APIRequest<User, ShopError> {
    shop.patch("users/1").json(["name": "Ada"])
}

func methodOfARequest() {
    let request: APIRequest<User, ShopError> = shop.codable.request("users").post().json(User(id: 1, name: "Ada"))
    send(request)
}

func arrayOfPosts() {
    let requests = [
        shop.post("users", as: User.self).json(["id": 1]), shop.post("users", as: User.self).json(["id": 2]),
    ]
    show(requests)
}

func emptyAnswer() async throws {
    _ = try await shop.empty.post("events").json(["kind": "start"]).sender().value
}
