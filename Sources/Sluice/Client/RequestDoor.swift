import SluiceHTTP

/// A factory of requests with one kind of model: ``CodableRequests``, ``JSONRequests`` or ``SerializedRequests``.
///
/// Besides `request(_:)`, each has the methods by name: `door.get("users")`, `door.post("users").json(user)`.
public protocol RequestDoor: Sendable {}

extension RequestDoor {
    /// Creates GET requests.
    public var get: BodilessMethod<Self> { BodilessMethod(door: self, method: .get) }
    /// Creates HEAD requests.
    public var head: BodilessMethod<Self> { BodilessMethod(door: self, method: .head) }
    /// Creates DELETE requests.
    public var delete: BodilessMethod<Self> { BodilessMethod(door: self, method: .delete) }
    /// Creates OPTIONS requests.
    public var options: BodilessMethod<Self> { BodilessMethod(door: self, method: .options) }
    /// Creates POST requests.
    public var post: BodyMethod<Self> { BodyMethod(door: self, method: .post) }
    /// Creates PUT requests.
    public var put: BodyMethod<Self> { BodyMethod(door: self, method: .put) }
    /// Creates PATCH requests.
    public var patch: BodyMethod<Self> { BodyMethod(door: self, method: .patch) }
}

/// The methods by name, for models that are decoded from JSON by the client's decoders.
extension APIClient {
    /// Creates GET requests.
    public var get: BodilessMethod<CodableRequests> { codable.get }
    /// Creates HEAD requests.
    public var head: BodilessMethod<CodableRequests> { codable.head }
    /// Creates DELETE requests.
    public var delete: BodilessMethod<CodableRequests> { codable.delete }
    /// Creates OPTIONS requests.
    public var options: BodilessMethod<CodableRequests> { codable.options }
    /// Creates POST requests.
    public var post: BodyMethod<CodableRequests> { codable.post }
    /// Creates PUT requests.
    public var put: BodyMethod<CodableRequests> { codable.put }
    /// Creates PATCH requests.
    public var patch: BodyMethod<CodableRequests> { codable.patch }
}
