import SluiceHTTP

/// What the token endpoint is asked (RFC 6749 §4 and §6).
enum TokenRequest: Sendable {
    /// A token by what the grant itself has.
    case grant
    /// The next token.
    case refresh(Secret)
    /// A token for what came back from an authorization.
    case code(Secret, verifier: Secret, redirectURL: String)
    /// Nothing: this token is to be no longer good (RFC 7009 §2.1).
    case revocation(Secret, hint: String)

    /// The parameters but for those by which the client proves who it is. The grant's own cannot take a place of the RFC's.
    func parameters(of grant: OAuth2.Grant) -> Parameters {
        switch self {
        case .grant:
            var parameters = grant.parameters
            parameters["scope"] = grant.scope
            switch grant.kind {
            case .clientCredentials:
                parameters["grant_type"] = "client_credentials"
            case .password(let username, let password):
                parameters["grant_type"] = "password"
                parameters["username"] = username
                parameters["password"] = password.reveal()
            case .refreshToken, .authorizationCode:
                // These have nothing to repeat.
                break
            }
            return parameters
        case .refresh(let token):
            var own: Parameters = ["grant_type": "refresh_token", "refresh_token": token.reveal()]
            switch grant.kind {
            // Those were for the authorization URL, and the scope is that of the first token (RFC 6749 §6).
            case .authorizationCode: return own
            case .refreshToken: own["scope"] = grant.scope
            case .clientCredentials, .password: break
            }
            return grant.parameters.merging(own)
        case .code(let code, let verifier, let redirectURL):
            return [
                "grant_type": "authorization_code", "code": code.reveal(),
                "code_verifier": verifier.reveal(),
                "redirect_uri": redirectURL,
            ]
        case .revocation(let token, let hint):
            return ["token": token.reveal(), "token_type_hint": hint]
        }
    }

    /// What must not come back in the text of an error.
    func secrets(of grant: OAuth2.Grant) -> [String] {
        var secrets = [grant.secret].compactMap(\.self)
        if case .password(_, let password) = grant.kind { secrets.append(password) }
        switch self {
        case .grant: break
        case .refresh(let token), .revocation(let token, _): secrets.append(token)
        case .code(let code, let verifier, _): secrets += [code, verifier]
        }
        // Shorter ones would take ordinary words apart.
        return secrets.map { $0.reveal() }.filter { $0.utf8.count >= 4 }
    }
}

extension URLEncodedFormEncoder {
    /// For bodies, as RFC 6749 appendix B has it; names in their order, so that a request is the same each time.
    static let oauth2 = URLEncodedFormEncoder(
        arrayEncoding: .noBrackets,
        boolEncoding: .literal,
        spaceEncoding: .plusReplaced
    )

    /// For URLs and HTTP Basic: the same to who reads a form, and understood also by those who undo percents only.
    static let oauth2Percent = URLEncodedFormEncoder(arrayEncoding: .noBrackets, boolEncoding: .literal)
}
