import Hummingbird
import NIOCore
import Sluice

/// The service: what it answers, and by which client it finds out.
///
/// ```swift
/// let server = UserServer(client: .users(options), maximumTimeout: options.maximumTimeout)
/// try await server.application(host: options.host, port: options.port).runService()
/// ```
///
/// - `GET /users/{id}` is a user.
/// - `GET /users/{id}/summary` is made of three answers of the upstream.
/// - `GET /health` says that the service is there, and nothing of the upstream.
public struct UserServer: Sendable {
    private let api: UsersAPI
    private let maximumTimeout: Duration

    /// Makes the service.
    ///
    /// - Parameters:
    ///   - client: Asks the upstream.
    ///   - maximumTimeout: How long a request may take at the most, whatever its caller says; 10 seconds by default.
    public init(client: APIClient, maximumTimeout: Duration = .seconds(10)) {
        api = UsersAPI(client: client)
        self.maximumTimeout = maximumTimeout
    }

    /// Makes an application to run.
    ///
    /// - Parameters:
    ///   - host: The address to listen on.
    ///   - port: The port to listen on; 0 for one that the system chooses.
    ///   - onRunning: Called with the port once it is open.
    /// - Returns: The application.
    public func application(
        host: String,
        port: Int,
        onRunning: @escaping @Sendable (_ port: Int) -> Void = { _ in }
    ) -> Application<RouterResponder<ServiceContext>> {
        Application(
            router: router(),
            server: .http1(configuration: .init(additionalChannelHandlers: [ClientDeparture()])),
            configuration: ApplicationConfiguration(address: .hostname(host, port: port), serverName: "user-service"),
            onServerRunning: { channel in onRunning(channel.localAddress?.port ?? port) }
        )
    }

    private func router() -> Router<ServiceContext> {
        let router = Router(context: ServiceContext.self)
        router.get("health") { _, _ in HTTPResponse.Status.ok }
        router.get("users/:id") { [api, maximumTimeout] request, context -> User in
            let id = try context.userID()
            return try await context.answer(request, within: maximumTimeout) { deadline in
                try await api.user(id, by: deadline)
            }
        }
        router.get("users/:id/summary") { [api, maximumTimeout] request, context -> UserSummary in
            let id = try context.userID()
            return try await context.answer(request, within: maximumTimeout) { deadline in
                try await api.summary(of: id, by: deadline)
            }
        }
        return router
    }
}
