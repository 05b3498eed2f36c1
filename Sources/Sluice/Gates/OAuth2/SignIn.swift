import SluiceFoundation
import SluiceHTTP

extension OAuth2 {
    /// Creates the URL that a user opens to sign in, with its state and PKCE verifier.
    ///
    /// ```swift
    /// let request = try oauth.authorizationRequest()
    /// open(request.url)                                   // the browser comes back to the redirect URL, and then
    /// try await oauth.signIn(redirectedTo: url, for: request)
    /// ```
    ///
    /// - Parameter parameters: Parameters of this request besides the grant's: `["login_hint": name]`.
    /// - Returns: The request. Open its URL, and keep it until the browser returns.
    /// - Throws: A ``SluiceError`` with ``OAuth2Error/Code/unsupported`` if the grant is not an authorization code
    ///   grant, or its URL is not valid or has no TLS.
    public func authorizationRequest(parameters: Parameters = [:]) throws(SluiceError) -> AuthorizationRequest {
        let code = try authorizationCode
        if let refusal = configuration.refusal(of: code.authorizationURL) { throw SluiceError(refusal) }
        do {
            return try AuthorizationRequest(grant, code, parameters, randomBytes: configuration.randomBytes)
        } catch {
            throw SluiceError(error)
        }
    }

    /// Exchanges the code in a redirect URL for a token, and stores the token.
    ///
    /// Other requests wait for the token meanwhile, unless there is a valid one. The exchange runs to its end even if the
    /// calling task is cancelled or its ``Deadline`` passes, because a code can be used only once.
    ///
    /// - Parameters:
    ///   - redirect: The URL that the browser was redirected to, whole or starting at its path or query.
    ///   - request: The request that the redirect answers.
    /// - Returns: The token.
    /// - Throws: A ``SluiceError`` with an ``OAuth2Error``: the server's error, such as
    ///   ``OAuth2Error/Code/accessDenied`` if the user declined, or ``OAuth2Error/Code/stateMismatch`` or
    ///   ``OAuth2Error/Code/issuerMismatch`` for a redirect that does not answer this request. An existing
    ///   token is kept in that case. A request that has been answered, even by an error, fails with
    ///   ``OAuth2Error/Code/stateMismatch``.
    @discardableResult
    public func signIn(
        redirectedTo redirect: String,
        for request: AuthorizationRequest
    ) async throws(SluiceError) -> Token {
        let code = try authorizationCode
        let exchange: TokenRequest
        do throws(OAuth2Error) {
            let response = AuthorizationResponse(redirect)
            // Anyone can send a redirect with another state, so that only one with this state answers the request.
            if response.answers(state: request.state), !shared.withLock({ $0.answered.insert(request.state) }) {
                throw OAuth2Error(.stateMismatch, "the request has been answered before")
            }
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

    /// Stores and uses a token that was obtained elsewhere. It replaces the current one.
    ///
    /// - Parameter token: A Bearer token.
    /// - Throws: A ``SluiceError`` with ``OAuth2Error/Code/storeFailed``, ``OAuth2Error/Code/expiredToken``, or
    ///   ``OAuth2Error/Code/unsupported`` for an access token that is not visible ASCII. An expired token without a
    ///   refresh token does not replace the current one.
    public func signIn(with token: Token) async throws(SluiceError) {
        guard token.accessToken.isBearerToken else {
            throw SluiceError(OAuth2Error(.unsupported, "an access token must consist of visible ASCII characters"))
        }
        _ = try await signIn { _ in .success(token) }
    }

    /// Returns a valid token, for use outside of Sluice's requests. Waits for it as requests do, up to the task's ``Deadline``.
    ///
    /// - Returns: The token.
    /// - Throws: The ``SluiceError`` that a request would fail with.
    public func token() async throws(SluiceError) -> Token {
        let client = defaultClient
        guard let deadline = Deadline.current else { return try await credential(by: client, for: nil).token }
        let clock = client.pipeline.clock
        return try await TimedWork.outcome(
            within: deadline.timeLeft(on: clock),
            on: clock,
            else: SluiceError(.timedOut, "The deadline passed before there was a token.", step: .gate)
        ) { () async throws(SluiceError) in try await self.credential(by: client, for: nil).token }
    }

    /// Removes the token, and revokes it if there is a ``Configuration/revocationURL`` (RFC 7009).
    ///
    /// First, this method waits for a running refresh, so that no new token arrives afterwards, and for the lock of a
    /// shared store. From then on, no request gets the token. A request that was admitted before, and waits at another
    /// gate, still carries it. Then the token is deleted from the store, and the refresh token and the access token are
    /// revoked. All of this is done even if a part of it fails, if the calling task is cancelled, or if its ``Deadline``
    /// passes.
    ///
    /// Later requests fail with ``SluiceError/Code/authorizationRequired`` until a user signs in. With a grant that
    /// needs no user, client credentials or password, they obtain a new token.
    ///
    /// - Throws: A ``SluiceError`` with the first ``OAuth2Error``, from the store or the server. The gate is signed out
    ///   all the same, for as long as the program runs.
    public func signOut() async throws(SluiceError) {
        let endpoint = TokenEndpoint(tokenURL, grant, configuration, by: defaultClient)
        let failure = await exclusively { [self] work -> OAuth2Error? in
            defer { endExclusiveWork(work) }
            let clock = defaultClient.pipeline.clock
            var stored: Token?
            // Another process may have replaced the token that this gate knows.
            var failure = await lockStore(for: work, clock)
            // Its holder may save a token after this one has been deleted.
            let hasNoLock = failure != nil
            if shared.withLock({ $0.state.isUnknown || $0.lock != nil }) {
                switch await self.callStore(for: work, clock, { try await $0.load() }) {
                case .success(let token): stored = token
                case .failure(let error): failure = failure ?? error
                }
            }
            let known = shared.withLock { shared in
                // The store has an older token, which the server may have replaced.
                if shared.state.isUnsaved { stored = nil }
                return shared.state.signOut()
            }
            var mayKeepToken = hasNoLock
            if case .failure(let error) = await self.callStore(for: work, clock, { try await $0.delete() }) {
                failure = failure ?? error
                mayKeepToken = true
            }
            if mayKeepToken { shared.withLock { $0.state.ignoresStore = true } }
            shared.withLockReleasing { $0.takeLock() }
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
        }
        if let failure { throw SluiceError(failure) }
    }

    private func signIn(
        _ token: @escaping @Sendable (TokenEndpoint) async -> Result<Token, OAuth2Error>
    ) async throws(SluiceError) -> Token {
        let client = defaultClient
        let outcome = await exclusively { [self] work in
            let clock = client.pipeline.clock
            // Before the code is used up. Another process may be replacing the token, and would save it after this one.
            let result: Result<Token, OAuth2Error> =
                if let failure = await lockStore(for: work, clock) {
                    .failure(failure)
                } else {
                    await token(TokenEndpoint(tokenURL, grant, configuration, by: client))
                }
            let step = advance { $0.received(result, work: work, at: ClockReading(clock)) }
            return await run(work, step, by: client)
        }
        switch outcome {
        case .success(let credential): return credential.token
        case .failure(let error): throw SluiceError(error)
        case nil: throw .cancelled
        }
    }

    /// Runs exclusive work to its end, even if the calling task is cancelled or its deadline passes. A store may send
    /// requests through a client with this gate. They bypass the gate.
    private func exclusively<Value: Sendable>(
        _ body: @escaping @Sendable (_ work: Int) async -> Value
    ) async -> Value {
        await Deadline.$current.withValue(nil) {
            Task {
                let work = await beginExclusiveWork()
                return await GateBypass(from: self, for: nil).whileActive { await body(work) }
            }
        }.value
    }

    /// The client that sends requests to the authorization server where no request needs the token.
    var defaultClient: APIClient { configuration.client ?? APIClient() }

    private var authorizationCode: Grant.AuthorizationCode {
        get throws(SluiceError) {
            if case .authorizationCode(let code) = grant.kind { return code }
            throw SluiceError(OAuth2Error(.unsupported, "its grant is \(grant), not an authorization code"))
        }
    }
}

extension TokenState {
    fileprivate var isUnknown: Bool {
        if case .unknown = status { true } else { false }
    }
}

// MARK: - Authorization request

extension OAuth2 {
    /// A request for a user's authorization: the URL to open, and the secrets to check the redirect with.
    ///
    /// Open ``url`` in a browser, and keep the request until the browser is redirected back. A server keeps it in the
    /// user's session, encoded.
    ///
    /// A request can be used only once (RFC 9700 §2.1): a gate refuses a redirect to a request that it has already had
    /// an answer to. Several processes do not know of each other's requests, so a server also removes the request from
    /// the session when the browser comes back.
    public struct AuthorizationRequest: Sendable, Equatable, Codable {
        /// The URL to open.
        public let url: String
        /// A random value that the redirect repeats, which shows that it answers this request (RFC 6749 §10.12).
        public let state: String
        /// The PKCE code verifier, a secret (RFC 7636 §4.1).
        package let verifier: String
    }
}

extension OAuth2.AuthorizationRequest: CustomStringConvertible, CustomReflectable, RedactedMirror {
    /// The URL without its query, which holds the secrets.
    public var description: String { "authorization request to \(url.prefix { $0 != "?" })" }
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
            throw OAuth2Error(.unsupported, "the system's libcrypto does not provide SHA-256")
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

/// The response to an authorization request: the query of the redirect URL (RFC 6749 §4.1.2).
struct AuthorizationResponse: Sendable {
    private var values: [String: String] = [:]
    /// The names that occur more than once, which RFC 6749 §3.1 forbids.
    private var repeated: Set<String> = []

    /// Parses a whole URL, a request target, or only a query or form.
    init(_ redirect: String) {
        var text = redirect.utf8[...]
        if let number = text.firstIndex(of: UInt8(ascii: "#")) { text = text[..<number] }
        if let question = text.firstIndex(of: UInt8(ascii: "?")) { text = text[question...].dropFirst() }
        for pair in text.split(separator: UInt8(ascii: "&")) {
            let name = Self.decoded(pair.prefix { $0 != UInt8(ascii: "=") })
            // Anyone can make the program parse a URL, and the hash of a long name that is not ASCII takes long.
            guard name.utf8.count <= 32 else { continue }
            let value = Self.decoded(pair.drop { $0 != UInt8(ascii: "=") }.dropFirst())
            if values.updateValue(value, forKey: name) != nil { repeated.insert(name) }
        }
    }

    /// Returns true if the response has the state of a request. The comparison takes constant time.
    func answers(state: String) -> Bool {
        values["state"].map { Secret($0) == Secret(state) } ?? false
    }

    /// Returns the authorization code if the response answers the request.
    ///
    /// - Parameters:
    ///   - state: The state of the request.
    ///   - issuer: The expected issuer; nil for no check.
    /// - Returns: The code.
    /// - Throws: The server's error, or the reason why the response is refused.
    func code(state: String, issuer: String?) throws(OAuth2Error) -> String {
        if !repeated.isDisjoint(with: ["code", "state", "iss", "error"]) {
            throw OAuth2Error(.invalidResponse, "the redirect URL contains a parameter more than once")
        }
        // Checked first, because anyone can forge a response, including an error.
        guard answers(state: state) else { throw OAuth2Error(.stateMismatch) }
        if let issuer, values["iss"]?.hasBytes(of: issuer) != true {
            throw OAuth2Error(.issuerMismatch, values["iss"] == nil ? "it has no iss parameter" : nil)
        }
        if let error = values["error"], !error.isEmpty {
            throw OAuth2Error(
                OAuth2Error.Code(rawValue: error.errorDetail),
                values["error_description"].map(\.errorDetail),
                uri: values["error_uri"].map(\.errorDetail)
            )
        }
        guard let code = values["code"], !code.isEmpty else {
            throw OAuth2Error(.invalidResponse, "the redirect URL contains neither a code nor an error")
        }
        return code
    }

    /// Decodes form encoding. Percent signs without two hexadecimal digits stay as they are.
    private static func decoded(_ text: Substring.UTF8View) -> String {
        String(decoding: PercentEncoding.decoded(text, plusIsSpace: true), as: UTF8.self)
    }
}

/// The states of the authorization requests that have been answered, up to a limit.
struct AnsweredRequests: Sendable {
    /// The number of states that are kept; with more, the oldest is forgotten.
    static let limit = 10_000

    private var states: Set<String> = []
    private var order: [String] = []
    private var oldest = 0

    /// Records a state. Returns false if it has been recorded before.
    mutating func insert(_ state: String) -> Bool {
        guard states.insert(state).inserted else { return false }
        if order.count < Self.limit {
            order.append(state)
        } else {
            states.remove(order[oldest])
            order[oldest] = state
            oldest = (oldest + 1) % Self.limit
        }
        return true
    }
}

/// A PKCE code verifier and its challenge (RFC 7636 §4).
struct ProofKey: Sendable, Equatable {
    /// 43 or more characters that need no encoding in URLs.
    let verifier: String

    /// The `code_challenge` for the method S256; nil if the system's library fails.
    var challenge: String? {
        SystemSHA256.digest(of: Array(verifier.utf8)).map(\.base64URL)
    }
}

extension [UInt8] {
    /// The bytes in base64url without padding (RFC 4648 §5).
    var base64URL: String {
        let text = Data(self).base64EncodedString().utf8.compactMap { byte -> UInt8? in
            switch byte {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            case UInt8(ascii: "="): nil
            default: byte
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
