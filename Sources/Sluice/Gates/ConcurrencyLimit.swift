import SluiceHTTP

/// Limits the number of requests that run at the same time. Other requests wait for a slot.
///
/// ```swift
/// let client = APIClient(baseURL: url) { $0.gates = [ConcurrencyLimit(64, perHost: 6)] }
/// ```
///
/// A request takes a slot before it is sent. It releases the slot when its whole response has arrived, for a stream when
/// the head has arrived, or when it has failed or been cancelled. The limit does not bound open streams. Requests to the
/// same host are admitted in the order of their arrival. Hosts that wait for the total limit take turns, so that many
/// requests to one host do not starve the others. A cancelled request leaves the queue at once. If the queue is full, a
/// request fails with ``SluiceError/Code/queueFull``.
///
/// Clients that are given the same limit share it. The requests that an interceptor or a plugin sends need no slots while it runs, if the
/// request that it intercepts holds one. The limit therefore does not bound requests that it sends at the same time or to other hosts. A
/// request that another gate sends needs a slot of its own, and waits for ever if requests that wait at that gate hold all slots. Put the
/// limit after such gates, or send the request with `withoutGate(ConcurrencyLimit.self)`.
public final class ConcurrencyLimit: ImmediateGate {
    /// The name by which requests opt out of the gate.
    public let name: String
    private let scope: GateScope
    private let state: Locked<Slots<Waiter<SluiceError?>>>

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
        state = Locked(Slots(total: total, each: each, maximumWaiting: maximumWaiting))
    }

    /// The number of requests that hold a slot.
    public var running: Int { state.withLock { $0.running } }
    /// The number of requests that wait for a slot.
    public var waiting: Int { state.withLock { $0.waiting } }

    /// Takes a slot if one is free.
    public func admitImmediately(_ request: RequestContext) -> Permit? {
        guard let key = scope.key(for: request) else { return Permit() }
        return state.withLock { $0.take(key) } ? permit(key) : nil
    }

    /// Takes a slot. Waits if none is free.
    public func admit(_ request: RequestContext) async throws(SluiceError) -> Permit {
        guard let key = scope.key(for: request) else { return Permit() }
        let refusal = await state.wait(cancelled: .cancelled) { waiter in
            join(waiter, key)
        } leave: { id in
            state.withLock { $0.leave(id: id, key) }
        }
        if let refusal { throw refusal }
        return permit(key)
    }

    private func join(_ waiter: Waiter<SluiceError?>, _ key: String) {
        let result: QueueResult = state.withLock { slots in
            if Task.isCancelled { return .refused(.cancelled) }
            switch slots.arrive(waiter, id: waiter.id, key) {
            case .admitted: return .admitted
            case .waiting: return .waiting
            case .full(let waiting): return .refused(.queueFull(at: name, waiting: waiting))
            }
        }
        result.resume(waiter)
    }

    private func permit(_ key: String) -> Permit {
        var permit = Permit(onOutcome: { [self] _ in
            let next = state.withLock { $0.release(key) }
            next?.resume(returning: nil)
            return .settled
        })
        permit.isSlot = true
        return permit
    }
}

/// The state of a concurrency limit: the running and waiting requests, and the order of the groups.
///
/// Requests of a group are admitted in the order of their arrival. Groups that wait for the total limit take turns.
struct Slots<Waiter> {
    enum Arrival: Equatable {
        case admitted
        case waiting
        /// The queue of the group is full.
        case full(waiting: Int)
    }

    private struct Group {
        var running = 0
        var queue = WaitQueue<Waiter>()
        /// The group's number in the queue of groups; nil unless the group has waiters and is below its own limit.
        var turn: Int?

        var isIdle: Bool { running == 0 && queue.isEmpty }

        mutating func take(of limit: Int) -> Bool {
            guard running < limit else { return false }
            running += 1
            return true
        }

        mutating func release() -> Bool {
            guard running > 0 else { return false }
            running -= 1
            return true
        }

        /// Removes and returns the turn of a group without waiters.
        mutating func idleTurn() -> Int? {
            queue.isEmpty ? turn.take() : nil
        }

        /// Takes a turn if the group has waiters and is below its own limit.
        mutating func queue(_ turn: Int, _ limit: Int) -> Bool {
            guard self.turn == nil, !queue.isEmpty, running < limit else { return false }
            self.turn = turn
            return true
        }
    }

    private let total: Int
    private let each: Int
    private let maximumWaiting: Int
    private var groups: [String: Group] = [:]
    private var turns = WaitQueue<String>()
    private var lastTurn = 0
    /// The number of slots in use.
    private(set) var running = 0
    /// The number of waiters.
    private(set) var waiting = 0

    /// Creates a state without requests.
    ///
    /// - Parameters:
    ///   - total: The number of requests that may run at the same time, at least 1; nil for no limit.
    ///   - each: The number of requests of one group that may run, at least 1; nil for no limit.
    ///   - maximumWaiting: The number of requests of one group that may wait, at least 0.
    init(total: Int?, each: Int?, maximumWaiting: Int) {
        self.total = max(1, total ?? .max)
        self.each = max(1, each ?? .max)
        self.maximumWaiting = max(0, maximumWaiting)
    }

    /// The number of groups with running or waiting requests.
    var groupCount: Int { groups.count }
    /// The number of groups that wait for the total limit.
    var turnCount: Int { turns.count }

    /// Takes a slot if one is free. A slot that becomes free goes to a waiter, so a group with waiters has no free slot.
    mutating func take(_ key: String) -> Bool {
        guard running < total else { return false }
        guard let index = groups.index(forKey: key) else {
            groups[key] = Group(running: 1)
            running += 1
            return true
        }
        guard groups.values[index].take(of: each) else { return false }
        running += 1
        return true
    }

    /// Takes a slot, or adds the waiter to the queue of its group.
    mutating func arrive(_ waiter: Waiter, id: Int, _ key: String) -> Arrival {
        if take(key) { return .admitted }
        let waitingInGroup = groups[key]?.queue.count ?? 0
        if waitingInGroup >= maximumWaiting { return .full(waiting: waitingInGroup) }
        groups[key, default: Group()].queue.append(waiter, id: id)
        waiting += 1
        if let index = groups.index(forKey: key) { updateTurn(index, key) }
        return .waiting
    }

    /// Removes a waiter from the queue. Returns nil if it has already been admitted.
    mutating func leave(id: Int, _ key: String) -> Waiter? {
        guard let index = groups.index(forKey: key), let waiter = groups.values[index].queue.remove(id: id) else {
            return nil
        }
        waiting -= 1
        updateTurn(index, key)
        return waiter
    }

    /// Releases a slot. Returns the waiter that takes it over, or nil if there is none.
    mutating func release(_ key: String) -> Waiter? {
        guard let index = groups.index(forKey: key), groups.values[index].release() else { return nil }
        running -= 1
        updateTurn(index, key)
        guard running < total, let next = turns.popFirst() else { return nil }
        return admitFirst(of: next)
    }

    private mutating func admitFirst(of key: String) -> Waiter? {
        guard let index = groups.index(forKey: key) else { return nil }
        groups.values[index].turn = nil
        guard let waiter = groups.values[index].queue.popFirst() else { return nil }
        groups.values[index].running += 1
        running += 1
        waiting -= 1
        updateTurn(index, key)
        return waiter
    }

    /// Gives the group a turn if it has waiters below its own limit. Removes the turn of a group without waiters, and a
    /// group without requests.
    private mutating func updateTurn(_ index: Dictionary<String, Group>.Index, _ key: String) {
        if let turn = groups.values[index].idleTurn() { _ = turns.remove(id: turn) }
        if groups.values[index].isIdle {
            groups.remove(at: index)
        } else if groups.values[index].queue(lastTurn + 1, each) {
            lastTurn += 1
            turns.append(key, id: lastTurn)
        }
    }
}
