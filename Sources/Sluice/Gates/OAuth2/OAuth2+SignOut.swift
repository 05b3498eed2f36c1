import SluiceHTTP

extension OAuth2 {
    /// Removes the token, and revokes it if there is a ``Configuration/revocationURL`` (RFC 7009).
    ///
    /// First, this method waits for a running refresh, so that no new token arrives afterwards. From then on, requests
    /// no longer carry the token. Then the token is deleted from the store, and the refresh token and the access token
    /// are revoked. All of this is done even if a part of it fails, or if the calling task is cancelled.
    ///
    /// Later requests fail with ``SluiceError/Code/authorizationRequired`` until a user signs in. With a grant that
    /// needs no user, client credentials or password, they obtain a new token.
    ///
    /// - Throws: A ``SluiceError`` with the first ``OAuth2Error``, from the store or the server. The gate is signed out
    ///   all the same, for as long as the program runs.
    public func signOut() async throws(SluiceError) {
        let endpoint = TokenEndpoint(tokenURL, grant, configuration, by: engine)
        let failure = await Task {
            let turn = await takeTurn()
            defer { endTurn(turn) }
            var stored: Token?
            var failure: OAuth2Error?
            if desk.withLock({ $0.state.isUnknown }) {
                switch await self.stored({ try await $0.load() }) {
                case .success(let token): stored = token
                case .failure(let error): failure = error
                }
            }
            let known = desk.withLock { $0.state.signOut() }
            if case .failure(let error) = await self.stored({ try await $0.delete() }) { failure = failure ?? error }
            guard let url = configuration.revocationURL else { return failure }
            // The refresh token is revoked first, because servers revoke its access tokens with it.
            if let token = stored?.refresh ?? known.refresh {
                let error = await endpoint.revoke(token, hint: "refresh_token", at: url)
                failure = failure ?? error
            }
            if let token = stored?.access ?? known.access {
                let error = await endpoint.revoke(token, hint: "access_token", at: url)
                failure = failure ?? error
            }
            return failure
        }.value
        if let failure { throw SluiceError(failure) }
    }
}

extension TokenState {
    fileprivate var isUnknown: Bool {
        if case .unknown = holding { true } else { false }
    }
}
