#if os(Linux)
import SluiceCurl
import SluiceTesting
import Testing

@Suite struct CurlConformanceTests {
    @Test(arguments: TransportConformance.cases)
    func keepsEveryPromiseOfATransport(_ promise: TransportConformance.Case) async throws {
        try await TransportConformance.run(promise) { CurlTransport() }
    }
}
#endif
