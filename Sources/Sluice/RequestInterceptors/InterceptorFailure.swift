import SluiceHTTP

extension SluiceError {
    /// Creates an error from one that a request interceptor threw.
    static func interceptor(_ error: any Error, _ request: HTTPRequest) -> SluiceError {
        if let error = error as? SluiceError { return error.with(step: .requestInterceptor, request: request) }
        return SluiceError(
            .interceptorFailed,
            "A request interceptor failed.",
            step: .requestInterceptor,
            request: request,
            underlyingError: error
        )
    }
}
