import SluiceHTTP

extension OAuth2 {
    /// Makes a user's way to the authorization server: the URL, the state and the PKCE verifier.
    ///
    /// ```swift
    /// let request = try oauth.authorizationRequest()
    /// open(request.url)                                   // the browser comes back to the redirect URL, and then
    /// try await oauth.signIn(redirectedTo: url, for: request)
    /// ```
    ///
    /// - Parameter parameters: What this request needs besides the grant's parameters: `["login_hint": name]`.
    /// - Returns: What to open, and what to keep until the user is back.
    /// - Throws: A ``SluiceError`` with ``OAuth2Error/Code/unsupported`` in it where the grant is no authorization code, or its
    ///   URL is not valid.
    public func authorizationRequest(parameters: Parameters = [:]) throws(SluiceError) -> AuthorizationRequest {
        let code = try authorizationCode
        do {
            return try AuthorizationRequest(grant, code, parameters, randomBytes: configuration.randomBytes)
        } catch {
            throw SluiceError(error)
        }
    }

    /// Takes what came back from an authorization, gets a token for it, and stores that.
    ///
    /// Requests made meanwhile wait for it. It runs to its end even if the calling task is cancelled, since a code serves but once.
    ///
    /// - Parameters:
    ///   - redirect: The URL the browser was sent to, as a whole or from its path or query on.
    ///   - request: What it was sent for.
    /// - Returns: The token.
    /// - Throws: A ``SluiceError`` with an ``OAuth2Error`` in it: what the server said, ``OAuth2Error/Code/accessDenied`` where
    ///   the user declined; ``OAuth2Error/Code/stateMismatch`` or ``OAuth2Error/Code/issuerMismatch`` for an answer to somebody
    ///   else's request. A token that there was stays then.
    @discardableResult
    public func signIn(
        redirectedTo redirect: String,
        for request: AuthorizationRequest
    ) async throws(SluiceError) -> Token {
        let code = try authorizationCode
        let exchange: TokenRequest
        do {
            let response = AuthorizationResponse(redirect)
            exchange = .code(
                Secret(try response.code(state: request.state, issuer: code.issuer)),
                verifier: Secret(request.verifier),
                redirectURL: code.redirectURL
            )
        } catch {
            throw SluiceError(error)
        }
        return try await signIn { await $0.token(exchange) }
    }

    /// Uses and stores a token that was got elsewhere, in the place of the one there is.
    ///
    /// - Parameter token: A Bearer.
    /// - Throws: A ``SluiceError`` with ``OAuth2Error/Code/storeFailed`` in it, or ``OAuth2Error/Code/expiredToken``.
    public func signIn(with token: Token) async throws(SluiceError) {
        guard token.accessToken.isBearerToken else {
            throw SluiceError(OAuth2Error(.unsupported, "an access token is made of visible ASCII"))
        }
        _ = try await signIn { _ in .success(token) }
    }

    /// A token that is good now, for where no request of Sluice's carries it; waits for it as requests do.
    ///
    /// - Returns: The token.
    /// - Throws: A ``SluiceError``, as requests that need one fail with.
    public func token() async throws(SluiceError) -> Token {
        try await credential(by: engine, for: nil).token
    }

    private func signIn(
        _ token: @escaping @Sendable (TokenEndpoint) async -> Result<Token, OAuth2Error>
    ) async throws(SluiceError) -> Token {
        let client = engine
        let outcome = await Task {
            let turn = await takeTurn()
            let result = await token(TokenEndpoint(tokenURL, grant, configuration, by: client))
            let time = client.pipeline.time
            let step = advance { $0.received(result, work: turn, at: Moment(time)) }
            return await carryOut(turn, step, by: client)
        }.value
        switch outcome {
        case .admitted(let credential): return credential.token
        case .failed(let error): throw SluiceError(error)
        case nil: throw .cancelled
        }
    }

    /// What sends requests for which no client asks.
    var engine: APIClient { configuration.client ?? APIClient() }

    private var authorizationCode: Grant.AuthorizationCode {
        get throws(SluiceError) {
            if case .authorizationCode(let code) = grant.kind { return code }
            throw SluiceError(OAuth2Error(.unsupported, "its grant is \(grant), not an authorization code"))
        }
    }
}
