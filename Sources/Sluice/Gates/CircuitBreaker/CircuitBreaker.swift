import SluiceHTTP

/// Sends no more requests to a host that fails them: they fail at once instead, until a few trials succeed.
///
/// ```swift
/// let breaker = CircuitBreaker(failureRatio: 0.5, openFor: .seconds(10))
/// let client = APIClient(baseURL: url) { $0.gates = [breaker] }
/// ```
///
/// A circuit is closed at first. When enough of the last half minute's requests have failed it opens, and requests fail with
/// ``SluiceError/Code/circuitOpen``, whose ``GateRefusal`` tells when the next may try. After a while it is
/// half-open and lets a few requests through as trials: if they succeed it closes, and if one fails it opens again. A trial
/// that is cancelled leaves its place to another and counts as neither.
///
/// What fails a request is ``judgement(of:)``'s to say unless another is given. The clients that are given the same
/// breaker share it.
public final class CircuitBreaker: ImmediateGate {
    /// The state of a circuit.
    public enum State: Sendable, Hashable {
        /// Requests pass.
        case closed
        /// Requests fail until then.
        case open(until: ContinuousClock.Instant)
        /// A few requests pass as trials.
        case halfOpen
    }

    /// A new state of a circuit.
    public struct Change: Sendable, Hashable {
        /// The host, with its port if it is not the scheme's own, or what the scope's closure gave; empty for the client's circuit.
        public let key: String
        /// The state from now on.
        public let state: State
    }

    private struct Record {
        var circuits: Circuits
        var watchers: [Int: AsyncStream<Change>.Continuation] = [:]
        var lastID = 0

        func tell(_ key: String, _ state: State?) {
            guard let state else { return }
            for watcher in watchers.values { watcher.yield(Change(key: key, state: state)) }
        }
    }

    /// By what requests opt out of it.
    public let name: String
    private let scope: GateScope
    private let judging: @Sendable (TransportOutcome) -> Judgement
    private let record: Locked<Record>

    /// Makes a breaker.
    ///
    /// - Parameters:
    ///   - failureRatio: The part of the requests, up to 1, that must fail for a circuit to open; half of them by default.
    ///   - minimumRequests: How many requests there must have been; 20 by default.
    ///   - window: Of how long a time; 30 seconds by default, forgotten a tenth at a time.
    ///   - openFor: How long a circuit stays open; 5 seconds by default.
    ///   - growth: By what factor it stays open for longer each time a trial fails, at least 1, which is the default.
    ///   - maximumOpenFor: How long it stays open at the most; a minute by default.
    ///   - trials: How many requests must succeed for it to close, and how many of them may be under way at once; 3 by default.
    ///   - scope: What has a circuit of its own; each host by default.
    ///   - name: Its name, `CircuitBreaker` by default; of two gates that share it requests opt out together.
    ///   - judging: Says what an outcome counts as; must not block.
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
        judging: @escaping @Sendable (TransportOutcome) -> Judgement = { judgement(of: $0) }
    ) {
        self.name = name
        self.scope = scope
        self.judging = judging
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

    /// The state of a circuit; an open one whose time is up stays open until a request comes to try.
    ///
    /// - Parameter key: The host, with its port if it is not the scheme's own, or what the scope's closure gives; empty for the
    ///   circuit of a whole client.
    /// - Returns: Closed where there have been no requests.
    public func state(for key: String = "") -> State {
        record.withLock { $0.circuits.state(key) }
    }

    /// The changes of all circuits from now on, in their order.
    ///
    /// - Returns: A stream of its own for each call, which ends with the breaker; who reads too slowly loses all but the
    ///   last hundred.
    public func changes() -> AsyncStream<Change> {
        let (stream, continuation) = AsyncStream.makeStream(of: Change.self, bufferingPolicy: .bufferingNewest(100))
        let id = record.withLock { record in
            record.lastID += 1
            record.watchers[record.lastID] = continuation
            return record.lastID
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.record.withLock { $0.watchers.removeValue(forKey: id) }
        }
        return stream
    }

    var watcherCount: Int { record.withLock { $0.watchers.count } }

    /// Admits a request unless the circuit is open, or half-open with all its trials under way.
    public func admitImmediately(_ request: RequestContext) -> Pass? {
        guard let key = scope.key(for: request) else { return Pass() }
        let time = request.client.pipeline.time
        guard case .admitted(let ticket) = admission(key, time.now) else { return nil }
        return pass(key, ticket, time)
    }

    /// Admits a request, or fails it at once; never waits.
    public func admit(_ request: RequestContext) async throws(SluiceError) -> Pass {
        guard let key = scope.key(for: request) else { return Pass() }
        let time = request.client.pipeline.time
        switch admission(key, time.now) {
        case .admitted(let ticket): return pass(key, ticket, time)
        case .refused(let delay): throw .circuitOpen(name, delay)
        }
    }

    private func admission(_ key: String, _ now: ContinuousClock.Instant) -> Circuit.Admission {
        record.withLock { record in
            let (admission, state) = record.circuits.admit(key, now: now)
            record.tell(key, state)
            return admission
        }
    }

    private func pass(_ key: String, _ ticket: Circuit.Ticket, _ time: any TimeSource) -> Pass {
        Pass(judging: { [self] outcome in
            let judgement = judging(outcome)
            let now = time.now
            record.withLock { $0.tell(key, $0.circuits.settle(key, ticket, judgement, now: now)) }
            return .settled
        })
    }
}

extension SluiceError {
    fileprivate static func circuitOpen(_ gate: String, _ delay: Duration?) -> SluiceError {
        let next = delay.map { "the next request may try in \($0.roundedUpToMilliseconds)" } ?? "others are trying it"
        let reason = "The circuit is open because too many requests have failed; \(next)."
        return refused(.circuitOpen, by: gate, after: delay, reason)
    }
}
