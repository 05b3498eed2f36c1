import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a response can be read as while it arrives: a ``StreamRequest``, which is sent when the reading begins, or a
/// ``StreamedResponse``.
public protocol StreamReadable<ErrorModel>: Sendable {
    /// What the reading fails with.
    associatedtype ErrorModel: ErrorSerializable

    /// Decodes the values of ``jsonLines(of:decoder:limit:)`` where no other decoder is given.
    var modelDecoder: any DataDecoder { get }

    /// What a parser makes of the chunks that arrive.
    ///
    /// - Parameter parser: Makes a parser, for each time that the elements are read.
    /// - Returns: The elements.
    func elements<Parser: StreamParser>(
        parsedBy parser: @escaping @Sendable () -> Parser
    ) -> StreamSequence<Parser.Element, ErrorModel>
}

extension StreamReadable {
    /// The bytes in chunks as they come, none of them empty.
    public var bytes: StreamSequence<Data, ErrorModel> { elements { ChunkParser() } }

    /// The lines of a text in UTF-8, of up to 1 MiB each: see ``LineSplitter``.
    public var lines: StreamSequence<String, ErrorModel> { lines() }

    /// The lines of a text in UTF-8: see ``LineSplitter``.
    ///
    /// - Parameter limit: The most bytes of a line; a longer one fails with ``SluiceError/Code/elementTooLarge``.
    /// - Returns: The lines without their ends.
    public func lines(limit: Int = 1 << 20) -> StreamSequence<String, ErrorModel> {
        elements { LineSplitter(limit: limit) }
    }

    /// The values of a body that has one JSON text a line, as NDJSON and JSON Lines do; empty lines are passed over.
    ///
    /// - Parameters:
    ///   - type: What a line is.
    ///   - decoder: What decodes it; nil for the client's.
    ///   - limit: The most bytes of a line; 1 MiB by default.
    /// - Returns: The values. A line that is none fails with ``SluiceError/Code/decodingFailed``, which says which line it is.
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
    /// What a parser makes of the chunks that arrive; iterating it sends the request.
    public func elements<Parser: StreamParser>(
        parsedBy parser: @escaping @Sendable () -> Parser
    ) -> StreamSequence<Parser.Element, ErrorModel> {
        StreamSequence(request: self, body: nil) { parser() }
    }

    /// The client's decoder.
    public var modelDecoder: any DataDecoder { client.pipeline.modelDecoder.decoder }
}

/// Gives each chunk as it came.
private struct ChunkParser: StreamParser {
    private var chunks: [Data] = []

    mutating func append(_ chunk: Data) { chunks.append(chunk) }
    mutating func finish() {}
    mutating func next() -> Data? { chunks.isEmpty ? nil : chunks.removeFirst() }
}
