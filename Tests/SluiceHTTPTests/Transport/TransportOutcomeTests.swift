import SluiceFoundation
import SluiceHTTP
import Testing

@Suite struct TransportOutcomeTests {
    private static let request = HTTPRequest(scheme: "https", authority: "a.test", path: "/")

    @Test(arguments: [200, 304, 401, 503])
    func outcomeHasTheStatusOfAResponseAndOfAnError(code: Int) {
        let head = HTTPResponse(status: HTTPStatus(code))
        let success = TransportOutcome.success(ServerResponse(request: Self.request, head: head, body: Data()))
        #expect(success.status == head.status)
        let error = SluiceError(.unacceptableStatus, "", request: Self.request, response: head)
        #expect(TransportOutcome.failure(error).status == head.status)
    }

    @Test func outcomeWithoutAResponseHasNoStatus() {
        #expect(TransportOutcome.failure(SluiceError(.cannotConnect, "")).status == nil)
    }
}
