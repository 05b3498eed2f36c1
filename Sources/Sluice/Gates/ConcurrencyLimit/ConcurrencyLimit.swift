import SluiceHTTP

/// Limits the number of requests that run at the same time. Other requests wait for a slot.
///
/// ```swift
/// let client = APIClient(baseURL: url) { $0.gates = [ConcurrencyLimit(64, perHost: 6)] }
/// ```
///
/// A request holds its slot from before it is sent until its response has arrived, or the request has failed or been
/// cancelled. Requests to the same host are admitted in the order of their arrival. Hosts that wait for the total limit
/// take turns, so that many requests to one host do not starve the others. A cancelled request leaves the queue at
/// once. If the queue is full, a request fails with ``SluiceError/Code/queueFull``.
///
/// Clients that are given the same limit share it.
public final class ConcurrencyLimit: ImmediateGate {
    private typealias Waiter = UnsafeContinuation<SluiceError?, Never>

    private struct State {
        var slots: Slots<Waiter>
        var lastID = 0
    }

    private enum Joining {
        case admitted
        case waiting
        case refused(SluiceError)
    }

    /// The name by which requests opt out of the gate.
    public let name: String
    private let scope: GateScope
    private let state: Locked<State>

    /// Creates a limit for all requests, and optionally for each host.
    ///
    /// - Parameters:
    ///   - total: The number of requests that may run at the same time, at least 1.
    ///   - host: The number of requests to one host that may run, at least 1; nil, the default, for `total`.
    ///   - maximumWaiting: The number of requests to one host that may wait before others fail; 10,000 by default.
    ///   - name: The name, `ConcurrencyLimit` by default. A request that opts out of a name opts
    ///     out of all gates with it.
    public convenience init(
        _ total: Int,
        perHost host: Int? = nil,
        maximumWaiting: Int = 10_000,
        named name: String = "ConcurrencyLimit"
    ) {
        self.init(total: total, each: host, scope: .host, maximumWaiting: maximumWaiting, name: name)
    }

    /// Creates a limit for each host or key, and optionally for all requests.
    ///
    /// - Parameters:
    ///   - total: The number of requests that may run at the same time, at least 1; nil, the default, for no limit.
    ///   - each: The number of requests of one host or key that may run, at least 1.
    ///   - scope: The requests that share the limit; those to one host by default.
    ///   - maximumWaiting: The number of requests of one host or key that may wait before others
    ///     fail; 10,000 by default.
    ///   - name: The name, `ConcurrencyLimit` by default. A request that opts out of a name opts
    ///     out of all gates with it.
    public convenience init(
        _ total: Int? = nil,
        each: Int,
        per scope: GateScope = .host,
        maximumWaiting: Int = 10_000,
        named name: String = "ConcurrencyLimit"
    ) {
        self.init(total: total, each: each, scope: scope, maximumWaiting: maximumWaiting, name: name)
    }

    private init(total: Int?, each: Int?, scope: GateScope, maximumWaiting: Int, name: String) {
        self.name = name
        self.scope = scope
        state = Locked(State(slots: Slots(total: total, each: each, maximumWaiting: maximumWaiting)))
    }

    /// The number of requests that hold a slot.
    public var running: Int { state.withLock { $0.slots.running } }
    /// The number of requests that wait for a slot.
    public var waiting: Int { state.withLock { $0.slots.waiting } }

    /// Takes a slot if one is free.
    public func admitImmediately(_ request: RequestContext) -> Pass? {
        guard let key = scope.key(for: request) else { return Pass() }
        return state.withLock { $0.slots.take(key) } ? pass(key) : nil
    }

    /// Takes a slot, and waits until one is free.
    public func admit(_ request: RequestContext) async throws(SluiceError) -> Pass {
        guard let key = scope.key(for: request) else { return Pass() }
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        defer { state.synchronize() }
        let refusal = await withTaskCancellationHandler {
            await withUnsafeContinuation { join(id, key, $0) }
        } onCancel: {
            leave(id, key)
        }
        if let refusal { throw refusal }
        return pass(key)
    }

    private func join(_ id: Int, _ key: String, _ waiter: Waiter) {
        let joining: Joining = state.withLock { state in
            // Checked under the lock: a later cancellation finds the waiter in the queue.
            if Task.isCancelled { return .refused(.cancelled) }
            switch state.slots.arrive(waiter, id: id, key) {
            case .admitted: return .admitted
            case .waiting: return .waiting
            case .full(let waiting): return .refused(.queueFull(at: name, waiting: waiting))
            }
        }
        switch joining {
        case .admitted: waiter.resume(returning: nil)
        case .waiting: break
        case .refused(let error): waiter.resume(returning: error)
        }
    }

    private func leave(_ id: Int, _ key: String) {
        let waiter = state.withLock { $0.slots.leave(id: id, key) }
        waiter?.resume(returning: .cancelled)
    }

    private func pass(_ key: String) -> Pass {
        Pass(judging: { [self] _ in
            let next = state.withLock { $0.slots.giveBack(key) }
            next?.resume(returning: nil)
            return .settled
        })
    }
}
