#if os(Linux)
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import SluiceHTTP

/// A request's body as the engine's thread reads it.
struct UploadBody {
    private enum Source {
        case none
        case data(Data, sent: Int)
        case pipe(UploadPipe, Task<Void, Never>)
    }

    private var source: Source

    static let none = UploadBody(source: .none)

    private init(source: Source) {
        self.source = source
    }

    /// Makes a body ready to be read; a stream begins to fill its pipe.
    init(_ upload: UploadSource, onData: @escaping @Sendable () -> Void) {
        switch upload {
        case .none:
            source = .none
        case .data(let data):
            source = .data(data, sent: 0)
        case .stream(let stream, let length):
            let pipe = UploadPipe(onData: onData)
            source = .pipe(pipe, Task.detached { await pipe.pump(stream, length: length) })
        }
    }

    var failure: SluiceError? {
        if case .pipe(let pipe, _) = source { pipe.failure } else { nil }
    }

    mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> UploadPipe.Piece {
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

    /// Goes back to the first byte; false where bytes of a stream are gone already.
    mutating func rewind() -> Bool {
        switch source {
        case .none:
            return true
        case .data(let data, _):
            source = .data(data, sent: 0)
            return true
        case .pipe(let pipe, _):
            return !pipe.hasBeenRead
        }
    }

    /// Stops reading the source.
    func close() {
        guard case .pipe(let pipe, let task) = source else { return }
        task.cancel()
        pipe.close()
    }
}
#endif
