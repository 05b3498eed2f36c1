import SluiceFoundation

/// A decoder that creates `Decodable` values from bytes: `JSONDecoder`, `PropertyListDecoder`, ``LenientJSONDecoder``,
/// or a custom one.
public protocol DataDecoder: Sendable {
    /// Decodes a value.
    ///
    /// - Parameters:
    ///   - type: The type to decode.
    ///   - data: The complete encoded value.
    /// - Returns: The decoded value.
    /// - Throws: Usually a `DecodingError`.
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

extension JSONDecoder: DataDecoder {}
extension PropertyListDecoder: DataDecoder {}
