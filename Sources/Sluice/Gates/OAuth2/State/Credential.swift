import SluiceFoundation
import SluiceHTTP

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
        return errors.isEmpty || errors.contains("invalid_token")
    }
}
