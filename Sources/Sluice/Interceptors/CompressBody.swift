import Dispatch
import SluiceFoundation
import SluiceHTTP

/// Compresses request bodies with gzip and sets `Content-Encoding` (RFC 9110 §8.4.1.3), for servers that accept it.
///
/// ```swift
/// let logs = APIClient(baseURL: "https://logs.example") {
///     $0.requestInterceptors = [CompressBody()]
/// }
/// ```
///
/// A body in memory is sent unchanged if compression does not make it smaller. Files and streams are compressed while
/// they are read. They are sent without a length and in large pieces, so a stream that produces little data at a time
/// is delayed. A body that could be sent again still can be. The following bodies are not compressed: those that
/// already have a `Content-Encoding`; those of a compressed type, such as images and archives; and those whose headers
/// refer to their exact bytes: `Content-Range`, `Content-Digest`, `Repr-Digest`, `Digest`,
/// `Content-MD5`.
///
/// Place it after interceptors that change the body, and before those that sign it.
public struct CompressBody: RequestInterceptor {
    /// Bodies longer than this many bytes are compressed on a dispatch queue, off the task's thread.
    private static let inlineLimit = 32 << 10
    /// The fields that refer to the exact bytes of a body, or to its coding.
    private static let boundToBytes: [HTTPHeaderName] = [
        .contentEncoding, "Content-Range", "Content-Digest", "Repr-Digest", "Digest", "Content-MD5",
    ]

    private let minimumSize: Int64
    private let level: Int
    private let condition: (@Sendable (HTTPRequest) -> Bool)?

    /// Creates an interceptor.
    ///
    /// - Parameters:
    ///   - minimumSize: The minimum length of a body to compress, in bytes, if its length is known; 1,024 by default.
    ///   - level: From 1, the fastest, to 9, the smallest; 6 by default.
    ///   - condition: Returns true for requests to compress; all by default.
    public init(minimumSize: Int = 1024, level: Int = 6, when condition: (@Sendable (HTTPRequest) -> Bool)? = nil) {
        self.minimumSize = Int64(minimumSize)
        self.level = level
        self.condition = condition
    }

    /// Returns the request with its body compressed, if that makes it smaller.
    ///
    /// - Parameters:
    ///   - request: The request from the previous interceptors.
    ///   - context: The context, whose time-out limits opening a file or building a form.
    /// - Returns: The request to send.
    /// - Throws: ``SluiceError/Code/bodyUnavailable`` if the body cannot be opened.
    public func intercept(_ request: HTTPRequest, context: RequestContext) async throws -> HTTPRequest {
        guard !request.body.isNone, canCompress(request), condition?(request) ?? true else { return request }
        let body = try await request.body.prepared(within: context.transfer.timeouts.total)
        let compressed = await compressed(body)
        // A body that can be read only once has been consumed, so the prepared one must be sent.
        if compressed == nil && request.body.isReplayable { return request }
        var request = request
        request.body = compressed ?? body
        if compressed == nil { return request }
        request.headers.append(.contentEncoding, "gzip")
        return request
    }

    private func canCompress(_ request: HTTPRequest) -> Bool {
        if let length = request.body.length, length < minimumSize { return false }
        let headers = request.headers
        if CompressBody.boundToBytes.contains(where: { headers.contains($0) }) { return false }
        return !(headers[.contentType].flatMap { ContentType($0) }?.isCompressed ?? false)
    }

    private func compressed(_ body: RequestBody) async -> RequestBody? {
        if let length = body.length, length < minimumSize { return nil }
        switch body.source {
        case .data(let data):
            return await smaller(data).map { .data($0) }
        case .stream(let stream):
            let gzipped = stream.gzipped(level: level, length: body.length)
            return .stream(gzipped, length: nil, isReplayable: body.isReplayable)
        case .none, .file, .deferred, .encoded:
            return nil
        }
    }

    private func smaller(_ data: Data) async -> Data? {
        if data.count <= CompressBody.inlineLimit { return GzipEncoder.smaller(data, level: level) }
        return await BlockingQueues.next.result { [level] in GzipEncoder.smaller(data, level: level) }
    }
}

extension ContentType {
    private static let compressedTypes: Set<String> = [
        "application/gzip", "application/x-gzip", "application/zip", "application/zstd", "application/x-bzip2",
        "application/x-xz", "application/x-7z-compressed", "application/vnd.rar", "application/x-rar-compressed",
        "application/java-archive", "application/epub+zip", "application/vnd.android.package-archive", "font/woff",
        "font/woff2",
    ]
    private static let uncompressedImages: Set<String> = ["svg+xml", "bmp", "x-ms-bmp", "tiff", "vnd.microsoft.icon"]

    /// True if content of this type is already compressed.
    var isCompressed: Bool {
        switch type {
        case "image": !ContentType.uncompressedImages.contains(subtype)
        case "audio", "video": true
        default:
            ContentType.compressedTypes.contains(essence) || subtype.hasSuffix("+zip") || subtype.hasSuffix("+gzip")
                || essence.hasPrefix("application/vnd.openxmlformats-")
        }
    }
}
