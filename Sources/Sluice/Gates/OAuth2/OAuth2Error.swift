import SluiceFoundation
import SluiceHTTP

/// The reason why there is no token: the authorization server's error, or a failure of the gate.
///
/// It is the underlying error of a ``SluiceError`` with code ``SluiceError/Code/authorizationFailed``, or
/// ``SluiceError/Code/authorizationRequired`` if the user has to sign in:
///
/// ```swift
/// do {
///     let user: User = try await client.get("me").sender().value
/// } catch {
///     if error.code == .authorizationRequired { showSignIn() }
/// }
/// ```
///
/// Its texts never contain a token or a secret, even if the server repeats one.
public struct OAuth2Error: LocalizedError, Sendable, CustomStringConvertible, DescribedError {
    /// The kind of failure: the server's error code, or one of the gate's.
    public let code: Code
    /// The server's explanation for developers, `error_description`, or the gate's.
    public let detail: String?
    /// A page with more information, `error_uri`.
    public let uri: String?
    /// The status of the server's response; nil without a response.
    public let status: HTTPStatus?
    /// The failure of the transport or of the token store that caused this error.
    public let underlyingError: (any Error)?
    /// The time that the server asked to wait; nil for none.
    var retryAfter: Duration?

    package init(
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
        var text = code.sentence ?? "The authorization server returned the error \(code.rawValue)"
        if let status, code.sentence == nil { text += ", status \(status)" }
        if let detail {
            text += code.sentence == nil ? " (\(detail))" : ": \(detail)"
        }
        return text.last == "." ? text : text + "."
    }
}

extension OAuth2Error {
    /// A kind of failure: the codes of RFC 6749 §4.1.2.1 and §5.2 and of RFC 7009 §2.2.1, and the gate's own.
    public struct Code: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
        /// The server's code as received, such as `invalid_grant`. The gate's own codes are in camel case.
        public let rawValue: String

        /// Creates a code from a server's error code.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The raw value.
        public var description: String { rawValue }

        /// The client's id or secret is wrong.
        public static let invalidClient = Code(rawValue: "invalid_client")
        /// The code, the refresh token or the user's password is wrong, expired or already used.
        public static let invalidGrant = Code(rawValue: "invalid_grant")
        /// The user or the server denied access.
        public static let accessDenied = Code(rawValue: "access_denied")

        /// There is no token, and none can be obtained without the user.
        public static let authorizationRequired = Code(rawValue: "authorizationRequired")
        /// The server's response is neither a token nor an OAuth error.
        public static let invalidResponse = Code(rawValue: "invalidResponse")
        /// The server issued a token that had already expired.
        public static let expiredToken = Code(rawValue: "expiredToken")
        /// The limit on requests for tokens is reached; see ``OAuth2/Configuration/refreshLimit``.
        public static let tooManyRefreshes = Code(rawValue: "tooManyRefreshes")
        /// The server could not be reached, or did not answer in time.
        public static let unreachable = Code(rawValue: "unreachable")
        /// The token could not be read from, written to or deleted from its store.
        public static let storeFailed = Code(rawValue: "storeFailed")
        /// The redirect does not answer this authorization request.
        public static let stateMismatch = Code(rawValue: "stateMismatch")
        /// The redirect came from another server (RFC 9207).
        public static let issuerMismatch = Code(rawValue: "issuerMismatch")
        /// The gate's configuration does not support this.
        public static let unsupported = Code(rawValue: "unsupported")

        /// The text for the gate's own codes; nil for a server's code.
        fileprivate var sentence: String? {
            switch self {
            case .authorizationRequired: "The user must sign in"
            case .invalidResponse: "The authorization server's response is not valid"
            case .expiredToken: "The authorization server issued a token that had already expired"
            case .tooManyRefreshes: "Tokens were requested from the authorization server too often"
            case .unreachable: "The authorization server could not be reached"
            case .storeFailed: "The token store failed"
            case .stateMismatch: "The authorization response does not match the authorization request"
            case .issuerMismatch: "The authorization response is not from the expected issuer"
            case .unsupported: "The OAuth 2.0 gate does not support this"
            default: nil
            }
        }
    }
}

extension OAuth2Error: CustomReflectable, RedactedMirror {
    /// All properties except the underlying error, whose text may quote the token. Only its type is shown.
    package var shown: [Mirror.Child] {
        var children: [Mirror.Child] = [("code", code)]
        if let detail { children.append(("detail", detail)) }
        if let uri { children.append(("uri", SecretRules.usual.url(uri))) }
        if let status { children.append(("status", status)) }
        if let retryAfter { children.append(("retryAfter", retryAfter)) }
        if let underlyingError { children.append(("cause", "\(type(of: underlyingError))")) }
        return children
    }
}

extension SluiceError.Code {
    /// There is no token, and the user has to sign in, or sign in again, to obtain one.
    public static let authorizationRequired = SluiceError.Code("authorizationRequired")
    /// A token could not be obtained or stored. The underlying error is an ``OAuth2Error``.
    public static let authorizationFailed = SluiceError.Code("authorizationFailed")
}

extension SluiceError {
    /// The reason why an ``OAuth2`` gate has no token; nil for failures of any other kind.
    public var authorizationError: OAuth2Error? { underlyingError as? OAuth2Error }

    /// Creates the failure of a request that has no token.
    init(_ error: OAuth2Error) {
        self.init(
            error.code == .authorizationRequired ? .authorizationRequired : .authorizationFailed,
            error.description,
            step: .gate,
            underlyingError: error
        )
    }
}

extension APIError {
    /// The reason why an ``OAuth2`` gate has no token; nil for failures of any other kind.
    public var authorizationError: OAuth2Error? { error.authorizationError }
}
