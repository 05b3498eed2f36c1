import CZlib
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

// MARK: - Gzip encoder

/// Compresses bytes incrementally to gzip (RFC 1952). The header has no name and no date, so that the same input gives
/// the same output.
///
/// A class, because zlib keeps a pointer to its stream, which must not be moved or copied. Not thread-safe.
final class GzipEncoder {
    private static let pieceSize = 64 << 10
    private let stream: UnsafeMutablePointer<z_stream>
    private let buffer: UnsafeMutableBufferPointer<UInt8>

    /// Creates an encoder; nil if there is not enough memory.
    ///
    /// - Parameter level: From 1, the fastest, to 9, the smallest. Other values are clamped.
    init?(level: Int) {
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        guard sluice_gzip_begin(stream, Int32(min(max(level, 1), 9))) == Z_OK else {
            stream.deallocate()
            return nil
        }
        self.stream = stream
        buffer = .allocate(capacity: GzipEncoder.pieceSize)
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
        buffer.deallocate()
    }

    /// Compresses bytes and appends the output that is ready, which is often none.
    func compress(_ input: Data, into output: inout Data) {
        for start in stride(from: 0, to: input.count, by: GzipEncoder.pieceSize) {
            let piece = input.dropFirst(start).prefix(GzipEncoder.pieceSize)
            piece.withUnsafeBytes { bytes in
                // zlib only reads from this pointer.
                let base = bytes.bindMemory(to: UInt8.self).baseAddress
                stream.pointee.next_in = UnsafeMutablePointer(mutating: base)
                stream.pointee.avail_in = UInt32(bytes.count)
                run(Z_NO_FLUSH, into: &output)
            }
        }
    }

    /// Ends the output. Call it once, after all input.
    func finish(into output: inout Data) {
        stream.pointee.next_in = nil
        stream.pointee.avail_in = 0
        run(Z_FINISH, into: &output)
    }

    private func run(_ flush: Int32, into output: inout Data) {
        repeat {
            stream.pointee.next_out = buffer.baseAddress
            stream.pointee.avail_out = UInt32(buffer.count)
            // Fails only if there is nothing to do, and then produces no output.
            deflate(stream, flush)
            let count = buffer.count - Int(stream.pointee.avail_out)
            if let base = buffer.baseAddress, count > 0 { output.append(base, count: count) }
        } while stream.pointee.avail_out == 0
    }

    /// Compresses bytes in one call, unless the result would not be smaller.
    ///
    /// - Parameters:
    ///   - input: The bytes.
    ///   - level: The compression level.
    /// - Returns: The compressed bytes; nil if they are not fewer, or if there is not enough memory.
    static func smaller(_ input: Data, level: Int) -> Data? {
        guard let encoder = GzipEncoder(level: level) else { return nil }
        var output = Data()
        encoder.compress(input, into: &output)
        guard output.count < input.count else { return nil }
        encoder.finish(into: &output)
        return output.count < input.count ? output : nil
    }
}

extension RequestBody.Stream {
    /// The minimum number of compressed bytes per chunk. Smaller pieces would become small chunks on the wire.
    private static let pieceSize = 32 << 10

    /// Returns a stream that compresses the bytes with gzip as they are read.
    ///
    /// - Parameters:
    ///   - level: The compression level.
    ///   - length: The announced length of the source, which is verified here because the compressed length does not
    ///     reveal it; nil if it is not known.
    /// - Returns: A stream. Each time it is opened it starts at the source's first byte.
    func gzipped(level: Int, length: Int64?) -> RequestBody.Stream {
        RequestBody.Stream { [self] in
            guard let encoder = GzipEncoder(level: level) else { return { throw SluiceError.noCompression } }
            let next = open()
            var count: Int64 = 0
            var isOver = false
            return {
                if isOver { return nil }
                var output = Data()
                while output.count < RequestBody.Stream.pieceSize {
                    guard let chunk = try await next() else {
                        if let length, count < length { throw SluiceError.lengthMismatch(length, "only \(count)") }
                        isOver = true
                        encoder.finish(into: &output)
                        break
                    }
                    count += Int64(chunk.count)
                    if let length, count > length { throw SluiceError.lengthMismatch(length, "more") }
                    encoder.compress(chunk, into: &output)
                }
                return output
            }
        }
    }
}

extension SluiceError {
    fileprivate static var noCompression: SluiceError {
        SluiceError(.internalFailure, "The request's body could not be compressed: there is not enough memory.")
    }

    fileprivate static func lengthMismatch(_ length: Int64, _ actual: String) -> SluiceError {
        SluiceError(.bodyLengthMismatch, "The request's body was expected to have \(length) bytes, but had \(actual).")
    }
}
