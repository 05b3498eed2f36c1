import SluiceFoundation
import SluiceHTTP
import Synchronization

/// The requests that share one transfer with an equal request in progress.
///
/// ```swift
/// let feed = APIClient(baseURL: url) { $0.sharing = .safeMethods.ignoring("X-Request-ID") }
/// ```
///
/// Requests of a client are equal if their method, URL, significant headers and body are equal when they are built.
/// This is before any gate, so requests that share pass the gates once. Each caller decodes its own model from the same
/// bytes and can be cancelled on its own; the transfer stops when the last caller is cancelled. Requests that join
/// later use the time-outs of the first, counted from when it was sent, and observers see one request.
///
/// The endpoint, the route, `userInfo`, the headers to compare and the options for time-outs, limits, cookies,
/// credentials, priority, networks, tags, idempotency and gates must be equal too. The following are never shared:
/// requests with their own interceptors, plugins, observers, retries, hedging, redirects or caching; requests with a
/// `userInfo` value that is not `Hashable`; requests whose token a closure supplies, such as ``SuppliedToken``;
/// requests answered by a stub, or by a ``DataSource`` that reads the cache first; bodies from files and streams;
/// downloads; and streamed responses. Requests before and after a sign-in or sign-out of an ``OAuth2`` gate do not
/// share. When a request with an unsafe method ends, later requests do not join transfers that started before, so they
/// see its changes.
public struct RequestSharing: Sendable, Hashable {
    private enum Methods: Sendable, Hashable {
        case none, safe, all
    }

    fileprivate enum Fields: Sendable, Hashable {
        case only(Set<HTTPHeaderName>)
        case except(Set<HTTPHeaderName>)
    }

    private let methods: Methods
    /// The headers to compare.
    fileprivate var fields = Fields.except([])

    private init(_ methods: Methods) {
        self.methods = methods
    }

    /// No request shares a transfer.
    public static let none = RequestSharing(.none)
    /// Requests with safe methods share: GET, HEAD, OPTIONS and TRACE (RFC 9110 §9.2.1).
    public static let safeMethods = RequestSharing(.safe)
    /// Requests of any method share: two equal requests at the same time are sent once.
    public static let allMethods = RequestSharing(.all)

    /// Returns a copy that does not compare these headers either, for example a request ID or a trace.
    ///
    /// `Authorization`, `Cookie`, `Proxy-Authorization` and the client's ``APIClient/Configuration/secretHeaders`` are
    /// always compared.
    public func ignoring(_ names: HTTPHeaderName...) -> RequestSharing {
        switch fields {
        case .except(let others): comparing(.except(others.union(names)))
        case .only(let others): comparing(.only(others.subtracting(names)))
        }
    }

    /// Returns a copy that compares only these headers and those that hold secrets.
    public func comparing(only names: HTTPHeaderName...) -> RequestSharing { comparing(.only(Set(names))) }

    private func comparing(_ fields: Fields) -> RequestSharing {
        var copy = self
        copy.fields = fields
        return copy
    }

    /// Returns true if requests with a method share transfers.
    func covers(_ method: HTTPMethod) -> Bool {
        switch methods {
        case .none: false
        case .safe: method.isSafe
        case .all: true
        }
    }

    /// Returns the headers that must be equal.
    func significant(of headers: HTTPHeaders, secrets: [HTTPHeaderName]) -> HTTPHeaders {
        let hidden = HTTPHeaderName.credentialFields + secrets
        switch fields {
        case .except(let names):
            var rest = headers
            for name in names where !hidden.contains(name) { rest.remove(name) }
            return rest
        case .only(let names):
            var chosen = HTTPHeaders()
            for field in headers where names.contains(field.name) || hidden.contains(field.name) {
                chosen.append(field)
            }
            return chosen
        }
    }
}

extension ModifiableRequest {
    /// Lets the request share a transfer with an equal one that is in progress. Overrides the client's
    /// ``APIClient/Configuration/sharing``.
    ///
    /// ```swift
    /// let report = client.post("reports", as: Report.self).json(query).shared()
    /// ```
    ///
    /// Both requests must allow sharing, by this option or by their client's.
    ///
    /// - Parameter sharing: The methods that share and the headers to compare; all methods by default.
    ///   ``RequestSharing/none`` sends the request on its own.
    /// - Returns: A copy that shares.
    public consuming func shared(_ sharing: RequestSharing = .allMethods) -> Self {
        modified { $0.options.sharing = sharing }
    }
}

/// The properties that must match for requests of a client to be equal.
struct SharedTransferKey: Hashable {
    private let method: HTTPMethod
    private let scheme: String
    private let authority: String
    private let path: String
    /// The significant headers as they are sent.
    private let headers: [UInt8]
    private let body: Data?
    private let timeoutChanges: [TimeoutChange]
    private let rules: Rules
    /// The headers that both callers compare.
    private let fields: RequestSharing.Fields
    /// The owners of the tokens that gates add.
    private let owners: [Int]
    /// A part of the identity of the cookie jar, whose cookies the transport adds; nil for none.
    private let jar: UInt64?

    /// The options of a request that affect its transfer.
    private struct Rules: Hashable {
        let tags: Set<String>
        let userInfo: ComparableUserInfo
        let route: String?
        let endpoint: ComparableEndpoint
        let priority: RequestPriority
        let networkAccess: NetworkAccess
        let usesCookies: Bool
        let credentials: ChallengeCredentials??
        let isIdempotent: Bool?
        let skippedGates: Set<String>
        let skippedTypes: Set<ObjectIdentifier>
        let skipsAllGates: Bool
        /// Nil for the client's time-outs.
        let timeouts: Timeouts?
        let limits: ResponseLimits?

        /// Creates rules; nil if a value of the request's own cannot be compared.
        init?(_ options: borrowing RequestOptions, _ configuration: borrowing APIClient.Configuration) {
            guard let userInfo = ComparableUserInfo(options.userInfo) else { return nil }
            self.userInfo = userInfo
            tags = options.tags
            route = options.route
            endpoint = ComparableEndpoint(options.endpoint)
            priority = options.priority
            networkAccess = options.networkAccess
            usesCookies = options.usesCookies
            credentials = options.credentials
            isIdempotent = options.isIdempotent
            skippedGates = options.steps.skippedGates
            skippedTypes = options.steps.skippedTypes
            skipsAllGates = options.steps.skipsAllGates
            timeouts = options.timeouts.isChanged ? options.timeouts.applied(to: configuration.timeouts) : nil
            limits = options.limits.isChanged ? options.limits.applied(to: configuration.limits) : nil
        }
    }

    /// Creates a key; nil for a request that shares no transfer.
    ///
    /// - Parameters:
    ///   - request: The request as it is built.
    ///   - draft: The draft that it was built from.
    ///   - pipeline: The pipeline that it would pass through.
    init?(_ request: borrowing HTTPRequest, _ draft: borrowing RequestDraft, _ pipeline: borrowing Pipeline) {
        let sharing = draft.options.sharing ?? pipeline.sharing
        guard sharing.covers(request.method), !draft.options.changesSteps, !draft.options.caching.isChanged,
            !pipeline.isStubbed(draft), !pipeline.steps.suppliesTokens
        else { return nil }
        switch request.body.source {
        case .none: body = nil
        case .data(let data): body = data
        case .file, .stream, .deferred, .encoded: return nil
        }
        // A request that a gate or an interceptor sends for a shared transfer could otherwise join that transfer and
        // wait for itself.
        guard !SharedTransfers.current.contains(where: { $0.isActive(of: pipeline.transfers) }) else { return nil }
        guard
            pipeline.steps.gates.isEmpty
                || GateBypass.current.isEmpty && InterceptorNesting.innermostActive?.holdsSlots != true
        else { return nil }
        method = request.method
        scheme = request.scheme
        authority = request.authority
        path = request.path
        timeoutChanges = request.timeoutChanges
        headers = sharing.significant(of: request.headers, secrets: pipeline.steps.secretHeaders).bytes
        fields = sharing.fields
        owners = pipeline.steps.tokenGates.map(\.owner)
        jar = draft.options.usesCookies ? pipeline.configuration.cookies?.id.0 : nil
        guard let rules = Rules(draft.options, pipeline.configuration) else { return nil }
        self.rules = rules
    }

    /// Hashes the properties that usually differ between requests.
    func hash(into hasher: inout Hasher) {
        hasher.combine(path)
        hasher.combine(authority)
        hasher.combine(method)
        headers.withUnsafeBytes { hasher.combine(bytes: $0) }
        hasher.combine(body)
    }
}

/// The endpoint of a request, which steps may read. Two endpoints of a type that cannot be compared are equal if their
/// requests are.
private struct ComparableEndpoint: Hashable, Sendable {
    private let endpoint: (any Endpoint)?

    init(_ endpoint: (any Endpoint)?) {
        self.endpoint = endpoint
    }

    static func == (one: Self, other: Self) -> Bool {
        guard let first = one.endpoint, let second = other.endpoint else {
            return one.endpoint == nil && other.endpoint == nil
        }
        guard type(of: first) == type(of: second) else { return false }
        guard let value = hashable(first), let otherValue = hashable(second) else { return true }
        return value == otherValue
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(endpoint == nil)
    }
}

/// The values of a request's own, if all of them can be compared.
private struct ComparableUserInfo: Hashable, Sendable {
    private let values: [String: any Sendable]

    init?(_ values: [String: any Sendable]) {
        guard values.values.allSatisfy({ hashable($0) != nil }) else { return nil }
        self.values = values
    }

    static func == (one: Self, other: Self) -> Bool {
        one.values.count == other.values.count
            && one.values.allSatisfy { key, value in other.values[key].map(hashable) == hashable(value) }
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(values.count)
    }
}

/// Returns a value in a form that can be compared; nil if its type is not hashable.
private func hashable(_ value: any Sendable) -> AnyHashable? {
    (value as? any Hashable).map { AnyHashable($0) }
}

/// An interceptor that adds a token to requests.
protocol TokenSupplying {
    /// True if a closure returns the token of each request, so that equal requests may be those of different users.
    var suppliesTokens: Bool { get }
}

/// A gate whose token belongs to a user who can sign out.
protocol TokenOwning: Sendable {
    /// The number of times that the token may have got another owner.
    var owner: Int { get }
    /// A number that each sign-in and sign-out of the program increases.
    var session: Int { get }

    /// True if a client's request goes to an origin that may receive the token.
    func mayAuthorize(_ request: HTTPRequest, of pipeline: Pipeline) -> Bool
}

// MARK: - Shared transfers

/// The transfers of a client that equal requests can join.
final class SharedTransfers: Sendable {
    /// Starts a transfer on the calling thread and returns an action that stops it. The transfer reports its progress
    /// to the meter and calls the completion once with its outcome.
    typealias Begin =
        @Sendable (TransferMeter, @escaping CallerContext, @escaping @Sendable (CallOutcome) -> Void)
        -> SingleFlight<CallOutcome>.Stop

    private struct Transfer: Sendable {
        let number: Int
        let flight: SingleFlight<CallOutcome>
        let meter: TransferMeter
    }

    private struct State {
        var transfers: [SharedTransferKey: Transfer] = [:]
        var lastNumber = 0
    }

    /// A transfer that tasks work for, until it ends.
    final class Scope: Sendable {
        private let transfers: SharedTransfers
        private let hasEnded = Atomic(false)

        init(of transfers: SharedTransfers) {
            self.transfers = transfers
        }

        var isActive: Bool { !hasEnded.load(ordering: .relaxed) }

        func isActive(of transfers: SharedTransfers) -> Bool { self.transfers === transfers && isActive }

        func end() {
            hasEnded.store(true, ordering: .relaxed)
        }
    }

    /// The transfers that the current task works for. A request sent by this task must not join them, because it would
    /// wait for itself.
    @TaskLocal static var current: [Scope] = []

    private let state = Locked(State())

    /// Joins the transfer in progress, or starts one. Needs no task.
    ///
    /// - Parameters:
    ///   - key: The key that equal requests share.
    ///   - meter: Follows the progress of the transfer, even if another caller started it.
    ///   - clock: The clock that measures speeds.
    ///   - caller: Runs parts of the transfer on behalf of this caller.
    ///   - completion: Called once with the outcome, on any thread; with a cancellation if the caller leaves.
    ///   - begin: Starts the transfer.
    /// - Returns: An action by which the caller leaves. The transfer stops when the last caller leaves.
    func join(
        _ key: SharedTransferKey,
        _ meter: TransferMeter?,
        clock: any SluiceClock,
        caller: @escaping CallerContext,
        completion: @escaping @Sendable (CallOutcome) -> Void,
        _ begin: @escaping Begin
    ) -> SingleFlight<CallOutcome>.Stop {
        while true {
            let transfer = transfer(key, clock, begin)
            // Before joining, because the transfer may end at once.
            meter?.follow(transfer.meter)
            if let leave = transfer.flight.join(caller: caller, { completion($0 ?? .cancelled) }) { return leave }
            // All callers left the transfer after it was looked up.
            remove(key, transfer.number)
        }
    }

    private func transfer(_ key: SharedTransferKey, _ clock: any SluiceClock, _ begin: @escaping Begin) -> Transfer {
        state.withLock { state in
            if let known = state.transfers[key] { return known }
            state.lastNumber += 1
            let number = state.lastNumber
            let meter = TransferMeter(clock: clock)
            let scope = Scope(of: self)
            let flight = SingleFlight(cancelled: CallOutcome.cancelled) { [self] flight in
                let finish: @Sendable (CallOutcome) -> Void = { [self] callOutcome in
                    scope.end()
                    // Requests from now on need a new response.
                    remove(key, number)
                    meter.end(after: callOutcome.outcome)
                    let shared = CallOutcome(callOutcome.outcome, callOutcome.call, isShared: true)
                    if flight.complete(shared) { return }
                    callOutcome.call?.finish(unread: callOutcome.outcome)
                    callOutcome.call?.notifyPlugins(unread: callOutcome.outcome)
                }
                let caller = flight.caller
                let stop = Self.perform(in: scope) {
                    begin(meter, { job in caller { Self.perform(in: scope, job) } }, finish)
                }
                return { [self] in
                    remove(key, number)
                    stop()
                }
            }
            let transfer = Transfer(number: number, flight: flight, meter: meter)
            state.transfers[key] = transfer
            return transfer
        }
    }

    /// Runs a part of a shared transfer without the deadline of the caller that started it. Each caller waits until its
    /// own deadline.
    private static func perform<Value>(in scope: Scope, _ work: () -> Value) -> Value {
        Deadline.$current.withValue(nil) { $current.withValue(current.filter(\.isActive) + [scope], operation: work) }
    }

    private func remove(_ key: SharedTransferKey, _ number: Int) {
        state.withLock { state in
            if state.transfers[key]?.number == number { state.transfers[key] = nil }
        }
    }

    /// The number of callers that wait for transfers that can be joined.
    var waiting: Int {
        state.withLock { $0.transfers.values.reduce(0) { $0 + $1.flight.waiting } }
    }

    /// Prevents later requests from joining the transfers in progress, because data may have changed.
    func removeAll() {
        state.withLock { state in
            if !state.transfers.isEmpty { state.transfers.removeAll() }
        }
    }
}

/// Waits for a shared transfer until a deadline. The transfer continues for callers that have more time.
final class BoundedWait: Sendable {
    private struct State {
        var completion: (@Sendable (CallOutcome) -> Void)?
        var timer: Task<Void, Never>?
    }

    /// True while a caller leaves because its deadline has passed.
    @TaskLocal static var isDeadlineOver = false

    private let leave = DeferredStop()
    private let state: Locked<State>

    /// Creates a wait.
    ///
    /// - Parameter completion: Called once, with the outcome of the transfer, or with a time-out.
    init(_ completion: @escaping @Sendable (CallOutcome) -> Void) {
        state = Locked(State(completion: completion))
    }

    /// Starts the wait.
    ///
    /// - Parameters:
    ///   - limit: The time to wait, above zero.
    ///   - clock: The clock that measures it.
    ///   - request: The request of the waiting caller.
    ///   - join: Joins the transfer, and returns an action that leaves it.
    /// - Returns: An action by which the caller leaves early.
    func begin(
        within limit: Duration,
        on clock: any SluiceClock,
        for request: HTTPRequest,
        _ join: (@escaping @Sendable (CallOutcome) -> Void) -> SingleFlight<CallOutcome>.Stop
    ) -> SingleFlight<CallOutcome>.Stop {
        let timer = Task { [self] in
            do { try await clock.sleep(for: limit) } catch { return }
            guard finish(with: .deadlinePassed(request)) else { return }
            Self.$isDeadlineOver.withValue(true) { leave.stop() }
        }
        state.withLock { $0.timer = timer }
        leave.set(join { [self] in finish(with: $0) })
        return { [self] in leave.stop() }
    }

    @discardableResult
    private func finish(with callOutcome: CallOutcome) -> Bool {
        let before = state.exchange(State())
        before.timer?.cancel()
        before.completion?(callOutcome)
        return before.completion != nil
    }
}

extension CallOutcome {
    fileprivate static func deadlinePassed(_ request: HTTPRequest) -> CallOutcome {
        let error = SluiceError(
            .timedOut,
            "The request's deadline passed before the response that it shares with an equal request was received.",
            request: request
        )
        return CallOutcome(.failure(error))
    }
}
