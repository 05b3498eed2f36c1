#if os(Linux)
import Sluice
import SluiceTesting
import Testing

/// Clients that end with their last request.
@Suite struct ReleasedClientTests {
    /// The thread of a loop may release the last reference to a client, while it works on a connection of the client's own transport.
    @Test(.timeLimit(.minutes(2)))
    func cancelledRequestsOfReleasedClientsStopNoOther() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.on("/large", .text(String(repeating: "a", count: 120_000)))
        server.on("/", .text("ok"))
        let url = server.url
        await withTaskGroup(of: Void.self) { group in
            for seed in 0..<16 as Range<UInt64> {
                group.addTask {
                    var random = SeededGenerator(seed: seed)
                    for _ in 0..<400 {
                        let task = Task {
                            let client = APIClient(baseURL: url) { $0.transport = SocketTransport() }
                            _ = try await client.data.get("large").sender().value
                        }
                        let pause = Duration.microseconds(Int64.random(in: 300...9000, using: &random))
                        try? await SystemClock().sleep(for: pause)
                        task.cancel()
                        _ = await task.result
                    }
                }
            }
        }
        let other = APIClient(baseURL: url)
        let text = try await other.string.get("").sender().value
        #expect(text == "ok")
    }
}
#endif
