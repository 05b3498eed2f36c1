import SluiceHTTP

/// Lets so many requests run at once and no more; others wait for a slot.
///
/// ```swift
/// let client = APIClient(baseURL: url) { $0.gates = [ConcurrencyLimit(64, perHost: 6)] }
/// ```
///
/// A request holds its slot from before it is sent until its response has come, failed, or been given up. Those to one host
/// are served in the order they came; hosts that wait for the slots all share take turns, so that a flood of
/// requests to one does not starve the others. A request that is cancelled leaves at once. Where too many wait already, the next
/// fails with ``SluiceError/Code/queueFull``.
///
/// The clients that are given the same limit share it.
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

    /// By what requests opt out of it.
    public let name: String
    private let scope: GateScope
    private let state: Locked<State>

    /// Makes a limit for a client, and perhaps for each host.
    ///
    /// - Parameters:
    ///   - total: How many requests may run at once, at least 1.
    ///   - host: How many of them to one host, at least 1; nil, the default, for as many as there are slots.
    ///   - maximumWaiting: How many may wait for one host before others fail; 10,000 by default.
    ///   - name: Its name, `ConcurrencyLimit` by default; of two gates that share it requests opt out together.
    public convenience init(
        _ total: Int,
        perHost host: Int? = nil,
        maximumWaiting: Int = 10_000,
        named name: String = "ConcurrencyLimit"
    ) {
        self.init(total: total, each: host, scope: .host, maximumWaiting: maximumWaiting, name: name)
    }

    /// Makes a limit for each host or key, and perhaps for all of them together.
    ///
    /// - Parameters:
    ///   - total: How many requests may run at once, at least 1; nil, the default, for no limit.
    ///   - each: How many of one host or key, at least 1.
    ///   - scope: What they are counted by; their host by default.
    ///   - maximumWaiting: How many of one host or key may wait before others fail; 10,000 by default.
    ///   - name: Its name, `ConcurrencyLimit` by default; of two gates that share it requests opt out together.
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

    /// How many requests hold a slot.
    public var running: Int { state.withLock { $0.slots.running } }
    /// How many requests wait for one.
    public var waiting: Int { state.withLock { $0.slots.waiting } }

    /// Takes a slot if there is one.
    public func admitImmediately(_ request: RequestContext) -> Pass? {
        guard let key = scope.key(for: request) else { return Pass() }
        return state.withLock { $0.slots.take(key) } ? pass(key) : nil
    }

    /// Takes a slot as soon as there is one.
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
            // Seen under the lock: a cancellation after this finds the waiter when it leaves.
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
