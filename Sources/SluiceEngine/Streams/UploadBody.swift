#if os(Linux)
import SluiceFoundation
import SluiceHTTP

/// A request body that the engine's thread reads.
package struct UploadBody {
    private enum Source {
        case none
        case data(Data, sent: Int)
        case pipe(UploadPipe, UploadTasks.Handle)
    }

    private var source: Source
    /// Opens a replayable stream again.
    private let reopen: (@Sendable () -> Source)?

    package static let none = UploadBody(.none, onData: {})

    /// Opens a body. A stream starts to fill its pipe.
    package init(_ upload: UploadSource, onData: @escaping @Sendable () -> Void) {
        switch upload {
        case .none:
            source = .none
            reopen = nil
        case .data(let data):
            source = .data(data, sent: 0)
            reopen = nil
        case .stream(let stream, let length, let isReplayable, let tasks):
            let open: @Sendable () -> Source = {
                let pipe = UploadPipe(onData: onData)
                return .pipe(pipe, tasks.start { await pipe.pump(stream, length: length) })
            }
            source = open()
            reopen = isReplayable ? open : nil
        }
    }

    /// The failure of the source, or nil if there is none.
    package var failure: SluiceError? {
        if case .pipe(let pipe, _) = source { pipe.failure } else { nil }
    }

    /// Copies available bytes into a buffer.
    package mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> UploadPipe.Piece {
        switch source {
        case .none:
            return .end
        case .data(let data, let sent):
            let count = min(buffer.count, data.count - sent)
            guard count > 0 else { return .end }
            data.copyBytes(to: buffer, from: data.startIndex + sent..<data.startIndex + sent + count)
            source = .data(data, sent: sent + count)
            return .bytes(count)
        case .pipe(let pipe, _):
            return pipe.read(into: buffer)
        }
    }

    /// Takes the next piece without a copy. A piece of a body in memory has at most `limit` bytes.
    mutating func takeChunk(upTo limit: Int) -> (chunk: Data?, piece: UploadPipe.Piece) {
        switch source {
        case .none:
            return (nil, .end)
        case .data(let data, let sent):
            let count = min(limit, data.count - sent)
            guard count > 0 else { return (nil, .end) }
            source = .data(data, sent: sent + count)
            let start = data.startIndex + sent
            return (data[start..<start + count], .bytes(count))
        case .pipe(let pipe, _):
            return pipe.takeChunk()
        }
    }

    /// True if ``rewind()`` will succeed.
    package var isRewindable: Bool {
        if case .pipe(let pipe, _) = source { pipe.isUnread || reopen != nil } else { true }
    }

    /// Returns to the first byte.
    ///
    /// - Returns: False if bytes of a stream that can be read only once have been consumed.
    package mutating func rewind() -> Bool {
        switch source {
        case .none:
            return true
        case .data(let data, _):
            source = .data(data, sent: 0)
            return true
        case .pipe(let pipe, _):
            if pipe.isUnread { return true }
            guard let reopen else { return false }
            close()
            source = reopen()
            return true
        }
    }

    /// Stops reading the source.
    package func close() {
        guard case .pipe(let pipe, let task) = source else { return }
        pipe.close()
        // Cancellation runs handlers of the source, which must not delay the engine.
        Task.detached { task.cancel() }
    }
}

/// A request body that is ready to be sent.
package enum UploadSource: Sendable {
    case none
    case data(Data)
    /// A stream, which is read in tasks of its sender.
    case stream(RequestBody.Stream, length: Int64?, isReplayable: Bool = false, in: UploadTasks = UploadTasks())

    /// The length of the body in bytes, or nil if it is unknown.
    package var length: Int64? {
        switch self {
        case .none: 0
        case .data(let data): Int64(data.count)
        case .stream(_, let length, _, _): length
        }
    }

    /// Creates a source from a prepared body.
    package init(_ body: RequestBody) throws(SluiceError) {
        switch body.source {
        case .none: self = .none
        case .data(let data): self = .data(data)
        case .stream(let stream): self = .stream(stream, length: body.length, isReplayable: body.isReplayable)
        case .file, .deferred, .encoded:
            throw SluiceError(.unsupported, "The body must be prepared before it can be sent.")
        }
    }
}

/// Starts tasks with the task-local values and the priority of the task that created it.
///
/// Swift copies task-local values only into a new task. A connection opens a body later, and on the thread of a loop, so the request
/// creates a task that waits and starts the others.
package final class UploadTasks: Sendable {
    /// A task that may not have started yet.
    package final class Handle: Sendable {
        private let state = Locked<(task: Task<Void, Never>?, isCancelled: Bool)>((nil, false))

        fileprivate func start(_ operation: @escaping @Sendable () async -> Void) {
            if state.withLock({ $0.isCancelled }) { return }
            let task = Task { await operation() }
            let isCancelled = state.withLock { state in
                state.task = task
                return state.isCancelled
            }
            if isCancelled { task.cancel() }
        }

        func cancel() {
            let task = state.withLock { state in
                state.isCancelled = true
                return state.task
            }
            task?.cancel()
        }
    }

    private let jobs: AsyncStream<@Sendable () -> Void>.Continuation

    package init() {
        let (stream, continuation) = AsyncStream<@Sendable () -> Void>.makeStream()
        jobs = continuation
        Task { for await job in stream { job() } }
    }

    deinit {
        jobs.finish()
    }

    /// Starts a task, from any thread.
    func start(_ operation: @escaping @Sendable () async -> Void) -> Handle {
        let handle = Handle()
        jobs.yield { handle.start(operation) }
        return handle
    }
}
#endif
