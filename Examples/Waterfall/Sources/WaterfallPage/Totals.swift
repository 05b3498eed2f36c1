/// The figures of a recording.
struct Totals {
    let requests: Int
    let exchanges: Int
    let failures: Int
    let retries: Int
    let redirects: Int
    /// The transferred bytes.
    let received: Int
    let sent: Int
    /// The durations of the requests in milliseconds, ascending.
    private let durations: [Double]

    init(_ waterfall: Waterfall) {
        let rows = waterfall.rows
        requests = waterfall.groups.count
        exchanges = rows.count
        failures = waterfall.groups.count { $0.isFailure }
        retries = rows.count { $0.kind == .retry || $0.kind == .hedge }
        redirects = rows.count { $0.kind == .redirect }
        received = rows.reduce(0) { $0.addingClamped($1.size) }
        sent = rows.reduce(0) { $0.addingClamped($1.entry.request.bodySize ?? 0) }
        durations = waterfall.groups.map(\.duration).sorted()
    }

    /// Returns the duration that a share of the requests does not exceed, in milliseconds; 0 without requests.
    func percentile(_ percent: Int) -> Double {
        durations.isEmpty ? 0 : durations[min(durations.count - 1, durations.count * percent / 100)]
    }
}

extension Int {
    /// Adds a number, clamped to the maximum. Negative numbers count as zero.
    func addingClamped(_ other: Int) -> Int {
        let (sum, isOver) = addingReportingOverflow(Swift.max(0, other))
        return isOver ? .max : sum
    }
}
