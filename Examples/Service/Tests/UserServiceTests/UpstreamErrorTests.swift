import Sluice
import Testing

@testable import UserService

@Suite struct UpstreamErrorTests {
    @Test(
        arguments: [
            (.cancelled, 499), (.timedOut, 504), (.connectTimedOut, 504), (.idleTimedOut, 504), (.circuitOpen, 503),
            (.queueFull, 503), (.rateLimited, 503), (.cannotConnect, 502), (.authorizationFailed, 502),
            (.decodingFailed, 502), (.connectionLost, 502), (.bodyTooLarge, 502),
        ] as [(SluiceError.Code, Int)]
    )
    func eachKindOfFailureHasAStatus(_ code: SluiceError.Code, _ status: Int) {
        let error = UpstreamError(RequestFailure(error: SluiceError(code, "It failed.")))
        #expect(error.status.code == status)
    }

    @Test(arguments: [(404, 404), (400, 502), (401, 502), (403, 502), (429, 502), (500, 502), (503, 502)])
    func onlyWhatIsNotThereKeepsTheUpstreamsStatus(_ upstream: Int, _ status: Int) {
        let response = HTTPResponse(status: HTTPStatus(rawValue: upstream))
        let failure = SluiceError(.unacceptableStatus, "It failed.", step: .validation, response: response)
        #expect(UpstreamError(RequestFailure(error: failure)).status.code == status)
    }
}
