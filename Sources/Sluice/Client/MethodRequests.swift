import SluiceHTTP

/// A method without a body. Call it with an endpoint: `client.get("users")`.
public struct BodilessMethod<Door: RequestDoor>: Sendable {
    let door: Door
    let method: HTTPMethod

    func request<Model, ErrorModel>(_ request: consuming APIRequest<Model, ErrorModel>) -> APIRequest<Model, ErrorModel>
    {
        request.modified { $0.method = method }
    }
}

/// A method that can have a body. Call it with an endpoint: `client.post("users").json(user)`.
public struct BodyMethod<Door: RequestDoor>: Sendable {
    let door: Door
    let method: HTTPMethod

    func request<Model, ErrorModel>(_ request: consuming APIRequest<Model, ErrorModel>) -> APIRequest<Model, ErrorModel>
    {
        request.modified { $0.method = method }
    }
}
