/// The model of a response without content, such as a 204. It accepts any body, including an empty one.
///
/// ```swift
/// _ = try await client.empty.delete("users/1").sender().value
/// ```
public struct Empty: JSONDecodable, Codable, Hashable, Sendable {
    /// Creates the value.
    public init() {}

    /// Creates the value from any JSON.
    public init(json: JSON) {}

    /// Creates the value without reading from the decoder.
    public init(from decoder: any Decoder) {}

    /// Encodes an empty object.
    public func encode(to encoder: any Encoder) throws {
        _ = encoder.container(keyedBy: NoKey.self)
    }

    private enum NoKey: CodingKey {}
}
