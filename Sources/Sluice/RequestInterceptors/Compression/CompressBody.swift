import Dispatch
import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Compresses requests' bodies with gzip and says so in `Content-Encoding` (RFC 9110 §8.4.1.3), for servers that take it.
///
/// ```swift
/// let logs = APIClient(baseURL: "https://logs.example") {
///     $0.requestInterceptors = [CompressBody()]
/// }
/// ```
///
/// Bytes in memory that do not become fewer are sent as they were. Files and streams are compressed while they are read, and
/// travel without a length and in large pieces: a stream that gives little at a time is held back. A body can be sent again if it
/// could before. Left as they are: bodies that have a `Content-Encoding` already, those whose type is compressed by nature, pictures
/// and archives for example, and those whose headers speak of their very bytes: `Content-Range`, `Content-Digest`, `Digest`,
/// `Content-MD5`.
///
/// It belongs behind interceptors that change the body, and before those that sign it.
public struct CompressBody: RequestInterceptor {
    /// Bodies above this many bytes are compressed away from the tasks' threads.
    private static let inPlace = 32 << 10
    private static let queue = DispatchQueue(label: "sluice.compression", attributes: .concurrent)
    private static let bound: [HTTPHeaderName] = [
        .contentEncoding, "Content-Range", "Content-Digest", "Digest", "Content-MD5",
    ]

    private let minimumSize: Int64
    private let level: Int
    private let condition: (@Sendable (HTTPRequest) -> Bool)?

    /// Makes an interceptor.
    ///
    /// - Parameters:
    ///   - minimumSize: The least bytes worth it, where their number is known; 1,024 by default.
    ///   - level: From 1, the fastest, to 9, the smallest; 6 by default.
    ///   - condition: Which requests to compress among those that can be; all by default.
    public init(minimumSize: Int = 1024, level: Int = 6, when condition: (@Sendable (HTTPRequest) -> Bool)? = nil) {
        self.minimumSize = Int64(minimumSize)
        self.level = level
        self.condition = condition
    }

    /// Gives the request with its body compressed, where that is worth it.
    ///
    /// - Parameters:
    ///   - request: The request as the interceptors before have left it.
    ///   - context: The time-out for opening a file or making a form.
    /// - Returns: The request to send.
    /// - Throws: ``SluiceError/Code/bodyUnavailable`` where the body cannot be opened.
    public func intercept(_ request: HTTPRequest, context: RequestContext) async throws -> HTTPRequest {
        guard !request.body.isNone, canCompress(request), condition?(request) ?? true else { return request }
        let body = try await request.body.prepared(within: context.transfer.timeouts.total)
        let compressed = await compressed(body)
        // What has been made of a body that can be made but once is all there is of it.
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
        if CompressBody.bound.contains(where: { headers.contains($0) }) { return false }
        return !(headers[.contentType].flatMap { ContentType($0) }?.isCompressed ?? false)
    }

    private func compressed(_ body: HTTPBody) async -> HTTPBody? {
        if let length = body.length, length < minimumSize { return nil }
        switch body.source {
        case .data(let data):
            return await smaller(data).map { .data($0) }
        case .stream(let stream):
            let gzipped = stream.gzipped(level: level, length: body.length)
            return .stream(gzipped, length: nil, isReplayable: body.isReplayable)
        case .none, .file, .deferred:
            return nil
        }
    }

    private func smaller(_ data: Data) async -> Data? {
        if data.count <= CompressBody.inPlace { return GzipEncoder.smaller(data, level: level) }
        return await CompressBody.queue.result { [level] in GzipEncoder.smaller(data, level: level) }
    }
}

extension ContentType {
    private static let compressedTypes: Set<String> = [
        "application/gzip", "application/x-gzip", "application/zip", "application/zstd", "application/x-bzip2",
        "application/x-xz", "application/x-7z-compressed", "application/vnd.rar", "application/x-rar-compressed",
        "application/java-archive", "application/epub+zip", "application/vnd.android.package-archive", "font/woff",
        "font/woff2",
    ]
    private static let plainPictures: Set<String> = ["svg+xml", "bmp", "x-ms-bmp", "tiff", "vnd.microsoft.icon"]

    /// Whether what is of this type is compressed by nature, so that to compress it again is of no use.
    var isCompressed: Bool {
        switch type {
        case "image": !ContentType.plainPictures.contains(subtype)
        case "audio", "video": true
        default:
            ContentType.compressedTypes.contains(essence) || subtype.hasSuffix("+zip") || subtype.hasSuffix("+gzip")
                || essence.hasPrefix("application/vnd.openxmlformats-")
        }
    }
}
