#if os(Linux)
import SluiceHTTP

/// The connections of a pool: those that are idle, those to dial, and all that are open.
extension PoolState {
    package var idleCount: Int {
        groups.reduce(0) { $0 + ($1?.idleCount ?? 0) }
    }

    /// Returns the oldest request that needs a connection and has no dial.
    func requestWithoutDial(in group: GroupID) -> Call? {
        groups[safe: group]??.connecting.first { pending[ObjectIdentifier($0)]?.hasDial == false }
    }

    func sharedIndex(of connection: Connection, in group: GroupID) -> Int? {
        groups[safe: group]??.shared.firstIndex { $0.connection.id == connection.id }
    }

    /// Removes an idle or shared connection, which takes no further requests. Active requests continue. The connect time-outs of those that
    /// waited for the connection begin.
    package mutating func removeConnection(
        _ connection: Connection,
        of group: GroupID,
        at now: MonotonicTime
    ) -> [Action] {
        var actions: [Action] = []
        if let position = groups[safe: group]??.idle.firstIndex(where: { $0.connection.id == connection.id }) {
            groups[group]?.idle.remove(at: position)
        } else if let index = sharedIndex(of: connection, in: group) {
            groups[group]?.shared.remove(at: index)
            restartConnectTimeouts(in: group, at: now)
            connectOthers(of: group, since: now, &actions)
        }
        removeIfUnused(group)
        return actions
    }

    /// Sets the maximum number of concurrent requests on a shared connection.
    ///
    /// - Parameters:
    ///   - capacity: The number. If the server allows none on two connections, another one is dialed after a pause, and replaces one of them.
    ///   - connection: The connection.
    ///   - group: The group of the connection.
    ///   - isSuspect: True for a capacity of zero because the server does not respond.
    ///   - isLearned: True for a capacity that only this connection has, because the server has refused requests on it.
    ///   - now: The current time.
    /// - Returns: The actions to perform.
    package mutating func setCapacity(
        _ capacity: Int,
        of connection: Connection,
        in group: GroupID,
        isSuspect: Bool = false,
        isLearned: Bool = false,
        at now: MonotonicTime
    ) -> [Action] {
        guard let index = sharedIndex(of: connection, in: group) else { return [] }
        var actions: [Action] = []
        groups[group]?.shared[index].capacity = capacity
        groups[group]?.shared[index].isSuspect = isSuspect
        if capacity > 0, !isLearned { groups[group]?.knownCapacity = capacity }
        let barren = groups[group]?.shared.indices.filter { groups[group]?.shared[$0].allowsNone == true } ?? []
        if capacity == 0, !isSuspect, barren.count > 1 {
            recordFailedGrowth(of: group, at: now)
            // Further ones replace each other.
            let old = barren.first { groups[group]?.shared[$0].streams == 0 && $0 != index }
            if barren.count > 2, let old, let surplus = groups[group]?.shared.remove(at: old) {
                actions.append(.discard(surplus.connection))
                return actions
            }
        }
        groups[group]?.shared[index].recordRoom()
        serve(group, &actions)
        connectOthers(of: group, since: now, &actions)
        return actions
    }

    /// Records that a dial has failed, or has led to a connection without streams, while other connections exist. Requests that still wait
    /// after a pause dial again.
    mutating func recordFailedGrowth(of group: GroupID, at now: MonotonicTime) {
        guard (groups[safe: group] ?? nil) != nil else { return }
        groups[group]?.failedToGrow = now
        let end = now + PoolGroup<Call, Connection>.growthPause
        if let timer = groups[group]?.growthTimer, timers.move(timer.id, to: end) { return }
        let key = GrowthKey()
        growing[ObjectIdentifier(key)] = group
        groups[group]?.growthTimer = (key, timers.insert(ObjectIdentifier(key), at: end))
    }

    /// Dials for the requests that have waited for the end of the pause.
    mutating func endGrowthPause(of group: GroupID, at now: MonotonicTime, _ actions: inout [Action]) {
        groups[group]?.growthTimer = nil
        guard groups[group]?.retryGrowth(at: now) == true else { return }
        connectOthers(of: group, since: now, keepsTimeouts: true, &actions)
    }

    /// Returns the last known maximum number of concurrent requests on a connection of a group, or nil if it is unknown.
    package func knownCapacity(of group: GroupID) -> Int? { groups[safe: group]??.knownCapacity }

    /// Returns the time since which the least recently used connection has been idle.
    package mutating func oldestIdleTime() -> MonotonicTime? { indexOfOldestIdle().map { unused[$0].since } }

    /// Removes the connection that has been idle for the longest time.
    package mutating func popOldestIdle() -> Connection? {
        guard let index = indexOfOldestIdle() else { return nil }
        let oldest = unused.remove(at: index)
        let connection = groups[oldest.group]?.removeIdle(oldest.connection)
        removeIfUnused(oldest.group)
        return connection
    }

    /// Finds the connection that has been idle for the longest time.
    ///
    /// Each connection that becomes idle later is more recent than those of the last search. The pool is therefore searched again only
    /// once none of them is idle.
    private mutating func indexOfOldestIdle() -> Int? {
        if let index = indexOfLastIdle() { return index }
        findUnused()
        return indexOfLastIdle()
    }

    /// Returns the index of the last connection of ``unused`` that is idle. Removes those that have been used since the search.
    private mutating func indexOfLastIdle() -> Int? {
        for index in unused.indices.reversed() {
            let entry = unused[index]
            switch groups[safe: entry.group]??.isIdle(entry) {
            case true?: return index
            // It counts as idle again once no request waits for it.
            case false?: continue
            case nil: unused.remove(at: index)
            }
        }
        return nil
    }

    private mutating func findUnused() {
        unused.removeAll()
        for id in groups.indices { groups[id]?.appendUnused(of: id, to: &unused) }
        unused.sort { $0.since > $1.since }
    }

    package mutating func removeAllIdle() -> [Connection] {
        var all: [Connection] = []
        while let connection = popOldestIdle() { all.append(connection) }
        return all
    }

    /// Removes the connections of a group that have been idle since a time or longer.
    package mutating func removeIdle(of group: GroupID, since time: MonotonicTime) -> [Connection] {
        guard let idle = groups[safe: group]??.idle.prefix(while: { $0.since <= time }) else { return [] }
        groups[group]?.idle.removeFirst(idle.count)
        removeIfUnused(group)
        return idle.map(\.connection)
    }

    // MARK: Dials

    /// Starts dials for requests that waited for a dial which has ended, or that need more connections.
    ///
    /// - Parameters:
    ///   - group: The group.
    ///   - now: The current time, from which the ages of the dials and the connect time-outs of the requests count, or nil if both continue.
    ///   - keepsTimeouts: True if the connect time-outs continue. The requests have waited for a dial, and not for a connection in use.
    ///   - actions: The actions, to which the dials are added.
    mutating func connectOthers(
        of group: GroupID,
        since now: MonotonicTime? = nil,
        keepsTimeouts: Bool = false,
        _ actions: inout [Action]
    ) {
        while groups[safe: group]??.needsDial == true, let call = requestWithoutDial(in: group) {
            if let now, keepsTimeouts {
                pending[ObjectIdentifier(call)]?.since = now
            } else if let now {
                restartConnectTimeout(of: call, at: now)
            }
            reserveDial(ObjectIdentifier(call), in: group)
            actions.append(.dial(call, group))
        }
    }

    /// Counts the connect time-out of a request from now, and the age of a dial that is started for it.
    ///
    /// - Parameters:
    ///   - call: The request.
    ///   - now: The current time.
    ///   - least: The minimum time until the request is checked again.
    mutating func restartConnectTimeout(of call: Call, at now: MonotonicTime, atLeast least: Duration = .zero) {
        let id = ObjectIdentifier(call)
        guard let request = pending[id], let timeout = request.connectTimeout else { return }
        let deadline = min(request.total, now + max(timeout, least))
        pending[id]?.since = now
        pending[id]?.deadline = deadline
        setTimer(id, at: deadline)
    }

    /// Counts the connect time-outs of all requests without a dial from now, if there is no connection that they could wait for.
    private mutating func restartConnectTimeouts(in group: GroupID, at now: MonotonicTime) {
        guard let waiting = groups[safe: group] ?? nil, waiting.shared.isEmpty else { return }
        for call in waiting.connecting where pending[ObjectIdentifier(call)]?.hasDial == false {
            restartConnectTimeout(of: call, at: now)
        }
    }

    /// Returns true if a dial takes longer than a connect time-out, so that its server may not answer. It then serves no other request.
    func isStuck(_ dial: Dial, after timeout: Duration?, at now: MonotonicTime) -> Bool {
        guard let dialing = dials[ObjectIdentifier(dial)], dialing.deadline == nil, let timeout else { return false }
        return dialing.since + timeout <= now
    }

    // MARK: Open connections

    /// All open connections.
    package var openConnections: [Connection] { groups.flatMap { $0.map { Array($0.open.values) } ?? [] } }

    /// Removes a connection that has closed from the open ones. Requests that waited because of a limit dial in its place.
    package mutating func connectionClosed(
        _ connection: Connection,
        of group: GroupID,
        at now: MonotonicTime
    ) -> [Action] {
        guard groups.indices.contains(group), groups[group]?.open.removeValue(forKey: connection.id) != nil,
            groups[group]?.isLimited == true
        else { return [] }
        var actions: [Action] = []
        restartConnectTimeouts(in: group, at: now)
        connectOthers(of: group, since: now, &actions)
        return actions
    }

    /// Returns the requests and connections of each origin.
    ///
    /// - Parameter describe: Returns the description of a connection, given the time since which it is idle, or nil if it is in use, and the
    ///   number of its requests.
    /// - Returns: A snapshot.
    package func snapshot(
        _ describe: (Connection, _ idleSince: MonotonicTime?, _ requests: Int) -> ConnectionSnapshot.Connection
    ) -> ConnectionSnapshot {
        var waiting: [GroupID: Int] = [:]
        for request in pending.values { waiting[request.group, default: 0] += 1 }
        let origins = origins.values.map { origin in
            var connections: [ConnectionSnapshot.Connection] = []
            for group in origin.groups.compactMap({ groups[$0] }) {
                let uses = group.uses
                for (id, connection) in group.open {
                    // A connection without an entry carries a request, or is about to close.
                    let use = uses[id] ?? PoolGroup.Use(idleSince: nil, requests: 1)
                    connections.append(describe(connection, use.idleSince, use.requests))
                }
            }
            return ConnectionSnapshot.Origin(
                origin: origin.name,
                connections: connections.sorted { $0.age > $1.age },
                waiting: origin.groups.reduce(0) { $0 + waiting[$1, default: 0] },
                connecting: origin.groups.reduce(0) { $0 + (groups[$1]?.dials ?? 0) }
            )
        }
        return ConnectionSnapshot(origins)
    }
}

// MARK: - Pool action

extension PoolState {
    /// An action that a change of the pool's state requires.
    package enum Action {
        /// Send the request on the connection.
        case start(Call, Connection)
        /// Connect for the request of the group, then call ``dialStarted(_:for:in:)``.
        case dial(Call, GroupID)
        /// Cancel the dial, because no request waits for it.
        case cancel(Dial)
        /// Close the connection, because idle connections are no longer kept.
        case discard(Connection)
        case fail(Call, Failure)
    }

    /// The reason for which a request without a connection fails.
    package enum Failure: Equatable {
        /// The connection time-out has passed. The value is the unfinished dial, if there was one.
        case connectTimedOut(Dial?)
        /// The total time-out has passed.
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

    /// The result of the search for a connection.
    package enum Acquisition {
        /// Send the request on the connection.
        case connection(Connection)
        /// Connect for the request, then call ``dialStarted(_:for:in:)``.
        case dial
        /// A later action starts or fails the request.
        case waiting
        /// The maximum number of requests is already waiting.
        case refused
    }
}

extension Array {
    subscript(safe index: Int) -> Element? {
        indices.contains(index) ? self[index] : nil
    }
}

extension PoolState.Action: Sendable where Call: Sendable, Connection: Sendable, Dial: Sendable {}

extension PoolState.Failure: Sendable where Call: Sendable, Connection: Sendable, Dial: Sendable {}
#endif
