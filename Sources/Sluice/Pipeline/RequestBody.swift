import SluiceFoundation
import SluiceHTTP

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
    public static func data(_ data: Data, contentType: String = "application/octet-stream") -> RequestBody {
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
        contentType: String = "application/octet-stream"
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

    /// A form body of names and values.
    ///
    /// - Parameters:
    ///   - value: A structure or dictionary.
    ///   - encoder: The encoder; nil for the client's.
    /// - Returns: A body of type `application/x-www-form-urlencoded`.
    @_disfavoredOverload
    public static func form(_ value: some Encodable & Sendable, encoder: URLEncodedFormEncoder? = nil) -> RequestBody {
        form([RequestParameters(value: value, encoder: encoder)])
    }

    /// A form body of names and values of any encodable types.
    public static func form(_ parameters: Parameters, encoder: URLEncodedFormEncoder? = nil) -> RequestBody {
        form([RequestParameters(value: parameters, encoder: encoder)])
    }

    static func form(_ parameters: [RequestParameters]) -> RequestBody {
        RequestBody(contentType: "application/x-www-form-urlencoded") { configuration in
            let texts = try parameters.map { try $0.text(by: configuration.formEncoder) }
            return .data(Data(texts.filter { !$0.isEmpty }.joined(separator: "&").utf8))
        }
    }

    /// A multipart form body. Files and streams are read while they are sent (RFC 7578).
    public static func multipart(_ form: MultipartForm) -> RequestBody {
        RequestBody(contentType: form.contentType) { _ in try form.body() }
    }

    /// A property list body.
    ///
    /// - Parameters:
    ///   - value: The value to encode.
    ///   - format: The format; XML by default.
    /// - Returns: A body of type `application/x-plist`.
    public static func propertyList(
        _ value: some Encodable & Sendable,
        format: PropertyListDecoder.PropertyListFormat = .xml
    ) -> RequestBody {
        RequestBody(contentType: "application/x-plist") { _ in
            let encoder = PropertyListEncoder()
            encoder.outputFormat = format
            return .data(try encoder.encode(value))
        }
    }

    /// A file as the body. It is read while it is sent. A missing file fails the request before a byte is sent.
    ///
    /// - Parameters:
    ///   - url: The URL of the file.
    ///   - contentType: The media type; nil to derive it from the file's extension.
    /// - Returns: A body with the contents of the file.
    public static func file(_ url: URL, contentType: String? = nil) -> RequestBody {
        .bytes(.file(url), contentType: contentType ?? MediaType.forFileExtension(url.pathExtension))
    }
}
