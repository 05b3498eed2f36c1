#if os(Linux)
import SluiceHTTP

/// The state of one client's connection pool, as a value. It decides which request uses which connection, connects, waits or is refused.
///
/// A request first receives a slot. The number of slots is limited for each origin and for the client. With a slot, the request takes the
/// most recently used connection to its origin, or dials one. A released connection goes to the oldest request that is connecting to the
/// same origin, except one that is sent again because such a connection was dead. The dial of that request then has no owner. The next
/// request that needs a connection takes the dial over, so that dials and connections together do not exceed the slots.
///
/// ```
/// queued ──slot──▶ connecting ──connection──▶ running ──▶ done
///    │                  │                        │
///    └── removed, expired, or failed ◀───────────┘ (retry goes back to connecting, and keeps its slot)
/// ```
///
/// A connection of HTTP/2 is shared by as many requests as the server allows. While the version of a server is unknown, one dial serves all
/// requests of a group. Requests without room wait for a stream or for another connection.
package struct PoolState<Call: AnyObject, Connection: Identifiable, Dial: AnyObject> {
    /// The number of a group, which contains the connections to one origin that share a policy.
    package typealias GroupID = Int

    typealias Group = PoolGroup<Call, Connection>
    typealias Idle = Group.Idle
    typealias Shared = Group.Shared

    struct Origin {
        let name: HTTPOrigin
        var groups: [GroupID] = []
    }

    private struct GroupIdentity {
        let origin: Int
        /// Nil once the group has been removed.
        var plan: ConnectionPlan?

        func isShared(with plan: ConnectionPlan) -> Bool { self.plan?.sharesConnections(with: plan) == true }
    }

    /// The age up to which a request takes over a dial without an owner. An older dial may be to a server that does not answer.
    private static var maximumAgeOfDial: Duration { .seconds(1) }

    /// False once the client is released. Connections are then closed as soon as they are idle.
    package var keepsIdle = true
    let limitPerHost: Int
    private var queue: TransferQueue<Int, ObjectIdentifier, Call>
    private var originNumbers: [HTTPOrigin: Int] = [:]
    var origins: [Int: Origin] = [:]
    private var lastOrigin = 0
    var groups: [Group?] = []
    /// The origin and the policy of each group, stored separately from the groups, which are large and would be copied to read them.
    private var identities: [GroupIdentity] = []
    /// The plans of removed groups. Their closures and the end of these belong to the user, so they are released without the lock.
    private var removedPlans: [ConnectionPlan] = []
    /// The group that was last looked up, which is usually that of the next request, too.
    private var recent: (origin: HTTPOrigin, group: GroupID)?
    private var freeGroups: [GroupID] = []
    var pending: [ObjectIdentifier: Pending] = [:]
    var dials: [ObjectIdentifier: Dialing] = [:]
    /// The groups in a pause after a failed dial, by their keys.
    var growing: [ObjectIdentifier: GroupID] = [:]
    var timers = TimerHeap<ObjectIdentifier>()
    /// The connections that the last search found without requests, the least recently used last.
    var unused: [Group.Unused] = []

    /// The maximum number of connections to an origin, for each group.
    private let connectionLimits: [HostPattern: Int]

    package init(
        limit: Int,
        limitPerHost: Int,
        maximumWaiting: Int,
        connectionLimits: [HostPattern: Int] = [:]
    ) {
        self.connectionLimits = connectionLimits
        self.limitPerHost = max(1, limitPerHost)
        queue = TransferQueue(limit: limit, limitPerHost: limitPerHost, maximumWaiting: maximumWaiting)
    }

    /// The earliest deadline of a request without a connection, or of a dial.
    package var nextDeadline: MonotonicTime { timers.earliest }
    /// The number of requests that have a slot.
    package var active: Int { queue.active }
    /// The number of requests that wait for a slot.
    package var waiting: Int { queue.waiting.count }
    /// The number of requests that have a slot and wait for a connection.
    package var connecting: Int { pending.count - queue.waiting.count }
    /// The number of dials in progress.
    package var dialCount: Int { dials.count }

    /// True if the request has a slot and waits for a connection.
    package func isConnecting(_ call: Call) -> Bool { pending[ObjectIdentifier(call)]?.isConnecting == true }

    // MARK: Requests

    /// Finds a connection for a request.
    ///
    /// - Parameters:
    ///   - call: The request.
    ///   - origin: The origin of the request.
    ///   - plan: The connection policy.
    ///   - priority: The priority among waiting requests.
    ///   - total: The time by which the request must have ended.
    ///   - connectTimeout: The maximum time to connect, measured from when the request has a slot.
    ///   - now: The current time.
    /// - Returns: The group, and the connection or another result. After ``Acquisition/dial`` the caller connects and calls
    ///   ``dialStarted(_:for:in:)``. After ``Acquisition/waiting`` a later action decides.
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
        switch queue.admit(call, id: id, host: identities[group].origin, priority: priority) {
        case .admitted:
            groups[group]?.users += 1
            if let connection = groups[group]?.takeConnection() { return (group, .connection(connection)) }
            pending[id] = Pending(call: call, group: group, total: total, connectTimeout: connectTimeout)
            return (group, connect(id, at: now) ? .dial : .waiting)
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

    /// Finds another connection for a request whose connection was dead. The request keeps its slot.
    ///
    /// - Parameters:
    ///   - call: The request.
    ///   - group: The group of the request.
    ///   - fresh: True for a new or a shared connection, unless a limit allows no new one. Idle ones may be dead too.
    ///   - leaving: The shared connection that has ended the request's stream, if there is one.
    ///   - refusing: The shared connection that did not accept the request, if there is one.
    ///   - total: The time by which the request must have ended.
    ///   - connectTimeout: The maximum time to connect.
    ///   - now: The current time.
    /// - Returns: The connection or another result, as for a new request.
    package mutating func reacquire(
        _ call: Call,
        in group: GroupID,
        fresh: Bool,
        leaving: Connection? = nil,
        refusing: Connection? = nil,
        total: MonotonicTime,
        connectTimeout: Duration?,
        at now: MonotonicTime
    ) -> Acquisition {
        if let left = leaving ?? refusing, let index = sharedIndex(of: left, in: group) {
            groups[group]?.shared[index].recordEnd(isRefused: refusing != nil)
            groups[group]?.shared[index].since = now
        }
        let found = fresh ? groups[group]?.takeStream() : groups[group]?.takeConnection()
        if let found { return .connection(found) }
        let id = ObjectIdentifier(call)
        pending[id] = Pending(call: call, group: group, total: total, connectTimeout: connectTimeout)
        pending[id]?.needsUnused = fresh
        return connect(id, at: now) ? .dial : .waiting
    }

    /// Removes a request that waits.
    ///
    /// - Parameters:
    ///   - call: The request.
    ///   - now: The current time.
    ///   - isLate: True if its time is up.
    /// - Returns: What to do, or nil if the request does not wait.
    package mutating func remove(_ call: Call, at now: MonotonicTime, isLate: Bool = false) -> [Action]? {
        let id = ObjectIdentifier(call)
        guard let pending = takePending(id) else { return nil }
        var actions: [Action] = []
        if pending.isConnecting {
            groups[pending.group]?.connecting.removeAll { $0 === call }
            if let dial = pending.dial {
                if isLate, isStuck(dial, after: pending.connectTimeout, at: now) {
                    actions.append(.cancel(dial))
                    _ = remove(dial)
                    let isLimited = groups[pending.group]?.isLimited == true
                    connectOthers(of: pending.group, since: now, keepsTimeouts: !isLimited, &actions)
                    releaseUse(of: pending.group)
                } else if let successor = requestWithoutDial(in: pending.group) {
                    assign(dial, to: successor)
                    if groups[pending.group]?.isLimited == true { restartConnectTimeout(of: successor, at: now) }
                } else if let deadline = dials[ObjectIdentifier(dial)]?.deadline {
                    detachOwner(of: dial, until: deadline)
                } else {
                    removeUnneeded(dial)
                    actions.append(.cancel(dial))
                }
            }
            releaseSlot(of: pending.group, at: now, &actions)
        } else {
            _ = queue.remove(id)
            releaseUse(of: pending.group)
        }
        return actions
    }

    /// Fails the requests and ends the dials whose deadlines have passed.
    package mutating func expire(at now: MonotonicTime) -> [Action] {
        var actions: [Action] = []
        while let id = timers.popExpired(at: now) {
            if let dialing = dials[id] {
                dials[id]?.timer = nil
                actions.append(.cancel(dialing.dial))
                _ = remove(dialing.dial)
                connectOthers(of: dialing.group, &actions)
                releaseUse(of: dialing.group)
            }
            if let group = growing.removeValue(forKey: id) { endGrowthPause(of: group, at: now, &actions) }
            pending[id]?.timer = nil
            guard let expired = pending[id] else { continue }
            if expired.isConnecting, expired.total > now, awaitsOthers(expired) {
                // The request waits for the end of another one, which may take up to the total time.
                if let dial = expired.dial, isStuck(dial, after: expired.connectTimeout, at: now) {
                    actions.append(.cancel(dial))
                    _ = remove(dial)
                    recordFailedGrowth(of: expired.group, at: now)
                    releaseUse(of: expired.group)
                } else {
                    _ = groups[expired.group]?.retryGrowth(at: now)
                }
                // Not at once, which would not end.
                restartConnectTimeout(of: expired.call, at: now, atLeast: .milliseconds(1))
                connectOthers(of: expired.group, &actions)
                continue
            }
            let failure: Failure = expired.total <= now ? .timedOut : .connectTimedOut(expired.dial)
            actions += remove(expired.call, at: now, isLate: true) ?? []
            actions.append(.fail(expired.call, failure))
        }
        return actions
    }

    /// True if a request that is connecting waits for a stream, or for a connection of a group at its limit.
    private func awaitsOthers(_ request: Pending) -> Bool {
        guard let group = groups[request.group] else { return false }
        return group.shared.contains { !$0.isSuspect } || !request.hasDial && group.isFull
    }

    // MARK: Connections

    /// Releases the slot of a request, and its connection. The connection is nil if it cannot be reused.
    package mutating func release(_ connection: Connection?, of group: GroupID, at now: MonotonicTime) -> [Action] {
        var actions: [Action] = []
        if let connection { offer(connection, to: group, at: now, &actions) }
        releaseSlot(of: group, at: now, &actions)
        return actions
    }

    /// Releases the slot and the stream of a request on a shared connection.
    package mutating func releaseStream(
        of connection: Connection,
        in group: GroupID,
        at now: MonotonicTime
    ) -> [Action] {
        var actions: [Action] = []
        if let index = sharedIndex(of: connection, in: group), var shared = groups[group]?.shared[index] {
            shared.recordEnd(isRefused: false)
            shared.since = now
            groups[group]?.shared[index] = shared
            serve(group, &actions)
            if groups[group]?.retryGrowth(at: now) == true { connectOthers(of: group, since: now, &actions) }
            if !keepsIdle, groups[group]?.shared[index].streams == 0 {
                groups[group]?.shared.remove(at: index)
                actions.append(.discard(connection))
                connectOthers(of: group, since: now, &actions)
            }
        }
        releaseSlot(of: group, at: now, &actions)
        return actions
    }

    // MARK: Dials

    /// Records a started dial for a request, or for another request of the group if the first already has a connection. Call it once for
    /// each request that must connect.
    ///
    /// - Returns: False if no request of the group needs the dial. The caller then cancels it.
    package mutating func dialStarted(_ dial: Dial, for call: Call, in group: GroupID) -> Bool {
        func needsDial(_ call: Call, andExpectsIt: Bool) -> Bool {
            guard let request = pending[ObjectIdentifier(call)] else { return false }
            let isFree = request.group == group && request.isConnecting && request.dial == nil
            return isFree && (request.hasDial || !andExpectsIt)
        }
        // No other dial is started for a request that expects this one.
        let calls = needsDial(call, andExpectsIt: true) ? [call] : [call] + (groups[safe: group]??.connecting ?? [])
        let expecting = calls.first { needsDial($0, andExpectsIt: true) }
        guard let owner = expecting ?? calls.first(where: { needsDial($0, andExpectsIt: false) }) else {
            groups[group]?.dials -= 1
            releaseUse(of: group)
            return false
        }
        pending[ObjectIdentifier(owner)]?.dial = dial
        pending[ObjectIdentifier(owner)]?.hasDial = true
        let since = pending[ObjectIdentifier(owner)]?.since ?? .distantFuture
        dials[ObjectIdentifier(dial)] = Dialing(dial: dial, group: group, since: since, owner: owner)
        return true
    }

    /// Records a connected dial. Its connection goes to the oldest request that needs one.
    ///
    /// - Parameters:
    ///   - dial: The dial.
    ///   - connection: The connection.
    ///   - capacity: The maximum number of concurrent requests on the connection, or nil for HTTP/1.1.
    ///   - now: The current time.
    /// - Returns: False if the dial was cancelled, and the actions to perform.
    package mutating func dialSucceeded(
        _ dial: Dial,
        _ connection: Connection,
        capacity: Int? = nil,
        at now: MonotonicTime
    ) -> (isWanted: Bool, actions: [Action]) {
        guard let (owner, group) = remove(dial) else { return (false, []) }
        var actions: [Action] = []
        groups[group]?.open[connection.id] = connection
        if let capacity {
            groups[group]?.sharing = .multiplexed
            groups[group]?.failedToGrow = nil
            groups[group]?.shared.append(Shared(connection: connection, capacity: capacity, since: now))
            serve(group, &actions)
            if !keepsIdle, groups[group]?.shared.last?.streams == 0 {
                groups[group]?.shared.removeLast()
                actions.append(.discard(connection))
            }
        } else {
            groups[group]?.sharing = .exclusive
            if let served = offer(connection, isUsed: false, to: group, at: now, &actions), let owner,
                owner !== served.call
            {
                // The owner is still waiting. It takes over the dial, started or not, of the request that received the connection.
                if let dial = served.dial {
                    assign(dial, to: owner)
                } else if served.hasDial {
                    pending[ObjectIdentifier(owner)]?.hasDial = true
                }
            }
        }
        connectOthers(of: group, &actions)
        releaseUse(of: group)
        return (true, actions)
    }

    /// Records a failed dial. Its owner fails, and so do the requests that waited for the last dial.
    ///
    /// If the group has a shared connection, requests wait for its streams instead of failing.
    package mutating func dialFailed(_ dial: Dial, with error: SluiceError, at now: MonotonicTime) -> [Action] {
        guard let (owner, group) = remove(dial) else { return [] }
        defer { releaseUse(of: group) }
        if groups[group]?.shared.isEmpty == false {
            recordFailedGrowth(of: group, at: now)
            return []
        }
        var failed = owner.map { [$0] } ?? []
        if groups[group]?.sharing != .exclusive, groups[group]?.dials == 0 {
            failed += (groups[group]?.connecting ?? []).filter {
                pending[ObjectIdentifier($0)]?.hasDial == false && $0 !== owner
            }
        }
        var actions: [Action] = []
        for call in failed {
            let others = remove(call, at: now) ?? []
            actions.append(.fail(call, .failed(error)))
            actions += others
        }
        // At the limit of connections, other requests have waited for this dial.
        if groups[group]?.isLimited == true { connectOthers(of: group, since: now, &actions) }
        return actions
    }

    // MARK: Groups and pending requests

    /// Returns the group for an origin and a policy, and creates it if there is none.
    mutating func group(_ origin: HTTPOrigin, _ plan: ConnectionPlan) -> GroupID {
        if let recent, recent.origin == origin, identities[recent.group].isShared(with: plan) {
            return recent.group
        }
        let group = findGroup(origin, plan)
        recent = (origin, group)
        return group
    }

    private mutating func findGroup(_ origin: HTTPOrigin, _ plan: ConnectionPlan) -> GroupID {
        let number: Int
        if let known = originNumbers[origin] {
            number = known
        } else {
            lastOrigin += 1
            number = lastOrigin
            originNumbers[origin] = number
            origins[number] = Origin(name: origin)
        }
        let known = origins[number]?.groups.first { identities[$0].isShared(with: plan) }
        if let known { return known }
        let identity = GroupIdentity(origin: number, plan: plan)
        let id: GroupID
        if let free = freeGroups.popLast() {
            id = free
            identities[id] = identity
        } else {
            id = groups.count
            groups.append(nil)
            identities.append(identity)
        }
        let host = HostPattern.normalized(origin.host)
        let maximum = HostPattern.value(for: host, in: connectionLimits).map { max(1, $0) } ?? .max
        groups[id] = Group(sharing: .init(origin, plan), maximumConnections: maximum)
        origins[number]?.groups.append(id)
        return id
    }

    /// Records that a request or a dial no longer uses a group.
    mutating func releaseUse(of group: GroupID) {
        // Does not read the group, which would copy it.
        if groups[group]?.removeUser() == true { removeIfUnused(group) }
    }

    /// Removes and returns the plans of removed groups.
    mutating func takeRemovedPlans() -> [ConnectionPlan] {
        if removedPlans.isEmpty { return [] }
        defer { removedPlans = [] }
        return removedPlans
    }

    mutating func removeIfUnused(_ id: GroupID) {
        guard let group = groups[safe: id] ?? nil, group.isUnused else { return }
        if let timer = group.growthTimer {
            growing[ObjectIdentifier(timer.key)] = nil
            timers.remove(timer.id)
        }
        groups[id] = nil
        freeGroups.append(id)
        if recent?.group == id { recent = nil }
        if let plan = identities[id].plan.take() { removedPlans.append(plan) }
        let number = identities[id].origin
        origins[number]?.groups.removeAll { $0 == id }
        if let origin = origins[number], origin.groups.isEmpty {
            origins[number] = nil
            originNumbers[origin.name] = nil
        }
    }

    /// Adds a request with a slot to those that wait for a connection. Returns true if a dial must be started for it.
    private mutating func connect(_ id: ObjectIdentifier, at now: MonotonicTime) -> Bool {
        guard let request = pending[id] else { return false }
        let deadline: MonotonicTime = min(request.total, request.connectTimeout.map { now + $0 } ?? .distantFuture)
        pending[id]?.isConnecting = true
        pending[id]?.since = now
        pending[id]?.deadline = deadline
        groups[request.group]?.connecting.append(request.call)
        setTimer(id, at: deadline)
        if groups[request.group]?.sharing == .exclusive, let last = groups[request.group]?.unownedDials.last,
            let spare = dials[last], spare.since + Self.maximumAgeOfDial > now
        {
            assign(spare.dial, to: request.call)
            return false
        }
        _ = groups[request.group]?.retryGrowth(at: now)
        guard groups[request.group]?.needsDial == true else { return false }
        reserveDial(id, in: request.group)
        return true
    }

    /// Records that a dial will be started. The dial keeps the group alive until it ends, even if the request leaves first.
    mutating func reserveDial(_ id: ObjectIdentifier, in group: GroupID) {
        pending[id]?.hasDial = true
        groups[group]?.dials += 1
        groups[group]?.users += 1
    }

    /// Starts waiting requests on shared connections with room.
    mutating func serve(_ group: GroupID, _ actions: inout [Action]) {
        while let index = groups[safe: group]??.shared.firstIndex(where: \.hasRoom),
            let served = takeOldestConnecting(of: group, isUsed: false), let shared = groups[group]?.shared[index]
        {
            groups[group]?.shared[index].streams += 1
            actions.append(.start(served.call, shared.connection))
        }
    }

    /// Removes the oldest request that needs a connection, or the oldest one that can have a used one. Its dial remains without an owner.
    private mutating func takeOldestConnecting(of group: GroupID, isUsed: Bool) -> Pending? {
        let index = groups[safe: group]??.connecting.firstIndex { call in
            !isUsed || pending[ObjectIdentifier(call)]?.awaitsUnused != true
        }
        guard let index, let call = groups[group]?.connecting.remove(at: index),
            let served = takePending(ObjectIdentifier(call))
        else { return nil }
        if let dial = served.dial {
            // The deadline of a request that waits for others is not that of its dial.
            let limit = served.connectTimeout.map { served.since + $0 } ?? .distantFuture
            detachOwner(of: dial, until: min(served.deadline, limit))
        }
        return served
    }

    mutating func setTimer(_ id: ObjectIdentifier, at deadline: MonotonicTime) {
        if let timer = pending[id]?.timer, timers.move(timer, to: deadline) { return }
        if deadline != .distantFuture { pending[id]?.timer = timers.insert(id, at: deadline) }
    }

    /// Removes a request that has no connection, and its timer.
    private mutating func takePending(_ id: ObjectIdentifier) -> Pending? {
        guard let request = pending.removeValue(forKey: id) else { return nil }
        if let timer = request.timer { timers.remove(timer) }
        return request
    }

    /// Passes a connection to the oldest request that needs one, or keeps it as idle.
    @discardableResult
    private mutating func offer(
        _ connection: Connection,
        isUsed: Bool = true,
        to group: GroupID,
        at now: MonotonicTime,
        _ actions: inout [Action]
    ) -> Pending? {
        guard let served = takeOldestConnecting(of: group, isUsed: isUsed) else {
            if keepsIdle {
                groups[group]?.idle.append(Idle(connection: connection, since: now))
            } else {
                actions.append(.discard(connection))
            }
            return nil
        }
        actions.append(.start(served.call, connection))
        return served
    }

    /// Removes the owner of a dial, which ends at the deadline of its former owner, or without one after a minute.
    mutating func detachOwner(of dial: Dial, until deadline: MonotonicTime) {
        let id = ObjectIdentifier(dial)
        guard let (group, since) = dials[id].map({ ($0.group, $0.since) }) else { return }
        dials[id]?.owner = nil
        groups[group]?.unownedDials.append(id)
        let end = deadline == .distantFuture ? since + .seconds(60) : deadline
        dials[id]?.timer = timers.insert(id, at: end)
    }

    /// Makes a request the owner of a dial.
    private mutating func assign(_ dial: Dial, to owner: Call) {
        let id = ObjectIdentifier(dial)
        guard let group = dials[id]?.group else { return }
        pending[ObjectIdentifier(owner)]?.dial = dial
        pending[ObjectIdentifier(owner)]?.hasDial = true
        dials[id]?.owner = owner
        groups[group]?.unownedDials.removeAll { $0 == id }
        if let timer = dials[id]?.timer.take() { timers.remove(timer) }
    }

    /// Removes a dial that has ended. Returns nil if it was removed before.
    private mutating func remove(_ dial: Dial) -> (owner: Call?, group: GroupID)? {
        guard let dialing = dials.removeValue(forKey: ObjectIdentifier(dial)) else { return nil }
        if let timer = dialing.timer { timers.remove(timer) }
        groups[dialing.group]?.dials -= 1
        if let owner = dialing.owner {
            pending[ObjectIdentifier(owner)]?.dial = nil
            pending[ObjectIdentifier(owner)]?.hasDial = false
        } else {
            groups[dialing.group]?.unownedDials.removeAll { $0 == ObjectIdentifier(dial) }
        }
        return (dialing.owner, dialing.group)
    }

    /// Removes a dial that no request needs.
    private mutating func removeUnneeded(_ dial: Dial) {
        if let group = remove(dial)?.group { releaseUse(of: group) }
    }

    /// Releases a slot, and passes it to the next request.
    private mutating func releaseSlot(of group: GroupID, at now: MonotonicTime, _ actions: inout [Action]) {
        let next = queue.release(host: identities[group].origin)
        releaseUse(of: group)
        guard let next else { return }
        let id = ObjectIdentifier(next)
        guard let request = pending[id] else { return }
        if let connection = groups[request.group]?.takeConnection() {
            _ = takePending(id)
            actions.append(.start(next, connection))
        } else if connect(id, at: now) {
            actions.append(.dial(next, request.group))
        }
    }
}
#endif
