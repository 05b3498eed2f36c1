import Sluice
import SluiceFoundation
import SluiceHTTP

/// The relation of an export of metrics to the one before.
public enum MetricTemporality: Sendable, Hashable {
    /// Each export has all durations since the start; the default, and what Prometheus expects.
    case cumulative
    /// Each export has the durations since the last one.
    case delta
}

/// The configuration of telemetry. The defaults are those of OpenTelemetry's specification.
public struct TelemetryConfiguration: Sendable {
    /// The value of `service.name`; nil for the one among ``resource``, or the name of the program.
    public var serviceName: String?
    /// Further attributes of the resource, such as `deployment.environment.name`.
    public var resource: [String: String] = [:]
    /// The collector of spans; nil for none. A collector on this host by default.
    public var traces: OTLPCollector? = OTLPCollector(url: "http://localhost:4318/v1/traces")
    /// The collector of metrics; nil for none. A collector on this host by default.
    public var metrics: OTLPCollector? = OTLPCollector(url: "http://localhost:4318/v1/metrics")
    /// The decision about a request's spans; the parent's by default, and true without one.
    public var sampler = TelemetrySampler.parentBased()
    /// True to add `traceparent` and `tracestate` to requests, for a client that has the telemetry among its request interceptors.
    public var propagates = true
    /// The maximum number of waiting spans; 2,048 by default. Further ones are dropped.
    public var maximumSpans = 2048
    /// The maximum number of bytes of waiting spans, approximately; 8 MiB by default.
    public var maximumBytes = 8 << 20
    /// The maximum number of spans in an export; 512 by default.
    public var batchSpans = 512
    /// The maximum number of bytes in an export, approximately; 1 MiB by default.
    public var batchBytes = 1 << 20
    /// The time in which spans gather for an export; 5 seconds by default.
    public var batchDelay = Duration.seconds(5)
    /// The maximum number of events of a span; 128 by default.
    public var maximumEvents = 128
    /// The maximum length of an attribute's text, in Unicode scalars; nil, the default, for no limit.
    public var maximumValueLength: Int?
    /// The time between exports of metrics, at least 100 milliseconds; 60 seconds by default.
    public var metricInterval = Duration.seconds(60)
    /// The relation of an export of metrics to the one before.
    public var temporality = MetricTemporality.cumulative
    /// The bounds of the buckets of durations in seconds; those of the semantic conventions by default.
    public var durationBounds: [Double] = BucketCounts.conventionalBounds
    /// The maximum number of combinations of attributes; 2,000 by default. Further ones share `otel.metric.overflow`.
    public var maximumSeries = 2000
    /// The methods that are named. Others are `_OTHER`, because their number has no limit.
    public var knownMethods: Set<String> = HTTPConventions.knownMethods
    /// The removal of secrets from URLs and from the texts of errors.
    public var redaction = Redaction.standard
    /// The transport of exports. With nil, the default, they have one of their own on Linux, so that requests that hang do not hold them
    /// up, and elsewhere the default of a client.
    public var transport: (any Transport)?
    /// The clock of pauses and dates.
    public var clock: any SluiceClock = SystemClock()
    /// The environment variables that could not be used, each with the reason.
    public internal(set) var warnings: [String] = []

    /// Creates the default configuration.
    public init() {}
}

extension TelemetryConfiguration {
    var resourceMessage: ProtobufMessage {
        var attributes = resource
        let program = CommandLine.arguments.first.flatMap { $0.split(separator: "/").last } ?? "swift"
        attributes["service.name"] = serviceName ?? resource["service.name"] ?? "unknown_service:\(program)"
        attributes["telemetry.sdk.name"] = "sluice"
        attributes["telemetry.sdk.language"] = "swift"
        attributes["telemetry.sdk.version"] = SluiceVersion.current
        return ProtobufMessage {
            let sorted = attributes.sorted { $0.key < $1.key }.map { Attribute($0.key, $0.value) }
            $0.add(1, "attributes", sorted.messages(limit: nil))
        }
    }

    var conventions: HTTPConventions {
        HTTPConventions(methods: knownMethods, redaction: redaction, valueLimit: maximumValueLength)
    }
}

// MARK: - OTLP collector

/// A collector's address for one signal, and how to send to it.
public struct OTLPCollector: Sendable {
    /// The whole URL, such as `http://localhost:4318/v1/traces`.
    public var url: String
    /// The encoding; protobuf by default.
    public var format = OTLPFormat.protobuf
    /// Header fields of each export, such as a key of the collector's owner. Their values are treated as secrets.
    public var headers: HTTPHeaders = [:]
    /// The time limit of an export; 10 seconds by default.
    public var timeout = Duration.seconds(10)
    /// True to compress bodies with gzip.
    public var isCompressed = false
    /// The authorities and the client's certificate for a collector with https.
    public var tls = TLSConfiguration()

    /// Creates the address of a collector.
    public init(url: String) {
        self.url = url
    }
}
