#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Reads a stream in a separate task, one chunk per request, so that the caller can stop waiting for a chunk.
struct StubStreamReader: Sendable {
    private let demand: AsyncStream<Void>.Continuation
    private let chunks: AsyncStream<Result<Data?, SluiceError>>
    private let task: Task<Void, Never>

    init(_ stream: HTTPBody.Stream) {
        let (demands, demand) = AsyncStream.makeStream(of: Void.self)
        let (chunks, chunk) = AsyncStream.makeStream(of: Result<Data?, SluiceError>.self)
        self.demand = demand
        self.chunks = chunks
        task = Task {
            let read = stream.open()
            for await _ in demands {
                do {
                    chunk.yield(.success(try await read()))
                } catch let error as SluiceError {
                    chunk.yield(.failure(error))
                } catch is CancellationError {
                    chunk.yield(.failure(.cancelled))
                } catch {
                    let reason = "The request's body could not be read."
                    chunk.yield(.failure(SluiceError(.bodyUnavailable, reason, underlyingError: error)))
                }
            }
            chunk.finish()
        }
    }

    /// Returns the next chunk; nil at the end of the stream.
    func next() async throws(SluiceError) -> Data? {
        demand.yield()
        for await chunk in chunks { return try chunk.get() }
        throw .cancelled
    }

    /// Stops reading. A read in progress is cancelled, but is not waited for.
    func end() {
        demand.finish()
        task.cancel()
    }
}
