import Logging
import ServiceLifecycle
import SluiceTelemetry

/// Exports the last spans and durations when the service ends.
///
/// As the first service of a group it ends last, after the requests that are still answered.
struct TelemetryExport: Service {
    let telemetry: OpenTelemetry
    let logger: Logger

    func run() async throws {
        // A cancelled wait is an end of the service too.
        try? await gracefulShutdown()
        let isComplete = await telemetry.shutdown(within: .seconds(5))
        if !isComplete { logger.warning("Not all telemetry was exported: \(telemetry.statistics)") }
    }
}

extension OpenTelemetry {
    /// Creates the telemetry that the `OTEL_` variables describe; nil without a variable of the collector.
    ///
    /// - Parameters:
    ///   - environment: The variables.
    ///   - warn: Called for each variable that cannot be used, with a sentence without its value.
    convenience init?(environment: [String: String], warn: (String) -> Void) {
        guard environment.contains(where: { $0.key.hasPrefix("OTEL_EXPORTER_OTLP_") && !$0.value.isEmpty }) else {
            return nil
        }
        var configuration = TelemetryConfiguration(environment: environment)
        configuration.serviceName = configuration.serviceName ?? "user-service"
        configuration.warnings.forEach(warn)
        self.init(configuration)
    }
}
