import Sluice
import SluiceTesting
import Synchronization

@testable import UserService

/// An API and its token endpoint, with tokens that expire after some uses, failures, and responses that are slow or never come.
final class FakeUpstream: Sendable {
    /// Counts of the responses so far.
    struct Tally: Sendable {
        var tokens = 0
        /// The number of uses of the newest token.
        var uses = 0
        /// The number of successful responses by resource.
        var answers: [String: Int] = [:]
        /// The paths that have failed once.
        var failures: Set<String> = []
        /// The number of requests with an expired token.
        var refusals = 0
    }

    /// The number of regular users, numbered from 1. The orders of the next two never come. No other users exist.
    static let userCount = 198
    static let slowUsers = [userCount + 1, userCount + 2]

    let api: LoopbackServer
    let identity: LoopbackServer
    private let tokenUses: Int
    private let counts = Mutex(Tally())

    /// Starts both servers. They run until they are stopped.
    ///
    /// - Parameter tokenUses: The number of requests for which a token is valid.
    /// - Throws: A `LoopbackFailure` when the system gives no socket, port or thread.
    init(tokenUses: Int = .max) throws {
        self.tokenUses = tokenUses
        api = try LoopbackServer()
        identity = try LoopbackServer()
        identity.on(.post, "/token") { [self] in token(for: $0) }
        api.on(.get, "/users/*") { [self] in answer(to: $0) }
    }

    var tally: Tally { counts.withLock { $0 } }

    var options: ServiceOptions {
        ServiceOptions(
            upstreamURL: api.url,
            tokenURL: "\(identity.url)/token",
            clientID: "users",
            clientSecret: "s3cret"
        )
    }

    func stop() {
        api.stop()
        identity.stop()
    }

    static func user(_ id: Int) -> User { User(id: id, name: "User \(id)", email: "\(id)@example.com") }
    static func orders(of id: Int) -> [Order] { (0..<id % 5).map { Order(number: $0, total: Int32(clamping: id)) } }
    static func inbox(of id: Int) -> Inbox { Inbox(unread: id % 7) }
    static func summary(of id: Int) -> UserSummary { UserSummary(user(id), orders(of: id), inbox(of: id)) }

    /// Returns true if the first request for a resource fails.
    static func fails(_ id: Int, _ resource: String) -> Bool {
        (resource == "orders" && id % 4 == 0) || (resource == "inbox" && id % 4 == 1)
    }

    private func token(for request: LoopbackRequest) -> LoopbackResponse {
        // The Base64 encoding of users:s3cret.
        guard request.headers[.authorization] == "Basic dXNlcnM6czNjcmV0" else {
            return .json(#"{"error":"invalid_client"}"#, status: .unauthorized)
        }
        let number = counts.withLock { counts in
            counts.tokens += 1
            counts.uses = 0
            return counts.tokens
        }
        return .json(#"{"access_token":"token-\#(number)","token_type":"Bearer","expires_in":3600}"#)
    }

    private func answer(to request: LoopbackRequest) -> LoopbackResponse {
        let parts = request.path.split(separator: "/")
        let id = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
        let resource = parts.count > 2 ? String(parts[2]) : "user"
        return counts.withLock { counts in
            guard request.headers[.authorization] == "Bearer token-\(counts.tokens)", counts.uses < tokenUses else {
                counts.refusals += 1
                let challenge = #"Bearer error="invalid_token""#
                return .status(.unauthorized, headers: ["WWW-Authenticate": challenge])
            }
            counts.uses += 1
            if Self.slowUsers.contains(id), resource == "orders" { return .hang }
            guard (1...Self.userCount + Self.slowUsers.count).contains(id) else {
                return .json(#"{"table":"users","row":"none"}"#, status: .notFound)
            }
            if Self.fails(id, resource), counts.failures.insert(request.path).inserted {
                return .status(.serviceUnavailable)
            }
            counts.answers[resource, default: 0] += 1
            let answer = Self.answer(id, resource)
            return id % 10 == 3 ? .delayed(by: .milliseconds(20), answer) : answer
        }
    }

    private static func answer(_ id: Int, _ resource: String) -> LoopbackResponse {
        switch resource {
        case "user": .json(encoding: user(id), headers: ["Cache-Control": "max-age=300"])
        case "orders": .json(encoding: orders(of: id), headers: ["Cache-Control": "max-age=300"])
        case "inbox": .json(encoding: inbox(of: id), headers: ["Cache-Control": "no-store"])
        default: .status(.notFound)
        }
    }
}
