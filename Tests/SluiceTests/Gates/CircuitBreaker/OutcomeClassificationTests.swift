import SluiceHTTP
import Testing

@testable import Sluice

@Suite struct OutcomeClassificationTests {
    @Test(
        arguments: [
            (.answered(.ok), .success), (.answered(.notFound), .success), (.answered(.tooManyRequests), .success),
            (.answered(.notModified), .success), (.answered(.internalServerError), .failure),
            (.answered(599), .failure),
            (.answered(.serviceUnavailable), .failure), (.answered(600), .success),
            (.failed(.cannotResolveHost), .failure), (.failed(.cannotConnect), .failure),
            (.failed(.tlsFailed), .failure),
            (.failed(.proxyFailed), .failure), (.failed(.connectionLost), .failure),
            (.failed(.truncatedBody), .failure),
            (.failed(.invalidResponse), .failure), (.failed(.timedOut), .failure), (.failed(.idleTimedOut), .failure),
            (.failed(.connectTimedOut), .failure), (.failed(.timedOut, .recovery), .failure),
            (.failed(.init("mine")), .failure),
            (.failed(.cancelled), .ignored), (.failed(.queueFull), .ignored), (.failed(.bodyUnavailable), .ignored),
            (.failed(.bodyTooLarge), .ignored),
            (.failed(.hostRefused), .ignored), (.failed(.addressRefused), .ignored),
            (.failed(.invalidConfiguration), .ignored),
            (.failed(.invalidHeader), .ignored), (.failed(.redirectRefused, .recovery), .ignored),
            (.failed(.timedOut, .gate), .ignored), (.failed(.circuitOpen, .gate), .ignored),
            (.failed(.interceptorFailed, .requestInterceptor), .ignored),
            (.failed(.buildingFailed, .building), .ignored),
            (.failed(.interceptorFailed, .responseInterceptor), .ignored),
            (.failed(.cancelled, .responseInterceptor), .ignored),
        ] as [(TransportOutcome, CircuitBreaker.Classification)]
    )
    func classifiesOutcomeByStatusCodeAndStep(
        _ outcome: TransportOutcome,
        _ classification: CircuitBreaker.Classification
    ) {
        #expect(CircuitBreaker.classification(of: outcome) == classification)
    }

    @Test(arguments: [(.ok, .success), (.badGateway, .failure)] as [(HTTPStatus, CircuitBreaker.Classification)])
    func classifiesInterceptorFailureByResponseStatus(
        _ status: HTTPStatus,
        _ classification: CircuitBreaker.Classification
    ) {
        let error = SluiceError(
            .interceptorFailed,
            "It failed.",
            step: .responseInterceptor,
            response: HTTPResponse(status: status)
        )
        #expect(CircuitBreaker.classification(of: .failure(error)) == classification)
    }
    // A closure of the client's redirect policy may fail with any error.
    @Test func ignoresRedirectThatTheClientDoesNotFollow() {
        let error = SluiceError(
            SluiceError.Code("signInRequired"),
            "Sign in.",
            step: .recovery,
            response: HTTPResponse(status: .found)
        )
        #expect(CircuitBreaker.classification(of: .failure(error)) == .ignored)
    }
}
