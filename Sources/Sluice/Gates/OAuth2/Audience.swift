import SluiceHTTP

/// The origins that a token may be sent to.
struct Audience: Sendable {
    /// The decision about the token of a request.
    enum Decision: Sendable {
        /// The request goes to another origin.
        case withoutToken
        /// The request goes to an origin that may receive the token.
        case withToken
        /// The request needs the token, but its origin must not receive it.
        case refused(SluiceError)
    }

    private let origins: TrustedOrigins

    /// Creates the origins of URLs; nil for that of each client's base URL.
    init(_ urls: [String]?) {
        origins = urls.map(TrustedOrigins.init) ?? .baseURL
    }

    /// Decides if a request carries the token.
    func decision(for request: RequestContext) -> Decision {
        if case .invalid(let error) = origins {
            let detail = "one of its origins is not valid. \(error.reason)"
            return .refused(SluiceError(OAuth2Error(.unsupported, detail, underlyingError: error)))
        }
        guard let isIncluded = origins.include(request.request, of: request.client.pipeline) else {
            let detail = "the client has no base URL, so that no origin may receive the token. Set the gate's origins"
            return .refused(SluiceError(OAuth2Error(.unsupported, detail)))
        }
        guard isIncluded else { return .withoutToken }
        guard case .baseURL = origins, request.request.scheme != "https" else { return .withToken }
        let origin = request.request.origin
        if HostPattern.isLoopback(normalized: HostPattern.normalized(origin.host)) { return .withToken }
        let detail = "it does not send tokens to \(origin) over an unencrypted connection unless its origins include it"
        return .refused(SluiceError(OAuth2Error(.unsupported, detail)))
    }

    /// True if a client's request goes to an origin that may receive the token. Checked on admission and before sending,
    /// because interceptors can change the URL.
    func includes(_ request: HTTPRequest, of pipeline: Pipeline) -> Bool {
        origins.include(request, of: pipeline) ?? false
    }
}
