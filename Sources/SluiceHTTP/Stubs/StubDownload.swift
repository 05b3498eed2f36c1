#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Delivers a response's body piece by piece, no faster than it is read.
struct StubDownload: Sendable {
    let bytes: Data
    let pace: Stub.Pace?
    let breaksOff: Stub.Break?
    let clock: StubClock
    let run: TransferMeter.Run?
    let metrics: TransferMetrics
    let trailers: HTTPHeaders

    /// Starts the delivery, which ends early if the body is released.
    func begin() -> ResponseBody {
        let (demand, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let writer = Locked<Task<Void, Never>?>(nil)
        let pipe = ResponsePipe(
            highWater: 1,
            onDemand: { continuation.yield() },
            onAbandon: { writer.withLock { $0 }?.cancel() }
        )
        let task = Task {
            do throws(SluiceError) {
                try await write(to: pipe, demand)
                pipe.finish(.success(metrics), trailers: trailers)
            } catch {
                pipe.finish(.failure(error))
            }
        }
        // The reader does not exist yet, so `onAbandon` cannot run before this assignment.
        writer.withLock { $0 = task }
        return ResponseBody(ResponsePipe.Reader(pipe))
    }

    private func write(to pipe: ResponsePipe, _ demand: AsyncStream<Void>) async throws(SluiceError) {
        var demands = demand.makeAsyncIterator()
        var rest = bytes.prefix(breaksOff?.bytes ?? bytes.count)
        var count: Int64 = 0
        while !rest.isEmpty {
            if let pace, count > 0 { try await clock.wait(pace.gap) }
            let piece = rest.prefix(pace?.bytes ?? rest.count)
            rest = rest.dropFirst(piece.count)
            count += Int64(piece.count)
            run?.received(count)
            if pipe.write(piece) { _ = await demands.next() }
            if Task.isCancelled { throw .cancelled }
        }
        if let breaksOff { throw breaksOff.error }
    }
}
