import SluiceFoundation
import SluiceHTTP

/// Sends requests to the authorization server.
///
/// They are sent through a separate client, which takes only the transport, the connection settings, the time-outs
/// and the clock of the client whose request needs the token. It has no gates, so that no request waits for itself.
/// It has no headers, which may hold secrets of the API, and no cookies. It follows no redirects, because they would
/// forward the client's secret.
final class TokenEndpoint: Sendable {
    /// The maximum size of a response, far more than a token needs.
    static let bodyLimit: Int64 = 1 << 20

    private let grant: OAuth2.Grant
    private let configuration: OAuth2.Configuration
    private let tokenURL: String
    private let clientConfiguration: APIClient.Configuration

    init(_ tokenURL: String, _ grant: OAuth2.Grant, _ configuration: OAuth2.Configuration, by client: APIClient) {
        self.grant = grant
        self.configuration = configuration
        self.tokenURL = tokenURL
        clientConfiguration = client.configuration
    }

    func token(_ request: TokenRequest) async -> Result<OAuth2.Token, OAuth2Error> {
        // The lifetime is counted from the request, so that the token is replaced too early rather than too late.
        let date = clientConfiguration.clock.date
        return await answer(to: request, at: tokenURL).flatMap { answer in
            answer.token(at: date, acceptsMissingType: configuration.acceptsMissingTokenType)
        }
    }

    /// Revokes a token.
    ///
    /// - Returns: The failure; nil also if the server does not know the token (RFC 7009 §2.2).
    func revoke(_ token: Secret, hint: String, at url: String) async -> OAuth2Error? {
        switch await answer(to: .revocation(token, hint: hint), at: url) {
        case .failure(let error): error
        case .success(let answer): answer.status.isSuccess ? nil : answer.error
        }
    }

    private func answer(to request: TokenRequest, at url: String) async -> Result<TokenResponse, OAuth2Error> {
        if let refusal = configuration.refusal(of: url, by: clientConfiguration.connection) { return .failure(refusal) }
        var parameters = request.parameters(of: grant)
        var headers: HTTPHeaders = [.accept: "application/json"]
        if let secret = grant.secret, configuration.authentication == .basic {
            headers[.authorization] = Self.basic(grant.id, secret.reveal())
        } else {
            parameters["client_id"] = grant.id
            parameters["client_secret"] = grant.secret?.reveal()
        }
        let response = await client(for: url).data.post("").headers(headers)
            .body(.form(parameters, encoder: .oauth2))
            .sender().response
        guard let head = response.head, response.isSuccess else {
            return .failure(Self.unreachable(response.failure))
        }
        let asksToWait = [.tooManyRequests, .serviceUnavailable].contains(head.status)
        return .success(
            TokenResponse(
                status: head.status,
                body: response.body,
                secrets: request.secrets(of: grant),
                retryAfter: asksToWait
                    ? RetryAfter.delay(in: head.headers, now: clientConfiguration.clock.date) : nil
            )
        )
    }

    private func client(for url: String) -> APIClient {
        APIClient(baseURL: url) {
            $0.transport = clientConfiguration.transport
            $0.clock = clientConfiguration.clock
            $0.timeouts = clientConfiguration.timeouts
            $0.connection = clientConfiguration.connection
            $0.timeouts.total = configuration.timeout
            $0.limits.body = Self.bodyLimit
            $0.redirects = .none
            $0.validation = .none
        }
    }

    /// Returns the value of `Authorization`. Id and secret are form-encoded, because a colon in the id would end it (RFC 6749 §2.3.1).
    ///
    /// Only bytes that decoding would change are encoded. Some servers do not decode, and their secrets rarely contain such bytes.
    static func basic(_ id: String, _ secret: String) -> String {
        func encoded(_ text: String) -> String {
            var bytes: [UInt8] = []
            for byte in text.utf8 {
                let isKept = (0x21...0x7E).contains(byte) && !"%+:".utf8.contains(byte)
                if isKept { bytes.append(byte) } else { PercentEncoding.append(triplet: byte, to: &bytes) }
            }
            return String(decoding: bytes, as: UTF8.self)
        }
        return ChallengeCredentials.basic(encoded(id), encoded(secret))
    }

    /// The failure without its request, which holds the client's secret.
    private static func unreachable(_ failure: SluiceError?) -> OAuth2Error {
        guard let failure else { return OAuth2Error(.unreachable) }
        let bare = SluiceError(failure.code, failure.reason, step: failure.step)
        return OAuth2Error(.unreachable, failure.reason, underlyingError: bare)
    }
}

extension OAuth2.Configuration {
    /// Returns the reason for not using an endpoint that has no TLS; nil for an endpoint that may be used.
    ///
    /// - Parameters:
    ///   - url: The URL of the endpoint. One that is not valid is not refused here.
    ///   - connection: The options of the client that sends the request; the default for a browser.
    /// - Returns: The reason, as an error.
    func refusal(of url: String, by connection: ConnectionOptions = ConnectionOptions()) -> OAuth2Error? {
        guard !insecurelyAllowsUnencryptedEndpoints, let origin = try? RequestLocation(parsing: url).origin,
            origin.scheme != "https", !connection.keepsOnLoopback(origin)
        else { return nil }
        return OAuth2Error(
            .unsupported,
            "the authorization server \(origin) has no TLS, and only a direct connection to the loopback interface needs none; use https, or set insecurelyAllowsUnencryptedEndpoints"
        )
    }
}

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

    /// The parameters, except those that authenticate the client. Those of the grant cannot
    /// replace those of the RFC.
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
            // These grants have no request to repeat.
            case .refreshToken, .authorizationCode: break
            }
            return parameters
        case .refresh(let token):
            var parameters: Parameters = ["grant_type": "refresh_token", "refresh_token": token.reveal()]
            switch grant.kind {
            // The grant's parameters are for the authorization URL. The scope stays that of
            // the first token (RFC 6749 §6).
            case .authorizationCode: return parameters
            case .refreshToken: parameters["scope"] = grant.scope
            case .clientCredentials, .password: break
            }
            return grant.parameters.merging(parameters)
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
        let texts = secrets.map { $0.reveal() }.filter { $0.utf8.count >= 4 }
        let encoded = texts.map { text in
            var bytes: [UInt8] = []
            PercentEncoding.append(component: text, to: &bytes)
            return String(decoding: bytes, as: UTF8.self)
        }
        return texts + encoded.filter { !texts.contains($0) }
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

    /// The encoder for URLs. Spaces are percent-encoded, which form decoders and
    /// percent decoders both understand.
    static let oauth2Percent = URLEncodedFormEncoder(arrayEncoding: .noBrackets, boolEncoding: .literal)
}

/// A response of the authorization server (RFC 6749 §5).
struct TokenResponse: Sendable {
    let status: HTTPStatus
    let body: Data
    /// The secrets that must not appear in the text of an error.
    var secrets: [String] = []
    /// The time that the server asked to wait; nil for none.
    var retryAfter: Duration?

    /// Returns the token in the response.
    ///
    /// - Parameters:
    ///   - date: The time of the request for the token, at which its lifetime starts.
    ///   - acceptsMissingType: True to treat a token without a type as a Bearer token.
    /// - Returns: The token, which may already have expired, or the server's error, which some
    ///   servers send with status 200.
    func token(at date: Date, acceptsMissingType: Bool = false) -> Result<OAuth2.Token, OAuth2Error> {
        guard status.isSuccess, let members = try? JSON(parsing: body).dictionary, members["error"]?.string == nil
        else {
            return .failure(error)
        }
        guard let accessToken = members["access_token"]?.string, accessToken.isBearerToken else {
            return .failure(invalid("it has no access_token"))
        }
        switch members["token_type"] ?? .null {
        case .string(let type) where type.utf8.count == 6 && type.lowercased() == "bearer": break
        case .null where acceptsMissingType: break
        case .null: return .failure(invalid("it has no token_type"))
        default: return .failure(invalid("its token_type is not Bearer"))
        }
        var token = OAuth2.Token(accessToken: accessToken)
        // An optional member of another type is ignored. A refresh token that was used cannot be used again.
        token.expiresAt = lifetime(members["expires_in"] ?? .null).map(date.addingTimeInterval)
        token.refreshToken = text(members["refresh_token"])
        // Some servers send a list.
        let scopes = members["scope"]?.array?.compactMap(\.string).joined(separator: " ")
        token.scope = scopes.flatMap { $0.isEmpty ? nil : $0 } ?? text(members["scope"])
        return .success(token)
    }

    /// The server's error, or ``OAuth2Error/Code/invalidResponse`` if the body is not an OAuth error.
    var error: OAuth2Error {
        var error = errorInBody
        error.retryAfter = retryAfter
        return error
    }

    private var errorInBody: OAuth2Error {
        guard let members = try? JSON(parsing: body).dictionary, let word = members["error"]?.string,
            !word.isEmpty, word.utf8.count <= 100, word.utf8.allSatisfy({ (0x20...0x7E).contains($0) }),
            redacted(word) == word
        else {
            let what = body.isEmpty ? "empty" : "not an OAuth 2.0 response"
            return OAuth2Error(.invalidResponse, "its body is \(what), and its status is \(status)", status: status)
        }
        return OAuth2Error(
            OAuth2Error.Code(rawValue: word),
            members["error_description"]?.string.map(redacted),
            uri: members["error_uri"]?.string.map(redacted),
            status: status
        )
    }

    private func invalid(_ detail: String) -> OAuth2Error {
        OAuth2Error(.invalidResponse, detail, status: status)
    }

    /// Parses a lifetime in seconds; nil if there is none. Some servers send the number as a string.
    private func lifetime(_ value: JSON) -> TimeInterval? {
        let seconds =
            switch value {
            case .number(let number): number.double
            case .string(let text): JSONNumber(text)?.double
            default: nil as Double?
            }
        // Clamped to about 95 years, within which dates are exact.
        return seconds.map { min(max($0, -3e9), 3e9) }
    }

    /// Parses an optional string. Absent, null, empty and values of other types are the same.
    private func text(_ value: JSON?) -> String? {
        value?.string.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The server's text without secrets, in the form of an error detail.
    private func redacted(_ text: String) -> String {
        let start = String(decoding: text.utf8.prefix(16 << 10), as: UTF8.self)
        return SecretRules.usual.text(secrets.reduce(start) { $0.hiding($1) }).errorDetail
    }
}

extension String {
    /// The text as one line of at most 300 Unicode scalars, without control characters.
    var errorDetail: String {
        let scalars = unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }
        return String(String.UnicodeScalarView(scalars.prefix(300)))
    }

    /// Replaces a secret byte by byte, because its last byte and the text after it may form one character.
    fileprivate func hiding(_ secret: String) -> String {
        let (secret, bytes) = (Array(secret.utf8), Array(utf8))
        var output: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if !secret.isEmpty, bytes[index...].starts(with: secret) {
                output += "…".utf8
                index += secret.count
            } else {
                output.append(bytes[index])
                index += 1
            }
        }
        return String(decoding: output, as: UTF8.self)
    }
}
