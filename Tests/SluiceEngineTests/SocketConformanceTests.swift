#if os(Linux)
import Sluice
import SluiceEngine
import SluiceTesting
import Testing

/// One after another: many of the cases measure time, and some move a lot of bytes.
@Suite(.serialized) struct SocketConformanceTests {
    @Test(arguments: TransportConformance.cases)
    func keepsEveryPromiseOfATransport(_ promise: TransportConformance.Case) async throws {
        // A client's configuration brings what carries proxies, cookies and credentials.
        _ = APIClient.Configuration()
        try await TransportConformance.run(promise, within: .seconds(120)) { SocketTransport() }
    }
}
#endif
