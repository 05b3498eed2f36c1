import SluiceHTTP

extension CircuitBreaker {
    /// The meaning of an outcome for the health of the server.
    public enum Judgement: Sendable, Hashable {
        /// The server works.
        case success
        /// The server does not work.
        case failure
        /// The outcome says nothing about the server.
        case ignored
    }

    /// Returns the default judgement of an outcome.
    ///
    /// A 5xx response is a failure, and so is a missing response: no connection, a time-out, invalid HTTP. Any
    /// other response is a success, 429 included. An outcome is ignored if the request was cancelled, was never
    /// sent, or failed on the caller's side: an invalid request, a body that cannot be read, a limit on the
    /// response, a refused redirect.
    ///
    /// - Parameter outcome: The outcome of a request.
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

    /// The codes that say nothing about the server.
    private static let callersCodes: Set<SluiceError.Code> = [
        .cancelled, .invalidURL, .unsupportedScheme, .invalidHeader, .invalidMethod, .buildingFailed, .encodingFailed,
        .bodyUnavailable, .bodyLengthMismatch, .bodyNotReplayable, .headersTooLarge, .bodyTooLarge, .tooManyRedirects,
        .redirectLoop, .redirectRefused, .unsupported, .internalFailure, .interceptorFailed, .gateFailed, .queueFull,
    ]
}
