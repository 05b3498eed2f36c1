import Sluice
import SluiceTesting
import XCTest

/// Callers that join and cancel at random.
final class SharedTransferCancellationTests: XCTestCase {
    func testCancellationDoesNotAffectOtherCallers() async {
        let transport = YieldingTransport()
        let client = APIClient(baseURL: "http://a.example") {
            $0.sharing = .safeMethods
            $0.transport = transport
        }
        let mistakes = await withTaskGroup(of: Int.self) { group in
            for worker in 0..<16 {
                group.addTask {
                    var random = SeededGenerator(seed: UInt64(worker))
                    var mistakes = 0
                    for _ in 0..<300 {
                        let task = Task { await client.data.get("page").sender().response.failure }
                        let isCancelled = Bool.random(using: &random)
                        for _ in 0..<Int.random(in: 0..<6, using: &random) { await Task.yield() }
                        if isCancelled { task.cancel() }
                        let failure = await task.value
                        if failure != nil && (!isCancelled || failure?.isCancellation == false) { mistakes += 1 }
                    }
                    return mistakes
                }
            }
            return await group.reduce(0, +)
        }
        XCTAssertEqual(mistakes, 0)
        await eventually { transport.inFlight.read == 0 }
    }
}

/// Yields some times before it answers, and fails when it is cancelled.
private struct YieldingTransport: Transport {
    let inFlight = Shared(0)

    func send(_ request: HTTPRequest, context: TransferContext) async throws(SluiceError) -> TransportResponse {
        inFlight.change { $0 += 1 }
        defer { inFlight.change { $0 -= 1 } }
        for _ in 0..<8 {
            if Task.isCancelled { throw SluiceError(.cancelled, "It was cancelled.") }
            await Task.yield()
        }
        return TransportResponse(head: HTTPResponse(status: .ok), body: ResponseBody())
    }
}
