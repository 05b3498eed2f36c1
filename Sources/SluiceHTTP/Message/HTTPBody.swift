import SluiceFoundation

/// The body of a request.
public struct HTTPBody: Sendable {
    /// The source of the bytes.
    package enum Source: Sendable {
        case none
        case data(Data)
        case file(URL)
        case stream(Stream)
        case deferred(Preparation)
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
    package typealias Preparation = @Sendable () async throws -> HTTPBody

    package let source: Source
    /// The length in bytes; nil if it is unknown before the body is read. A file's length is read when it is sent.
    public let length: Int64?
    /// True if the body can be sent again for a retry or a redirect.
    public let isReplayable: Bool

    private init(source: Source, length: Int64?, isReplayable: Bool) {
        self.source = source
        self.length = length
        self.isReplayable = isReplayable
    }

    /// No body.
    public static let none = HTTPBody(source: .none, length: 0, isReplayable: true)

    /// Bytes in memory.
    public static func data(_ data: Data) -> HTTPBody {
        HTTPBody(source: .data(data), length: Int64(data.count), isReplayable: true)
    }

    /// A file, read in pieces while it is sent.
    ///
    /// If the file is missing or cannot be read, the request fails with ``SluiceError/Code/bodyUnavailable`` before a
    /// byte is sent.
    public static func file(_ url: URL) -> HTTPBody {
        HTTPBody(source: .file(url), length: nil, isReplayable: true)
    }

    /// A stream of chunks from an asynchronous sequence, read no faster than the network accepts them.
    ///
    /// - Parameters:
    ///   - chunks: The body in pieces of any size. An error that the sequence throws fails the request.
    ///   - length: The exact number of bytes in all. Without it HTTP/1.1 sends the body chunked (RFC 9112 §7.1).
    ///   - isReplayable: True if a new iterator starts at the first byte again. False by default.
    /// - Returns: A body that reads the sequence when it is sent.
    public static func stream<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks,
        length: Int64? = nil,
        isReplayable: Bool = false
    ) -> HTTPBody where Chunks.Element == Data {
        let stream = Stream {
            var iterator = chunks.makeAsyncIterator()
            return { try await iterator.next() }
        }
        return .stream(stream, length: length, isReplayable: isReplayable)
    }

    /// Creates a body from a type-erased stream.
    package static func stream(_ stream: Stream, length: Int64?, isReplayable: Bool) -> HTTPBody {
        HTTPBody(source: .stream(stream), length: length, isReplayable: isReplayable)
    }

    /// Creates a body that is built each time it is sent. An error that `prepare` throws fails the request before a
    /// byte is sent.
    package static func deferred(isReplayable: Bool, _ prepare: @escaping Preparation) -> HTTPBody {
        HTTPBody(source: .deferred(prepare), length: nil, isReplayable: isReplayable)
    }

    /// True if there is no body. An empty body is still a body.
    public var isNone: Bool {
        if case .none = source { true } else { false }
    }
}

extension HTTPBody: CustomStringConvertible, CustomReflectable {
    /// The kind and length of the body, without its contents.
    public var description: String {
        switch source {
        case .none: "no body"
        case .data(let data): "\(data.count) bytes"
        case .file(let url): "the file “\(url.path)”"
        case .stream: length.map { "a stream of \($0) bytes" } ?? "a stream"
        case .deferred: "a body that is created when it is sent"
        }
    }

    /// The length only: `dump` would show the bytes.
    public var customMirror: Mirror {
        Mirror(self, children: ["length": length as Any, "isReplayable": isReplayable], displayStyle: .struct)
    }
}
