import SluiceFoundation

extension RequestMetrics {
    /// The metrics at one moment. Its `description` is a table.
    ///
    /// ```swift
    /// let snapshot = metrics.snapshot()
    /// snapshot["GET users/{}"]?.latency.percentile(99.9)
    /// try JSONEncoder().encode(snapshot).write(to: url)
    /// ```
    public struct Snapshot: Sendable, Hashable, Codable {
        /// The time at which counting began.
        public var since: Date
        /// The time at which the snapshot was taken.
        public var date: Date
        /// The number of requests that had begun and not ended; nil without ``Details/inFlight``.
        public var inFlight: Int?
        /// The number of events that were dropped because too many came at once.
        public var missedEvents: Int
        /// The routes, sorted by name.
        public var routes: [Route]

        /// The route with a name such as `GET users/{}`; nil if it has had no request.
        public subscript(name: String) -> Route? {
            routes.first { $0.name == name }
        }

        /// The sum of all routes.
        public var total: Route {
            routes.reduce(into: Route(method: "", route: "total")) { $0.merge($1) }
        }
    }
}

extension RequestMetrics.Snapshot: CustomStringConvertible {
    /// A table with a line for each route, most requests first, and a line for the total.
    public var description: String {
        var rows = [["route", "requests", "failed", "retries", "p50", "p90", "p99", "p99.9", "max", "received"]]
        rows += routes.sorted { ($1.requests, $0.name) < ($0.requests, $1.name) }.map(\.cells)
        if routes.count != 1 { rows.append(total.cells) }
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            zip(row, widths).enumerated().map { column, cell in
                let padding = String(repeating: " ", count: cell.1 - cell.0.count)
                return column == 0 ? cell.0 + padding : padding + cell.0
            }.joined(separator: "  ")
        }.joined(separator: "\n")
    }
}

extension RequestMetrics.Route {
    fileprivate var cells: [String] {
        let times = [50, 90, 99, 99.9, 100].map { latency.percentile($0)?.rounded ?? "–" }
        let name = String(String.UnicodeScalarView(name.unicodeScalars.map { $0.properties.isPrintable ? $0 : "?" }))
        return [name, "\(requests)", "\(failureCount)", "\(retries)"] + times + [bytesReceived.roundedBytes]
    }
}

extension Unicode.Scalar.Properties {
    fileprivate var isPrintable: Bool {
        switch generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: false
        default: true
        }
    }
}

extension Duration {
    /// The duration to three digits: `1.23 ms`, `45.6 s`.
    fileprivate var rounded: String {
        let nanoseconds = Double(nanoseconds)
        if nanoseconds >= 999.5e6 { return "\((nanoseconds / 1e9).toThreeDigits) s" }
        if nanoseconds >= 999.5e3 { return "\((nanoseconds / 1e6).toThreeDigits) ms" }
        return "\((nanoseconds / 1e3).toThreeDigits) µs"
    }
}

extension Int64 {
    fileprivate var roundedBytes: String {
        let bytes = Double(self)
        for (unit, size) in [("GB", 1e9), ("MB", 1e6), ("kB", 1e3)] where bytes >= size * 0.9995 {
            return "\((bytes / size).toThreeDigits) \(unit)"
        }
        return "\(self) B"
    }
}

extension Double {
    /// The number to three digits. It must not be negative, and must be below 2^60.
    fileprivate var toThreeDigits: String {
        if self >= 99.95 { return "\(Int(min(rounded(), 1e15)))" }
        let scale: Double = self >= 9.995 ? 10 : 100
        let scaled = Int((self * scale).rounded())
        let fraction = scaled % Int(scale)
        return "\(scaled / Int(scale)).\(scale == 100 && fraction < 10 ? "0" : "")\(fraction)"
    }
}

// MARK: - OpenMetrics

extension RequestMetrics.Snapshot {
    /// The metrics in the OpenMetrics text format 1.0, as read by Prometheus: counters, and summaries in seconds.
    ///
    /// Its content type is `application/openmetrics-text; version=1.0.0; charset=utf-8`. Names begin with `sluice_`;
    /// method and route are labels.
    public var openMetrics: String {
        var text = OpenMetricsText()
        text.counters("requests", "Requests that ended.", routes) { $0.requests }
        text.counters("attempts", "Attempts to send a request.", routes) { $0.attempts }
        text.counters("retries", "Attempts after a failed one.", routes) { $0.retries }
        text.counters("hedges", "Attempts in parallel with a slow one.", routes) { $0.hedges }
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
        text.family(
            "request_duration_seconds",
            "Time from the beginning of a request to its end.",
            type: "summary",
            unit: "seconds"
        )
        for route in routes { text.summary("request_duration_seconds", route, [], route.latency) }
        text.family("phase_duration_seconds", "Time of each phase.", type: "summary", unit: "seconds")
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
