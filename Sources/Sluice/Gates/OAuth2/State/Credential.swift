import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A token as requests use it: what they carry, and until when.
///
/// A class, since every request takes one along.
final class Credential: Sendable {
    /// Counts the tokens a gate has had: which of them a refusal is about.
    let version: Int
    let token: OAuth2.Token
    private let field: Secret
    /// The value of `Authorization`.
    var authorization: String { field.reveal() }
    /// From when on it is replaced; nil for a token whose end nobody knows.
    let refreshAt: Date?

    /// Makes a credential.
    ///
    /// - Parameters:
    ///   - token: The token.
    ///   - version: Its number.
    ///   - margin: How long before its end it is replaced, but no more than a tenth of what is left of it now.
    ///   - date: Now.
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

    /// The same without its refresh token.
    var withoutRefreshToken: Credential {
        var token = token
        token.refreshToken = nil
        return Credential(token, version: version, refreshAt: refreshAt)
    }

    /// Whether it can be used, and there is no cause to replace it.
    func isFresh(at date: Date) -> Bool {
        refreshAt.map { date < $0 } ?? true
    }

    /// Whether a response is a refusal of this very credential, which a new one could mend.
    ///
    /// That is a 401 to a request that carried it: with `invalid_token` (RFC 6750 §3.1), and also without any Bearer challenge
    /// or with one that names no error, as many servers answer. One that names another error would answer a new token alike.
    func isRefused(by response: ServerResponse) -> Bool {
        guard response.head.status == .unauthorized, response.request.headers[.authorization] == authorization else {
            return false
        }
        let challenges = response.head.headers.values(for: "WWW-Authenticate").flatMap(AuthenticationChallenge.all)
        let errors = challenges.filter { $0.scheme == "bearer" }.compactMap { $0["error"] }
        return errors.isEmpty || errors.contains("invalid_token")
    }
}
