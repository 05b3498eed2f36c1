/// A model whose properties have default values, which ``LenientJSONDecoder`` uses for keys that are missing or null.
///
/// ```swift
/// struct User: Decodable, DefaultInitializable {
///     var name = "unknown"
///     var tags: [String] = []
///     var address: Address?
/// }
///
/// let user = try LenientJSONDecoder().decode(User.self, from: Data(#"{"tags": null}"#.utf8))
/// // User(name: "unknown", tags: [], address: nil)
/// ```
///
/// The value for a key is that of the property with the key's name, taken from a model that ``init()`` makes; one is made
/// for each object that lacks something, so that a default such as `UUID()` differs from object to object. A property
/// whose coding key has another name has no default; rename keys with a key decoding strategy instead. An optional property
/// is nil. The model has to be decoded by a container, not by a call of its `init(from:)` with another model's decoder.
public protocol DefaultInitializable {
    /// Makes a model of nothing but default values.
    init()
}
