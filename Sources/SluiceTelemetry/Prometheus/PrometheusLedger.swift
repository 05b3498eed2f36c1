import Sluice
import SluiceHTTP

/// The counts of requests by their labels, in a limited number of series.
struct PrometheusLedger {
    /// The counts of the requests with one method, host and route.
    struct Account {
        var retries: UInt64 = 0
        var hedges: UInt64 = 0
        var redirects: UInt64 = 0
        var sentBytes: UInt64 = 0
        var receivedBytes: UInt64 = 0
        /// The failures by the name of their code.
        var failures: [String: UInt64] = [:]
    }

    /// The labels of a histogram.
    fileprivate struct Series: Hashable {
        let target: PrometheusTarget
        let status: String
        let version: String
    }

    /// The durations of a series.
    struct Histogram: Equatable {
        var classic: BucketCounts
        var native: NativeHistogram?

        mutating func record(_ seconds: Double, bounds: [Double]) {
            classic.record(seconds, bounds: bounds)
            native?.record(seconds)
        }
    }

    private let bounds: [Double]
    private let isNative: Bool
    private let maximumSeries: Int
    private var open: [RequestID: PrometheusTarget] = [:]
    private var accounts: [PrometheusTarget: Account] = [:]
    private var durations: [Series: Histogram] = [:]
    /// The durations by host and phase.
    private var phases: [String: [Phase: Histogram]] = [:]
    /// The number of requests that were counted as other ones.
    private var overflowed: UInt64 = 0

    init(bounds: [Double], isNative: Bool, maximumSeries: Int) {
        self.bounds = bounds
        self.isNative = isNative
        self.maximumSeries = max(1, maximumSeries)
    }

    mutating func begin(_ id: RequestID, _ target: PrometheusTarget) {
        open[id] = target
    }

    mutating func count(_ quantity: WritableKeyPath<Account, UInt64>, of id: RequestID) {
        guard let target = open[id] else { return }
        accounts[counted(target), default: Account()][keyPath: quantity] += 1
    }

    mutating func finish(_ id: RequestID, _ result: PrometheusResult, _ target: () -> PrometheusTarget) {
        var target = open.removeValue(forKey: id) ?? target()
        var series = Series(target: target, status: result.status, version: result.version)
        if durations[series] == nil, durations.count >= maximumSeries || counted(target) != target {
            overflowed += 1
            target = .other
            series = Series(target: target, status: result.status, version: result.version)
        }
        let empty = histogram
        durations[series, default: empty].record(result.seconds, bounds: bounds)
        var account = accounts.removeValue(forKey: target) ?? Account()
        account.sentBytes &+= UInt64(clamping: result.metrics.bytesSent)
        account.receivedBytes &+= UInt64(clamping: result.metrics.bytesReceived)
        if let failure = result.failure { account.failures[failure, default: 0] += 1 }
        accounts[target] = account
        record(result.metrics, target.host)
    }

    /// Returns the target, or the one of all others if there are too many.
    private func counted(_ target: PrometheusTarget) -> PrometheusTarget {
        accounts[target] != nil || accounts.count < maximumSeries ? target : .other
    }

    /// A histogram without values.
    private var histogram: Histogram {
        Histogram(classic: BucketCounts(bounds: bounds), native: isNative ? NativeHistogram() : nil)
    }
}

// MARK: - Phases

extension PrometheusLedger {
    /// The phases of the last exchange of a request.
    fileprivate enum Phase: String, CaseIterable {
        case queue
        case nameLookup = "name_lookup"
        case connect
        case tls
        case wait
        case download

        /// Returns the duration of a phase in seconds; nil if the exchange did not have it.
        func seconds(in metrics: TransferMetrics) -> Double? {
            let connected = metrics.connect
            let duration: Duration? =
                switch self {
                case .queue: metrics.queued
                case .nameLookup: connected > .zero ? metrics.nameLookup : nil
                case .connect: connected > .zero ? connected - metrics.nameLookup : nil
                case .tls: connected > .zero && metrics.tls > .zero ? metrics.tls - connected : nil
                case .wait: metrics.firstByte - max(connected, metrics.tls)
                case .download: metrics.total - metrics.firstByte
                }
            return duration.map { max($0, .zero) / .seconds(1) }
        }
    }

    private mutating func record(_ metrics: TransferMetrics, _ host: String) {
        // A stub or a stored response involves no transfer.
        guard metrics.total > .zero else { return }
        let hasRoom = phases[host] != nil || phases.count * Phase.allCases.count < maximumSeries
        let host = hasRoom ? host : PrometheusTarget.other.host
        let empty = histogram
        var histograms = phases.removeValue(forKey: host) ?? [:]
        for phase in Phase.allCases {
            guard let seconds = phase.seconds(in: metrics) else { continue }
            histograms[phase, default: empty].record(seconds, bounds: bounds)
        }
        phases[host] = histograms
    }
}

// MARK: - Page

extension PrometheusLedger {
    /// The metrics of a page, in an order that does not change from page to page.
    var families: [MetricFamily] {
        let targets = accounts.sorted { $0.key.order < $1.key.order }
        func counters(
            _ name: String,
            _ help: String,
            _ unit: String? = nil,
            _ count: (Account) -> UInt64
        ) -> MetricFamily {
            MetricFamily(name, help, .counter, unit, targets.map { .init($0.key.labels, .count(count($0.value))) })
        }
        let series = durations.sorted { $0.key.order < $1.key.order }
        let hosts = phases.sorted { $0.key < $1.key }
        // Zero for a host whose requests have ended.
        var inFlight = Dictionary(accounts.keys.map { ($0.host, UInt64(0)) }) { first, _ in first }
        for target in open.values { inFlight[counted(target).host, default: 0] += 1 }
        return [
            MetricFamily(
                "sluice_request_duration_seconds",
                "Time from the beginning of a request to its end.",
                .histogram,
                "seconds",
                series.map { series in .init(series.key.labels, .histogram(series.value, bounds)) }
            ),
            MetricFamily(
                "sluice_phase_duration_seconds",
                "Time of each phase of the last exchange of a request that succeeded.",
                .histogram,
                "seconds",
                hosts.flatMap { host, histograms in
                    Phase.allCases.compactMap { phase in
                        histograms[phase].map {
                            .init([("host", host), ("phase", phase.rawValue)], .histogram($0, bounds))
                        }
                    }
                }
            ),
            MetricFamily(
                "sluice_failures",
                "Requests that failed, by the code of the error.",
                .counter,
                nil,
                targets.flatMap { target, account in
                    account.failures.sorted { $0.key < $1.key }.map {
                        .init(target.labels + [("code", $0.key)], .count($0.value))
                    }
                }
            ),
            counters("sluice_retries", "Attempts after a failed one.") { $0.retries },
            counters("sluice_hedges", "Attempts in parallel with a slow one.") { $0.hedges },
            counters("sluice_redirects", "Redirects that were followed.") { $0.redirects },
            counters("sluice_sent_bytes", "Body bytes sent for the responses of requests that succeeded.", "bytes") {
                $0.sentBytes
            },
            counters("sluice_received_bytes", "Body bytes received by requests that succeeded.", "bytes") {
                $0.receivedBytes
            },
            MetricFamily(
                "sluice_requests_in_flight",
                "Requests that have begun and not ended.",
                .gauge,
                nil,
                inFlight.sorted { $0.key < $1.key }.map { .init([("host", $0.key)], .count($0.value)) }
            ),
            MetricFamily(
                "sluice_overflowed_requests",
                "Requests counted as other ones, because there were too many series.",
                .counter,
                nil,
                [.init([], .count(overflowed))]
            ),
        ]
    }
}

extension PrometheusTarget {
    fileprivate var labels: [(name: String, value: String)] {
        [("method", method), ("host", host), ("route", route)]
    }

    fileprivate var order: (String, String, String) { (host, route, method) }
}

extension PrometheusLedger.Series {
    fileprivate var labels: [(name: String, value: String)] {
        target.labels + [("status", status), ("protocol", version)]
    }

    fileprivate var order: (String, String, String, String, String) {
        (target.host, target.route, target.method, status, version)
    }
}
