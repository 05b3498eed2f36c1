import SluiceHTTP

/// Where requests of one kind of model are made: ``CodableRequests``, ``JSONRequests``, ``SerializedRequests``.
///
/// Besides `request(_:)` each has the methods by name: `door.get("users")`, `door.post("users").json(user)`.
public protocol RequestDoor: Sendable {}

extension RequestDoor {
    /// Makes GET requests.
    public var get: BodilessMethod<Self> { BodilessMethod(door: self, method: .get) }
    /// Makes HEAD requests.
    public var head: BodilessMethod<Self> { BodilessMethod(door: self, method: .head) }
    /// Makes DELETE requests.
    public var delete: BodilessMethod<Self> { BodilessMethod(door: self, method: .delete) }
    /// Makes OPTIONS requests.
    public var options: BodilessMethod<Self> { BodilessMethod(door: self, method: .options) }
    /// Makes POST requests.
    public var post: BodyMethod<Self> { BodyMethod(door: self, method: .post) }
    /// Makes PUT requests.
    public var put: BodyMethod<Self> { BodyMethod(door: self, method: .put) }
    /// Makes PATCH requests.
    public var patch: BodyMethod<Self> { BodyMethod(door: self, method: .patch) }
}

/// The methods by name, with models decoded from JSON by the client's decoders.
extension APIClient {
    /// Makes GET requests.
    public var get: BodilessMethod<CodableRequests> { codable.get }
    /// Makes HEAD requests.
    public var head: BodilessMethod<CodableRequests> { codable.head }
    /// Makes DELETE requests.
    public var delete: BodilessMethod<CodableRequests> { codable.delete }
    /// Makes OPTIONS requests.
    public var options: BodilessMethod<CodableRequests> { codable.options }
    /// Makes POST requests.
    public var post: BodyMethod<CodableRequests> { codable.post }
    /// Makes PUT requests.
    public var put: BodyMethod<CodableRequests> { codable.put }
    /// Makes PATCH requests.
    public var patch: BodyMethod<CodableRequests> { codable.patch }
}
