import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A pipe that counts the calls of its two callbacks, with short methods for tests.
struct PipeFixture: Sendable {
    let pipe: ResponsePipe
    let demands = CallCount()
    let abandonments = CallCount()

    init(highWater: Int = 100) {
        pipe = ResponsePipe(highWater: highWater, onDemand: demands.add, onAbandon: abandonments.add)
    }

    /// Writes a text; true if the writer must pause.
    @discardableResult
    func write(_ text: String) -> Bool {
        pipe.write(Data(text.utf8))
    }

    /// Writes a number of bytes; true if the writer must pause.
    func write(bytes count: Int) -> Bool {
        pipe.write(Data(count: count))
    }

    func finish(bytesReceived: Int64 = 0, trailers: HTTPHeaders = [:]) {
        var metrics = TransferMetrics()
        metrics.bytesReceived = bytesReceived
        pipe.finish(.success(metrics), trailers: trailers)
    }

    func fail(_ code: SluiceError.Code = .connectionLost) {
        pipe.finish(.failure(SluiceError(code, "Failed by the test.")))
    }
}

extension ResponsePipe.Reader {
    /// Returns the next chunk as a text.
    func text() async throws(SluiceError) -> String? {
        try await next().map { String(decoding: $0, as: UTF8.self) }
    }
}
