import SluiceFoundation

/// Decodes models with the results and errors of a `JSONDecoder`, with less work.
///
/// The decoder is that of ``LenientJSONDecoder``, without conversions. If decoding fails, or if the results could differ, the
/// `JSONDecoder` decodes the text again, so that the values and errors of decoding are its own. Errors that a model
/// catches may name other types.
///
/// A class, because each copy of the strategies would cost more than the reference to them.
package final class JSONModelDecoder: Sendable {
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
            convertsTypes: false,
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
        let document: JSONDocument
        do {
            document = try JSONDocument(data)
        } catch {
            // The `JSONDecoder` reports the error, and accepts some texts that a `JSONDocument` refuses.
            try Self.checkMarks(in: data)
            return try original.decode(type, from: data)
        }
        let input = LenientInput(document, decoder: machine, mirrorsJSONDecoder: true)
        do {
            let value = try Self.decode(type, from: input)
            if !input.cache.isDoubtful { return value }
        } catch {
            // The `JSONDecoder` reports the error.
        }
        return try original.decode(type, from: data)
    }

    // Returns no optional, because the runtime looks up the metadata of an optional generic type on every call.
    private static func decode<Value: Decodable>(_ type: Value.Type, from input: LenientInput) throws -> Value {
        let decoder = LenientDecoder(input, for: type)
        let isContainer = decoder.kind == .object || decoder.kind == .array
        return try isContainer ? decoder.decodeOwnValue(type) : decoder.decodeValue(type)
    }

    /// Checks the combining characters of a text that a `JSONDecoder` is to read, also in UTF-16 and UTF-32. The text may have other
    /// errors, which the decoder may accept.
    ///
    /// - Throws: `DecodingError.dataCorrupted` for more than ``JSONMarks/limit`` in a row.
    package static func checkMarks(in data: Data) throws {
        try data.withUnsafeBytes { try checkMarks(of: $0.bindMemory(to: UInt8.self)) }
        guard isWide(data) else { return }
        let encodings: [String.Encoding] = [
            .utf16, .utf16LittleEndian, .utf16BigEndian, .utf32, .utf32LittleEndian, .utf32BigEndian,
        ]
        for encoding in encodings {
            if var text = String(data: data, encoding: encoding) { try text.withUTF8 { try checkMarks(of: $0) } }
        }
    }

    private static func checkMarks(of text: UnsafeBufferPointer<UInt8>) throws {
        guard let offset = JSONMarks.offsetOfExcess(in: text) else { return }
        let error = JSONSyntaxError("it has \(JSONMarks.excess)", offset: offset, in: text)
        throw DecodingError.dataCorrupted(
            DecodingError.Context(codingPath: [], debugDescription: error.description, underlyingError: error)
        )
    }

    /// Returns true for a text in UTF-16 or UTF-32. A text begins with an ASCII character (RFC 4627 §3) or with a byte order mark.
    package static func isWide(_ data: Data) -> Bool {
        let start = Array(data.prefix(4))
        return start.contains(0) || start.starts(with: [0xFE, 0xFF]) || start.starts(with: [0xFF, 0xFE])
    }

    /// Decodes a value without the `JSONDecoder`. Returns nil for an error, and if the results could differ.
    package func decodeDirectly<Value: Decodable>(_ type: Value.Type, from data: Data) -> Value? {
        guard let document = try? JSONDocument(data) else { return nil }
        let input = LenientInput(document, decoder: machine, mirrorsJSONDecoder: true)
        let value = try? Self.decode(type, from: input)
        return input.cache.isDoubtful ? nil : value
    }
}
