import Hummingbird
import Sluice
import SluiceTelemetry

/// The service, which answers requests with data from an upstream API.
///
/// ```swift
/// let server = UserServer(client: .users(options), maximumTimeout: options.maximumTimeout)
/// try await server.application(host: options.host, port: options.port).runService()
/// ```
///
/// - `GET /users/{id}` returns a user.
/// - `GET /users/{id}/summary` combines three responses of the upstream.
/// - `GET /health` reports that the service is running, and `GET /ready` that it takes requests. Neither sends anything to the upstream.
/// - `GET /metrics` returns the metrics of the requests to the upstream, for Prometheus.
public struct UserServer: Sendable {
    private let api: UsersAPI
    private let maximumTimeout: Duration
    private let metrics: PrometheusMetrics
    private let readiness: Readiness?

    /// Creates the service.
    ///
    /// - Parameters:
    ///   - client: The client for the upstream.
    ///   - maximumTimeout: The maximum duration of a request, which also limits the caller's time-out; 10 seconds by default.
    ///   - metrics: The metrics that the client has as an observer.
    ///   - readiness: The readiness of the service; nil if it is always ready.
    public init(
        client: APIClient,
        maximumTimeout: Duration = .seconds(10),
        metrics: PrometheusMetrics = PrometheusMetrics(),
        readiness: Readiness? = nil
    ) {
        api = UsersAPI(client: client)
        self.maximumTimeout = maximumTimeout
        self.metrics = metrics
        self.readiness = readiness
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
        router.get("ready") { [readiness] _, _ in
            readiness.map { $0.phase == .ready } ?? true ? HTTPResponse.Status.ok : .serviceUnavailable
        }
        router.get("metrics") { [metrics] request, _ in metrics.page(accept: request.headers[.accept]) }
        router.get("users/:id") { [api, maximumTimeout] request, context -> User in
            let id = try context.userID()
            return try await context.answer(request, within: maximumTimeout) {
                try await api.user(id).sender().value
            }
        }
        router.get("users/:id/summary") { [api, maximumTimeout] request, context -> UserSummary in
            let id = try context.userID()
            return try await context.answer(request, within: maximumTimeout) {
                try await api.summary(of: id)
            }
        }
        return router
    }
}
