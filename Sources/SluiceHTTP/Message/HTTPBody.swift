#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a request sends after its head.
public struct HTTPBody: Sendable {
    /// Where the bytes come from; transports switch over it.
    package enum Source: Sendable {
        case none
        case data(Data)
        case file(URL)
        case stream(Stream)
        case deferred(Preparation)
    }

    /// A sequence of chunks whose type is forgotten; `open` begins to read it, anew each time if it is replayable.
    package struct Stream: Sendable {
        package let open: @Sendable () -> Reader

        package init(open: @escaping @Sendable () -> Reader) {
            self.open = open
        }
    }

    /// Gives the next chunk, nil at the end.
    package typealias Reader = () async throws -> Data?

    /// Makes the body that is sent in this one's place.
    package typealias Preparation = @Sendable () async throws -> HTTPBody

    package let source: Source
    /// The length in bytes, or nil where only reading the body tells; a file's is asked for when it is sent.
    public let length: Int64?
    /// Whether the body can be sent a second time, for a retry or a redirect.
    public let isReplayable: Bool

    private init(source: Source, length: Int64?, isReplayable: Bool) {
        self.source = source
        self.length = length
        self.isReplayable = isReplayable
    }

    /// No body at all.
    public static let none = HTTPBody(source: .none, length: 0, isReplayable: true)

    /// Bytes in memory.
    public static func data(_ data: Data) -> HTTPBody {
        HTTPBody(source: .data(data), length: Int64(data.count), isReplayable: true)
    }

    /// A file, read in pieces while it is sent.
    ///
    /// A file that is missing or cannot be read fails the request with ``SluiceError/Code/bodyUnavailable`` before a
    /// byte is sent.
    public static func file(_ url: URL) -> HTTPBody {
        HTTPBody(source: .file(url), length: nil, isReplayable: true)
    }

    /// Chunks as they come from an asynchronous sequence, read no faster than the network takes them.
    ///
    /// - Parameters:
    ///   - chunks: The body in pieces of any size; an error it throws fails the request.
    ///   - length: The exact number of bytes in all. Without it HTTP/1.1 sends the body chunked (RFC 9112 §7.1).
    ///   - isReplayable: Whether a new iterator begins again at the first byte. False by default.
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

    /// A stream whose type has been forgotten already.
    package static func stream(_ stream: Stream, length: Int64?, isReplayable: Bool) -> HTTPBody {
        HTTPBody(source: .stream(stream), length: length, isReplayable: isReplayable)
    }

    /// A body that is made when it is about to be sent, anew each time; what it throws fails the request before a byte
    /// is sent.
    package static func deferred(isReplayable: Bool, _ prepare: @escaping Preparation) -> HTTPBody {
        HTTPBody(source: .deferred(prepare), length: nil, isReplayable: isReplayable)
    }

    /// Whether there is no body, which is not the same as one of no bytes.
    public var isNone: Bool {
        if case .none = source { true } else { false }
    }
}

extension HTTPBody: CustomStringConvertible, CustomReflectable {
    /// What it is and how long, without any of it.
    public var description: String {
        switch source {
        case .none: "no body"
        case .data(let data): "\(data.count) bytes"
        case .file(let url): "the file “\(url.path)”"
        case .stream: length.map { "a stream of \($0) bytes" } ?? "a stream"
        case .deferred: "a body that is made when it is sent"
        }
    }

    /// Its length: `dump` would show the bytes.
    public var customMirror: Mirror {
        Mirror(self, children: ["length": length as Any, "isReplayable": isReplayable], displayStyle: .struct)
    }
}
