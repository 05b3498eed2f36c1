import SluiceHTTP

/// The origins that a token may be sent to.
enum Audience: Sendable {
    /// The origin of each client's base URL.
    case baseURL
    case origins([HTTPOrigin])
    /// The configured origins are not valid.
    case invalid(SluiceError)

    /// The decision about the token of a request.
    enum Decision: Sendable {
        /// The request goes to another origin.
        case withoutToken
        /// The request goes to an origin that may receive the token.
        case withToken
        /// The request needs the token, but its origin must not receive it.
        case refused(SluiceError)
    }

    init(_ origins: [String]?) {
        guard let origins else {
            self = .baseURL
            return
        }
        do throws(SluiceError) {
            self = .origins(
                try origins.map { text throws(SluiceError) in
                    let location = try RequestLocation(parsing: text)
                    return HTTPOrigin(scheme: location.scheme, authority: location.authority)
                }
            )
        } catch {
            self = .invalid(
                SluiceError(
                    OAuth2Error(
                        .unsupported,
                        "one of its origins is not valid. \(error.reason)",
                        underlyingError: error
                    )
                )
            )
        }
    }

    /// Decides if a request carries the token.
    func decision(for request: RequestContext) -> Decision {
        if case .invalid(let error) = self { return .refused(error) }
        let pipeline = request.client.pipeline
        guard includes(request.request, of: pipeline) else { return .withoutToken }
        guard case .baseURL = self, request.request.scheme != "https" else { return .withToken }
        let origin = request.request.origin
        if HostPattern.isLoopback(normalized: HostPattern.normalized(origin.host)) { return .withToken }
        let detail = "it does not send tokens to \(origin) over an unencrypted connection unless its origins include it"
        return .refused(SluiceError(OAuth2Error(.unsupported, detail)))
    }

    /// True if a client's request goes to an origin that may receive the token. Checked on admission and before sending,
    /// because interceptors can change the URL.
    func includes(_ request: HTTPRequest, of pipeline: Pipeline) -> Bool {
        switch self {
        case .invalid: return false
        case .origins(let origins): return origins.contains { $0.isOrigin(of: request) }
        case .baseURL:
            guard case .success(let base) = pipeline.base else { return false }
            // The fast path, because both are usually equal as text.
            return request.authority == base.authority && request.scheme == base.scheme
                || request.origin == HTTPOrigin(scheme: base.scheme, authority: base.authority)
        }
    }
}

extension HTTPOrigin {
    /// True if a request goes to this origin.
    func isOrigin(of request: HTTPRequest) -> Bool {
        // The fast path, because both are usually equal as text.
        request.authority == authority && request.scheme == scheme || request.origin == self
    }
}
