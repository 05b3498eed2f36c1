/// What a part is a part of.
struct RemoteResource: Codable, Sendable, Hashable {
    /// The URL it was asked for under.
    var url: String
    /// What tells this version of it from another.
    var validator: ResourceValidator?
    /// In bytes; nil until a response says it.
    var length: Int64?
    /// The name that the server suggests, made safe.
    var name: String?
}
