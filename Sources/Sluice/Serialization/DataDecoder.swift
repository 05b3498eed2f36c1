#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What makes a `Decodable` of bytes: `JSONDecoder`, `PropertyListDecoder`, ``LenientJSONDecoder``, or one's own.
public protocol DataDecoder: Sendable {
    /// Decodes a value.
    ///
    /// - Parameters:
    ///   - type: What to decode.
    ///   - data: The whole of the encoded value.
    /// - Returns: The value.
    /// - Throws: A `DecodingError` as a rule.
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

extension JSONDecoder: DataDecoder {}
extension PropertyListDecoder: DataDecoder {}
extension LenientJSONDecoder: DataDecoder {}
