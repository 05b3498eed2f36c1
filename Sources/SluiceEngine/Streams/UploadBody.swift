#if os(Linux)
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import SluiceHTTP

/// A request's body as the engine's thread reads it.
package struct UploadBody {
    private enum Source {
        case none
        case data(Data, sent: Int)
        case pipe(UploadPipe, Task<Void, Never>)
    }

    private var source: Source
    /// Opens a stream that can be read a second time.
    private let reopen: (@Sendable () -> Source)?

    package static let none = UploadBody(.none, onData: {})

    /// Makes a body ready to be read; a stream begins to fill its pipe.
    package init(_ upload: UploadSource, onData: @escaping @Sendable () -> Void) {
        switch upload {
        case .none:
            source = .none
            reopen = nil
        case .data(let data):
            source = .data(data, sent: 0)
            reopen = nil
        case .stream(let stream, let length, let isReplayable):
            let open: @Sendable () -> Source = {
                let pipe = UploadPipe(onData: onData)
                return .pipe(pipe, Task.detached { await pipe.pump(stream, length: length) })
            }
            source = open()
            reopen = isReplayable ? open : nil
        }
    }

    package var failure: SluiceError? {
        if case .pipe(let pipe, _) = source { pipe.failure } else { nil }
    }

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

    /// Takes the next piece as it is, at most `limit` bytes of what lies in memory.
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

    /// Goes back to the first byte; false where bytes of a stream that can be read but once are gone already.
    package mutating func rewind() -> Bool {
        switch source {
        case .none:
            return true
        case .data(let data, _):
            source = .data(data, sent: 0)
            return true
        case .pipe(let pipe, _):
            if pipe.isWhole { return true }
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
        // Cancelling runs the handlers of the source's own, which must not hold up the engine.
        Task.detached { task.cancel() }
    }
}
#endif
