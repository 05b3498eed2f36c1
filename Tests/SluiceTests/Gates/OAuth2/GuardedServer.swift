import Foundation
import Sluice
import SluiceTesting

/// An API that requires tokens, and its authorization server. The tokens are t1, t2 and so on, with refresh tokens r1, r2.
final class GuardedServer: Sendable {
    let server: LoopbackServer
    /// The tokens that the API refuses.
    let refused = Shared<Set<String>>([])
    private let issued = Shared(0)

    init(lifetime: Int? = 3600, isRefreshable: Bool = false) throws {
        server = try LoopbackServer()
        server.on(.post, "/token") { [issued] _ in
            let number = issued.change { count in
                count += 1
                return count
            }
            return .token("t\(number)", lifetime: lifetime, refresh: isRefreshable ? "r\(number)" : nil)
        }
        server.on("/api/*") { [refused] request in
            let token = request.headers[.authorization]
            guard let token, !refused.read.contains(token) else {
                return .status(.unauthorized, headers: ["WWW-Authenticate": #"Bearer error="invalid_token""#])
            }
            return .text(token)
        }
    }

    var tokenURL: String { "\(server.url)/token" }
    var tokenRequests: [LoopbackRequest] { server.requests(to: "/token") }

    func refuse(_ token: String) {
        refused.change { _ = $0.insert("Bearer \(token)") }
    }

    func gate(
        _ grant: OAuth2.Grant = .clientCredentials(id: "id", secret: "secret"),
        _ configure: (inout OAuth2.Configuration) -> Void = { _ in }
    ) -> OAuth2 {
        OAuth2(grant, tokenURL: tokenURL, configure: configure)
    }

    func client(_ gates: any Gate..., clock: any SluiceClock = SystemClock()) -> APIClient {
        APIClient(baseURL: "\(server.url)/api") {
            $0.gates = gates
            $0.clock = clock
        }
    }

    /// A grant for a user whose authorization code is `c`.
    static func user(_ server: GuardedServer, issuer: String? = nil) -> OAuth2.Grant {
        .authorizationCode(
            id: "app",
            authorizationURL: "\(server.server.url)/authorize",
            redirectURL: "https://app.example/back",
            scope: "read",
            issuer: issuer
        )
    }
}

extension LoopbackResponse {
    static func token(_ access: String, lifetime: Int? = 3600, refresh: String? = nil) -> LoopbackResponse {
        var members = [#""access_token":"\#(access)""#, #""token_type":"Bearer""#]
        if let lifetime { members.append(#""expires_in":\#(lifetime)"#) }
        if let refresh { members.append(#""refresh_token":"\#(refresh)""#) }
        return .json("{\(members.joined(separator: ","))}")
    }
}

extension LoopbackRequest {
    var text: String { String(decoding: body, as: UTF8.self) }
}

extension APIClient {
    /// Sends one request.
    func get(_ path: String) async -> Result<String, APIError> {
        await string.get(path).sender().result
    }
}

extension Result where Failure == APIError {
    /// The OAuth 2.0 error, if the request failed with one.
    var oauth2: OAuth2Error? { failure?.error.authorizationError }
}

/// A store that a test can inspect and let fail.
final class WatchedTokenStore: TokenStore {
    struct Failure: Error {}

    let token: Shared<OAuth2.Token?>
    let isFailing = Shared(false)
    let calls = Shared<[String]>([])
    /// The signals that each load and each save wait for.
    let loadSignal = Shared<AsyncSignal?>(nil)
    let saveSignal = Shared<AsyncSignal?>(nil)

    init(_ token: OAuth2.Token? = nil) {
        self.token = Shared(token)
    }

    func load() async throws -> OAuth2.Token? {
        calls.change { $0.append("load") }
        await loadSignal.read?.wait()
        if isFailing.read { throw Failure() }
        return token.read
    }

    func save(_ token: OAuth2.Token) async throws {
        calls.change { $0.append("save \(token.accessToken)") }
        await saveSignal.read?.wait()
        if isFailing.read { throw Failure() }
        self.token.change { $0 = token }
    }

    func delete() async throws {
        calls.change { $0.append("delete") }
        if isFailing.read { throw Failure() }
        token.change { $0 = nil }
    }
}
