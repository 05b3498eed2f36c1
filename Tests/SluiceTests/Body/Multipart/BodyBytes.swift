import Sluice
import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension RequestBody {
    /// Returns all pieces that a transport would receive.
    func pieces() async throws -> [Data] {
        let body = try await prepared(within: nil)
        switch body.source {
        case .data(let data):
            return [data]
        case .stream(let stream):
            let next = stream.open()
            var pieces: [Data] = []
            while let piece = try await next() { pieces.append(piece) }
            return pieces
        case .none, .file, .deferred, .encoded:
            return []
        }
    }

    func text() async throws -> String {
        String(decoding: try await pieces().reduce(Data(), +), as: UTF8.self)
    }
}

/// A sequence of chunks.
struct Chunks: AsyncSequence, Sendable {
    struct Broken: Error {}

    var chunks: [Data]
    var isBroken = false
    /// Called before the first chunk.
    var onStart: (@Sendable () -> Void)?

    init(_ texts: String..., isBroken: Bool = false, onStart: (@Sendable () -> Void)? = nil) {
        chunks = texts.map { Data($0.utf8) }
        self.isBroken = isBroken
        self.onStart = onStart
    }

    struct Iterator: AsyncIteratorProtocol {
        var chunks: ArraySlice<Data>
        let isBroken: Bool
        var onStart: (@Sendable () -> Void)?

        mutating func next() async throws -> Data? {
            onStart.take()?()
            if let chunk = chunks.popFirst() { return chunk }
            if isBroken { throw Broken() }
            return nil
        }
    }

    func makeAsyncIterator() -> Iterator {
        Iterator(chunks: chunks[...], isBroken: isBroken, onStart: onStart)
    }
}
