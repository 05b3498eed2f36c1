import SluiceHTTP
import Testing

@testable import Sluice

@Suite struct BeforeSendingTests {
    @Test(
        arguments: [
            (.gateFailed, .gate, true), (.cancelled, .gate, true), (.timedOut, .gate, true),
            (.circuitOpen, .gate, true),
            (.cancelled, .requestInterceptor, true), (.interceptorFailed, .requestInterceptor, true),
            (.buildingFailed, .building, true), (.cannotResolveHost, .transport, true),
            (.cannotConnect, .transport, true),
            (.tlsFailed, .transport, true), (.connectTimedOut, .transport, true), (.proxyFailed, .transport, true),
            (.cancelled, .transport, false), (.timedOut, .transport, false), (.idleTimedOut, .transport, false),
            (.connectionLost, .transport, false), (.truncatedBody, .transport, false),
            (.bodyUnavailable, .transport, false),
            (.redirectLoop, .recovery, false), (.interceptorFailed, .responseInterceptor, false),
            (.init("mine"), .transport, false),
        ] as [(SluiceError.Code, SluiceError.Step, Bool)]
    )
    func isBeforeSendingFollowsFromCodeStepAndResponse(
        _ code: SluiceError.Code,
        _ step: SluiceError.Step,
        _ isBefore: Bool
    ) {
        let error = SluiceError(code, "It failed.", step: step)
        #expect(error.isBeforeSending == isBefore)
        #expect(!error.with(response: HTTPResponse(status: .ok)).isBeforeSending)
    }
}
