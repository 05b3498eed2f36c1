import SluiceFoundation

/// Carries a response's body from an engine's thread, which must not block, to a task, which may be slow.
///
/// The writer is told to pause when `highWater` bytes are buffered. `onDemand` tells it to continue after they have
/// been read, so that memory stays bounded. A pipe has one writer and one reader.
package final class ResponsePipe: Sendable {
    /// Not ``SluiceHTTP/Waiter``: there is one reader, which needs no number, and its cancellation ends the body.
    fileprivate typealias Waiter = UnsafeContinuation<Result<[Data], SluiceError>, Never>

    fileprivate struct State {
        /// The received chunks. Those before `first` have been read and are empty.
        var chunks: [Data] = []
        var first = 0
        var bytes = 0
        var waiter: Waiter?
        var end: Result<TransferMetrics, SluiceError>?
        var trailers = HTTPHeaders()
        var isWriterPaused = false
        var awaitsDrain = false
        var isAbandoned = false
        /// An object that is released once the buffered bytes have been read.
        var kept: (any AnyObject & Sendable)?
    }

    /// The amount that a read returns.
    fileprivate enum Amount {
        case chunk, all
    }

    private let state = Locked(State())
    private let highWater: Int
    private let onDemand: @Sendable () -> Void
    private let onAbandon: @Sendable () -> Void
    private let schedule: (@Sendable (@escaping @Sendable () -> Void) -> Void)?

    /// Creates a pipe.
    ///
    /// - Parameters:
    ///   - highWater: The number of buffered bytes at which the writer is told to pause; at least 1.
    ///   - onDemand: Called on the reader's thread when a paused writer may continue, or when the buffer is empty after
    ///     ``awaitDrain()``.
    ///   - onAbandon: Called when the reader leaves before the end.
    ///   - schedule: Runs a closure that resumes the reader, after the writer has released its locks. The reader may run
    ///     on the thread that resumes it. Nil for a writer that holds no lock that `onDemand` takes.
    package init(
        highWater: Int,
        onDemand: @escaping @Sendable () -> Void,
        onAbandon: @escaping @Sendable () -> Void,
        schedule: (@Sendable (@escaping @Sendable () -> Void) -> Void)? = nil
    ) {
        self.highWater = max(1, highWater)
        self.onDemand = onDemand
        self.onAbandon = onAbandon
        self.schedule = schedule
    }

    /// Appends a chunk. Returns true if the writer should pause.
    package func write(_ chunk: Data) -> Bool {
        let (waiter, pause): (Waiter?, Bool) = state.withLock { state in
            guard state.end == nil, !state.isAbandoned else { return (nil, false) }
            if let waiter = state.waiter.take() { return (waiter, false) }
            state.chunks.append(chunk)
            state.bytes += chunk.count
            // A writer may continue for a while after it was told to pause; it stays paused until `onDemand`.
            if state.bytes >= highWater { state.isWriterPaused = true }
            return (nil, state.isWriterPaused)
        }
        if let waiter {
            if let schedule {
                schedule { waiter.resume(returning: .success([chunk])) }
            } else {
                waiter.resume(returning: .success([chunk]))
            }
        }
        return pause
    }

    /// Returns the number of buffered bytes. The next read that leaves none calls `onDemand`.
    package func awaitDrain() -> Int {
        state.withLock { state in
            state.awaitsDrain = true
            return state.bytes
        }
    }

    /// Keeps an object until the buffered bytes have been read or dropped.
    package func keepUntilRead(_ object: any AnyObject & Sendable) {
        state.withLock { if !$0.chunks.isEmpty { $0.kept = object } }
    }

    /// Ends the body. Chunks before an error can still be read. Only the first call has an effect.
    ///
    /// - Parameters:
    ///   - end: The metrics of the transfer, or its error.
    ///   - trailers: The trailer section, ignored after a failure.
    package func finish(_ end: Result<TransferMetrics, SluiceError>, trailers: HTTPHeaders = [:]) {
        _ = setEnd(end, trailers)
    }

    /// Ends the body. Returns true if it had not ended before.
    private func setEnd(_ end: Result<TransferMetrics, SluiceError>, _ trailers: HTTPHeaders = [:]) -> Bool {
        let (waiter, isFirst): (Waiter?, Bool) = state.withLock { state in
            guard state.end == nil else { return (nil, false) }
            state.end = end
            state.trailers = trailers
            return (state.waiter.take(), true)
        }
        waiter?.resume(returning: end.map { _ in [] })
        return isFirst
    }

    /// Returns the next chunk or all received chunks; empty at the end.
    private func next(_ amount: Amount) async throws(SluiceError) -> [Data] {
        defer { state.synchronize() }
        let result = await withTaskCancellationHandler {
            await withUnsafeContinuation { (continuation: Waiter) in
                let (result, demand): (Result<[Data], SluiceError>?, Bool) = state.withLock { state in
                    if let result = state.read(amount) { return (result, state.resumesWriter(below: highWater / 2)) }
                    guard state.waiter == nil else { return (.failure(.readTwice), false) }
                    state.waiter = continuation
                    return (nil, state.resumesWriter(below: highWater / 2))
                }
                if let result { continuation.resume(returning: result) }
                if demand { onDemand() }
            }
        } onCancel: {
            cancel()
        }
        return try result.get()
    }

    private var metrics: TransferMetrics? {
        state.withLock { state in try? state.end?.get() }
    }

    private var trailers: HTTPHeaders? {
        state.withLock { state in
            if case .success = state.end { state.trailers } else { nil }
        }
    }

    private func cancel() {
        if setEnd(.failure(.cancelled)) { onAbandon() }
    }

    private func abandon() {
        let isOver = state.withLock { state in
            state.isAbandoned = true
            state.removeChunks()
            return state.end != nil
        }
        if !isOver { onAbandon() }
    }

    /// The reader of a pipe. Releasing it stops the transfer.
    package final class Reader: Sendable {
        private let pipe: ResponsePipe

        package init(_ pipe: ResponsePipe) {
            self.pipe = pipe
        }

        deinit {
            pipe.abandon()
        }

        package var metrics: TransferMetrics? { pipe.metrics }
        package var trailers: HTTPHeaders? { pipe.trailers }

        /// Stops the transfer. A read in progress, and every later one that finds no chunk, fails with a cancellation.
        package func cancel() {
            pipe.cancel()
        }

        /// Returns the next chunk; nil at the end.
        package func next() async throws(SluiceError) -> Data? {
            try await pipe.next(.chunk).first
        }

        /// Returns all chunks received so far, after waiting for at least one; empty at the end.
        package func nextBatch() async throws(SluiceError) -> [Data] {
            try await pipe.next(.all)
        }
    }
}

extension SluiceError {
    fileprivate static var readTwice: SluiceError {
        SluiceError(.unsupported, "Another task is reading the response's body. Only one task can read it at a time.")
    }
}

extension ResponsePipe.State {
    fileprivate mutating func read(_ amount: ResponsePipe.Amount) -> Result<[Data], SluiceError>? {
        if chunks.isEmpty { return end.map { $0.map { _ in [] } } }
        if amount == .all || chunks.count == first + 1 {
            defer { removeChunks() }
            bytes = 0
            return .success(first == 0 ? chunks : Array(chunks[first...]))
        }
        let chunk = chunks[first]
        chunks[first] = Data()
        first += 1
        // Moving the rest for each chunk would take quadratic time.
        if first > chunks.count / 2 {
            chunks.removeFirst(first)
            first = 0
        }
        bytes -= chunk.count
        return .success([chunk])
    }

    fileprivate mutating func removeChunks() {
        chunks = []
        first = 0
        kept = nil
    }

    /// Returns true if `onDemand` must be called: a paused writer may continue, or the buffer is empty after
    /// ``ResponsePipe/awaitDrain()``.
    fileprivate mutating func resumesWriter(below lowWater: Int) -> Bool {
        let isDue = isWriterPaused && bytes <= lowWater || awaitsDrain && bytes == 0
        guard isDue, end == nil else { return false }
        isWriterPaused = false
        awaitsDrain = false
        return true
    }
}
