import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A response that can be read while it arrives: a ``StreamRequest``, which is sent when reading starts, or a
/// ``StreamedResponse``.
public protocol StreamReadable<ErrorModel>: Sendable {
    /// The error model that reading fails with.
    associatedtype ErrorModel: ErrorSerializable

    /// The decoder that ``jsonLines(of:decoder:limit:)`` uses by default.
    var modelDecoder: any DataDecoder { get }

    /// The elements that a parser makes from the body.
    ///
    /// - Parameter parser: Called to create a parser each time the elements are iterated.
    /// - Returns: The elements.
    func elements<Parser: StreamParser>(
        parsedBy parser: @escaping @Sendable () -> Parser
    ) -> StreamSequence<Parser.Element, ErrorModel>
}

extension StreamReadable {
    /// The non-empty chunks of bytes, as they arrive.
    public var bytes: StreamSequence<Data, ErrorModel> { elements { ChunkParser() } }

    /// The lines of a UTF-8 body, at most 1 MiB each: see ``LineSplitter``.
    public var lines: StreamSequence<String, ErrorModel> { lines() }

    /// The lines of a UTF-8 body: see ``LineSplitter``.
    ///
    /// - Parameter limit: The maximum size of a line in bytes. A longer line fails with
    ///   ``SluiceError/Code/elementTooLarge``.
    /// - Returns: The lines without their line endings.
    public func lines(limit: Int = 1 << 20) -> StreamSequence<String, ErrorModel> {
        elements { LineSplitter(limit: limit) }
    }

    /// The values of a body with one JSON text per line, such as NDJSON or JSON Lines. Empty lines are skipped.
    ///
    /// - Parameters:
    ///   - type: The type of the values.
    ///   - decoder: The decoder to use; nil for the client's decoder.
    ///   - limit: The maximum size of a line in bytes; 1 MiB by default.
    /// - Returns: The values. A line that cannot be decoded fails with ``SluiceError/Code/decodingFailed``, which names
    ///   the line number.
    public func jsonLines<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self,
        decoder: (any DataDecoder)? = nil,
        limit: Int = 1 << 20
    ) -> StreamSequence<Value, ErrorModel> {
        let decoder = SharedDecoder(decoder ?? modelDecoder)
        return elements { JSONLineParser(decoder, limit: limit) }
    }
}

extension StreamRequest: StreamReadable {
    /// The elements that a parser makes from the body. Iterating over them sends the request.
    public func elements<Parser: StreamParser>(
        parsedBy parser: @escaping @Sendable () -> Parser
    ) -> StreamSequence<Parser.Element, ErrorModel> {
        StreamSequence(request: self, body: nil) { parser() }
    }

    /// The client's decoder.
    public var modelDecoder: any DataDecoder { client.pipeline.modelDecoder.decoder }
}

/// Returns each chunk unchanged.
private struct ChunkParser: StreamParser {
    private var chunks: [Data] = []

    mutating func append(_ chunk: Data) { chunks.append(chunk) }
    mutating func finish() {}
    mutating func next() -> Data? { chunks.isEmpty ? nil : chunks.removeFirst() }
}
