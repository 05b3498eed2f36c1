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
