import SluiceHTTP

/// Stops requests to a host after too many of them have failed. They fail at once until a few trials succeed.
///
/// ```swift
/// let breaker = CircuitBreaker(failureRatio: 0.5, openFor: .seconds(10))
/// let client = APIClient(baseURL: url) { $0.gates = [breaker] }
/// ```
///
/// A circuit starts closed. It opens when enough requests of the last 30 seconds have failed. While it is open,
/// requests fail with ``SluiceError/Code/circuitOpen``, and the ``GateRefusal`` gives the time until the next trial.
/// After a time the circuit is half-open and admits a few requests as trials. If they succeed it closes. If one fails
/// it opens again. A cancelled trial makes room for another and counts as neither.
///
/// ``classification(of:)`` decides which outcomes are failures, unless another closure is given. A host that answers
/// with a redirect counts as a success. The target's outcome does not count for it. Clients that are given the same
/// breaker share it.
public final class CircuitBreaker: ImmediateGate {
    /// The state of a circuit.
    public enum State: Sendable, Equatable {
        /// Requests are admitted.
        case closed
        /// Requests fail until this time.
        case open(until: ContinuousClock.Instant)
        /// A few requests are admitted as trials.
        case halfOpen
    }

    /// A change of a circuit's state.
    public struct Change: Sendable, Equatable {
        /// The host, with its port if it is not the scheme's default, or the key that the scope's closure returned.
        /// Empty for the circuit of a whole client.
        public let key: String
        /// The new state.
        public let state: State
    }

    private struct Record {
        var circuits: Circuits
        var watchers: [Int: AsyncStream<Change>.Continuation] = [:]
        var observers: [@Sendable (Change, ContinuousClock.Instant) -> Void] = []
        var lastID = 0
        /// The changes that have not been reported to the watchers.
        var unreported: [Change] = []
        /// True while a thread reports a change to the watchers.
        var isReporting = false

        mutating func add(_ key: String, _ state: State?) {
            if let state, !watchers.isEmpty { unreported.append(Change(key: key, state: state)) }
        }

        /// Adds a change that the requests of this breaker have caused.
        mutating func add(_ key: String, _ state: State?, now: ContinuousClock.Instant) {
            add(key, state)
            guard let state else { return }
            for observer in observers { observer(Change(key: key, state: state), now) }
        }
    }

    /// The name by which requests opt out of the gate.
    public let name: String
    private let scope: GateScope
    private let classify: @Sendable (TransportOutcome) -> Classification
    private let record: Locked<Record>

    /// Creates a circuit breaker.
    ///
    /// - Parameters:
    ///   - failureRatio: The ratio of failed requests, 0 to 1, at which a circuit opens; 0.5 by default.
    ///   - minimumRequests: The number of requests in the window before a circuit can open; 20 by default.
    ///   - window: The time in which requests are counted; 30 seconds by default. Outcomes expire
    ///     a tenth of it at a time.
    ///   - openFor: The time a circuit stays open; 5 seconds by default.
    ///   - growth: The factor by which that time grows each time a trial fails, at least 1; 1 by default.
    ///   - maximumOpenFor: The longest time a circuit stays open; 60 seconds by default.
    ///   - trials: The number of trials that must succeed before a circuit closes, and that may
    ///     run at once; 3 by default. Another trial is admitted if none has begun for `openFor`, or for a
    ///     second if `openFor` is shorter.
    ///   - scope: The requests that share a circuit; those to one host by default.
    ///   - name: The name, `CircuitBreaker` by default. A request that opts out of a name opts
    ///     out of all gates with it.
    ///   - classify: Called with each outcome; returns its classification. It must not block.
    public init(
        failureRatio: Double = 0.5,
        of minimumRequests: Int = 20,
        within window: Duration = .seconds(30),
        openFor: Duration = .seconds(5),
        growth: Double = 1,
        upTo maximumOpenFor: Duration = .seconds(60),
        trials: Int = 3,
        per scope: GateScope = .host,
        named name: String = "CircuitBreaker",
        classify: @escaping @Sendable (TransportOutcome) -> Classification = { classification(of: $0) }
    ) {
        self.name = name
        self.scope = scope
        self.classify = classify
        let policy = Circuit.Policy(
            failureRatio: failureRatio,
            minimumRequests: minimumRequests,
            window: window,
            openFor: openFor,
            growth: growth,
            maximumOpenFor: maximumOpenFor,
            trials: trials
        )
        record = Locked(Record(circuits: Circuits(policy)))
    }

    deinit {
        for watcher in record.withLock({ Array($0.watchers.values) }) { watcher.finish() }
    }

    /// Returns the state of a circuit. An open circuit becomes half-open with the first request after its time is up.
    ///
    /// - Parameter key: The host, with its port if it is not the scheme's default, or the key that the scope's closure
    ///   returns. Nil, the default, for all circuits: open until the latest time if one is open, half-open if one is, and
    ///   otherwise closed. A circuit without further requests stays open past its time.
    /// - Returns: The state; closed for a key without requests.
    public func state(for key: String? = nil) -> State {
        record.withLock { $0.circuits.state(key) }
    }

    /// Returns the future changes of all circuits, in order.
    ///
    /// - Returns: A new stream, which ends when the breaker is deallocated. It buffers the newest 100 changes.
    public func changes() -> AsyncStream<Change> {
        let (stream, continuation) = AsyncStream.makeStream(of: Change.self, bufferingPolicy: .bufferingNewest(100))
        let id = record.withLock { record in
            record.lastID += 1
            record.watchers[record.lastID] = continuation
            return record.lastID
        }
        continuation.onTermination = { [weak self] _ in
            self?.record.withLockReleasing { $0.watchers.removeValue(forKey: id) }
        }
        return stream
    }

    var watcherCount: Int { record.withLock { $0.watchers.count } }

    /// Admits a request unless the circuit is open, or half-open with all its trials begun recently.
    public func admitImmediately(_ request: RequestContext) -> Permit? {
        guard let key = scope.key(for: request) else { return Permit() }
        guard case .admitted(let ticket) = admission(key, request.client.pipeline.clock.now) else { return nil }
        return permit(key, ticket, request)
    }

    /// Admits a request or fails it at once. Never waits.
    public func admit(_ request: RequestContext) async throws(SluiceError) -> Permit {
        guard let key = scope.key(for: request) else { return Permit() }
        switch admission(key, request.client.pipeline.clock.now) {
        case .admitted(let ticket): return permit(key, ticket, request)
        case .refused(let delay): throw .circuitOpen(name, delay)
        }
    }

    private func admission(_ key: String, _ now: ContinuousClock.Instant) -> Circuit.Admission {
        let (admission, state) = record.withLock { record in
            let result = record.circuits.admit(key, now: now)
            record.add(key, result.1, now: now)
            return result
        }
        if state != nil { report() }
        return admission
    }

    /// Reports changes to the watchers in order. Outside the lock, because a task that is resumed may use the breaker, and a task that is
    /// being cancelled calls `onTermination` under a lock of its own, which its resumption needs.
    private func report() {
        while true {
            let next: (Change, [AsyncStream<Change>.Continuation])? = record.withLock { record in
                if record.isReporting || record.unreported.isEmpty { return nil }
                record.isReporting = true
                return (record.unreported.removeFirst(), Array(record.watchers.values))
            }
            guard let (change, watchers) = next else { return }
            for watcher in watchers { watcher.yield(change) }
            record.withLock { $0.isReporting = false }
        }
    }

    private func permit(_ key: String, _ ticket: Circuit.Ticket, _ request: RequestContext) -> Permit {
        Permit(onOutcome: { [self] outcome in
            let classification = isAnswered(elsewhere: outcome, key, request) ? .success : classify(outcome)
            let now = request.client.pipeline.clock.now
            let state = record.withLock { record in
                let state = record.circuits.settle(key, ticket, classification, now: now)
                record.add(key, state, now: now)
                return state
            }
            if state != nil { report() }
            return .settled
        })
    }
}

extension CircuitBreaker {
    /// Calls a closure with each change that the requests of this breaker cause, and its time.
    ///
    /// - Parameter observer: Called under the lock of the breaker, which it must not use. It must not block.
    package func observe(_ observer: @escaping @Sendable (Change, ContinuousClock.Instant) -> Void) {
        record.withLock { $0.observers.append(observer) }
    }

    /// Opens a circuit that another process has opened. Does nothing if it is open or half-open, or if its trials have
    /// closed it within the longest time for which this breaker opens.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - duration: The time for which it stays open, limited to the longest time of this breaker.
    ///   - now: The current time.
    package func open(_ key: String, for duration: Duration, now: ContinuousClock.Instant) {
        record.withLock { record in
            let state = record.circuits.open(key, for: duration, now: now)
            record.add(key, state)
        }
        report()
    }

    /// Returns the key of the circuit of a request; nil for a request without a circuit.
    package func key(for request: RequestContext) -> String? { scope.key(for: request) }

    /// True if the outcome comes from another host than the one whose circuit has this key, which has redirected there.
    private func isAnswered(elsewhere outcome: TransportOutcome, _ key: String, _ request: RequestContext) -> Bool {
        guard let answered = outcome.request else { return false }
        return scope.key(key, of: request, answeredBy: answered) != key
    }

    /// The meaning of an outcome for the health of the server.
    public enum Classification: Sendable {
        /// The server works.
        case success
        /// The server does not work.
        case failure
        /// The outcome says nothing about the server.
        case ignored
    }

    /// Returns the default classification of an outcome.
    ///
    /// A 5xx response is a failure, and so is a missing response: no connection, a time-out, invalid HTTP. Any
    /// other response is a success, 429 included. An outcome is ignored if the request was cancelled, was never
    /// sent, or failed on the caller's side: an invalid request, a body that cannot be read, a limit on the
    /// response, a refused redirect.
    ///
    /// - Parameter outcome: The outcome of a request.
    /// - Returns: The classification.
    public static func classification(of outcome: TransportOutcome) -> Classification {
        switch outcome {
        case .success(let response): classification(of: response.head)
        case .failure(let error): classification(of: error)
        }
    }

    private static func classification(of head: HTTPResponse) -> Classification {
        head.status.class == .serverError ? .failure : .success
    }

    private static func classification(of error: SluiceError) -> Classification {
        switch error.step {
        case .transport, .recovery:
            if clientSideCodes.contains(error.code) { return .ignored }
            // The client's own decision about a redirect, with an error of its own.
            let isRefusedRedirect = error.step == .recovery && error.response?.status.class == .redirection
            return isRefusedRedirect ? .ignored : .failure
        case .responseInterceptor, .validation, .file, .serialization:
            return error.response.map(classification(of:)) ?? .ignored
        case .building, .gate, .requestInterceptor, .cache:
            return .ignored
        }
    }

    /// The codes that say nothing about the server.
    private static let clientSideCodes: Set<SluiceError.Code> = [
        .cancelled, .invalidURL, .unsupportedScheme, .invalidHeader, .invalidMethod, .buildingFailed, .encodingFailed,
        .bodyUnavailable, .bodyLengthMismatch, .bodyNotReplayable, .headersTooLarge, .bodyTooLarge, .tooManyRedirects,
        .redirectLoop, .redirectRefused, .hostRefused, .addressRefused, .invalidConfiguration, .unsupported,
        .internalFailure, .interceptorFailed, .gateFailed, .queueFull,
    ]
}

extension SluiceError {
    fileprivate static func circuitOpen(_ gate: String, _ delay: Duration?) -> SluiceError {
        let next =
            delay.map { "the next request is allowed in \($0.textRoundedUp)" }
            ?? "trial requests are in progress"
        let reason = "The circuit is open because too many requests have failed; \(next)."
        return refused(.circuitOpen, by: gate, after: delay, reason)
    }
}
