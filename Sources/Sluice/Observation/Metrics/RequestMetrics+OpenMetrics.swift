extension RequestMetrics.Snapshot {
    /// The metrics in the OpenMetrics text format 1.0, as read by Prometheus: counters, and summaries in seconds.
    ///
    /// Its content type is `application/openmetrics-text; version=1.0.0; charset=utf-8`. Names begin with `sluice_`;
    /// method and route are labels.
    public var openMetrics: String {
        var text = OpenMetricsText()
        text.counters("requests", "Requests that ended.", routes) { $0.requests }
        text.counters("attempts", "Times requests set out for the server.", routes) { $0.attempts }
        text.counters("retries", "Attempts after one that had failed.", routes) { $0.retries }
        text.counters("hedges", "Attempts next to one that took too long.", routes) { $0.hedges }
        text.counters("redirects", "Redirects that were followed.", routes) { $0.redirects }
        text.counters("sent_bytes", "Body bytes sent.", unit: "bytes", routes) { $0.bytesSent }
        text.counters("received_bytes", "Body bytes received.", unit: "bytes", routes) { $0.bytesReceived }
        text.family("failures", "Requests that failed, by code.", type: "counter")
        for route in routes {
            for (code, count) in route.failures.sorted(by: { $0.key < $1.key }) {
                text.sample("failures_total", route, [("code", code)], "\(count)")
            }
        }
        text.family("responses", "Responses by the class of their status.", type: "counter")
        for route in routes {
            for (name, count) in route.statuses.all where count > 0 {
                text.sample("responses_total", route, [("class", name)], "\(count)")
            }
        }
        text.family("request_duration_seconds", "Time from begin to end.", type: "summary", unit: "seconds")
        for route in routes { text.summary("request_duration_seconds", route, [], route.latency) }
        text.family("phase_duration_seconds", "Time of each part.", type: "summary", unit: "seconds")
        for route in routes {
            for (name, histogram) in route.phases.all {
                text.summary("phase_duration_seconds", route, [("phase", name)], histogram)
            }
        }
        if let inFlight {
            text.family("requests_in_flight", "Requests that have begun and not ended.", type: "gauge")
            text.sample("requests_in_flight", nil, [], "\(inFlight)")
        }
        text.family("missed_events", "Events that were not counted.", type: "counter")
        text.sample("missed_events_total", nil, [], "\(missedEvents)")
        return text.text + "# EOF\n"
    }
}

extension RequestMetrics.Statuses {
    fileprivate var all: [(String, Int)] {
        [("2xx", success), ("3xx", redirection), ("4xx", clientError), ("5xx", serverError), ("other", other)]
    }
}

/// A builder for OpenMetrics text.
private struct OpenMetricsText {
    private(set) var text = ""

    mutating func family(_ name: String, _ help: String, type: String, unit: String? = nil) {
        text += "# TYPE sluice_\(name) \(type)\n"
        if let unit { text += "# UNIT sluice_\(name) \(unit)\n" }
        text += "# HELP sluice_\(name) \(help)\n"
    }

    mutating func counters(
        _ name: String,
        _ help: String,
        unit: String? = nil,
        _ routes: [RequestMetrics.Route],
        _ value: (RequestMetrics.Route) -> some BinaryInteger
    ) {
        family(name, help, type: "counter", unit: unit)
        for route in routes { sample("\(name)_total", route, [], "\(value(route))") }
    }

    mutating func summary(
        _ name: String,
        _ route: RequestMetrics.Route,
        _ labels: [(String, String)],
        _ histogram: LatencyHistogram
    ) {
        guard histogram.count > 0 else { return }
        for (label, percent) in [("0.5", 50), ("0.9", 90), ("0.99", 99), ("0.999", 99.9)] {
            guard let duration = histogram.percentile(percent) else { continue }
            sample(name, route, labels + [("quantile", label)], "\(duration / .seconds(1))")
        }
        sample("\(name)_sum", route, labels, "\(histogram.sum / .seconds(1))")
        sample("\(name)_count", route, labels, "\(histogram.count)")
    }

    mutating func sample(
        _ name: String,
        _ route: RequestMetrics.Route?,
        _ labels: [(String, String)],
        _ value: String
    ) {
        var all = labels
        if let route { all = [("method", route.method), ("route", route.route)] + labels }
        text += "sluice_\(name)"
        if !all.isEmpty {
            text += "{" + all.map { "\($0.0)=\"\(escaped($0.1))\"" }.joined(separator: ",") + "}"
        }
        text += " \(value)\n"
    }

    /// Escapes characters that would end the value or the line. Works on bytes, because a combining mark hides a quote
    /// from a `Character` comparison.
    private func escaped(_ value: String) -> String {
        var bytes: [UInt8] = []
        for byte in value.utf8 {
            switch byte {
            case UInt8(ascii: "\\"), UInt8(ascii: "\""): bytes += [UInt8(ascii: "\\"), byte]
            case UInt8(ascii: "\n"): bytes += [UInt8(ascii: "\\"), UInt8(ascii: "n")]
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
