/// A value wrapped in an object with a single key: `{"user": {…}}`.
struct RootKeyed: Encodable, Sendable {
    let key: String
    let value: any Encodable & Sendable

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Parameters.Name.self)
        try container.encode(value, forKey: Parameters.Name(stringValue: key))
    }
}
