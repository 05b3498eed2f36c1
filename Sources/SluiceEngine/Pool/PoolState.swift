import SluiceHTTP

/// The decisions of one client's connection pool, as a value: which request uses which connection, which ones connect, wait or are refused.
///
/// A request is first given a slot, of which there are so many for an origin and for the client. With a slot it takes the connection to its
/// origin that was used last, or dials one. A connection that becomes free first goes to the oldest request that is dialing to the same
/// origin; the dial that is left over then belongs to nobody, and its connection is kept for the next request.
///
/// ```
/// queued ──slot──▶ connecting ──connection──▶ running ──▶ done
///    │                  │                        │
///    └── removed, expired, or failed ◀───────────┘ (retry goes back to connecting, and keeps its slot)
/// ```
package struct PoolState<Call: AnyObject, Connection: AnyObject, Dial: AnyObject> {
    /// The number of a group: the connections to one origin that one policy allows to share.
    package typealias GroupID = Int

    package enum Action {
        /// Send the request by the connection.
        case start(Call, Connection)
        /// Connect for the request of the group, then call ``dialStarted(_:for:in:)``.
        case dial(Call, GroupID)
        /// Stop connecting: nobody waits for it any more.
        case cancel(Dial)
        /// Close the connection: idle ones are not kept any more.
        case discard(Connection)
        /// Answer the request with an error.
        case fail(Call, Failure)
    }

    package enum Failure: Equatable {
        /// The time to connect is up; with the dial that had not succeeded by then, if there was one.
        case connectTimedOut(Dial?)
        case timedOut
        case failed(SluiceError)

        package static func == (lhs: Self, rhs: Self) -> Bool {
            switch (lhs, rhs) {
            case (.connectTimedOut, .connectTimedOut), (.timedOut, .timedOut): true
            case (.failed(let lhs), .failed(let rhs)): lhs.code == rhs.code
            default: false
            }
        }
    }

    package enum Acquisition {
        case connection(Connection)
        case dial
        case waiting
        /// As many requests wait as may.
        case refused
    }

    private struct Idle {
        let connection: Connection
        let since: MonotonicTime
    }

    private struct Group {
        let origin: Int
        let plan: ConnectionPlan
        /// Connections that nobody uses, the most recently used last.
        var idle: [Idle] = []
        /// Requests with a slot and without a connection, the oldest first.
        var connecting: [Call] = []
        /// Requests, dials, and dials that are to be started, which keep the group alive.
        var users = 0
    }

    private struct Origin {
        let name: HTTPOrigin
        var groups: [GroupID] = []
    }

    /// A request that has no connection yet.
    private struct Pending {
        let call: Call
        let group: GroupID
        let total: MonotonicTime
        var connectTimeout: Duration?
        /// True once it has a slot.
        var isConnecting = false
        var dial: Dial?
        /// The moment at which it must have a connection.
        var deadline = MonotonicTime.distantFuture
        var timer: TimerHeap<ObjectIdentifier>.ID?
    }

    /// A dial in progress.
    private struct Dialing {
        let dial: Dial
        let group: GroupID
        /// The request that it belongs to; nil once that has another connection.
        var owner: Call?
        /// The deadline of a dial without an owner.
        var timer: TimerHeap<ObjectIdentifier>.ID?
    }

    /// False once the client is gone, and connections are closed as soon as nobody uses them.
    package var keepsIdle = true
    private var queue: TransferQueue<Int, ObjectIdentifier, Call>
    private var originNumbers: [HTTPOrigin: Int] = [:]
    private var origins: [Int: Origin] = [:]
    private var lastOrigin = 0
    private var groups: [Group?] = []
    private var freeGroups: [GroupID] = []
    private var pending: [ObjectIdentifier: Pending] = [:]
    private var dials: [ObjectIdentifier: Dialing] = [:]
    private var timers = TimerHeap<ObjectIdentifier>()

    package init(limit: Int, limitPerHost: Int, maximumWaiting: Int) {
        queue = TransferQueue(limit: limit, limitPerHost: limitPerHost, maximumWaiting: maximumWaiting)
    }

    /// The earliest deadline of a request that has no connection yet, or of a dial.
    package var nextDeadline: MonotonicTime { timers.earliest }
    /// Requests that have a slot.
    package var active: Int { queue.active }
    /// Requests that wait for a slot.
    package var waiting: Int { queue.waiting.count }
    /// Connections that nobody uses.
    package var idleCount: Int { groups.reduce(0) { $0 + ($1?.idle.count ?? 0) } }
    package var dialCount: Int { dials.count }

    // MARK: Requests

    /// Finds a connection for a request.
    ///
    /// - Parameters:
    ///   - call: The request.
    ///   - origin: Where it goes.
    ///   - plan: How the origin is reached.
    ///   - priority: Which of several that wait goes first.
    ///   - total: The moment at which it must have ended.
    ///   - connectTimeout: The time it may take to connect, from when it has a slot.
    ///   - now: The time.
    /// - Returns: Its group, and the connection or what else happens. After ``Acquisition/dial`` the caller connects,
    ///   and calls ``dialStarted(_:for:in:)``.
    package mutating func acquire(
        _ call: Call,
        to origin: HTTPOrigin,
        by plan: ConnectionPlan,
        priority: RequestPriority,
        total: MonotonicTime,
        connectTimeout: Duration?,
        at now: MonotonicTime
    ) -> (GroupID, Acquisition) {
        let group = group(origin, plan)
        let id = ObjectIdentifier(call)
        switch queue.admit(call, id: id, host: groups[group]?.origin ?? 0, priority: priority) {
        case .admitted:
            groups[group]?.users += 1
            if let idle = groups[group]?.idle.popLast() { return (group, .connection(idle.connection)) }
            pending[id] = Pending(call: call, group: group, total: total, connectTimeout: connectTimeout)
            connect(id, at: now)
            return (group, .dial)
        case .waiting:
            groups[group]?.users += 1
            pending[id] = Pending(call: call, group: group, total: total, connectTimeout: connectTimeout)
            setTimer(id, at: total)
            return (group, .waiting)
        case .refused:
            removeIfUnused(group)
            return (group, .refused)
        }
    }

    /// Finds another connection for a request whose own one was dead; it keeps its slot.
    package mutating func reacquire(
        _ call: Call,
        in group: GroupID,
        fresh: Bool,
        total: MonotonicTime,
        connectTimeout: Duration?,
        at now: MonotonicTime
    ) -> Acquisition {
        if !fresh, let idle = groups[group]?.idle.popLast() { return .connection(idle.connection) }
        let id = ObjectIdentifier(call)
        pending[id] = Pending(call: call, group: group, total: total, connectTimeout: connectTimeout)
        connect(id, at: now)
        return .dial
    }

    /// Takes out a request that has no connection yet; returns nil if it has one or has ended.
    package mutating func remove(_ call: Call, at now: MonotonicTime) -> [Action]? {
        let id = ObjectIdentifier(call)
        guard let pending = take(id) else { return nil }
        var actions: [Action] = []
        if pending.isConnecting {
            groups[pending.group]?.connecting.removeAll { $0 === call }
            if let dial = pending.dial {
                forget(dial)
                actions.append(.cancel(dial))
            }
            releaseSlot(of: pending.group, at: now, &actions)
        } else {
            _ = queue.remove(id)
            leave(pending.group)
        }
        return actions
    }

    /// Fails the requests whose time is up, and ends the dials whose time is up.
    package mutating func expire(at now: MonotonicTime) -> [Action] {
        var actions: [Action] = []
        while let id = timers.popExpired(at: now) {
            if let dialing = dials[id] {
                dials[id]?.timer = nil
                forget(dialing.dial)
                actions.append(.cancel(dialing.dial))
            }
            pending[id]?.timer = nil
            guard let expired = pending[id] else { continue }
            let failure: Failure = expired.total <= now ? .timedOut : .connectTimedOut(expired.dial)
            actions += remove(expired.call, at: now) ?? []
            actions.append(.fail(expired.call, failure))
        }
        return actions
    }

    // MARK: Connections

    /// Notes that a request's connection is free, or is gone if it cannot be used again; the request's slot becomes free.
    package mutating func release(_ connection: Connection?, of group: GroupID, at now: MonotonicTime) -> [Action] {
        var actions: [Action] = []
        if let connection { offer(connection, to: group, at: now, &actions) }
        releaseSlot(of: group, at: now, &actions)
        return actions
    }

    /// Takes an idle connection out; returns false if it is in use.
    package mutating func removeIdle(_ connection: Connection, of group: GroupID) -> Bool {
        guard let position = groups[safe: group]??.idle.firstIndex(where: { $0.connection === connection }) else {
            return false
        }
        groups[group]?.idle.remove(at: position)
        removeIfUnused(group)
        return true
    }

    /// The moment since which the least recently used connection has been idle.
    package var oldestIdle: MonotonicTime? {
        groups.lazy.compactMap { $0?.idle.first?.since }.min()
    }

    /// Takes out the connection that has been idle for the longest time.
    package mutating func popOldestIdle() -> Connection? {
        let candidates = groups.indices.filter { groups[$0]?.idle.isEmpty == false }
        let oldest = candidates.min { lhs, rhs in
            (groups[lhs]?.idle.first?.since ?? .distantFuture) < (groups[rhs]?.idle.first?.since ?? .distantFuture)
        }
        guard let oldest, let idle = groups[oldest]?.idle.removeFirst() else { return nil }
        removeIfUnused(oldest)
        return idle.connection
    }

    /// Takes out all idle connections.
    package mutating func removeAllIdle() -> [Connection] {
        var all: [Connection] = []
        for group in groups.indices {
            all += groups[group]?.idle.map(\.connection) ?? []
            groups[group]?.idle = []
            removeIfUnused(group)
        }
        return all
    }

    // MARK: Dials

    /// Notes the dial that was started for a request, or for another of its group if that has been served meanwhile; to be called once for
    /// each request that is told to connect.
    ///
    /// - Returns: False if no request of the group needs it, and it is to be cancelled.
    package mutating func dialStarted(_ dial: Dial, for call: Call, in group: GroupID) -> Bool {
        defer { leave(group) }
        let candidates = [call] + (groups[safe: group]??.connecting ?? [])
        let owner = candidates.first { candidate in
            guard let request = pending[ObjectIdentifier(candidate)] else { return false }
            return request.isConnecting && request.dial == nil
        }
        guard let owner else { return false }
        pending[ObjectIdentifier(owner)]?.dial = dial
        dials[ObjectIdentifier(dial)] = Dialing(dial: dial, group: group, owner: owner)
        groups[group]?.users += 1
        return true
    }

    /// Notes that a dial has connected. Its connection goes to the oldest request that needs one; returns false if the dial was cancelled.
    package mutating func dialSucceeded(
        _ dial: Dial,
        _ connection: Connection,
        at now: MonotonicTime
    ) -> (isWanted: Bool, actions: [Action]) {
        guard let (owner, group) = remove(dial) else { return (false, []) }
        if let owner { pending[ObjectIdentifier(owner)]?.dial = nil }
        var actions: [Action] = []
        if let served = offer(connection, to: group, at: now, &actions), let owner, owner !== served.call {
            // The owner still waits, and takes over the dial of the request that got its connection.
            adopt(served.dial, by: owner)
        }
        leave(group)
        return (true, actions)
    }

    /// Notes that a dial has failed: the request that it belongs to fails with it.
    package mutating func dialFailed(_ dial: Dial, with error: SluiceError, at now: MonotonicTime) -> [Action] {
        guard let (owner, group) = remove(dial) else { return [] }
        defer { leave(group) }
        guard let owner else { return [] }
        pending[ObjectIdentifier(owner)]?.dial = nil
        let actions = remove(owner, at: now) ?? []
        return [.fail(owner, .failed(error))] + actions
    }

    // MARK: Parts

    private mutating func group(_ origin: HTTPOrigin, _ plan: ConnectionPlan) -> GroupID {
        let number: Int
        if let known = originNumbers[origin] {
            number = known
        } else {
            lastOrigin += 1
            number = lastOrigin
            originNumbers[origin] = number
            origins[number] = Origin(name: origin)
        }
        if let known = origins[number]?.groups.first(where: { groups[$0]?.plan.leadsWhere(plan) == true }) {
            return known
        }
        let id: GroupID
        if let free = freeGroups.popLast() {
            id = free
        } else {
            id = groups.count
            groups.append(nil)
        }
        groups[id] = Group(origin: number, plan: plan)
        origins[number]?.groups.append(id)
        return id
    }

    private mutating func leave(_ group: GroupID) {
        groups[group]?.users -= 1
        removeIfUnused(group)
    }

    private mutating func removeIfUnused(_ id: GroupID) {
        guard let group = groups[safe: id] ?? nil, group.users == 0, group.idle.isEmpty else { return }
        groups[id] = nil
        freeGroups.append(id)
        origins[group.origin]?.groups.removeAll { $0 == id }
        if let origin = origins[group.origin], origin.groups.isEmpty {
            origins[group.origin] = nil
            originNumbers[origin.name] = nil
        }
    }

    /// Puts a request that has a slot among those that need a connection.
    private mutating func connect(_ id: ObjectIdentifier, at now: MonotonicTime) {
        guard let request = pending[id] else { return }
        let deadline: MonotonicTime = min(request.total, request.connectTimeout.map { now + $0 } ?? .distantFuture)
        pending[id]?.isConnecting = true
        pending[id]?.deadline = deadline
        groups[request.group]?.connecting.append(request.call)
        // Until its dial has started, which may be after the request has left.
        groups[request.group]?.users += 1
        setTimer(id, at: deadline)
    }

    private mutating func setTimer(_ id: ObjectIdentifier, at deadline: MonotonicTime) {
        if let timer = pending[id]?.timer, timers.move(timer, to: deadline) { return }
        if deadline != .distantFuture { pending[id]?.timer = timers.insert(id, at: deadline) }
    }

    private mutating func take(_ id: ObjectIdentifier) -> Pending? {
        guard let request = pending.removeValue(forKey: id) else { return nil }
        if let timer = request.timer { timers.remove(timer) }
        return request
    }

    /// Gives a connection to the oldest request that needs one, or keeps it as idle.
    @discardableResult
    private mutating func offer(
        _ connection: Connection,
        to group: GroupID,
        at now: MonotonicTime,
        _ actions: inout [Action]
    ) -> Pending? {
        guard groups[group]?.connecting.isEmpty == false, let call = groups[group]?.connecting.removeFirst(),
            let served = take(ObjectIdentifier(call))
        else {
            if keepsIdle {
                groups[group]?.idle.append(Idle(connection: connection, since: now))
            } else {
                actions.append(.discard(connection))
            }
            return nil
        }
        if let dial = served.dial { disown(dial, until: served.deadline) }
        actions.append(.start(call, connection))
        return served
    }

    /// Leaves a dial to whoever needs its connection next; it ends when its request would have had to be connected.
    private mutating func disown(_ dial: Dial, until deadline: MonotonicTime) {
        let id = ObjectIdentifier(dial)
        guard dials[id] != nil else { return }
        dials[id]?.owner = nil
        if deadline != .distantFuture { dials[id]?.timer = timers.insert(id, at: deadline) }
    }

    private mutating func adopt(_ dial: Dial?, by owner: Call) {
        guard let dial else { return }
        pending[ObjectIdentifier(owner)]?.dial = dial
        dials[ObjectIdentifier(dial)]?.owner = owner
        if let timer = dials[ObjectIdentifier(dial)]?.timer.take() { timers.remove(timer) }
    }

    private mutating func remove(_ dial: Dial) -> (owner: Call?, group: GroupID)? {
        guard let dialing = dials.removeValue(forKey: ObjectIdentifier(dial)) else { return nil }
        if let timer = dialing.timer { timers.remove(timer) }
        return (dialing.owner, dialing.group)
    }

    private mutating func forget(_ dial: Dial) {
        if let group = remove(dial)?.group { leave(group) }
    }

    /// Frees a slot, and lets the next request have it.
    private mutating func releaseSlot(of group: GroupID, at now: MonotonicTime, _ actions: inout [Action]) {
        let next = queue.release(host: groups[group]?.origin ?? 0)
        leave(group)
        guard let next else { return }
        let id = ObjectIdentifier(next)
        guard let request = pending[id] else { return }
        if let idle = groups[request.group]?.idle.popLast() {
            _ = take(id)
            actions.append(.start(next, idle.connection))
        } else {
            connect(id, at: now)
            actions.append(.dial(next, request.group))
        }
    }
}

extension Array {
    fileprivate subscript(safe index: Int) -> Element? {
        indices.contains(index) ? self[index] : nil
    }
}
