import SluiceFoundation
import SluiceHTTP

extension OAuth2 {
    /// A token that an authorization server issued: an access token, and optionally a refresh token (RFC 6749 §5.1).
    ///
    /// It is encoded with the names of the RFC, and `expires_at` in seconds since 1970.
    public struct Token: Sendable, Equatable {
        private(set) var access: Secret
        private(set) var refresh: Secret?
        /// The token type; always `Bearer` (RFC 6750) for tokens that a gate obtained.
        public var tokenType: String
        /// The date of expiry; nil if the server did not give one.
        public var expiresAt: Date?
        /// The scope, words separated by spaces; nil if unknown.
        public var scope: String?

        /// The access token that requests carry.
        public var accessToken: String {
            get { access.reveal() }
            set { access = Secret(newValue) }
        }

        /// The refresh token, with which a new token is obtained; nil if the server issued none.
        public var refreshToken: String? {
            get { refresh?.reveal() }
            set { refresh = newValue.map { Secret($0) } }
        }

        /// Creates a token. The secrets are a `String` or a ``Secret``.
        public init(
            accessToken: some SecretConvertible,
            tokenType: String = "Bearer",
            expiresAt: Date? = nil,
            refreshToken: (any SecretConvertible)? = nil,
            scope: String? = nil
        ) {
            access = accessToken.asSecret()
            self.tokenType = tokenType
            self.expiresAt = expiresAt
            refresh = refreshToken?.asSecret()
            self.scope = scope
        }

        /// Returns true if the token has expired.
        ///
        /// - Parameter date: The current date.
        /// - Returns: False if the date of expiry is unknown.
        package func hasExpired(at date: Date) -> Bool {
            expiresAt.map { $0 <= date } ?? false
        }
    }
}

extension OAuth2.Token: Codable {
    private enum CodingKeys: String, CodingKey {
        case accessToken = "access_token"
        case tokenType = "token_type"
        case expiresAt = "expires_at"
        case refreshToken = "refresh_token"
        case scope
    }

    /// Decodes a token.
    ///
    /// - Parameter decoder: Any decoder.
    /// - Throws: A `DecodingError` if there is no access token, or one that is not visible ASCII.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            accessToken: try values.decode(String.self, forKey: .accessToken),
            tokenType: try values.decodeIfPresent(String.self, forKey: .tokenType) ?? "Bearer",
            expiresAt: try values.decodeIfPresent(Double.self, forKey: .expiresAt).map(
                Date.init(timeIntervalSince1970:)
            ),
            refreshToken: try values.decodeIfPresent(String.self, forKey: .refreshToken),
            scope: try values.decodeIfPresent(String.self, forKey: .scope)
        )
        if !accessToken.isBearerToken {
            throw DecodingError.dataCorruptedError(
                forKey: .accessToken,
                in: values,
                debugDescription: "An access token must consist of visible ASCII characters."
            )
        }
    }

    /// Encodes a token, secrets included.
    ///
    /// - Parameter encoder: Any encoder.
    /// - Throws: Any error that the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(accessToken, forKey: .accessToken)
        try values.encode(tokenType, forKey: .tokenType)
        try values.encodeIfPresent(expiresAt?.timeIntervalSince1970, forKey: .expiresAt)
        try values.encodeIfPresent(refreshToken, forKey: .refreshToken)
        try values.encodeIfPresent(scope, forKey: .scope)
    }
}

extension OAuth2.Token: CustomStringConvertible, CustomReflectable, RedactedMirror {
    /// The type, expiry and scope, without secrets.
    public var description: String {
        var parts = ["\(tokenType) token"]
        if let expiresAt { parts.append("until \(expiresAt.timeIntervalSince1970) s since 1970") }
        if let scope { parts.append("for “\(scope)”") }
        parts.append(refreshToken == nil ? "not refreshable" : "refreshable")
        return parts.joined(separator: ", ")
    }
}

extension String {
    /// True if the text can be sent in an `Authorization` field: visible ASCII. This is wider than the `b64token` of
    /// RFC 6750 §2.1, because servers issue such tokens.
    var isBearerToken: Bool {
        !isEmpty && utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}

// MARK: - Credential

/// A token with the header value that requests carry, and the date of its replacement.
///
/// It is a class, because every permit references it.
final class Credential: Sendable {
    /// The number of the token, which identifies it in a refusal.
    let version: Int
    let token: OAuth2.Token
    private let field: Secret
    /// The value of the `Authorization` header.
    var authorization: String { field.reveal() }
    /// The date from which the token is replaced; nil for a token without a known expiry.
    let refreshAt: Date?

    /// Creates a credential.
    ///
    /// - Parameters:
    ///   - token: The token.
    ///   - version: The number of the token.
    ///   - margin: The time before its expiry at which the token is replaced, limited to a tenth
    ///     of its remaining lifetime.
    ///   - date: The current date.
    convenience init(_ token: OAuth2.Token, version: Int, margin: Duration, at date: Date) {
        let refreshAt = token.expiresAt.map { end in
            let left = max(0, end.timeIntervalSince(date))
            return end.addingTimeInterval(-min(max(0, margin / .seconds(1)), left / 10))
        }
        self.init(token, version: version, refreshAt: refreshAt)
    }

    private init(_ token: OAuth2.Token, version: Int, refreshAt: Date?) {
        self.version = version
        self.token = token
        self.refreshAt = refreshAt
        field = Secret("Bearer \(token.accessToken)")
    }

    /// The same credential without its refresh token.
    var withoutRefreshToken: Credential {
        var token = token
        token.refreshToken = nil
        return Credential(token, version: version, refreshAt: refreshAt)
    }

    /// True if the token is valid and need not be replaced yet.
    func isFresh(at date: Date) -> Bool {
        refreshAt.map { date < $0 } ?? true
    }

    /// True if a response refuses this credential in a way that a new token could resolve.
    ///
    /// That is a 401 to a request that carried it, with the error `invalid_token` (RFC 6750 §3.1). A 401 without a
    /// Bearer challenge, or with one that names no error, also counts, because many servers send that. Other errors do
    /// not count: the server would answer a new token in the same way.
    func isRefused(by response: ServerResponse) -> Bool {
        guard response.head.status == .unauthorized, response.request.headers[.authorization] == authorization else {
            return false
        }
        let challenges = response.head.headers.values(for: "WWW-Authenticate").flatMap(AuthenticationChallenge.all)
        let errors = challenges.filter { $0.scheme == "bearer" }.compactMap { $0["error"] }
        // Bytes, because the comparison of characters takes quadratic time for some texts of a server.
        return errors.isEmpty || errors.contains { $0.utf8.elementsEqual("invalid_token".utf8) }
    }
}

// MARK: - Audience

/// The origins that a token may be sent to.
struct Audience: Sendable {
    /// The decision about the token of a request.
    enum Decision: Sendable {
        /// The request goes to another origin.
        case withoutToken
        /// The request goes to an origin that may receive the token.
        case withToken
        /// The request needs the token, but its origin must not receive it.
        case refused(SluiceError)
    }

    private let origins: TrustedOrigins

    /// Creates the origins of URLs; nil for that of each client's base URL.
    init(_ urls: [String]?) {
        origins = urls.map(TrustedOrigins.init) ?? .baseURL
    }

    /// Decides if a request carries the token.
    func decision(for request: RequestContext) -> Decision {
        if case .invalid(let error) = origins {
            let detail = "one of its origins is not valid. \(error.reason)"
            return .refused(SluiceError(OAuth2Error(.unsupported, detail, underlyingError: error)))
        }
        guard let isIncluded = origins.include(request.request, of: request.client.pipeline) else {
            let detail = "the client has no base URL, so that no origin may receive the token. Set the gate's origins"
            return .refused(SluiceError(OAuth2Error(.unsupported, detail)))
        }
        guard isIncluded else { return .withoutToken }
        guard case .baseURL = origins, request.request.scheme != "https" else { return .withToken }
        let origin = request.request.origin
        if request.client.pipeline.configuration.connection.keepsOnLoopback(origin) { return .withToken }
        let detail = "it does not send tokens to \(origin) over an unencrypted connection unless its origins include it"
        return .refused(SluiceError(OAuth2Error(.unsupported, detail)))
    }

    /// True if a client's request goes to an origin that may receive the token. Checked on admission and before sending,
    /// because interceptors can change the URL.
    func includes(_ request: HTTPRequest, of pipeline: Pipeline) -> Bool {
        origins.include(request, of: pipeline) ?? false
    }
}
