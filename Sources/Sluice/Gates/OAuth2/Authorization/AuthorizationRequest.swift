extension OAuth2 {
    /// A request for a user's authorization: the URL to open, and the secrets to check the redirect with.
    ///
    /// Open ``url`` in a browser, and keep the request until the browser is redirected back. A server keeps it in the
    /// user's session, encoded. A request can be used only once.
    public struct AuthorizationRequest: Sendable, Hashable, Codable {
        /// The URL to open.
        public let url: String
        /// A random value that the redirect repeats, which shows that it answers this request (RFC 6749 §10.12).
        public let state: String
        /// The PKCE code verifier, a secret (RFC 7636 §4.1).
        public let verifier: String

        /// Creates a request from stored values.
        public init(url: String, state: String, verifier: String) {
            self.url = url
            self.state = state
            self.verifier = verifier
        }
    }
}

extension OAuth2.AuthorizationRequest: CustomStringConvertible, CustomReflectable {
    /// The URL without its query, which holds the secrets.
    public var description: String { "authorization request to \(url.prefix { $0 != "?" })" }

    /// An empty mirror, because `dump` would show the secrets.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension OAuth2.AuthorizationRequest {
    /// Creates a request.
    ///
    /// - Parameters:
    ///   - grant: The grant with the client's identifier, scope and parameters.
    ///   - code: The endpoints.
    ///   - parameters: Additional parameters of this request.
    ///   - randomBytes: Called for random bytes, with their number.
    /// - Throws: ``OAuth2Error`` if the URL is not valid or SHA-256 is not available.
    init(
        _ grant: OAuth2.Grant,
        _ code: OAuth2.Grant.AuthorizationCode,
        _ parameters: Parameters,
        randomBytes: (Int) -> [UInt8]
    ) throws(OAuth2Error) {
        // 256 bits each, as RFC 7636 §7.1 recommends.
        state = randomBytes(32).base64URL
        verifier = randomBytes(32).base64URL
        guard let challenge = ProofKey(verifier: verifier).challenge else {
            throw OAuth2Error(.unsupported, "the system's library gives no SHA-256")
        }
        var query = grant.parameters.merging(parameters)
        query.merge([
            "response_type": "code", "client_id": grant.id, "redirect_uri": code.redirectURL, "state": state,
            "code_challenge": challenge, "code_challenge_method": "S256",
        ])
        if let scope = grant.scope { query["scope"] = scope }
        do {
            var location = try RequestLocation(parsing: code.authorizationURL)
            try location.add([.encoded(RequestParameters(value: query, encoder: .oauth2Percent))], .oauth2Percent)
            url = "\(location.scheme)://\(location.authority)\(location.target)"
        } catch {
            throw OAuth2Error(.unsupported, error.reason, underlyingError: error)
        }
    }
}
