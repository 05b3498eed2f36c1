import Sluice
import SluiceHTTP

extension TelemetryConfiguration {
    /// Creates the configuration that the variables of OpenTelemetry describe: `OTEL_SERVICE_NAME`, `OTEL_EXPORTER_OTLP_ENDPOINT` and others.
    ///
    /// A variable that is empty counts as unset. One that cannot be used keeps the default, and is among ``warnings``.
    ///
    /// - Parameter environment: The variables, such as those of `ProcessInfo.processInfo.environment`.
    public init(environment: [String: String]) {
        self.init()
        var variables = EnvironmentReader(environment)
        let resource = variables.pairs("OTEL_RESOURCE_ATTRIBUTES")
        self.resource = Dictionary(resource) { $1 }
        serviceName = variables.text("OTEL_SERVICE_NAME")
        sampler = variables.sampler() ?? sampler
        propagates = variables.propagates() ?? propagates
        maximumSpans = variables.count("OTEL_BSP_MAX_QUEUE_SIZE") ?? maximumSpans
        batchSpans = min(variables.count("OTEL_BSP_MAX_EXPORT_BATCH_SIZE") ?? batchSpans, maximumSpans)
        batchDelay = variables.milliseconds("OTEL_BSP_SCHEDULE_DELAY") ?? batchDelay
        metricInterval = variables.milliseconds("OTEL_METRIC_EXPORT_INTERVAL") ?? metricInterval
        temporality = variables.temporality() ?? temporality
        maximumEvents = variables.count("OTEL_SPAN_EVENT_COUNT_LIMIT", orZero: true) ?? maximumEvents
        maximumValueLength =
            variables.count("OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT", orZero: true)
            ?? variables.count("OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", orZero: true)
        if let methods = variables.list("OTEL_INSTRUMENTATION_HTTP_KNOWN_METHODS") { knownMethods = Set(methods) }
        variables.checkAggregation()
        traces = variables.collector("TRACES", path: "v1/traces", limit: "OTEL_BSP_EXPORT_TIMEOUT")
        metrics = variables.collector("METRICS", path: "v1/metrics", limit: "OTEL_METRIC_EXPORT_TIMEOUT")
        if variables.flag("OTEL_SDK_DISABLED") {
            traces = nil
            metrics = nil
        }
        warnings = variables.warnings
    }
}

/// A reader of environment variables, which collects those that it cannot use.
struct EnvironmentReader {
    private let variables: [String: String]
    private(set) var warnings: [String] = []

    init(_ variables: [String: String]) {
        self.variables = variables
    }

    /// Returns the value without surrounding spaces; nil if it is empty.
    func text(_ name: String) -> String? {
        let value = variables[name]?.trimmed
        return value?.isEmpty == false ? value : nil
    }

    mutating func warn(_ name: String, _ reason: String) {
        warnings.append("\(name) \(reason)")
    }

    func list(_ name: String) -> [String]? {
        text(name)?.split(separator: ",").map { String($0).trimmed }.filter { !$0.isEmpty }
    }

    mutating func flag(_ name: String) -> Bool {
        guard let value = text(name)?.lowercased() else { return false }
        if value != "true" && value != "false" { warn(name, "is neither true nor false.") }
        return value == "true"
    }

    /// Returns a number above zero, or also zero.
    mutating func count(_ name: String, orZero: Bool = false) -> Int? {
        guard let value = text(name) else { return nil }
        guard let count = Int(value), count > 0 || orZero && count == 0, count <= Int(Int32.max) else {
            warn(name, "is not a number \(orZero ? "of at least" : "above") zero.")
            return nil
        }
        return count
    }

    mutating func milliseconds(_ name: String) -> Duration? {
        count(name).map { .milliseconds($0) }
    }

    /// Returns the pairs of a list `name=value,name=value`, whose values are percent-encoded. A list with a part that is no pair has none.
    mutating func pairs(_ name: String) -> [(String, String)] {
        var pairs: [(String, String)] = []
        for part in list(name) ?? [] {
            guard let sign = part.firstIndex(of: "="),
                let value = String(part[sign...].dropFirst()).trimmed.percentDecoded,
                let key = String(part[..<sign]).trimmed.percentDecoded, !key.isEmpty
            else {
                warn(name, "is not a list of pairs name=value.")
                return []
            }
            pairs.append((key, value))
        }
        return pairs
    }
}

extension EnvironmentReader {
    mutating func sampler() -> TelemetrySampler? {
        guard let name = text("OTEL_TRACES_SAMPLER") else { return nil }
        switch name {
        case "always_on": return .alwaysOn
        case "always_off": return .alwaysOff
        case "traceidratio": return .traceIDRatio(ratio())
        case "parentbased_always_on": return .parentBased(.alwaysOn)
        case "parentbased_always_off": return .parentBased(.alwaysOff)
        case "parentbased_traceidratio": return .parentBased(.traceIDRatio(ratio()))
        default:
            warn("OTEL_TRACES_SAMPLER", "names a sampler that is not supported.")
            return nil
        }
    }

    private mutating func ratio() -> Double {
        guard let argument = text("OTEL_TRACES_SAMPLER_ARG") else { return 1 }
        guard let ratio = Double(argument), (0...1).contains(ratio) else {
            warn("OTEL_TRACES_SAMPLER_ARG", "is not a number from 0 to 1.")
            return 1
        }
        return ratio
    }

    mutating func propagates() -> Bool? {
        guard let names = list("OTEL_PROPAGATORS") else { return nil }
        for name in names where !["tracecontext", "baggage", "none"].contains(name) {
            warn("OTEL_PROPAGATORS", "names a propagator that is not supported.")
        }
        return names.contains("tracecontext")
    }

    mutating func temporality() -> MetricTemporality? {
        let name = "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE"
        switch text(name)?.lowercased() {
        case nil: return nil
        case "cumulative": return .cumulative
        case "delta", "lowmemory": return .delta
        default:
            warn(name, "is none of cumulative, delta and lowmemory.")
            return nil
        }
    }

    mutating func checkAggregation() {
        let name = "OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION"
        guard let value = text(name), value.lowercased() != "explicit_bucket_histogram" else { return }
        warn(name, "names an aggregation that is not supported; explicit_bucket_histogram is used.")
    }

    /// Returns the collector of a signal; nil if it is not exported by OTLP.
    mutating func collector(_ signal: String, path: String, limit: String) -> OTLPCollector? {
        let exporters = list("OTEL_\(signal)_EXPORTER") ?? ["otlp"]
        for exporter in exporters where exporter != "otlp" && exporter != "none" {
            warn("OTEL_\(signal)_EXPORTER", "names an exporter that is not supported.")
        }
        let general = "OTEL_EXPORTER_OTLP_"
        let special = "\(general)\(signal)_"
        func name(_ option: String) -> String { text(special + option) == nil ? general + option : special + option }
        var collector = OTLPCollector(url: "http://localhost:4318/\(path)")
        if let url = text(special + "ENDPOINT") {
            collector.url = url
        } else if let base = text(general + "ENDPOINT") {
            collector.url = base.hasSuffix("/") ? base + path : "\(base)/\(path)"
        }
        switch text(name("PROTOCOL")) {
        case nil, "http/protobuf": break
        case "http/json": collector.format = .json
        default: warn(name("PROTOCOL"), "is neither http/protobuf nor http/json; http/protobuf is used.")
        }
        switch text(name("COMPRESSION")) {
        case nil, "none": break
        case "gzip": collector.isCompressed = true
        default: warn(name("COMPRESSION"), "is neither gzip nor none.")
        }
        for (key, value) in pairs(name("HEADERS")) { collector.headers.append(HTTPHeaderName(key), value) }
        if let timeout = milliseconds(name("TIMEOUT")) { collector.timeout = timeout }
        if let longest = milliseconds(limit) { collector.timeout = min(collector.timeout, longest) }
        if let file = text(name("CERTIFICATE")) { collector.tls.trust = .only(.file(file)) }
        let (certificate, key) = (name("CLIENT_CERTIFICATE"), name("CLIENT_KEY"))
        switch (text(certificate), text(key)) {
        case (let file?, let keyFile?):
            collector.tls.clientCertificate = .pem(certificate: .file(file), key: .file(keyFile))
        case (_?, nil): warn(certificate, "needs \(key).")
        case (nil, _?): warn(key, "needs \(certificate).")
        case (nil, nil): break
        }
        return exporters.contains("otlp") ? collector : nil
    }
}

extension String {
    fileprivate var trimmed: String {
        String(drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
    }

    /// The text without percent-encoding; nil if it is not valid.
    fileprivate var percentDecoded: String? {
        var bytes: [UInt8] = []
        var rest = utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let digits = String(rest.prefix(2)), let decoded = UInt8(digits, radix: 16) else {
                return nil
            }
            bytes.append(decoded)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
