import Sluice
import Testing

@testable import SluiceTelemetry

/// The configuration that environment variables describe.
struct EnvironmentTests {
    @Test func withoutVariablesTheDefaultsHold() {
        let configuration = TelemetryConfiguration(environment: ["OTEL_SERVICE_NAME": "", "OTEL_TRACES_SAMPLER": " "])
        #expect(configuration.serviceName == nil)
        #expect(configuration.traces?.url == "http://localhost:4318/v1/traces")
        #expect(configuration.metrics?.url == "http://localhost:4318/v1/metrics")
        #expect(configuration.sampler == .parentBased(.alwaysOn))
        #expect(configuration.maximumSpans == 2048)
        #expect(configuration.batchSpans == 512)
        #expect(configuration.warnings.isEmpty)
    }

    @Test func allVariablesAreRead() {
        let configuration = TelemetryConfiguration(environment: [
            "OTEL_SERVICE_NAME": "shop",
            "OTEL_RESOURCE_ATTRIBUTES": "service.name=other, team=a%2Cb",
            "OTEL_TRACES_SAMPLER": "parentbased_traceidratio",
            "OTEL_TRACES_SAMPLER_ARG": "0.25",
            "OTEL_PROPAGATORS": "none",
            "OTEL_BSP_MAX_QUEUE_SIZE": "100",
            "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "500",
            "OTEL_BSP_SCHEDULE_DELAY": "250",
            "OTEL_BSP_EXPORT_TIMEOUT": "3000",
            "OTEL_METRIC_EXPORT_INTERVAL": "1500",
            "OTEL_SPAN_EVENT_COUNT_LIMIT": "0",
            "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT": "20",
            "OTEL_INSTRUMENTATION_HTTP_KNOWN_METHODS": "GET,PURGE",
            "OTEL_EXPORTER_OTLP_ENDPOINT": "https://collector:4318/base/",
            "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://metrics/",
            "OTEL_EXPORTER_OTLP_PROTOCOL": "http/json",
            "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL": "http/protobuf",
            "OTEL_EXPORTER_OTLP_HEADERS": "api-key=a%20b,x=1",
            "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip",
            "OTEL_EXPORTER_OTLP_TIMEOUT": "5000",
            "OTEL_EXPORTER_OTLP_CERTIFICATE": "/ca.pem",
            "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE": "/client.pem",
            "OTEL_EXPORTER_OTLP_CLIENT_KEY": "/key.pem",
            "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE": "delta",
            "OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION": "explicit_bucket_histogram",
        ])
        #expect(configuration.warnings.isEmpty)
        #expect(configuration.serviceName == "shop")
        #expect(configuration.resource == ["service.name": "other", "team": "a,b"])
        #expect(configuration.sampler == .parentBased(.traceIDRatio(0.25)))
        #expect(!configuration.propagates)
        #expect(configuration.maximumSpans == 100)
        #expect(configuration.batchSpans == 100)
        #expect(configuration.batchDelay == .milliseconds(250))
        #expect(configuration.metricInterval == .milliseconds(1500))
        #expect(configuration.maximumEvents == 0)
        #expect(configuration.maximumValueLength == 20)
        #expect(configuration.knownMethods == ["GET", "PURGE"])
        #expect(configuration.traces?.url == "https://collector:4318/base/v1/traces")
        #expect(configuration.metrics?.url == "http://metrics/")
        #expect(configuration.traces?.format == .json)
        #expect(configuration.metrics?.format == .protobuf)
        #expect(configuration.traces?.headers == ["api-key": "a b", "x": "1"])
        #expect(configuration.traces?.isCompressed == true)
        #expect(configuration.traces?.timeout == .seconds(3))
        #expect(configuration.metrics?.timeout == .seconds(5))
        #expect(configuration.traces?.tls.trust == .only(.file("/ca.pem")))
        #expect(configuration.traces?.tls.clientCertificate != nil)
        #expect(configuration.temporality == .delta)
    }

    @Test(arguments: [
        "OTEL_TRACES_SAMPLER", "OTEL_BSP_MAX_QUEUE_SIZE", "OTEL_BSP_SCHEDULE_DELAY", "OTEL_RESOURCE_ATTRIBUTES",
        "OTEL_PROPAGATORS",
        "OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_COMPRESSION", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT",
        "OTEL_METRICS_EXPORTER",
        "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_SDK_DISABLED",
        "OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION",
        "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", "OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY",
    ])
    func aValueThatCannotBeUsedIsNamed(_ name: String) {
        let configuration = TelemetryConfiguration(environment: [name: "%zz"])
        #expect(!configuration.warnings.isEmpty)
        #expect(configuration.warnings.allSatisfy { $0.hasPrefix(name) && !$0.contains("%zz") })
    }

    @Test func telemetryIsSwitchedOff() {
        let off = TelemetryConfiguration(environment: ["OTEL_SDK_DISABLED": "TRUE"])
        #expect(off.traces == nil)
        #expect(off.metrics == nil)
        #expect(OpenTelemetry(off).interests.isEmpty)
        let half = TelemetryConfiguration(environment: ["OTEL_METRICS_EXPORTER": "none"])
        #expect(half.traces != nil)
        #expect(half.metrics == nil)
    }
}
