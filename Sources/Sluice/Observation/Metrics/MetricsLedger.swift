import SluiceFoundation
import SluiceHTTP

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
    private var missed = 0
    private var accounts: [RequestMetrics.Route] = []
    private var accountsByName: [String: Int] = [:]
    private var accountsByKind: [Kind: Int] = [:]
    /// The last lookup, because most requests are of the same kind as the previous one.
    private var last: (kind: Kind, account: Int)?
    var inFlight = 0
    var gates = GateTimes()

    init(maximumRoutes: Int, since: Date) {
        self.maximumRoutes = maximumRoutes
        self.since = since
    }

    mutating func finish(_ request: ObservedRequest, _ response: ServerResponse) {
        let account = account(of: request)
        if inFlight > 0 { inFlight -= 1 }
        accounts[account].finish(after: request.elapsed.nanoseconds, response)
        endGates(request, account)
    }

    mutating func finish(_ request: ObservedRequest, _ error: SluiceError) {
        let account = account(of: request)
        if inFlight > 0 { inFlight -= 1 }
        accounts[account].finish(after: request.elapsed.nanoseconds, error)
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

    private mutating func endGates(_ request: ObservedRequest, _ account: Int) {
        guard !gates.isEmpty, let duration = gates.take(request.id) else { return }
        accounts[account].phases.gates.record(duration)
    }

    mutating func miss(_ count: Int) {
        missed += count
        gates = GateTimes()
    }

    mutating func reset(since date: Date) {
        since = date
        missed = 0
        accounts = []
        accountsByName = [:]
        accountsByKind = [:]
        last = nil
    }

    func snapshot(at date: Date, hasInFlight: Bool) -> RequestMetrics.Snapshot {
        RequestMetrics.Snapshot(
            since: since,
            date: date,
            inFlight: hasInFlight ? inFlight : nil,
            missedEvents: missed,
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
