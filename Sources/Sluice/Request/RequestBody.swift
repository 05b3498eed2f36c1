import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The body of a request, before it is encoded.
///
/// It is encoded when the request is sent. A failure to encode it fails the request, not the code that creates it.
public struct RequestBody: Sendable {
    typealias Encode = @Sendable (APIClient.Configuration) throws -> HTTPBody

    /// The `Content-Type`, unless a header sets another.
    public var contentType: String?
    let encode: Encode

    init(contentType: String?, _ encode: @escaping Encode) {
        self.contentType = contentType
        self.encode = encode
    }

    /// A body that needs no encoding: bytes, a file or a stream.
    public static func bytes(_ body: HTTPBody, contentType: String? = nil) -> RequestBody {
        RequestBody(contentType: contentType) { _ in body }
    }

    /// Bytes in memory.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - contentType: The media type.
    /// - Returns: A body of these bytes.
    public static func data(_ data: Data, contentType: String = MediaType.octetStream) -> RequestBody {
        .bytes(.data(data), contentType: contentType)
    }

    /// A stream of chunks. Back-pressure limits how fast it is read.
    ///
    /// - Parameters:
    ///   - chunks: The body in pieces of any size. An error that the sequence throws fails the request.
    ///   - length: The exact total number of bytes. Without it, HTTP/1.1 uses the chunked
    ///     transfer coding (RFC 9112 §7.1).
    ///   - isReplayable: True if a new iterator starts again at the first byte, for a retry or a redirect.
    ///   - contentType: The media type.
    /// - Returns: A body that reads the sequence when it is sent.
    public static func stream<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks,
        length: Int64? = nil,
        isReplayable: Bool = false,
        contentType: String = MediaType.octetStream
    ) -> RequestBody where Chunks.Element == Data {
        .bytes(.stream(chunks, length: length, isReplayable: isReplayable), contentType: contentType)
    }

    /// A JSON body.
    ///
    /// - Parameters:
    ///   - value: The value to encode.
    ///   - root: A key to put the value under; nil for none.
    ///   - encoder: The encoder; nil for the client's.
    /// - Returns: A body of type `application/json`.
    @_disfavoredOverload
    public static func json(
        _ value: some Encodable & Sendable,
        root: String? = nil,
        encoder: JSONEncoder? = nil
    ) -> RequestBody {
        encodedJSON(value, root, encoder)
    }

    private static func encodedJSON(
        _ value: some Encodable & Sendable,
        _ root: String?,
        _ encoder: JSONEncoder?
    ) -> RequestBody {
        RequestBody(contentType: "application/json") { configuration in
            let encoder = encoder ?? configuration.encoder
            guard let root else { return .data(try encoder.encode(value)) }
            return .data(try encoder.encode(RootKeyed(key: root, value: value)))
        }
    }

    /// A JSON body of names and values of any encodable types.
    public static func json(_ parameters: Parameters, root: String? = nil, encoder: JSONEncoder? = nil) -> RequestBody {
        encodedJSON(parameters, root, encoder)
    }
}
