import SluiceHTTP

extension OAuth2 {
    /// Forgets the token, and revokes it where there is a ``Configuration/revocationURL`` (RFC 7009).
    ///
    /// A refresh under way is waited for, lest its token outlive this. From then on requests carry the token no longer; it is deleted from
    /// the store, and at last the refresh token and the access token are revoked. All of that is done even where a part
    /// of it fails, and if the calling task is cancelled.
    ///
    /// Requests made afterwards fail with ``SluiceError/Code/authorizationRequired`` until somebody signs in; those of a grant
    /// that needs no user, client credentials and password, get a new token.
    ///
    /// - Throws: A ``SluiceError`` with the first ``OAuth2Error`` in it: of the store, or of the server. Signed out is the client
    ///   all the same, for as long as the program runs.
    public func signOut() async throws(SluiceError) {
        let endpoint = TokenEndpoint(tokenURL, grant, configuration, by: engine)
        let failure = await Task {
            let turn = await takeTurn()
            defer { endTurn(turn) }
            var stored: Token?
            if desk.withLock({ $0.state.isUnknown }) { stored = try? await self.stored { try await $0.load() }.get() }
            let known = desk.withLock { $0.state.signOut() }
            var failure: OAuth2Error?
            if case .failure(let error) = await self.stored({ try await $0.delete() }) { failure = error }
            guard let url = configuration.revocationURL else { return failure }
            // The refresh token first: with it goes all that was got by it.
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
