import SluiceHTTP

extension CircuitBreaker {
    /// What an outcome says about the server.
    public enum Judgement: Sendable, Hashable {
        /// It does what it should.
        case success
        /// It does not.
        case failure
        /// Nothing.
        case ignored
    }

    /// What an outcome counts as unless one says otherwise.
    ///
    /// A 5xx is a failure, and so is every way not to get a response: no connection, a time-out, invalid HTTP. Any other
    /// response is a success, 429 included: who says that is alive. What was cancelled, never sent, or failed by the caller's own
    /// doing (an invalid request, a body that cannot be read, a limit on the response, a redirect refused) is neither.
    ///
    /// - Parameter outcome: What came of a request.
    /// - Returns: The judgement.
    public static func judgement(of outcome: TransportOutcome) -> Judgement {
        switch outcome {
        case .success(let response): judgement(of: response.head)
        case .failure(let error): judgement(of: error)
        }
    }

    private static func judgement(of head: HTTPResponse) -> Judgement {
        head.status.class == .serverError ? .failure : .success
    }

    private static func judgement(of error: SluiceError) -> Judgement {
        switch error.step {
        case .transport, .recovery:
            if callersCodes.contains(error.code) { return .ignored }
            return .failure
        case .responseInterceptor, .validation, .file, .serialization:
            return error.response.map(judgement(of:)) ?? .ignored
        case .building, .gate, .requestInterceptor, .cache:
            return .ignored
        }
    }

    /// Codes that say nothing about the server.
    private static let callersCodes: Set<SluiceError.Code> = [
        .cancelled, .invalidURL, .unsupportedScheme, .invalidHeader, .invalidMethod, .buildingFailed, .encodingFailed,
        .bodyUnavailable, .bodyLengthMismatch, .bodyNotReplayable, .headersTooLarge, .bodyTooLarge, .tooManyRedirects,
        .redirectLoop, .redirectRefused, .unsupported, .internalFailure, .interceptorFailed, .gateFailed, .queueFull,
    ]
}
