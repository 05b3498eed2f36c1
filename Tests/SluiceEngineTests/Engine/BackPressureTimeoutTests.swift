#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceEngine

extension EngineTests {
    @Suite(.timeLimit(.minutes(10))) struct BackPressureTimeoutTests {
        @Test func serverThatStallsAfterBackPressureTimesOut() async throws {
            let server = try LoopbackServer()
            server.on("/", .partial(Data(count: 1 << 20), announced: 2 << 20))
            server.on("/silent", .hang)
            // The server needs less, even on a busy machine.
            let timeouts = Timeouts(idle: .seconds(2))
            let response = try await SocketTransport().send(
                HTTPRequest(scheme: "http", authority: server.authority, path: "/"),
                context: TransferContext(timeouts: timeouts)
            )
            // Until the timeout of a later request has passed. The reader is slow here, not the server.
            let failure = await SocketTransport().failure(
                of: server.request("/silent"),
                TransferContext(timeouts: timeouts)
            )
            #expect(failure?.code == .idleTimedOut)
            var count = 0
            let error = await #expect(throws: SluiceError.self) {
                for try await chunk in response.body { count += chunk.count }
            }
            #expect(error?.code == .idleTimedOut)
            #expect(count == 1 << 20)
        }
    }
}
#endif
