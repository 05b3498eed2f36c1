import SluiceFoundation
import SluiceHTTP

/// The messages that are exported, around the spans and points.
struct ExportMessages: Sendable {
    private let resource: ProtobufMessage
    private let conventions: HTTPConventions
    private let bounds: [Double]

    init(_ configuration: TelemetryConfiguration) {
        resource = configuration.resourceMessage
        conventions = configuration.conventions
        bounds = configuration.ledger.bounds
    }

    private var scope: ProtobufMessage {
        ProtobufMessage {
            $0.add(1, "name", .string("sluice"))
            $0.add(2, "version", .string(SluiceVersion.current))
        }
    }

    /// The message `ExportTraceServiceRequest`.
    func traces(_ records: [SpanRecord]) -> ProtobufMessage {
        request("resourceSpans", "scopeSpans") { $0.add(2, "spans", .messages(records.map(conventions.message))) }
    }

    /// The message `ExportMetricsServiceRequest`.
    func metrics(_ collection: DurationLedger.Collection) -> ProtobufMessage {
        let metric = collection.message(bounds: bounds, limit: conventions.valueLimit)
        return request("resourceMetrics", "scopeMetrics") { $0.add(2, "metrics", .messages([metric])) }
    }

    private func request(_ outer: String, _ inner: String, _ add: (inout ProtobufMessage) -> Void) -> ProtobufMessage {
        let scoped = ProtobufMessage {
            $0.add(1, "scope", .message(scope))
            add(&$0)
            $0.add(3, "schemaUrl", .string(HTTPConventions.schemaURL))
        }
        let resourced = ProtobufMessage {
            $0.add(1, "resource", .message(resource))
            $0.add(2, inner, .messages([scoped]))
            $0.add(3, "schemaUrl", .string(HTTPConventions.schemaURL))
        }
        return ProtobufMessage { $0.add(1, outer, .messages([resourced])) }
    }
}

extension TelemetryConfiguration {
    var queue: SpanQueue {
        SpanQueue(
            maximumCount: maximumSpans,
            maximumBytes: maximumBytes,
            batchCount: batchSpans,
            batchBytes: batchBytes
        )
    }

    var ledger: DurationLedger {
        DurationLedger(
            bounds: Set(durationBounds.filter(\.isFinite)).sorted(),
            limit: maximumSeries,
            isDelta: temporality == .delta,
            start: clock.date.unixNanoseconds
        )
    }
}

extension Date {
    /// Nanoseconds since 1970; zero for a date before.
    var unixNanoseconds: UInt64 { UInt64(max(0, min(timeIntervalSince1970, 1e10)) * 1e9) }
}
