#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Carries a response's body from an engine's thread, which must not wait, to a task, which may be slow.
///
/// The writer is told to pause once more than `highWater` bytes wait to be read and is called back through `onDemand`
/// when they have been; so memory stays bounded whatever the body's size. One writer, one reader.
package final class ResponsePipe: Sendable {
    fileprivate typealias Waiter = UnsafeContinuation<Result<[Data], SluiceError>, Never>

    fileprivate struct State {
        var chunks: [Data] = []
        var bytes = 0
        var waiter: Waiter?
        var end: Result<TransferMetrics, SluiceError>?
        var trailers = HTTPHeaders()
        var isWriterPaused = false
        var awaitsDrain = false
        var isAbandoned = false
    }

    /// How much a read takes of what there is.
    fileprivate enum Amount {
        case chunk, all
    }

    private let state = Locked(State())
    private let highWater: Int
    private let onDemand: @Sendable () -> Void
    private let onAbandon: @Sendable () -> Void

    /// Makes a pipe.
    ///
    /// - Parameters:
    ///   - highWater: Bytes that may wait before the writer is told to pause.
    ///   - onDemand: Called on the reader's thread when a paused writer may go on, or all is read that it awaits.
    ///   - onAbandon: Called when the reader leaves before the end.
    package init(
        highWater: Int,
        onDemand: @escaping @Sendable () -> Void,
        onAbandon: @escaping @Sendable () -> Void
    ) {
        self.highWater = highWater
        self.onDemand = onDemand
        self.onAbandon = onAbandon
    }

    /// Adds a chunk; returns whether the writer should pause.
    package func write(_ chunk: Data) -> Bool {
        let (waiter, pause): (Waiter?, Bool) = state.withLock { state in
            guard state.end == nil, !state.isAbandoned else { return (nil, false) }
            if let waiter = state.waiter.take() { return (waiter, false) }
            state.chunks.append(chunk)
            state.bytes += chunk.count
            // A writer that goes on for a while although it is to pause stays paused until it is called back.
            if state.bytes >= highWater { state.isWriterPaused = true }
            return (nil, state.isWriterPaused)
        }
        waiter?.resume(returning: .success([chunk]))
        return pause
    }

    /// Returns the bytes that wait to be read; `onDemand` is called by a read that finds none.
    package func awaitDrain() -> Int {
        state.withLock { state in
            state.awaitsDrain = true
            return state.bytes
        }
    }

    /// Ends the body; what came before an error can still be read. Only the first end counts.
    ///
    /// - Parameters:
    ///   - end: The metrics of the transfer, or what failed it.
    ///   - trailers: The trailer section; of no use behind a failure.
    package func finish(_ end: Result<TransferMetrics, SluiceError>, trailers: HTTPHeaders = [:]) {
        _ = setEnd(end, trailers)
    }

    /// Ends the body and says whether it had not ended before.
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

    /// The next chunk, or all that have come; none at the end.
    private func next(_ amount: Amount) async throws(SluiceError) -> [Data] {
        defer { state.synchronize() }
        let result = await withTaskCancellationHandler {
            await withUnsafeContinuation { (continuation: Waiter) in
                let (result, demand): (Result<[Data], SluiceError>?, Bool) = state.withLock { state in
                    if let result = state.read(amount) { return (result, state.demand(below: highWater / 2)) }
                    guard state.waiter == nil else { return (.failure(.readTwice), false) }
                    state.waiter = continuation
                    return (nil, state.demand(below: highWater / 2))
                }
                if let result { continuation.resume(returning: result) }
                if demand { onDemand() }
            }
        } onCancel: {
            if setEnd(.failure(.cancelled)) { onAbandon() }
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

    private func abandon() {
        let isOver = state.withLock { state in
            state.isAbandoned = true
            state.chunks = []
            return state.end != nil
        }
        if !isOver { onAbandon() }
    }

    /// The reading end; the transfer stops when nobody holds it any longer.
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

        /// The next chunk, nil at the end.
        package func next() async throws(SluiceError) -> Data? {
            try await pipe.next(.chunk).first
        }

        /// All chunks that have come, waiting for one; none at the end.
        package func nextBatch() async throws(SluiceError) -> [Data] {
            try await pipe.next(.all)
        }
    }
}

extension SluiceError {
    fileprivate static var readTwice: SluiceError {
        SluiceError(.unsupported, "A response's body can be read by one task at a time; another one is reading it.")
    }
}

extension ResponsePipe.State {
    fileprivate mutating func read(_ amount: ResponsePipe.Amount) -> Result<[Data], SluiceError>? {
        if chunks.isEmpty { return end.map { $0.map { _ in [] } } }
        if amount == .all || chunks.count == 1 {
            defer { chunks = [] }
            bytes = 0
            return .success(chunks)
        }
        let chunk = chunks.removeFirst()
        bytes -= chunk.count
        return .success([chunk])
    }

    /// True if a paused writer should go on now, or if one that awaits it should know that all is read.
    fileprivate mutating func demand(below lowWater: Int) -> Bool {
        let isWanted = isWriterPaused && bytes <= lowWater || awaitsDrain && bytes == 0
        guard isWanted, end == nil else { return false }
        isWriterPaused = false
        awaitsDrain = false
        return true
    }
}
