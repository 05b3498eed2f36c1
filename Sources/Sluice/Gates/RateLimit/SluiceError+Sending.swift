import SluiceHTTP

extension SluiceError {
    /// True if the server certainly has not seen the request.
    ///
    /// A request that was cancelled during its transfer may have been seen. A request that was cancelled at a gate or
    /// in an interceptor has not been seen. The error's step tells the two apart.
    var isBeforeSending: Bool {
        if response != nil { return false }
        switch step {
        case .building, .gate, .requestInterceptor, .cache: return true
        case .transport: return Self.codesBeforeSending.contains(code)
        case .recovery, .responseInterceptor, .validation, .file, .serialization: return false
        }
    }

    private static let codesBeforeSending: Set<Code> = [
        .invalidURL, .unsupportedScheme, .invalidHeader, .invalidMethod, .cannotResolveHost, .cannotConnect, .tlsFailed,
        .proxyFailed, .connectTimedOut, .unsupported, .queueFull,
    ]
}
