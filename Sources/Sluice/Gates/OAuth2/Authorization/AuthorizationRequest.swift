extension OAuth2 {
    /// A user's way to the authorization server and what is needed when they come back.
    ///
    /// Open ``url`` in a browser, and keep the request until the browser is sent back: a server keeps it in the user's
    /// session, encoded. It serves once.
    public struct AuthorizationRequest: Sendable, Hashable, Codable {
        /// What to open.
        public let url: String
        /// Comes back with the answer, and shows that it is one to this request (RFC 6749 §10.12).
        public let state: String
        /// The secret that only the one who asked knows (RFC 7636 §4.1).
        public let verifier: String

        /// Makes a request of what had been kept.
        public init(url: String, state: String, verifier: String) {
            self.url = url
            self.state = state
            self.verifier = verifier
        }
    }
}

extension OAuth2.AuthorizationRequest: CustomStringConvertible, CustomReflectable {
    /// Where it leads, without the secrets.
    public var description: String { "authorization request to \(url.prefix { $0 != "?" })" }

    /// Nothing: `dump` would show the secrets.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension OAuth2.AuthorizationRequest {
    /// Makes a request.
    ///
    /// - Parameters:
    ///   - grant: Who asks, and for what.
    ///   - code: Where.
    ///   - parameters: What the server wants besides, for this one request.
    ///   - randomBytes: Gives so many random bytes.
    /// - Throws: ``OAuth2Error`` where the URL is not valid or SHA-256 cannot be had.
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
