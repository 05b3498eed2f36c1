import SluiceFoundation

/// The body of a request: bytes, a file, a stream of chunks, or a value that is encoded when the request is sent.
///
/// ```swift
/// let asset: Asset = try await shop.post("assets").body(.stream(chunks, contentType: "video/mp4")).sender().value
/// ```
///
/// An interceptor or a transport reads the bytes of any body as an asynchronous sequence, or all at once with
/// ``collect(upTo:)``. A replayable body can be read any number of times. Any other body can be read only once, so code
/// that reads it must replace it by a body that can be sent.
///
/// A body encodes itself when the request is built. A failure to encode it fails the request, not the code that creates
/// it.
public struct RequestBody: Sendable {
    /// The source of the bytes.
    package enum Source: Sendable {
        case none
        case data(Data)
        /// A file, or the bytes of it in a range.
        case file(URL, Range<Int>?)
        case stream(Stream)
        case deferred(Preparation)
        case encoded(Encoding)
    }

    /// A type-erased sequence of chunks. `open` starts a new iteration; for a replayable body each starts at the first
    /// byte.
    package struct Stream: Sendable {
        package let open: @Sendable () -> Reader

        package init(open: @escaping @Sendable () -> Reader) {
            self.open = open
        }
    }

    /// Returns the next chunk; nil at the end.
    package typealias Reader = () async throws -> Data?

    /// Creates the body to send.
    package typealias Preparation = @Sendable () async throws -> RequestBody

    /// Creates the body with the settings of a client; with the default settings for nil.
    package typealias Encoding = @Sendable ((any AnyObject & Sendable)?) throws -> RequestBody

    package let source: Source
    /// The `Content-Type`, unless a header of the request sets another. Nil once the request has been built, and its
    /// header has the type.
    public var contentType: String?
    /// The length in bytes; nil if it is unknown before the body is read. A file's length is read when it is sent.
    public let length: Int64?
    /// True if the body can be sent again for a retry or a redirect.
    public let isReplayable: Bool

    package init(source: Source, contentType: String? = nil, length: Int64?, isReplayable: Bool) {
        self.source = source
        self.contentType = contentType
        self.length = length
        self.isReplayable = isReplayable
    }

    /// No body.
    public static let none = RequestBody(source: .none, length: 0, isReplayable: true)

    /// Bytes in memory.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - contentType: The media type; by default `application/octet-stream`, unless the request has another.
    /// - Returns: A body of these bytes.
    public static func data(_ data: Data, contentType: String? = nil) -> RequestBody {
        RequestBody(source: .data(data), contentType: contentType, length: Int64(data.count), isReplayable: true)
    }

    /// Creates a body from a type-erased stream.
    package static func stream(
        _ stream: Stream,
        length: Int64?,
        isReplayable: Bool,
        contentType: String? = nil
    ) -> RequestBody {
        RequestBody(source: .stream(stream), contentType: contentType, length: length, isReplayable: isReplayable)
    }

    /// Creates a body that is built each time it is sent. An error that `prepare` throws fails the request before a
    /// byte is sent.
    package static func deferred(isReplayable: Bool, _ prepare: @escaping Preparation) -> RequestBody {
        RequestBody(source: .deferred(prepare), length: nil, isReplayable: isReplayable)
    }

    /// Creates a body that is encoded when the request is built.
    package static func encoded(contentType: String?, _ encode: @escaping Encoding) -> RequestBody {
        RequestBody(source: .encoded(encode), contentType: contentType, length: nil, isReplayable: true)
    }

    /// True if there is no body. An empty body is still a body.
    public var isNone: Bool {
        if case .none = source { true } else { false }
    }
}

extension RequestBody: CustomStringConvertible, CustomReflectable, RedactedMirror {
    /// The kind and length of the body, without its contents.
    public var description: String {
        switch source {
        case .none: "no body"
        case .data(let data): "\(data.count) bytes"
        case .file(let url, nil): "the file “\(url.path)”"
        case .file(let url, let range?): "the bytes \(range) of the file “\(url.path)”"
        case .stream: length.map { "a stream of \($0) bytes" } ?? "a stream"
        case .deferred: "a body that is created when it is sent"
        case .encoded: "a body that is encoded when it is sent"
        }
    }

    /// The length only: `dump` would show the bytes.
    package var shown: [Mirror.Child] { [("length", length as Any), ("isReplayable", isReplayable)] }
}
