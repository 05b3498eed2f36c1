#if os(Linux)
import SluiceFoundation
import SluiceHTTP

/// Carries a request body from the task that reads its source to the engine's thread, which must not block.
///
/// The task waits once `highWater` bytes are unsent, until half of them are sent. The pipe thus uses little memory for a body of any size.
package final class UploadPipe: Sendable {
    /// The result of a read.
    package enum Piece: Equatable {
        /// The number of bytes read.
        case bytes(Int)
        /// No bytes are available. `onData` will be called when there are.
        case wait
        case end
        /// The source has failed. See ``UploadPipe/failure``.
        case failed
    }

    fileprivate struct State {
        /// The unread chunks, from index `first`.
        var chunks: [Data] = []
        var first = 0
        var bytes = 0
        var writer: UnsafeContinuation<Void, Never>?
        var end: Result<Void, SluiceError>?
        var isReaderWaiting = false
        var isClosed = false
        var hasBeenRead = false
    }

    /// The number of unsent bytes from which the task waits.
    package static let highWater = 1 << 20
    private let state = Locked(State())
    private let onData: @Sendable () -> Void

    /// Creates a pipe.
    ///
    /// - Parameter onData: Called on the task's thread when bytes or the end follow a read that returned ``Piece/wait``.
    package init(onData: @escaping @Sendable () -> Void) {
        self.onData = onData
    }

    /// The failure of the source, or nil if there is none.
    package var failure: SluiceError? {
        state.withLock { state in
            if case .failure(let error) = state.end { error } else { nil }
        }
    }

    /// True if no byte has been read, so that another attempt can continue with this pipe.
    var isUnread: Bool { state.withLock { !$0.hasBeenRead && !$0.isClosed } }

    /// Adds a chunk, and waits if the pipe is full. Returns false if the pipe is closed.
    package func write(_ chunk: Data) async -> Bool {
        let (isReaderWaiting, isFull, isClosed) = state.withLock { state in
            if state.isClosed { return (false, false, true) }
            state.append(chunk)
            return (state.takeReaderWaiting(), state.bytes >= UploadPipe.highWater, false)
        }
        if isReaderWaiting { onData() }
        guard isFull else { return !isClosed }
        await withUnsafeContinuation { continuation in
            let hasRoom = state.withLock { state in
                if state.isClosed || state.bytes < UploadPipe.highWater { return true }
                state.writer = continuation
                return false
            }
            if hasRoom { continuation.resume() }
        }
        return state.withLock { !$0.isClosed }
    }

    /// Ends the body. Only the first call has an effect.
    package func finish(_ end: Result<Void, SluiceError>) {
        let isReaderWaiting = state.withLock { state in
            if state.end == nil { state.end = end }
            return state.takeReaderWaiting()
        }
        if isReaderWaiting { onData() }
    }

    /// Copies available bytes into a buffer.
    package func read(into buffer: UnsafeMutableRawBufferPointer) -> Piece {
        let (piece, writer): (Piece, UnsafeContinuation<Void, Never>?) = state.withLock { state in
            let count = state.fill(buffer)
            return count > 0 ? (.bytes(count), state.takeWriter()) : (state.readWithoutChunk(), nil)
        }
        writer?.resume()
        return piece
    }

    /// Takes the next chunk without copying it.
    ///
    /// - Returns: The chunk, or nil. If it is nil, `piece` says what to do next.
    package func takeChunk() -> (chunk: Data?, piece: Piece) {
        let (chunk, piece, writer): (Data?, Piece, UnsafeContinuation<Void, Never>?) = state.withLock { state in
            guard let chunk = state.popChunk() else { return (nil, state.readWithoutChunk(), nil) }
            return (chunk, .bytes(chunk.count), state.takeWriter())
        }
        writer?.resume()
        return (chunk, piece)
    }

    /// Closes the pipe and resumes a waiting writer. No more bytes are read.
    package func close() {
        let writer = state.withLock { state in
            state.isClosed = true
            state.chunks = []
            state.first = 0
            return state.writer.take()
        }
        writer?.resume()
    }
}

// MARK: - Filling from a stream

extension UploadPipe {
    /// Reads a source to its end into the pipe, and checks its announced length.
    package func pump(_ stream: RequestBody.Stream, length: Int64?) async {
        do throws(SluiceError) {
            if try await stream.read(length: length, { await write($0) }) { finish(.success(())) }
        } catch {
            finish(.failure(error))
        }
    }
}

// MARK: - State

extension UploadPipe.State {
    fileprivate mutating func takeReaderWaiting() -> Bool {
        defer { isReaderWaiting = false }
        return isReaderWaiting
    }

    /// The size below which chunks are joined, so that a body in many small pieces costs little more than one in large pieces.
    private static let smallChunk = 4 << 10
    private static let joinedChunk = 64 << 10

    fileprivate mutating func append(_ chunk: Data) {
        guard !chunk.isEmpty else { return }
        bytes += chunk.count
        if chunk.count < Self.smallChunk, first < chunks.count, let last = chunks.indices.last,
            chunks[last].count + chunk.count <= Self.joinedChunk
        {
            chunks[last].append(chunk)
        } else {
            chunks.append(chunk)
        }
    }

    fileprivate mutating func popChunk() -> Data? {
        guard first < chunks.count else { return nil }
        let chunk = chunks[first]
        dropFirst()
        bytes -= chunk.count
        hasBeenRead = true
        return chunk
    }

    private mutating func dropFirst() {
        chunks[first] = Data()
        first += 1
        if first == chunks.count {
            chunks.removeAll(keepingCapacity: true)
            first = 0
        } else if first >= 64, first * 2 >= chunks.count {
            chunks.removeFirst(first)
            first = 0
        }
    }

    /// Takes the waiting writer if there is room for more bytes.
    fileprivate mutating func takeWriter() -> UnsafeContinuation<Void, Never>? {
        bytes < UploadPipe.highWater / 2 ? writer.take() : nil
    }

    /// Returns the result of a read if there is no chunk. Requests a call of `onData` if the body has not ended.
    fileprivate mutating func readWithoutChunk() -> UploadPipe.Piece {
        switch end {
        case .success: return .end
        case .failure: return .failed
        case nil:
            isReaderWaiting = true
            return .wait
        }
    }

    fileprivate mutating func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        var filled = 0
        while filled < buffer.count, first < chunks.count {
            let count = Swift.min(chunks[first].count, buffer.count - filled)
            chunks[first].copyBytes(to: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]), count: count)
            filled += count
            if count == chunks[first].count { dropFirst() } else { chunks[first] = chunks[first].dropFirst(count) }
        }
        bytes -= filled
        if filled > 0 { hasBeenRead = true }
        return filled
    }
}
#endif
