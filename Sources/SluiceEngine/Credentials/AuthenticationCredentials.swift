#if os(Linux)
import SluiceHTTP

/// A user name and a password for one server or proxy. Descriptions do not contain the password.
package struct AuthenticationCredentials: Sendable, Hashable {
    /// The party that may request the credentials.
    package enum Target: Sendable, Hashable {
        case server(HTTPOrigin)
        /// A proxy, by its scheme and address.
        case proxy(String)
    }

    package let target: Target
    package let user: String
    package let password: String
    package let methods: ChallengeCredentials.Methods

    package init(target: Target, user: String, password: String, methods: ChallengeCredentials.Methods) {
        self.target = target
        self.user = user
        self.password = password
        self.methods = methods
    }

    /// Creates the credentials for a server, or returns nil if no origin is set.
    package init?(_ credentials: ChallengeCredentials) {
        guard let origin = credentials.origin, !credentials.methods.isEmpty else { return nil }
        self.init(
            target: .server(origin),
            user: credentials.user,
            password: credentials.password,
            methods: credentials.methods
        )
    }

    /// Creates the credentials for an HTTP proxy, or returns nil if there are none.
    package init?(_ proxy: Proxy) {
        guard !proxy.scheme.isSOCKS, let credentials = proxy.credentials, !credentials.methods.isEmpty else {
            return nil
        }
        self.init(
            target: .proxy(proxy.description),
            user: credentials.user,
            password: credentials.password.reveal(),
            methods: credentials.methods
        )
    }

    /// The value of the `Authorization` field with Basic (RFC 7617 §2).
    var basic: String { ChallengeCredentials.basic(user, password) }

    package var isForProxy: Bool {
        if case .proxy = target { true } else { false }
    }

    /// The status of a challenge.
    package var challengeStatus: HTTPStatus { isForProxy ? 407 : .unauthorized }
    /// The response field with the challenges.
    package var challengeField: HTTPHeaderName { isForProxy ? "Proxy-Authenticate" : "WWW-Authenticate" }
    /// The request field with the credentials.
    package var answerField: HTTPHeaderName { isForProxy ? .proxyAuthorization : .authorization }
    /// The response field after successful authentication.
    package var infoField: HTTPHeaderName { isForProxy ? "Proxy-Authentication-Info" : "Authentication-Info" }

    /// Hashes the name and the target.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(target)
        hasher.combine(user)
    }
}

extension AuthenticationCredentials: CustomStringConvertible, CustomReflectable {
    /// The user name, without the password.
    package var description: String { "credentials of “\(user)”" }

    /// A mirror with the user name, without the password.
    package var customMirror: Mirror { Mirror(self, children: ["user": user]) }
}
#endif
