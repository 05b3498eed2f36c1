import SluiceHTTP

/// Why there is no token: what the authorization server answered, or what kept the gate from asking or believing it.
///
/// It is the underlying error of a ``SluiceError`` of the code ``SluiceError/Code/authorizationFailed``, or
/// ``SluiceError/Code/authorizationRequired`` where only the user can help:
///
/// ```swift
/// do {
///     let user: User = try await client.get("me").sender().value
/// } catch {
///     if error.code == .authorizationRequired { showSignIn() }
/// }
/// ```
///
/// No text of it holds a token or a secret, not even where the server repeats one.
public struct OAuth2Error: Error, Sendable, CustomStringConvertible {
    /// What went wrong: the server's own word, or one of the gate's.
    public let code: Code
    /// What the server said of it for developers, `error_description`; or what the gate found.
    public let detail: String?
    /// Where the server says more of it, `error_uri`.
    public let uri: String?
    /// The status of the server's answer, where there was one.
    public let status: HTTPStatus?
    /// The failure of the transport or of the token store that caused it.
    public let underlyingError: (any Error)?

    /// Makes an error.
    public init(
        _ code: Code,
        _ detail: String? = nil,
        uri: String? = nil,
        status: HTTPStatus? = nil,
        underlyingError: (any Error)? = nil
    ) {
        self.code = code
        self.detail = detail
        self.uri = uri
        self.status = status
        self.underlyingError = underlyingError
    }

    /// One sentence without tokens and secrets.
    public var description: String {
        var text = code.sentence ?? "The authorization server refused: \(code.rawValue)"
        if let status, code.sentence == nil { text += ", status \(status)" }
        if let detail {
            text += code.sentence == nil ? " (\(detail))" : ": \(detail)"
        }
        return text.last == "." ? text : text + "."
    }
}

extension OAuth2Error {
    /// A kind of failure, with the words of RFC 6749 §4.1.2.1 and §5.2 and of RFC 7009 §2.2.1, and some of the gate's own.
    public struct Code: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
        /// The server's word as it came, `invalid_grant`; the gate's own are in camel case.
        public let rawValue: String

        /// Makes a code of a server's word.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The word.
        public var description: String { rawValue }

        /// The request lacks something or is malformed.
        public static let invalidRequest = Code(rawValue: "invalid_request")
        /// The client's id or secret is wrong.
        public static let invalidClient = Code(rawValue: "invalid_client")
        /// The code, the refresh token or the user's password is wrong, expired or used up.
        public static let invalidGrant = Code(rawValue: "invalid_grant")
        /// This client may not use this grant.
        public static let unauthorizedClient = Code(rawValue: "unauthorized_client")
        /// The server does not know this grant.
        public static let unsupportedGrantType = Code(rawValue: "unsupported_grant_type")
        /// The scope is unknown or more than was granted.
        public static let invalidScope = Code(rawValue: "invalid_scope")
        /// The user or the server said no.
        public static let accessDenied = Code(rawValue: "access_denied")
        /// The server cannot revoke tokens of this kind.
        public static let unsupportedTokenType = Code(rawValue: "unsupported_token_type")

        /// There is no token and no way to get one without the user.
        public static let authorizationRequired = Code(rawValue: "authorizationRequired")
        /// What the server answered is neither a token nor an error of OAuth's.
        public static let invalidResponse = Code(rawValue: "invalidResponse")
        /// The server gave a token that had expired already.
        public static let expiredToken = Code(rawValue: "expiredToken")
        /// The server gave once more the token that the API had refused.
        public static let refusedToken = Code(rawValue: "refusedToken")
        /// The server has been asked too often; see ``OAuth2/Configuration/refreshLimit``.
        public static let tooManyRefreshes = Code(rawValue: "tooManyRefreshes")
        /// The server could not be reached, or did not answer in time.
        public static let unreachable = Code(rawValue: "unreachable")
        /// The token could not be read from, written to or deleted from its store.
        public static let storeFailed = Code(rawValue: "storeFailed")
        /// What came back from the authorization is not the answer to what was asked.
        public static let stateMismatch = Code(rawValue: "stateMismatch")
        /// What came back from the authorization is from another server (RFC 9207).
        public static let issuerMismatch = Code(rawValue: "issuerMismatch")
        /// The gate cannot do this, as it is configured.
        public static let unsupported = Code(rawValue: "unsupported")

        /// What the gate says of its own codes.
        fileprivate var sentence: String? {
            switch self {
            case .authorizationRequired: "The user has to sign in"
            case .invalidResponse: "The authorization server's answer cannot be used"
            case .expiredToken: "The authorization server gave a token that had expired already"
            case .refusedToken: "The authorization server gave again the token that had been refused"
            case .tooManyRefreshes: "The authorization server has been asked for tokens too often"
            case .unreachable: "The authorization server cannot be reached"
            case .storeFailed: "The token store failed"
            case .stateMismatch: "The authorization response belongs to no request of this client"
            case .issuerMismatch: "The authorization response is from another server"
            case .unsupported: "The OAuth 2.0 gate cannot do this"
            default: nil
            }
        }
    }
}

extension OAuth2Error: CustomReflectable {
    /// All but what caused it: others' errors may quote the token.
    public var customMirror: Mirror {
        var children: [Mirror.Child] = [("code", code)]
        if let detail { children.append(("detail", detail)) }
        if let uri { children.append(("uri", SecretRules.usual.url(uri))) }
        if let status { children.append(("status", status)) }
        if let underlyingError { children.append(("cause", "\(type(of: underlyingError))")) }
        return Mirror(self, children: children, displayStyle: .struct)
    }
}
