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
/// The default for a key is the value of the property with the same name in a model created by ``init()``. A model is
/// created for each object that lacks a value, so that a default such as `UUID()` differs between objects. A property
/// whose coding key has another name has no default; rename keys with a key decoding strategy instead. An optional
/// property is nil. Defaults apply only if a container decodes the model, not if its `init(from:)` is called with the
/// decoder of another model.
public protocol DefaultInitializable {
    /// Creates a model with default values only.
    init()
}
