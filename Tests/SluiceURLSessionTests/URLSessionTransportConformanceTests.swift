import SluiceTesting
import SluiceURLSession
import Testing

@Suite struct URLSessionTransportConformanceTests {
    @Test(arguments: try TransportConformance.cases(excluding: exclusions))
    func theTransportConforms(_ promise: TransportConformance.Case) async throws {
        try await TransportConformance.run(promise) { URLSessionTransport() }
    }

    private static let exclusions: [TransportConformance.Exclusion] = []
}
