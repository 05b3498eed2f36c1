import Foundation
import SluiceHTTP

/// A request's body, validated before anything is sent.
enum UploadBody: Sendable {
    case none
    case data(Data)
    case file(URL, length: Int64)
    case stream(RequestBody.Stream, length: Int64?)

    /// The number of bytes, if known.
    var length: Int64? {
        switch self {
        case .none: 0
        case .data(let data): Int64(data.count)
        case .file(_, let length): length
        case .stream(_, let length): length
        }
    }

    /// Validates a body. Rejects bodies that the session would fail or trap on later.
    ///
    /// - Parameters:
    ///   - request: The request to send.
    ///   - limit: The request's total time, counted from now.
    /// - Returns: A body that can be sent.
    /// - Throws: A ``SluiceError`` if the body cannot be sent.
    static func open(_ request: HTTPRequest, within limit: Duration?) async throws(SluiceError) -> UploadBody {
        if request.method == .get && !request.body.isNone {
            throw SluiceError(
                .unsupported,
                "URLSession cannot send a body with a GET request. Use another method, or another transport.",
                request: request
            )
        }
        do {
            return try await open(request.body, within: limit)
        } catch {
            throw error.with(request: request)
        }
    }

    private static func open(_ body: RequestBody, within limit: Duration?) async throws(SluiceError) -> UploadBody {
        switch body.source {
        case .none:
            return .none
        case .data(let data):
            return .data(data)
        case .stream(let stream):
            return .stream(stream, length: body.length)
        case .file(let url):
            // Opened only to check the file. The session opens it again.
            let file = try await TimedWork.outcome(within: limit) { () async throws(SluiceError) in
                try await FileReader.open(url)
            }
            return .file(url, length: file.length)
        case .deferred, .encoded:
            // A prepared body needs no further preparation.
            return try await open(body.prepared(within: limit), within: limit)
        }
    }
}

/// The body in the form that a session task takes.
enum Payload: Sendable {
    /// Opens a stream of the body's bytes; returns nil if they have been consumed.
    typealias OpenStream = @Sendable () -> InputStream?

    case none
    case data(Data)
    case file(URL)
    case stream(OpenStream)
}

// MARK: - Streams on Apple's platforms

#if !canImport(FoundationNetworking)
extension SessionTransfer {
    /// Sends the stream while it is read, no faster than the network accepts it.
    func startStream(_ stream: RequestBody.Stream, length: Int64?) {
        guard let streams = BoundStreams() else {
            return fail(
                SluiceError(.internalFailure, "The pair of streams for the request's body could not be created.")
            )
        }
        launch(.stream { streams.takeInput() })
        register(
            Task {
                do throws(SluiceError) {
                    guard try await stream.read(length: length, { await streams.write($0) }) else { throw .cancelled }
                    streams.close()
                } catch {
                    // Fails first: for the task, a closed stream is a complete body.
                    fail(error)
                    streams.close()
                }
            }
        )
    }
}

/// A pair of connected streams: bytes written to the output are read from the input.
private final class BoundStreams: Sendable {
    private static let bufferSize = 256 << 10

    private let queue = DispatchQueue(label: "sluice.urlsession.upload")
    /// Used on the queue only, whose thread blocks while the buffer is full.
    private nonisolated(unsafe) let output: OutputStream
    private nonisolated(unsafe) let input: InputStream
    private let isTaken = Locked(false)

    init?() {
        var input: InputStream?
        var output: OutputStream?
        Stream.getBoundStreams(
            withBufferSize: BoundStreams.bufferSize,
            inputStream: &input,
            outputStream: &output
        )
        guard let input, let output else { return nil }
        self.input = input
        self.output = output
        queue.async { [self] in self.output.open() }
    }

    /// Returns the input stream on the first call and nil afterwards, since a stream cannot be rewound.
    func takeInput() -> InputStream? {
        isTaken.withLock { isTaken in
            defer { isTaken = true }
            return isTaken
        } ? nil : input
    }

    /// Writes the whole chunk. Returns false if the input has been closed.
    func write(_ chunk: Data) async -> Bool {
        await queue.result { [self] in writeWaiting(chunk) }
    }

    func close() {
        queue.async { [self] in output.close() }
    }

    private func writeWaiting(_ chunk: Data) -> Bool {
        chunk.withUnsafeBytes { bytes in
            var rest = bytes.bindMemory(to: UInt8.self)[...]
            while !rest.isEmpty {
                guard let base = UnsafeBufferPointer(rebasing: rest).baseAddress else { return true }
                let count = output.write(base, maxLength: rest.count)
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }
    }
}
#endif

// MARK: - Streams on Linux

#if canImport(FoundationNetworking)
extension SessionTransfer {
    /// The maximum number of bytes of a stream that are collected in memory.
    private static let collectionLimit = 64 << 20

    /// Reads the whole stream before sending it.
    ///
    /// Foundation on Linux reads a body's stream on the session's only queue, so that a stream that waits for data
    /// would block all other transfers.
    func startStream(_ stream: RequestBody.Stream, length: Int64?) {
        register(
            Task {
                do throws(SluiceError) {
                    var body = Data()
                    let isComplete = try await stream.read(length: length) { chunk in
                        guard body.count + chunk.count <= SessionTransfer.collectionLimit else { return false }
                        body.append(chunk)
                        return true
                    }
                    guard isComplete else { throw .streamTooLong }
                    launch(length == nil ? .stream { [body] in InputStream(data: body) } : .data(body))
                } catch {
                    fail(error)
                }
            }
        )
    }
}

extension SluiceError {
    fileprivate static var streamTooLong: SluiceError {
        SluiceError(
            .unsupported,
            "URLSession on Linux cannot send a stream of more than 64 MiB. Send a file, or use SocketTransport."
        )
    }
}
#endif
