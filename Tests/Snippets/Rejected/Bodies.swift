import Sluice

// Bodies where none is allowed.

// error: Set one body, and only after
func jsonOfAGet() async throws {
    _ = try await shop.get("users", as: User.self).json(User(id: 1, name: "Ada")).sender().value
}

// error: Set one body, and only after
func jsonOfAGetWithAContextualModel() -> APIRequest<User, APIError> {
    shop.get("users").json(User(id: 1, name: "Ada"))
}

// error: Set one body, and only after
func jsonOfADictionaryOfADelete() async throws {
    _ = try await shop.empty.delete("users/1").json(["reason": "left"]).sender().value
}

// error: Set one body, and only after
func formOfAGet() async throws {
    _ = try await shop.string.get("login").form(["name": "Ada"]).sender().value
}

// error: Set one body, and only after
func multipartOfAHead() async throws {
    _ = try await shop.empty.head("files").multipart(MultipartForm()).sender().value
}

// error: Set one body, and only after
func secondBody() async throws {
    _ = try await shop.empty.post("users").json(["id": 1]).form(["id": 1]).sender().value
}

// error: Set one body, and only after
func bytesOfARequestWithoutMethod() async throws {
    _ = try await shop.codable.request("users", as: User.self).data(.init()).sender().value
}
