import Sluice
import SluiceTelemetry
import SluiceTesting

/// A collector on this host, which receives exports in JSON. Its server can have other resources too.
struct Collector {
    let server: LoopbackServer

    init() throws {
        server = try LoopbackServer()
        server.on("/v1/traces", .json("{}"))
        server.on("/v1/metrics", .json("{}"))
    }

    /// Creates telemetry that exports to this collector.
    func telemetry(_ change: (inout TelemetryConfiguration) -> Void = { _ in }) -> OpenTelemetry {
        var configuration = TelemetryConfiguration(environment: [
            "OTEL_EXPORTER_OTLP_ENDPOINT": server.url, "OTEL_EXPORTER_OTLP_PROTOCOL": "http/json",
        ])
        change(&configuration)
        return OpenTelemetry(configuration)
    }

    /// The spans that were exported.
    func spans() throws -> [JSON] {
        try exports("traces").flatMap { $0["resourceSpans"].arrayValue }.flatMap { $0["scopeSpans"].arrayValue }
            .flatMap { $0["spans"].arrayValue }
    }

    /// The points of durations that were exported.
    func points() throws -> [JSON] {
        try exports("metrics").flatMap { $0["resourceMetrics"].arrayValue }.flatMap { $0["scopeMetrics"].arrayValue }
            .flatMap { $0["metrics"].arrayValue }.flatMap { $0["histogram"]["dataPoints"].arrayValue }
    }

    private func exports(_ signal: String) throws -> [JSON] {
        try server.requests(to: "/v1/\(signal)").map { try JSON(parsing: $0.body) }
    }

    /// The attributes of a span, an event or a point, as texts.
    static func attributes(_ owner: JSON) -> [String: String] {
        Dictionary(
            owner["attributes"].arrayValue.map {
                ($0["key"].stringValue, $0["value"].dictionaryValue.values.first?.stringValue ?? "")
            }
        ) { $1 }
    }
}
