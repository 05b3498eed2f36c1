import Sluice

// Requests whose model and error model come from the call or the context.

func modelFromAnnotation() async throws {
    let user: User = try await shop.get("users/1").sender().value
    show(user)
}

func modelFromArgument() async throws {
    let user = try await shop.get("users/1", as: User.self).sender().value
    show(user)
}

func modelFromCast() async throws {
    let user = try await shop.get("users/1").sender().value as User
    show(user)
}

func modelFromReturnType() async throws -> User {
    try await shop.get("users/1").sender().value
}

func modelFromProperty() async throws {
    struct Screen { var user: User? }
    var screen = Screen()
    screen.user = try await shop.get("users/1").sender().value
    show(screen.user)
}

func bothFromAnnotation() {
    let request: APIRequest<User, ShopError> = shop.codable.request("users/1")
    send(request)
}

func bothFromAnnotationWithModel() {
    let request: APIRequest<User, ShopError> = shop.codable.request("users/1", as: User.self)
    send(request)
}

func bothFromParameter() {
    send(shop.get("users/1"))
}

func bothFromArguments() {
    let request = shop.get("users/1", as: User.self, error: ShopError.self)
    send(request)
}

func bothFromReturnType() -> APIRequest<User, ShopError> {
    shop.get("users/1")
}

func standardErrorFromReturnType() -> APIRequest<User, APIError> {
    shop.get("users/1")
}

func genericFunction() {
    sendAny(shop.get("users/1", as: User.self))
}

func arrayLiteral() {
    let requests = [shop.codable.get("users/1", as: User.self), shop.codable.get("users/2", as: User.self)]
    show(requests)
}

func arrayLiteralWithErrors() {
    let requests = [
        shop.get("users/1", as: User.self, error: ShopError.self),
        shop.get("users/2", as: User.self, error: ShopError.self),
    ]
    requests.forEach(send)
}

func annotatedArrayLiteral() {
    let requests: [APIRequest<User, ShopError>] = [shop.get("users/1"), shop.get("users/2")]
    requests.forEach(send)
}

func dictionaryLiteral() {
    let requests = ["first": shop.get("users/1", as: User.self), "second": shop.get("users/2", as: User.self)]
    show(requests)
}

func annotatedDictionaryLiteral() {
    let requests: [String: APIRequest<User, APIError>] = ["first": shop.get("users/1"), "second": shop.get("users/2")]
    show(requests)
}

func ternary() {
    let request = isNight ? shop.get("night", as: User.self) : shop.get("day", as: User.self)
    show(request)
}

func annotatedTernary() {
    let request: APIRequest<User, ShopError> = isNight ? shop.get("night") : shop.get("day")
    send(request)
}

func ifExpression() {
    let request = if isNight { shop.get("night", as: User.self) } else { shop.get("day", as: User.self) }
    show(request)
}

func switchExpression() {
    let request: APIRequest<User, ShopError> =
        switch isNight {
        case true: shop.get("night")
        case false: shop.get("day")
        }
    send(request)
}

func pairsInALoop() {
    for (name, request) in [("a", shop.get("a", as: User.self)), ("b", shop.get("b", as: User.self))] {
        show(name)
        show(request)
    }
}

func mappedRequests() {
    let requests = (1...3).map { shop.get("users/\($0)", as: User.self) }
    show(requests)
}

func annotatedMappedRequests() {
    let requests: [APIRequest<User, ShopError>] = (1...3).map { shop.get("users/\($0)") }
    requests.forEach(send)
}

func batchOfAnArray() async throws {
    let users = try await shop.batch([shop.get("users/1", as: User.self), shop.get("users/2", as: User.self)])
    show(users)
}

func batchWithModelFromContext() async throws {
    let users: [User] = try await shop.batch([shop.get("users/1"), shop.get("users/2")])
    show(users)
}

func batchOfMappedRequests() async throws {
    let users = try await shop.batch((1...3).map { shop.get("users/\($0)", as: User.self) })
    show(users)
}

func batchOfDifferentModels() async throws {
    let (user, order) = try await shop.batch(shop.get("users/1", as: User.self), shop.get("orders/1", as: Order.self))
    show(user)
    show(order)
}

func concurrentLets() async throws {
    async let user: User = shop.get("users/1").sender().value
    async let order = shop.get("orders/1", as: Order.self).sender().value
    show(try await user)
    show(try await order)
}

func taskOfARequest() async throws {
    let task = Task { try await shop.get("users/1", as: User.self).sender().value }
    show(try await task.value)
}

func taskGroup() async throws {
    try await withThrowingTaskGroup(of: User.self) { group in
        for id in 1...3 { group.addTask { try await shop.get("users/\(id)").sender().value } }
        for try await user in group { show(user) }
    }
}

func modifiedRequest() async throws {
    let user: User = try await shop.get("users/1")
        .query("fields", "id,name")
        .header("X-Request-ID", "7")
        .timeout(total: .seconds(5))
        .sender().value
    show(user)
}

func decodersOfAFactory() async throws {
    let user: User = try await shop.codable(modelDecoder: nil).get("users/1").sender().value
    show(user)
}

func serviceOfRequests() {
    struct Shop {
        let client: APIClient
        var users: APIRequest<[User], ShopError> { client.get("users") }
        func user(_ id: Int) -> APIRequest<User, ShopError> { client.get("users/\(id)") }
        func create(_ user: User) -> APIRequest<User, ShopError> { client.post("users").json(user) }
    }
    send(Shop(client: shop).user(1))
}

func resultOfARequest() async {
    switch await shop.get("users/1", as: User.self, error: ShopError.self).sender().result {
    case .success(let user): show(user)
    case .failure(let error): show(error.message)
    }
}

func responseOfARequest() async {
    let response = await shop.get("users/1", as: User.self).sender().response
    show(response.status)
}

func optionalModel() async throws {
    let user: User? = try await shop.get("users/1").sender().value
    show(user)
}

func textAndBytes() async throws {
    let motto = try await shop.string.request("motto").sender().value
    let logo = try await shop.data.get("logo").sender().value
    show(motto.count + logo.count)
}

func arrayOfTextRequests() async throws {
    let texts = try await shop.batch([shop.string.get("a"), shop.string.get("b")])
    show(texts)
}

func textRequestWithErrorModel() {
    let request: APIRequest<String, ShopError> = shop.string.request("motto")
    sendAny(request)
}

func jsonValue() async throws {
    let name = try await shop.json.request("users/1", as: JSON.self).sender().value.name.stringValue
    show(name)
}

func noModel() async throws {
    _ = try await shop.empty.delete("users/1").sender().value
}

func jsonWithoutAModel() async throws {
    let user = try await shop.json.get("users/1").sender().value
    show(user.name.stringValue)
    show(try await shop.json.request("users/1").sender().value.id.int ?? 0)
    show(try await shop.json.post("users").json(["name": "Ada"]).sender().value.id.int ?? 0)
    let typed: APIRequest<JSON, ShopError> = shop.json.get("users/1")
    sendAny(typed)
    let posted: APIRequest<JSON, ShopError> = shop.json.post("users")
    sendAny(posted)
    let value: JSON = try await shop.json.get("users/1").sender().value
    show(value)
    let values: [JSON] = try await shop.json.get("users").sender().value
    show(values)
}

func requestOfAnyModelMethodAndBody() async throws {
    func fetch<Model: Decodable & Sendable>(
        _ path: String,
        as model: Model.Type = Model.self,
        method: HTTPMethod = .get,
        body: (any Encodable & Sendable)? = nil
    ) async throws -> Model {
        try await shop.request(path, as: model).method(method).body(body.map { .json($0) }).sender().value
    }
    let user: User = try await fetch("users/1")
    show(try await fetch("users", as: User.self, method: .post, body: user))
}

func requestOfAnyErrorModel() {
    func request<Model: Decodable & Sendable, ErrorModel: ErrorSerializable>(
        _ path: String,
        _ body: (some Encodable & Sendable)?
    ) -> APIRequest<Model, ErrorModel> {
        shop.request(path, as: Model.self, error: ErrorModel.self).method("REPORT").body(body.map { .form($0) })
    }
    let report: APIRequest<User, ShopError> = request("reports", ["day": 1])
    send(report)
}

func bodyThatMayBeMissing(_ user: User?) {
    let body: RequestBody? = user.map { .json($0) }
    show(shop.post("users", as: User.self).body(body))
    show(shop.post("users", as: User.self).body(nil))
    show(shop.post("users", as: User.self).body(.none))
    show(shop.post("users", as: User.self).body(.json(["name": "Ada"])))
}
