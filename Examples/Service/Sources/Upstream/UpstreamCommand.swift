import Hummingbird
import Logging
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An API of users and its token endpoint, to try the service with. Run it with `PORT` and, for faults, `FAILURE_EVERY` and `DELAY_MS`.
@main struct UpstreamCommand {
    static func main() async throws {
        let variables = ProcessInfo.processInfo.environment
        func number(_ name: String, _ standard: Int) -> Int { variables[name].flatMap { Int($0) } ?? standard }
        let upstream = Upstream(failureEvery: number("FAILURE_EVERY", 0), delay: .milliseconds(number("DELAY_MS", 5)))
        let logger = Logger(label: "upstream")
        let application = Application(
            router: upstream.router(),
            configuration: ApplicationConfiguration(
                address: .hostname(variables["HOST"] ?? "127.0.0.1", port: number("PORT", 8081)),
                serverName: "upstream"
            ),
            onServerRunning: { channel in logger.info("Listening on port \(channel.localAddress?.port ?? 0)") },
            logger: logger
        )
        try await application.runService()
    }
}

/// The users, orders and inboxes, which are derived from the number of the user.
final class Upstream: Sendable {
    struct Token: ResponseEncodable {
        let access_token: String
        var token_type = "Bearer"
        var expires_in = 300
    }

    struct User: ResponseEncodable {
        let id: Int
        let name: String
        let email: String
    }

    struct Order: ResponseEncodable {
        let number: Int
        let total: Int
    }

    struct Inbox: ResponseEncodable {
        let unread: Int
    }

    /// The highest number of a user.
    private static let userCount = 10_000

    private let failureEvery: Int
    private let delay: Duration
    private let requests = Atomic(0)

    /// Creates the API.
    ///
    /// - Parameters:
    ///   - failureEvery: The number of requests of which one fails with 503; 0 for none.
    ///   - delay: The time that each response takes.
    init(failureEvery: Int, delay: Duration) {
        self.failureEvery = failureEvery
        self.delay = delay
    }

    /// Returns the routes.
    func router() -> Router<BasicRequestContext> {
        let router = Router()
        router.post("token") { _, _ in Token(access_token: "token") }
        router.get("users/:id") { [self] request, context in
            let id = try await id(request, context)
            return User(id: id, name: "User \(id)", email: "\(id)@example.com")
        }
        router.get("users/:id/orders") { [self] request, context in
            let id = try await id(request, context)
            return (0..<id % 5).map { Order(number: $0, total: id) }
        }
        router.get("users/:id/inbox") { [self] request, context in
            Inbox(unread: try await id(request, context) % 7)
        }
        return router
    }

    /// Returns the number of the user, after the time that a response takes.
    private func id(_ request: Request, _ context: BasicRequestContext) async throws -> Int {
        guard request.headers[.authorization] == "Bearer token" else { throw HTTPError(.unauthorized) }
        if delay > .zero { try await Task.sleep(for: delay) }
        let number = requests.add(1, ordering: .relaxed).newValue
        if failureEvery > 0 && number.isMultiple(of: failureEvery) { throw HTTPError(.serviceUnavailable) }
        guard let id = context.parameters.get("id", as: Int.self), (1...Self.userCount).contains(id) else {
            throw HTTPError(.notFound)
        }
        return id
    }
}
