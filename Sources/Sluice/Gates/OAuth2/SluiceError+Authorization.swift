import SluiceHTTP

extension SluiceError.Code {
    /// There is no token, and the user has to sign in, or sign in again, to obtain one.
    public static let authorizationRequired = SluiceError.Code("authorizationRequired")
    /// A token could not be obtained or stored. The underlying error is an ``OAuth2Error``.
    public static let authorizationFailed = SluiceError.Code("authorizationFailed")
}

extension SluiceError {
    /// The reason why an ``OAuth2`` gate has no token; nil for failures of any other kind.
    public var authorizationError: OAuth2Error? { underlyingError as? OAuth2Error }

    /// Creates the failure of a request that has no token.
    init(_ error: OAuth2Error) {
        self.init(
            error.code == .authorizationRequired ? .authorizationRequired : .authorizationFailed,
            error.description,
            step: .gate,
            underlyingError: error
        )
    }
}
