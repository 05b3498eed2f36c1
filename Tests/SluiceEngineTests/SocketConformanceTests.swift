#if os(Linux)

import SluiceEngine
import SluiceTesting
import Testing

/// Serialized, because many of the cases measure time and some transfer many bytes.
@Suite(.serialized) struct SocketConformanceTests {
    @Test(arguments: TransportConformance.cases)
    func keepsEveryPromiseOfATransport(_ promise: TransportConformance.Case) async throws {
        try await TransportConformance.run(promise, within: .seconds(120)) { SocketTransport() }
    }
}
#endif
