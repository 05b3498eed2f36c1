import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension OAuth2 {
    /// What an authorization server gave: an access token, and how to get the next one (RFC 6749 §5.1).
    ///
    /// It encodes itself under the names of the RFC, with `expires_at` in seconds since 1970.
    public struct Token: Sendable, Hashable {
        private(set) var access: Secret
        private(set) var refresh: Secret?
        /// How they carry it; always a `Bearer` (RFC 6750) in tokens that a gate got itself.
        public var tokenType: String
        /// When it ceases to be valid; nil where the server did not say.
        public var expiresAt: Date?
        /// What it allows, words with spaces between them; nil where nobody said.
        public var scope: String?

        /// What requests carry.
        public var accessToken: String {
            get { access.reveal() }
            set { access = Secret(newValue) }
        }

        /// What a new one is got with; nil if the server gave none.
        public var refreshToken: String? {
            get { refresh?.reveal() }
            set { refresh = newValue.map { Secret($0) } }
        }

        /// Makes a token; what is secret of it is given as a `String` or as a ``Secret``.
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

        /// Whether the token's time is over.
        ///
        /// - Parameter date: What time it is.
        /// - Returns: False where the server did not say when it ends.
        public func isExpired(at date: Date) -> Bool {
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

    /// Reads a token.
    ///
    /// - Parameter decoder: Any decoder.
    /// - Throws: A `DecodingError` where there is no access token.
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
                debugDescription: "An access token is made of visible ASCII."
            )
        }
    }

    /// Writes a token, secrets and all.
    ///
    /// - Parameter encoder: Any encoder.
    /// - Throws: What the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(accessToken, forKey: .accessToken)
        try values.encode(tokenType, forKey: .tokenType)
        try values.encodeIfPresent(expiresAt?.timeIntervalSince1970, forKey: .expiresAt)
        try values.encodeIfPresent(refreshToken, forKey: .refreshToken)
        try values.encodeIfPresent(scope, forKey: .scope)
    }
}

extension OAuth2.Token: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// All but the secrets.
    public var description: String {
        var parts = ["\(tokenType) token"]
        if let expiresAt { parts.append("until \(expiresAt.timeIntervalSince1970) s since 1970") }
        if let scope { parts.append("for “\(scope)”") }
        parts.append(refreshToken == nil ? "not refreshable" : "refreshable")
        return parts.joined(separator: ", ")
    }

    /// All but the secrets.
    public var debugDescription: String { description }

    /// Nothing: `dump` and failed assertions would show the secrets.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension String {
    /// Whether it can stand in an `Authorization` field: visible ASCII, wider than the `b64token` of RFC 6750 §2.1, since
    /// servers are.
    var isBearerToken: Bool {
        !isEmpty && utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
