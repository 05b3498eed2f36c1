#if os(Linux)
import Sluice
import SluiceTesting
import Testing

/// Clients that end with their last request.
@Suite struct ReleasedClientTests {
    /// Reads the connections of a transport at its end.
    private final class Witness: Sendable {
        private let transport: SocketTransport
        private let hasEnded: Shared<Bool>

        init(_ transport: SocketTransport, _ hasEnded: Shared<Bool>) {
            self.transport = transport
            self.hasEnded = hasEnded
        }

        deinit {
            _ = APIClient { $0.transport = transport }.connections
            hasEnded.change { $0 = true }
        }
    }

    /// The connections of a client that has ended keep its closures. They end with the last connection, on the thread of the loop.
    @Test(.timeLimit(.minutes(1)))
    func closuresOfTheConnectionsEndWithoutALock() async throws {
        let server = try LoopbackServer()
        server.on("/", .text("ok"))
        let transport = SocketTransport()
        let hasEnded = Shared(false)
        do {
            let witness = Witness(transport, hasEnded)
            let client = APIClient(baseURL: server.url) {
                $0.transport = transport
                $0.connection.tls.onReload = { _ in withExtendedLifetime(witness) {} }
            }
            #expect(try await client.string.get("").sender().value == "ok")
        }
        #expect(!hasEnded.read)
        server.stop()
        await eventually { hasEnded.read }
    }

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
