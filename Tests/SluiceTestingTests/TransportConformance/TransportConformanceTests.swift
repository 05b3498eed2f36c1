import SluiceHTTP
import SluiceTesting
import Testing

/// Returns 200 for every request without sending anything.
private struct SucceedingTransport: Transport {
    func send(_ request: HTTPRequest, context: TransferContext) async throws(SluiceError) -> TransportResponse {
        TransportResponse(head: HTTPResponse(status: .ok), body: ResponseBody())
    }
}

/// Never answers, and ignores cancellation.
private struct HangingTransport: Transport {
    func send(_ request: HTTPRequest, context: TransferContext) async throws(SluiceError) -> TransportResponse {
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
        throw SluiceError(.timedOut, "Never.")
    }
}

/// Fails every request with the same error.
private struct FailingTransport: Transport {
    func send(_ request: HTTPRequest, context: TransferContext) async throws(SluiceError) -> TransportResponse {
        throw SluiceError(.connectionLost, "Broken.")
    }
}

@Suite struct TransportConformanceTests {
    @Test(arguments: TransportConformance.cases)
    func everyCaseFailsForTransportsThatSendNothing(_ conformanceCase: TransportConformance.Case) async {
        await #expect(throws: ConformanceFailure.self) {
            try await TransportConformance.run(conformanceCase, within: .milliseconds(500)) { SucceedingTransport() }
        }
        await #expect(throws: ConformanceFailure.self) {
            try await TransportConformance.run(conformanceCase, within: .milliseconds(500)) { FailingTransport() }
        }
    }

    @Test func hangingTransportFailsAfterTimeout() async throws {
        let conformanceCase = try #require(TransportConformance.cases.first)
        let failure = await #expect(throws: ConformanceFailure.self) {
            try await TransportConformance.run(conformanceCase, within: .milliseconds(50)) { HangingTransport() }
        }
        #expect(failure?.caseName == conformanceCase.name)
        #expect(failure?.reason.contains("Still waiting for the transport") == true)
    }

    @Test func namesAreUnique() {
        let names = TransportConformance.cases.map(\.name)
        #expect(Set(names).count == names.count)
    }

    @Test func exclusionRemovesItsCase() throws {
        let name = try #require(TransportConformance.cases.first).name
        let cases = try TransportConformance.cases(excluding: [.init(name, because: "it is the first")])
        #expect(cases.count == TransportConformance.cases.count - 1)
        #expect(!cases.contains { $0.name == name })
    }

    @Test func exclusionOfUnknownCaseIsError() {
        #expect(throws: ConformanceFailure.self) {
            try TransportConformance.cases(excluding: [.init("No such case", because: "it was renamed")])
        }
    }
}
