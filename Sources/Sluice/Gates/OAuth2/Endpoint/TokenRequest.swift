import SluiceHTTP

/// A request to the token or revocation endpoint (RFC 6749 §4 and §6).
enum TokenRequest: Sendable {
    /// A token from the grant itself.
    case grant
    /// A token from a refresh token.
    case refresh(Secret)
    /// A token from an authorization code.
    case code(Secret, verifier: Secret, redirectURL: String)
    /// The revocation of a token (RFC 7009 §2.1).
    case revocation(Secret, hint: String)

    /// The parameters, except those that authenticate the client. The grant's own parameters
    /// cannot replace those of the RFC.
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
                // These grants have no request to repeat.
                break
            }
            return parameters
        case .refresh(let token):
            var own: Parameters = ["grant_type": "refresh_token", "refresh_token": token.reveal()]
            switch grant.kind {
            // The grant's parameters are for the authorization URL. The scope stays that of
            // the first token (RFC 6749 §6).
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

    /// The secrets that must not appear in the text of an error.
    func secrets(of grant: OAuth2.Grant) -> [String] {
        var secrets = [grant.secret].compactMap(\.self)
        if case .password(_, let password) = grant.kind { secrets.append(password) }
        switch self {
        case .grant: break
        case .refresh(let token), .revocation(let token, _): secrets.append(token)
        case .code(let code, let verifier, _): secrets += [code, verifier]
        }
        // Shorter secrets would match parts of ordinary words.
        return secrets.map { $0.reveal() }.filter { $0.utf8.count >= 4 }
    }
}

extension URLEncodedFormEncoder {
    /// The encoder for bodies, as specified in RFC 6749 appendix B. Names are sorted, so that
    /// equal requests have equal bodies.
    static let oauth2 = URLEncodedFormEncoder(
        arrayEncoding: .noBrackets,
        boolEncoding: .literal,
        spaceEncoding: .plusReplaced
    )

    /// The encoder for URLs and HTTP Basic. Spaces are percent-encoded, which form decoders and
    /// percent decoders both understand.
    static let oauth2Percent = URLEncodedFormEncoder(arrayEncoding: .noBrackets, boolEncoding: .literal)
}
