import SluiceFoundation
import SluiceHTTP

/// Counts requests by route: their number, outcomes, durations by phase, and bytes transferred.
///
/// ```swift
/// let metrics = RequestMetrics()
/// let client = APIClient(baseURL: url) { $0.observers = [metrics] }
/// …
/// print(metrics.snapshot())                             // a table
/// let slow = metrics.snapshot().routes.filter { ($0.latency.percentile(99) ?? .zero) > .seconds(1) }
/// ```
///
/// By default a request costs one event and a few hundred nanoseconds; more expensive details are optional. A route
/// takes about 20 KiB, and the number of routes is limited.
public final class RequestMetrics: RequestObserver, ImmediateObserver {
    /// The ends of requests, retries and redirects, and the events that the optional details need.
    public let interests: RequestEvent.Kinds
    private let countsInFlight: Bool
    private let clock: any SluiceClock
    private let ledger: Locked<MetricsLedger>

    /// Creates empty metrics.
    ///
    /// - Parameters:
    ///   - countsInFlight: True to count the requests in flight: ``Snapshot/inFlight``. Adds one event per request.
    ///   - measuresGates: True to measure the time that attempts wait for gates: ``Phases/gates``. Adds two events per
    ///     gate and attempt.
    ///   - maximumRoutes: The maximum number of routes; 1,000 by default. Further routes are counted together as
    ///     `other`.
    ///   - clock: The clock that dates the snapshots.
    public init(
        countsInFlight: Bool = false,
        measuresGates: Bool = false,
        maximumRoutes: Int = 1000,
        clock: any SluiceClock = SystemClock()
    ) {
        self.countsInFlight = countsInFlight
        self.clock = clock
        var interests: RequestEvent.Kinds = [.finished, .retrying, .redirected]
        if countsInFlight { interests.insert(.began) }
        if measuresGates { interests.insert(.gates) }
        self.interests = interests
        ledger = Locked(MetricsLedger(maximumRoutes: maximumRoutes, since: clock.date))
    }

    /// Counts an event.
    public func observe(_ event: RequestEvent, of request: ObservedRequest) {
        switch event {
        case .finished(let outcome):
            ledger.withLock { $0.finish(request, outcome) }
        case .retrying:
            ledger.withLock { $0.retry(request) }
        case .hedging:
            ledger.withLock { $0.hedge(request) }
        case .redirected:
            ledger.withLock { $0.redirect(request) }
        case .began:
            ledger.withLock { _ = $0.inFlight.insert(request.id) }
        case .waiting:
            ledger.withLock { $0.gates.begin(request) }
        case .admitted, .refused:
            ledger.withLock { $0.gates.end(request) }
        case .sending, .informational, .received, .cached:
            break
        }
    }

    /// Returns the metrics counted since the creation or the last ``reset()``.
    public func snapshot() -> Snapshot {
        let date = clock.date
        return ledger.withLock { $0.snapshot(at: date, hasInFlight: countsInFlight) }
    }

    /// Resets the metrics. The number of requests in flight is kept.
    public func reset() {
        let date = clock.date
        ledger.withLock { $0.reset(since: date) }
    }
}

// MARK: - Counts

extension RequestMetrics {
    /// The metrics of the requests with one method and route.
    public struct Route: Sendable, Hashable, Codable {
        /// The method of the request as it was created; empty for the entry that counts all other routes together.
        public let method: String
        /// The route that requests of the same kind share, ``ModifiableRequest/route(_:)``; `other` for routes beyond
        /// the limit.
        public let route: String
        /// The number of requests that ended.
        public var requests = 0
        /// The number of attempts: one for each request that was built, and one for each retry and hedge. Redirects are
        /// not counted.
        public var attempts = 0
        /// The number of attempts that followed a failed one.
        public var retries = 0
        /// The number of attempts that ran in parallel with a slow one.
        public var hedges = 0
        /// The number of redirects that were followed.
        public var redirects = 0
        /// The number of failures by the name of their ``SluiceError/Code``, including cancellations.
        public var failures: [String: Int] = [:]
        /// The number of final responses by status class.
        public var statuses = Statuses()
        /// The number of body bytes sent for the final responses of requests that succeeded.
        public var bytesSent: Int64 = 0
        /// The number of body bytes transferred for the final responses of requests that succeeded.
        public var bytesReceived: Int64 = 0
        /// The time from the beginning of a request to its end, including gates, retries and redirects, with or without
        /// a response. Cancelled requests are left out.
        public var latency = LatencyHistogram()
        /// The phases of the last exchanges of requests that succeeded.
        public var phases = Phases()

        /// Creates a route with all counts at zero.
        package init(method: String, route: String) {
            self.method = method
            self.route = route
        }

        static let other = Route(method: "", route: "other")

        /// The method and the route: `GET users/{}`.
        public var name: String { method.isEmpty ? route : "\(method) \(route)" }
        /// The number of failed requests, without cancelled ones.
        public var failureCount: Int {
            failures.reduce(0) { $1.key == SluiceError.Code.cancelled.description ? $0 : $0 &+ $1.value }
        }

        /// Adds the counts of another route.
        mutating func merge(_ other: Route) {
            requests &+= other.requests
            attempts &+= other.attempts
            retries &+= other.retries
            hedges &+= other.hedges
            redirects &+= other.redirects
            failures.merge(other.failures) { $0 &+ $1 }
            statuses.merge(other.statuses)
            bytesSent &+= other.bytesSent
            bytesReceived &+= other.bytesReceived
            latency.merge(other.latency)
            phases.merge(other.phases)
        }

        mutating func finish(after nanoseconds: UInt64, _ response: ServerResponse) {
            requests &+= 1
            attempts &+= 1
            latency.record(nanoseconds: nanoseconds)
            statuses.count(response.head.status)
            count(response.metrics)
        }

        mutating func finish(after nanoseconds: UInt64, _ error: SluiceError) {
            requests &+= 1
            attempts &+= error.step == .building ? 0 : 1
            failures[error.code.description, default: 0] += 1
            if let status = error.response?.status { statuses.count(status) }
            // A cancelled request says nothing about the server's latency.
            if !error.isCancellation { latency.record(nanoseconds: nanoseconds) }
        }

        /// Counts the phases and the bytes of a transfer. Phases that did not occur are left out.
        mutating func count(_ metrics: TransferMetrics) {
            bytesSent &+= metrics.bytesSent
            bytesReceived &+= metrics.bytesReceived
            // A stub or a stored response involves no transfer.
            guard metrics.total > .zero else { return }
            let queued = metrics.queued.nanoseconds
            let lookedUp = metrics.nameLookup.nanoseconds
            let connected = metrics.connect.nanoseconds
            let secured = metrics.tls.nanoseconds
            let firstByte = metrics.firstByte.nanoseconds
            let total = metrics.total.nanoseconds
            phases.queue.record(nanoseconds: queued)
            if connected > 0 {
                phases.nameLookup.record(nanoseconds: lookedUp)
                phases.connect.record(nanoseconds: connected - min(connected, lookedUp))
                if secured > 0 { phases.tls.record(nanoseconds: secured - min(secured, connected)) }
            }
            phases.wait.record(nanoseconds: firstByte - min(firstByte, max(connected, secured)))
            phases.download.record(nanoseconds: total - min(total, firstByte))
        }
    }

    /// The number of responses by status class.
    public struct Statuses: Sendable, Hashable, Codable {
        /// The number of 2xx responses.
        public var success = 0
        /// The number of 3xx responses.
        public var redirection = 0
        /// The number of 4xx responses.
        public var clientError = 0
        /// The number of 5xx responses.
        public var serverError = 0
        /// The number of other responses.
        public var other = 0

        mutating func count(_ status: HTTPStatus) {
            switch status.class {
            case .success: success &+= 1
            case .redirection: redirection &+= 1
            case .clientError: clientError &+= 1
            case .serverError: serverError &+= 1
            case .informational, .unknown: other &+= 1
            }
        }

        mutating func merge(_ other: Statuses) {
            success &+= other.success
            redirection &+= other.redirection
            clientError &+= other.clientError
            serverError &+= other.serverError
            self.other &+= other.other
        }
    }

    /// The durations of the phases of requests. A request counts only in the phases that it had.
    public struct Phases: Sendable, Hashable, Codable {
        /// The time spent waiting for gates, per attempt; recorded only with `measuresGates`.
        public var gates = LatencyHistogram()
        /// The time in the engine's queue.
        public var queue = LatencyHistogram()
        /// The time to resolve the host name, for new connections.
        public var nameLookup = LatencyHistogram()
        /// The time to connect, for new connections.
        public var connect = LatencyHistogram()
        /// The time of the TLS handshake, for new connections.
        public var tls = LatencyHistogram()
        /// The time from the connection to the first byte of the response: sending the request, and the server's
        /// processing.
        public var wait = LatencyHistogram()
        /// The time from the first byte to the last.
        public var download = LatencyHistogram()

        mutating func merge(_ other: Phases) {
            gates.merge(other.gates)
            queue.merge(other.queue)
            nameLookup.merge(other.nameLookup)
            connect.merge(other.connect)
            tls.merge(other.tls)
            wait.merge(other.wait)
            download.merge(other.download)
        }
    }
}

// MARK: - Metrics snapshot

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
        /// The number of requests that had begun and not ended; nil without `countsInFlight`.
        public var inFlight: Int?
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

// MARK: - Metrics ledger

/// The metrics counted so far, by route.
struct MetricsLedger {
    /// The key that identifies the route of a request. The route is derived from the path, once per path.
    private struct Kind: Hashable {
        let method: HTTPMethod
        let route: String?
        let path: String
    }

    /// The maximum number of cached paths, because an API may have a path for each user. The cache is cleared when it
    /// is full.
    private static let maximumKinds = 4096

    private let maximumRoutes: Int
    private var since: Date
    private var accounts: [RequestMetrics.Route] = []
    private var accountsByName: [String: Int] = [:]
    private var accountsByKind: [Kind: Int] = [:]
    /// The last look-up, because most requests are of the same kind as the previous one.
    private var last: (kind: Kind, account: Int)?
    /// The requests that have begun and not ended. A request that could not be built has not begun.
    var inFlight: Set<RequestID> = []
    var gates = GateTimes()

    init(maximumRoutes: Int, since: Date) {
        self.maximumRoutes = maximumRoutes
        self.since = since
    }

    mutating func finish(_ request: ObservedRequest, _ outcome: Result<ServerResponse, SluiceError>) {
        let account = account(of: request)
        end(request)
        switch outcome {
        case .success(let response): accounts[account].finish(after: request.elapsed.nanoseconds, response)
        case .failure(let error): accounts[account].finish(after: request.elapsed.nanoseconds, error)
        }
        endGates(request, account)
    }

    mutating func retry(_ request: ObservedRequest) {
        let account = account(of: request)
        accounts[account].retries += 1
        accounts[account].attempts += 1
        endGates(request, account)
    }

    mutating func hedge(_ request: ObservedRequest) {
        let account = account(of: request)
        accounts[account].hedges += 1
        accounts[account].attempts += 1
    }

    mutating func redirect(_ request: ObservedRequest) {
        accounts[account(of: request)].redirects += 1
    }

    private mutating func end(_ request: ObservedRequest) {
        if !inFlight.isEmpty { inFlight.remove(request.id) }
    }

    private mutating func endGates(_ request: ObservedRequest, _ account: Int) {
        guard !gates.isEmpty, let duration = gates.take(request.id) else { return }
        accounts[account].phases.gates.record(duration)
    }

    mutating func reset(since date: Date) {
        since = date
        accounts = []
        accountsByName = [:]
        accountsByKind = [:]
        last = nil
    }

    func snapshot(at date: Date, hasInFlight: Bool) -> RequestMetrics.Snapshot {
        RequestMetrics.Snapshot(
            since: since,
            date: date,
            inFlight: hasInFlight ? inFlight.count : nil,
            routes: accounts.sorted { $0.name < $1.name }
        )
    }

    private mutating func account(of request: ObservedRequest) -> Int {
        // Compared without copying, because a copy would cost more than the rest.
        let subject = request.subject
        if let last, last.kind.path == subject.draft.path, last.kind.method == subject.draft.method,
            last.kind.route == subject.draft.route
        {
            return last.account
        }
        let kind = Kind(method: subject.draft.method, route: subject.draft.route, path: subject.draft.path)
        let account = accountsByKind[kind] ?? open(kind, request.route)
        last = (kind, account)
        return account
    }

    private mutating func open(_ kind: Kind, _ route: String) -> Int {
        var account = RequestMetrics.Route(method: kind.method.rawValue, route: route)
        if accountsByName[account.name] == nil && accountsByName.count >= max(0, maximumRoutes) { account = .other }
        let number = accountsByName[account.name] ?? accounts.count
        if number == accounts.count {
            accountsByName[account.name] = number
            accounts.append(account)
        }
        if accountsByKind.count >= MetricsLedger.maximumKinds { accountsByKind = [:] }
        accountsByKind[kind] = number
        return number
    }
}

/// The times that requests wait at gates. A request may wait at several gates at once; the time counts from the first
/// to the last.
struct GateTimes {
    private var spans: [RequestID: (first: ContinuousClock.Instant, last: ContinuousClock.Instant)] = [:]

    var isEmpty: Bool { spans.isEmpty }

    mutating func begin(_ request: ObservedRequest) {
        if spans[request.id] == nil { spans[request.id] = (request.instant, request.instant) }
    }

    mutating func end(_ request: ObservedRequest) {
        spans[request.id]?.last = request.instant
    }

    /// Returns the waiting time of the attempt that has ended; nil if it waited at no gate.
    mutating func take(_ request: RequestID) -> Duration? {
        spans.removeValue(forKey: request).map { $0.first.duration(to: $0.last) }
    }
}
