/// The model of a response that has none, of a 204 for example: it is made of anything, of nothing too.
///
/// ```swift
/// _ = try await client.empty.delete("users/1").sender().value
/// ```
public struct Empty: JSONDecodable, Codable, Hashable, Sendable {
    /// Makes the one value there is.
    public init() {}

    /// Makes the one value there is, whatever the JSON.
    public init(json: JSON) {}

    /// Makes the one value there is, whatever the decoder holds.
    public init(from decoder: any Decoder) {}

    /// Encodes an object without members.
    public func encode(to encoder: any Encoder) throws {
        _ = encoder.container(keyedBy: NoKey.self)
    }

    private enum NoKey: CodingKey {}
}
