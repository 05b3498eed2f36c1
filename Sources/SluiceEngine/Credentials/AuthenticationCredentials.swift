#if os(Linux)
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import SluiceHTTP

/// A name and a password for one server or one proxy, which descriptions do not show.
package struct AuthenticationCredentials: Sendable, Hashable {
    /// The party that may ask for them.
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

    /// Makes the credentials for a server; nil if nobody has said for which.
    package init?(_ credentials: ChallengeCredentials) {
        guard let origin = credentials.origin, !credentials.methods.isEmpty else { return nil }
        self.init(
            target: .server(origin),
            user: credentials.user,
            password: credentials.password,
            methods: credentials.methods
        )
    }

    /// Makes the credentials for a proxy that is spoken to in HTTP; nil if there are none.
    package init?(_ proxy: Proxy) {
        guard !proxy.scheme.isSOCKS, let credentials = proxy.credentials, !credentials.methods.isEmpty else {
            return nil
        }
        self.init(
            target: .proxy(proxy.description),
            user: credentials.user,
            password: credentials.password,
            methods: credentials.methods
        )
    }

    /// The value of `Authorization` by Basic (RFC 7617 §2).
    var basic: String { "Basic \(Data("\(user):\(password)".utf8).base64EncodedString())" }

    package var isOfProxy: Bool {
        if case .proxy = target { true } else { false }
    }

    /// The status of a response that asks for them.
    package var challengeStatus: HTTPStatus { isOfProxy ? 407 : .unauthorized }
    /// The field of a response that asks for them.
    package var challengeField: HTTPHeaderName { isOfProxy ? "Proxy-Authenticate" : "WWW-Authenticate" }
    /// The field of a request that has them.
    package var answerField: HTTPHeaderName { isOfProxy ? .proxyAuthorization : .authorization }
    /// The field of a response that has taken them.
    package var infoField: HTTPHeaderName { isOfProxy ? "Proxy-Authentication-Info" : "Authentication-Info" }

    /// Hashes the name and the party.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(target)
        hasher.combine(user)
    }
}

extension AuthenticationCredentials: CustomStringConvertible, CustomReflectable {
    /// The name; never the password.
    package var description: String { "credentials of “\(user)”" }

    /// The name; never the password.
    package var customMirror: Mirror { Mirror(self, children: ["user": user]) }
}
#endif
