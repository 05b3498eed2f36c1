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
        case .file(let url, nil):
            // Opened only to check the file. The session opens it again.
            return .file(url, length: try await body.prepared(within: limit).length ?? 0)
        case .file, .deferred, .encoded:
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
    /// Sends the stream while it is read, no faster than the network accepts it. The session opens a replayable stream
    /// again if it has to repeat the request.
    func startStream(_ stream: RequestBody.Stream, length: Int64?) {
        let current = Locked<BoundStreams?>(nil)
        let isCurrent = { @Sendable (streams: BoundStreams) in current.withLock { $0 === streams } }
        let canSendAgain = canSendAgain
        launch(
            .stream { [weak self] in
                guard let self, canSendAgain || current.withLock({ $0 == nil }) else { return nil }
                guard let streams = BoundStreams() else {
                    fail(
                        SluiceError(
                            .internalFailure,
                            "The pair of streams for the request's body could not be created."
                        )
                    )
                    return nil
                }
                let former = current.withLock { current in
                    defer { current = streams }
                    return current
                }
                if let former {
                    former.abandon()
                    beginUploadAgain()
                }
                register(
                    Task { [weak self] in
                        await streams.send(stream, length) { awaitsSource in
                            if isCurrent(streams) { self?.setAwaitsSource(awaitsSource) }
                        } onFailure: { error in
                            self?.fail(error)
                        }
                    }
                )
                return streams.input
            }
        )
    }
}

/// A pair of connected streams: bytes written to the output are read from the input.
private final class BoundStreams: Sendable {
    private static let bufferSize = 256 << 10
    /// The time between two looks for room in a full buffer.
    private static let pause = DispatchTimeInterval.milliseconds(2)

    private let queue = DispatchQueue(label: "sluice.urlsession.upload")
    /// Used on the queue only.
    private nonisolated(unsafe) let output: OutputStream
    /// Used by the session only.
    nonisolated(unsafe) let input: InputStream
    /// True once nothing reads the input any longer.
    private let isAbandoned = Locked(false)

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

    /// Writes a stream until its end, until the task is cancelled, or until the session abandons these streams.
    ///
    /// - Parameters:
    ///   - stream: The stream.
    ///   - length: The number of bytes to send; nil if unknown.
    ///   - awaitsSource: Called with true before a wait for the source, and with false after it.
    ///   - fail: Called if the source fails.
    func send(
        _ stream: RequestBody.Stream,
        _ length: Int64?,
        awaitsSource: (Bool) -> Void,
        onFailure fail: (SluiceError) -> Void
    ) async {
        await withTaskCancellationHandler {
            awaitsSource(true)
            defer { awaitsSource(false) }
            do throws(SluiceError) {
                let isComplete = try await stream.read(length: length) { chunk in
                    awaitsSource(false)
                    defer { awaitsSource(true) }
                    return await write(chunk)
                }
                // The session has closed the input. A cancellation abandons the streams.
                if !isComplete, !isAbandoned.withLock({ $0 }) { throw .inputClosed }
            } catch {
                // Fails first: for the session's task, a closed stream is a complete body.
                if !isAbandoned.withLock({ $0 }) { fail(error) }
            }
        } onCancel: {
            abandon()
        }
        queue.async { [self] in output.close() }
    }

    /// Ends a write that waits for room, because nothing reads the input any longer.
    func abandon() {
        isAbandoned.withLock { $0 = true }
    }

    /// Writes the whole chunk. Returns false if the input has been closed or abandoned.
    private func write(_ chunk: Data) async -> Bool {
        await withUnsafeContinuation { continuation in
            queue.async { [self] in write(chunk[...], continuation) }
        }
    }

    /// Writes what the buffer has room for, and the rest when there is more. Blocks no thread, because nothing may read the input.
    private func write(_ bytes: Data, _ continuation: UnsafeContinuation<Bool, Never>) {
        var rest = bytes
        while !rest.isEmpty {
            if isAbandoned.withLock({ $0 }) { return continuation.resume(returning: false) }
            guard output.hasSpaceAvailable else {
                // A stream that is closed or has failed gets no more room.
                guard output.streamStatus == .open || output.streamStatus == .opening || output.streamStatus == .writing
                else { return continuation.resume(returning: false) }
                return queue.asyncAfter(deadline: .now() + BoundStreams.pause) { [self, rest] in
                    write(rest, continuation)
                }
            }
            let count = rest.withUnsafeBytes { buffer in
                buffer.bindMemory(to: UInt8.self).baseAddress.map { output.write($0, maxLength: buffer.count) } ?? 0
            }
            guard count > 0 else { return continuation.resume(returning: false) }
            rest = rest.dropFirst(count)
        }
        continuation.resume(returning: true)
    }
}

extension SluiceError {
    fileprivate static var inputClosed: SluiceError {
        SluiceError(.connectionLost, "The connection closed before the whole body of the request was sent.")
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
