#if os(Linux)
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import SluiceHTTP

/// Carries a request's body from the task that reads its source to the engine's thread, which must not wait.
///
/// The task waits while more than `highWater` bytes have not been sent; so a body of any size takes little memory.
final class UploadPipe: Sendable {
    enum Piece: Equatable {
        case bytes(Int)
        /// Nothing is there yet; `onData` will be called when something is.
        case wait
        case end
        case failed
    }

    fileprivate struct State {
        var chunks: [Data] = []
        var bytes = 0
        var writer: UnsafeContinuation<Void, Never>?
        var end: Result<Void, SluiceError>?
        var isReaderWaiting = false
        var isClosed = false
        var hasBeenRead = false
    }

    static let highWater = 1 << 20
    private let state = Locked(State())
    private let onData: @Sendable () -> Void

    init(onData: @escaping @Sendable () -> Void) {
        self.onData = onData
    }

    /// What the source failed with.
    var failure: SluiceError? {
        state.withLock { state in
            if case .failure(let error) = state.end { error } else { nil }
        }
    }

    /// Whether the engine has taken any byte yet.
    var hasBeenRead: Bool { state.withLock { $0.hasBeenRead } }

    /// Adds a chunk, and waits where enough of them are waiting; false once the engine wants no more.
    func write(_ chunk: Data) async -> Bool {
        await withUnsafeContinuation { continuation in
            let (isReaderWaiting, mayGoOn) = state.withLock { state in
                if state.isClosed { return (false, true) }
                if !chunk.isEmpty { state.chunks.append(chunk) }
                state.bytes += chunk.count
                let mayGoOn = state.bytes < UploadPipe.highWater
                if !mayGoOn { state.writer = continuation }
                return (state.takeReaderWaiting(), mayGoOn)
            }
            if isReaderWaiting { onData() }
            if mayGoOn { continuation.resume() }
        }
        return state.withLock { !$0.isClosed }
    }

    /// Ends the body.
    func finish(_ end: Result<Void, SluiceError>) {
        let isReaderWaiting = state.withLock { state in
            if state.end == nil { state.end = end }
            return state.takeReaderWaiting()
        }
        if isReaderWaiting { onData() }
    }

    /// Copies what is there into the engine's buffer.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Piece {
        let (piece, writer): (Piece, UnsafeContinuation<Void, Never>?) = state.withLock { state in
            let count = state.fill(buffer)
            if count > 0 {
                state.hasBeenRead = true
                return (.bytes(count), state.bytes < UploadPipe.highWater / 2 ? state.writer.take() : nil)
            }
            switch state.end {
            case .success: return (.end, nil)
            case .failure: return (.failed, nil)
            case nil:
                state.isReaderWaiting = true
                return (.wait, nil)
            }
        }
        writer?.resume()
        return piece
    }

    /// The engine wants no more; a writer that waits is let go.
    func close() {
        let writer = state.withLock { state in
            state.isClosed = true
            state.chunks = []
            return state.writer.take()
        }
        writer?.resume()
    }
}

extension UploadPipe.State {
    fileprivate mutating func takeReaderWaiting() -> Bool {
        defer { isReaderWaiting = false }
        return isReaderWaiting
    }

    fileprivate mutating func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        var filled = 0
        while filled < buffer.count, let chunk = chunks.first {
            let count = Swift.min(chunk.count, buffer.count - filled)
            chunk.copyBytes(to: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]), count: count)
            filled += count
            if count == chunk.count { chunks.removeFirst() } else { chunks[0] = chunk.dropFirst(count) }
        }
        bytes -= filled
        return filled
    }
}
#endif
