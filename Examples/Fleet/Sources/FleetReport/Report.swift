/// The table of what the upstream and the users of the services saw.
public struct Report: Sendable {
    /// A row of the table. A row without a condition only informs.
    public struct Row: Sendable, Equatable {
        /// The name of what is counted.
        public let name: String
        /// The result.
        public let value: String
        /// The condition in words; nil for none.
        public let condition: String?
        /// True if the condition holds.
        public let holds: Bool
    }

    /// The events in the order of their times.
    public let events: [FleetEvent]
    /// The rows.
    public private(set) var rows: [Row] = []
    /// The first second and the end of the run, in seconds since 1970.
    public let span: Range<Double>
    let rules: FleetRules

    /// True if all conditions hold.
    public var holds: Bool { rows.allSatisfy(\.holds) }

    /// Creates a report.
    ///
    /// - Parameters:
    ///   - events: The events of all processes and of the script, in any order.
    ///   - rules: The numbers of the run.
    public init(_ events: [FleetEvent], rules: FleetRules = FleetRules()) {
        let events = events.sorted { $0.time < $1.time }
        self.events = events
        self.rules = rules
        let arrivals = events.filter { $0.kind == .order }.map(\.time)
        let start = arrivals.first ?? 0
        let end = max(start + 1, events.last { $0.kind == .stopping }?.time ?? arrivals.last ?? 0)
        span = start..<end
        addTokens()
        addRates(arrivals)
        addPages()
        addUsers()
        addDisturbances()
    }

    private func count(_ kind: FleetEvent.Kind) -> Int { events.count { $0.kind == kind } }

    private mutating func add(_ name: String, _ value: String, _ condition: String? = nil, _ holds: Bool = true) {
        rows.append(Row(name: name, value: value, condition: condition, holds: holds))
    }

    private mutating func add(_ name: String, _ value: Int, atMost limit: Int) {
        add(name, "\(value)", limit == 0 ? "0" : "at most \(limit)", value <= limit)
    }

    private mutating func add(_ name: String, _ value: Int, atLeast limit: Int) {
        add(name, "\(value)", "at least \(limit)", value >= limit)
    }

    private mutating func addTokens() {
        // One for each nine tenths of a lifetime, the first one, and one that begins before the end.
        let most = Int((span.upperBound - span.lowerBound) / (rules.tokenLifetime * 0.9)) + 2
        let refreshes = count(.token)
        add("token refreshes", "\(refreshes)", "2 to \(most)", (2...most).contains(refreshes))
        add("refresh tokens used twice", count(.reusedToken), atMost: 0)
        // A token can expire while its request waits for a permit. The gate then sends the request again, with a new one.
        add("requests refused for their token", "\(count(.refused))")
    }

    private mutating func addRates(_ arrivals: [Double]) {
        // A limit that is not reached shows nothing.
        let expected = Double(rules.rate) * (span.upperBound - span.lowerBound)
        add("orders", arrivals.count, atLeast: Int(expected / 2))
        let check = RateCheck(arrivals, events, rules)
        add("most orders in one second", "\(check.largest(seconds: 1))")
        for seconds in [1, 2, 5, 10] {
            guard let worst = check.worst(seconds: Double(seconds)) else { continue }
            let percent = Int((worst.share * 100).rounded(.up))
            add("share of the orders that are allowed in \(seconds) s", "\(percent) %", "at most 100 %", percent <= 100)
        }
    }

    private mutating func addPages() {
        let fetched = count(.page)
        func lifetimes(_ seconds: Double) -> Int { Int((seconds / rules.pageLifetime).rounded(.up)) + 1 }
        // While Redis is away, and until each service has noticed that it is back, each fetches pages for itself.
        var most = lifetimes(span.upperBound - span.lowerBound)
        for outage in outages {
            most += lifetimes(outage.upperBound - outage.lowerBound + rules.recovery) * (rules.services - 1)
        }
        add("pages fetched", fetched, atMost: rules.pages * most)
        add("pages served", total.pages, atLeast: max(1, 2 * fetched))
    }

    private mutating func addUsers() {
        let total = total
        add("wrong bodies", total.wrong, atMost: 0)
        let errors = total.errors.values.reduce(0, +)
        let codes = total.errors.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
        add("errors that users saw", codes.isEmpty ? "\(errors)" : "\(errors) (\(codes))", "0", errors == 0)
    }

    private mutating func addDisturbances() {
        let restarts = events.filter { $0.kind == .serviceStarted }.map { restart in
            events.filter { $0.kind == .counts && $0.service == restart.service && $0.time > restart.time }
                .reduce(0) { $0 + ($1.counts?.orders ?? 0) }
        }
        if let fewest = restarts.min() { add("orders of a service after its restart", fewest, atLeast: 1) }
        let away = outages.map { outage in events.count { $0.kind == .order && outage.contains($0.time) } }
        guard let fewest = away.min() else { return }
        add("orders while Redis was away", fewest, atLeast: 1)
        let returns = outages.map { outage in
            events.first { $0.kind == .fallbackEnded && $0.time >= outage.upperBound }.map {
                $0.time - outage.upperBound
            }
        }
        let longest = returns.contains(nil) ? "never" : "\(Report.text(returns.compactMap(\.self).max() ?? 0)) s"
        add("time until Redis was used again", longest, "eventually", longest != "never")
    }

    /// The counts of all services.
    private var total: ServiceCounts { events.compactMap(\.counts).reduce(into: ServiceCounts()) { $0 += $1 } }

    /// The times in which Redis did not run.
    var outages: [Range<Double>] {
        events.filter { $0.kind == .redisKilled }.map { killed in
            let started = events.first { $0.kind == .redisStarted && $0.time >= killed.time }
            return killed.time..<max(killed.time, started?.time ?? span.upperBound)
        }
    }

    /// Returns a number with one digit after the point.
    static func text(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
    }

    /// The table as text.
    public var text: String {
        let cells = rows.map { row in
            (row.condition == nil ? "·" : row.holds ? "✓" : "✗", row.name, row.value, row.condition ?? "")
        }
        let names = cells.map(\.1.count).max() ?? 0
        let values = cells.map(\.2.count).max() ?? 0
        return cells.map { mark, name, value, condition in
            let name = name + String(repeating: " ", count: names - name.count)
            let value = String(repeating: " ", count: values - value.count) + value
            return "\(mark) \(name)  \(value)  \(condition)\n"
        }
        .joined()
    }
}
