import Hummingbird
import Logging
import ServiceLifecycle
import Sluice
import SluiceTelemetry

/// The parts of the running service, in the order in which they start. They end in the reverse order.
///
/// ```swift
/// try await UserServiceGroup(options, environment: environment, logger: logger).group.run()
/// ```
public struct UserServiceGroup: Sendable {
    /// The group to run. It ends with SIGTERM or SIGINT, or with `triggerGracefulShutdown()`.
    public let group: ServiceGroup
    /// The metrics of the requests to the upstream.
    public let metrics: PrometheusMetrics

    /// Creates the service.
    ///
    /// - Parameters:
    ///   - options: The options.
    ///   - environment: The variables of the process, for those of OpenTelemetry.
    ///   - logger: The logger of the service.
    ///   - onRunning: Called with the port once it is open.
    public init(
        _ options: ServiceOptions,
        environment: [String: String] = [:],
        logger: Logger,
        onRunning: @escaping @Sendable (_ port: Int) -> Void = { _ in }
    ) {
        let metrics = PrometheusMetrics()
        let telemetry = OpenTelemetry(environment: environment) { logger.warning("\($0)") }
        let client = APIClient.users(options) {
            $0.observers.append(metrics)
            guard let telemetry else { return }
            $0.observers.append(telemetry)
            $0.requestInterceptors.append(telemetry)
        }
        let readiness = Readiness(delay: options.shutdownDelay) {
            if options.warmUpTimeout == .zero { return }
            let isWarm = await client.warmUp(within: options.warmUpTimeout)
            if !isWarm { logger.warning("The upstream does not answer. The service starts without it.") }
        }
        let server = UserServer(
            client: client,
            maximumTimeout: options.maximumTimeout,
            metrics: metrics,
            readiness: readiness
        )
        var application = server.application(host: options.host, port: options.port, onRunning: onRunning)
        application.logger = logger
        var services: [any Service] = [UpstreamDrain(client: client, logger: logger), application, readiness]
        if let telemetry { services.insert(TelemetryExport(telemetry: telemetry, logger: logger), at: 0) }
        var configuration = ServiceGroupConfiguration(
            services: services,
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger
        )
        // The last request may take its whole time.
        configuration.maximumGracefulShutdownDuration =
            options.shutdownDelay + options.maximumTimeout + UpstreamDrain.limit + .seconds(10)
        group = ServiceGroup(configuration: configuration)
        self.metrics = metrics
    }
}
