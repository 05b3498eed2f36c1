import Sluice
import SluiceTesting
import XCTest

#if os(Linux)
import SluiceEngine
#endif

final class PriorityTests: XCTestCase {
    #if os(Linux)
    func testSendsQueuedRequestsByPriority() async throws {
        let server = try LoopbackServer()
        let signal = LoopbackSignal()
        server.on("/first", .after(signal, .text("first")))
        server.on("/*") { .text($0.path) }
        var limits = SocketTransport.Configuration()
        limits.maximumTransfers = 1
        let client = APIClient(baseURL: server.url) { [limits] in $0.transport = SocketTransport(configuration: limits)
        }
        let first = Task { try await client.string.get("first").sender().value }
        await server.waitForRequests(1)
        var others: [Task<String, any Error>] = []
        for (waiting, priority) in [RequestPriority.low, .normal, .high].enumerated() {
            others.append(Task { try await client.string.get("\(priority)").priority(priority).sender().value })
            await eventually { SocketTransport.statistics().queuedTransfers == waiting + 1 }
        }
        signal.fire()
        _ = try await first.value
        for other in others { _ = try await other.value }
        XCTAssertEqual(server.requests.map(\.path), ["/first", "/high", "/normal", "/low"])
    }
    #endif

    func testPassesPriorityToTransport() async throws {
        struct Noting: Transport {
            let seen: Shared<[RequestPriority]>

            func send(_ request: HTTPRequest, context: TransferContext) async throws(SluiceError) -> TransportResponse {
                seen.change { $0.append(context.priority) }
                return try await AnsweringTransport().send(request, context: context)
            }
        }
        let seen = Shared<[RequestPriority]>([])
        let client = APIClient(baseURL: "http://localhost") { $0.transport = Noting(seen: seen) }
        _ = try await client.data.get("a").sender().value
        _ = try await client.data.get("a").priority(.high).sender().value
        _ = try await client.data.post("a").priority(.low).data(Data()).sender().value
        XCTAssertEqual(seen.read, [.normal, .high, .low])
    }
}
