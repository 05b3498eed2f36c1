import OpenAPIRuntime
import Synchronization

/// A source of chunks with a pattern of bytes, which counts those that were read.
final class ChunkSource: AsyncSequence, Sendable {
    static let chunkSize = 64 << 10

    private let chunks: Int
    private let counted = Mutex(0)

    init(chunks: Int) {
        self.chunks = chunks
    }

    /// The number of bytes that were read, by all iterators together.
    var bytesRead: Int { counted.withLock { $0 } * Self.chunkSize }

    /// The number of bytes of one iteration.
    var length: Int64 { Int64(chunks * Self.chunkSize) }

    /// Returns the chunk at a position.
    static func chunk(_ index: Int) -> ArraySlice<UInt8> { ArraySlice(repeating: UInt8(index % 251), count: chunkSize) }

    struct Iterator: AsyncIteratorProtocol {
        let source: ChunkSource
        var index = 0

        mutating func next() async throws -> ArraySlice<UInt8>? {
            guard index < source.chunks else { return nil }
            defer { index += 1 }
            source.counted.withLock { $0 += 1 }
            return ChunkSource.chunk(index)
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(source: self) }
}

extension HTTPBody {
    /// Reads the whole body.
    func collected() async throws -> [UInt8] {
        var all: [UInt8] = []
        for try await chunk in self { all += chunk }
        return all
    }
}
