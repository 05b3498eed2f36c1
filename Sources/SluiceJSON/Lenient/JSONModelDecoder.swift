import SluiceFoundation

/// Decodes models with the results and errors of a `JSONDecoder`, with less work.
///
/// The decoder is that of ``LenientJSONDecoder``, without conversions. If decoding fails, or if the results could differ, the
/// `JSONDecoder` decodes the text again, so that values and errors are always its own.
package struct JSONModelDecoder: Sendable {
    private let original: JSONDecoder
    private let machine: LenientJSONDecoder

    /// Creates a decoder with the strategies that a `JSONDecoder` has now.
    ///
    /// - Parameter decoder: Nil is returned for a decoder of another type, also of a subclass, and for one that reads JSON5 or
    ///   objects without braces.
    package init?(_ decoder: Any) {
        guard let decoder = decoder as? JSONDecoder, type(of: decoder) == JSONDecoder.self, !decoder.allowsJSON5,
            !decoder.assumesTopLevelDictionary
        else { return nil }
        original = decoder
        var machine = LenientJSONDecoder(
            conversions: [],
            keyDecodingStrategy: decoder.keyDecodingStrategy,
            dateDecodingStrategy: decoder.dateDecodingStrategy,
            dataDecodingStrategy: decoder.dataDecodingStrategy,
            nonConformingFloatDecodingStrategy: decoder.nonConformingFloatDecodingStrategy
        )
        machine.userInfo = decoder.userInfo
        self.machine = machine
    }

    /// Decodes a value.
    ///
    /// - Parameters:
    ///   - type: The type to decode. Its `init(from:)` may run twice.
    ///   - data: A JSON text.
    /// - Returns: The value that the `JSONDecoder` returns.
    /// - Throws: The error that the `JSONDecoder` throws. A text that it would take too long to decode is `dataCorrupted`.
    package func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        do {
            if let value = decodeDirectly(type, from: try JSONDocument(data)) { return value }
        } catch {
            // The `JSONDecoder` reports other errors.
            guard error.reason == JSONMarks.reason else { return try original.decode(type, from: data) }
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: [], debugDescription: error.description, underlyingError: error)
            )
        }
        return try original.decode(type, from: data)
    }

    /// Decodes a value without the `JSONDecoder`. Returns nil for an error, and if the results could differ.
    package func decodeDirectly<Value: Decodable>(_ type: Value.Type, from data: Data) -> Value? {
        (try? JSONDocument(data)).flatMap { decodeDirectly(type, from: $0) }
    }

    private func decodeDirectly<Value: Decodable>(_ type: Value.Type, from document: JSONDocument) -> Value? {
        let input = LenientInput(document, decoder: machine, mirrorsJSONDecoder: true)
        let decoder = LenientDecoder(input, for: type)
        let isContainer = decoder.kind == .object || decoder.kind == .array
        let value = try? isContainer ? decoder.decodeOwnValue(type) : decoder.decodeValue(type)
        return input.cache.isDoubtful ? nil : value
    }
}
