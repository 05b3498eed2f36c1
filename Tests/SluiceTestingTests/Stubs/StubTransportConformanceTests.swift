#if os(Linux)
import SluiceEngine
import SluiceTesting
import Testing

/// The conformance cases, run with a stub transport that passes all requests through.
@Suite(.serialized) struct StubTransportConformanceTests {
    @Test(arguments: try TransportConformance.cases(excluding: exclusions))
    func passesConformanceCase(_ conformanceCase: TransportConformance.Case) async throws {
        try await TransportConformance.run(conformanceCase) {
            StubTransport(unmatched: .passThrough(SocketTransport()))
        }
    }

    private static let inMemory =
        "the body of a request is read into memory before the rules are evaluated, and then has a length"
    private static let exclusions: [TransportConformance.Exclusion] = [
        .init("A body that can be read only once fails with bodyNotReplayable after a challenge", because: inMemory),
        .init("A stream without a length arrives chunked", because: inMemory),
        .init("Empty chunks of a stream do not end it", because: inMemory),
        .init("A deferred body without a length arrives chunked", because: inMemory),
        .init(
            "A task cancelled while the request body waits for its next chunk closes the connection",
            because: inMemory
        ),
        .init("A time-out while the request body waits for its next chunk fails with timedOut", because: inMemory),
    ]
}
#endif
