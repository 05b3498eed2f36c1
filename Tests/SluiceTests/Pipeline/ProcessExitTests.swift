#if os(Linux)
import Foundation
import Sluice
import SluiceTesting
import Testing

@Suite struct ProcessExitTests {
    @Test func processExitsWithTransfersInFlight() async {
        await #expect(processExitsWith: .exitCode(7)) {
            let server = try LoopbackServer()
            server.on("/hang", .hang)
            server.on("/endless", .endless(chunk: Data(count: 1000)))
            let client = APIClient(baseURL: server.url) { $0.limits.body = nil }
            for path in ["hang", "endless"] {
                for _ in 0..<20 { Task { await client.data.request(path).sender().result } }
            }
            await server.waitForRequests(40)
            exit(7)
        }
    }
}
#endif
