#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A request body that produces chunks and then ends, throws, or waits to be cancelled.
struct ScriptedChunks: AsyncSequence, Sendable {
    enum End: Sendable {
        case finish
        case fail
        /// Calls `reached` after all chunks have been consumed, then waits without producing another chunk.
        case hang(reached: @Sendable () -> Void)
    }

    struct Broken: Error {}

    let chunks: [Data]
    var end = End.finish

    func makeAsyncIterator() -> Iterator {
        Iterator(chunks: chunks[...], end: end)
    }

    struct Iterator: AsyncIteratorProtocol {
        var chunks: ArraySlice<Data>
        let end: End

        mutating func next() async throws -> Data? {
            if let chunk = chunks.popFirst() { return chunk }
            switch end {
            case .finish: return nil
            case .fail: throw Broken()
            case .hang(let reached):
                reached()
                try await Task.sleep(for: .seconds(3600))
                return nil
            }
        }
    }
}
