/// The resource that a partial file belongs to.
struct RemoteResource: Codable, Sendable, Hashable {
    /// The URL of the request.
    var url: String
    /// The validator that identifies this version of the resource; nil if it has no strong one.
    var validator: ResourceValidator?
    /// The length in bytes; nil until a response announces it.
    var length: Int64?
    /// The safe form of the name that the server suggests.
    var name: String?
}
