import SluiceHTTP

extension SluiceError.Code {
    /// There is no token, and it takes the user to get one: to sign in, or to sign in again.
    public static let authorizationRequired = SluiceError.Code("authorizationRequired")
    /// A token could not be had or kept; the underlying error is an ``OAuth2Error``.
    public static let authorizationFailed = SluiceError.Code("authorizationFailed")
}

extension SluiceError {
    /// What kept an ``OAuth2`` gate from having a token; nil for failures of any other kind.
    public var authorizationError: OAuth2Error? { underlyingError as? OAuth2Error }

    /// The failure of a request that has no token.
    init(_ error: OAuth2Error) {
        self.init(
            error.code == .authorizationRequired ? .authorizationRequired : .authorizationFailed,
            error.description,
            step: .gate,
            underlyingError: error
        )
    }
}
