import Hummingbird
import NIOCore
import Sluice

/// The service, which answers requests with data from an upstream API.
///
/// ```swift
/// let server = UserServer(client: .users(options), maximumTimeout: options.maximumTimeout)
/// try await server.application(host: options.host, port: options.port).runService()
/// ```
///
/// - `GET /users/{id}` returns a user.
/// - `GET /users/{id}/summary` combines three responses of the upstream.
/// - `GET /health` reports that the service is running. It sends nothing to the upstream.
public struct UserServer: Sendable {
    private let api: UsersAPI
    private let maximumTimeout: Duration

    /// Creates the service.
    ///
    /// - Parameters:
    ///   - client: The client for the upstream.
    ///   - maximumTimeout: The maximum duration of a request, which also limits the caller's time-out; 10 seconds by default.
    public init(client: APIClient, maximumTimeout: Duration = .seconds(10)) {
        api = UsersAPI(client: client)
        self.maximumTimeout = maximumTimeout
    }

    /// Creates an application to run.
    ///
    /// - Parameters:
    ///   - host: The address to listen on.
    ///   - port: The port to listen on; 0 for a port that the system chooses.
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
