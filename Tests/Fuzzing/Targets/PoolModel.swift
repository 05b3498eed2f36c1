#if os(Linux)
import SluiceEngine
import SluiceHTTP

/// A call, dial or connection, which the pool distinguishes by identity only.
private final class PoolItem: Sendable, Identifiable {
    let number: Int

    init(_ number: Int) {
        self.number = number
    }
}

/// The origin and the plan of a request. Requests with the same route share connections.
private struct PoolRoute: Hashable {
    let origin: Int
    let plan: Int

    var name: HTTPOrigin { HTTPOrigin(scheme: "http", authority: "host\(origin)") }

    /// Returns a plan. Plans of the same route are equal but mostly not identical.
    func makePlan() throws(SluiceError) -> ConnectionPlan {
        if plan == 0 { return .standard }
        var options = ConnectionOptions()
        options.unixSocket = "/\(plan)"
        return try options.plan(for: name)
    }
}

/// A plain model of the pool, which checks each of the pool's decisions.
struct PoolModel {
    private typealias State = PoolState<PoolItem, PoolItem, PoolItem>
    private typealias Actions = ArraySlice<State.Action>

    private enum Stage {
        /// The request waits for a slot.
        case waiting
        /// The request has a slot and no connection.
        case connecting
        case running(PoolItem)
    }

    private struct Request {
        let call: PoolItem
        let route: PoolRoute
        let group: Int
        let priority: RequestPriority
        let total: MonotonicTime
        let connectTimeout: Duration?
        var stage: Stage
        /// The time at which the request fails if it has no connection by then.
        var deadline: MonotonicTime
        /// True if the request needs a connection that no other request has used.
        var needsUnused = false

        var isWaiting: Bool { if case .waiting = stage { true } else { false } }
        var isConnecting: Bool { if case .connecting = stage { true } else { false } }
        var connection: PoolItem? { if case .running(let connection) = stage { connection } else { nil } }
    }

    /// A dial, or the call for which a dial must still be started.
    private struct Dialing {
        let item: PoolItem
        let route: PoolRoute
        let group: Int
    }

    private struct Idle {
        let connection: PoolItem
        let route: PoolRoute
        let group: Int
        let since: MonotonicTime
    }

    private static let origins = 3
    private static let plans = 3

    private let limit: Int
    private let limitPerHost: Int
    private let maximumWaiting: Int
    private var state: State
    private var now: Int64 = 0
    private var lastItem = 0
    /// One more than the highest group number so far.
    private var groupCount = 0
    private var isReleased = false
    /// All requests that have not ended, in the order of their arrival.
    private var requests: [Request] = []
    /// The calls that connect, in the order in which they received a slot.
    private var connecting: [PoolItem] = []
    /// The calls for which a dial must still be started, including those that no longer need one.
    private var orders: [Dialing] = []
    private var dials: [Dialing] = []
    private var cancelled: [PoolItem] = []
    /// The idle connections, the least recently used first.
    private var idle: [Idle] = []

    init(limit: Int, limitPerHost: Int, maximumWaiting: Int) {
        self.limit = limit
        self.limitPerHost = limitPerHost
        self.maximumWaiting = maximumWaiting
        state = State(limit: limit, limitPerHost: limitPerHost, maximumWaiting: maximumWaiting)
    }

    /// The actions of deadlines that are handled later: the state is already the one after them.
    private var later: Actions = []

    private var time: MonotonicTime { MonotonicTime(nanoseconds: now) }

    private mutating func item() -> PoolItem {
        lastItem += 1
        return PoolItem(lastItem)
    }

    // MARK: Operations

    /// Runs the operation in the low half of a byte, so that the letters from a on are the numbers from 1 on.
    mutating func step(_ operation: UInt8, _ input: inout FuzzInput) throws {
        let choice = input.digit()
        switch operation & 15 {
        // a: a request. The digits are its route, and its priority and deadlines.
        case 1: try acquire(choice, input.digit())
        // b, c, d: a dial starts, connects or fails.
        case 2: try startDial(choice)
        case 3: try connectDial(choice)
        case 4: try failDial(choice)
        // e, f: a request ends, and its connection is kept or closed.
        case 5: try finish(choice, keepsConnection: true)
        case 6: try finish(choice, keepsConnection: false)
        // g, h: a request's connection was dead. The request is sent again over an existing or a new connection.
        case 7: try resend(choice, fresh: false)
        case 8: try resend(choice, fresh: true)
        // i, j: an idle connection closes, or the oldest one is evicted.
        case 9: try closeIdle(choice)
        case 10: try makeRoom()
        // k: a request is cancelled.
        case 11: try cancel(choice)
        // l, p: time passes, with or without a check of the deadlines.
        case 12:
            now += Int64(choice)
            try expire()
        case 0: now += Int64(choice)
        // m: the client is released.
        case 13: try closeAllIdle()
        // n, o: a cancelled dial ends anyway.
        case 14: try endCancelledDial(choice, isConnected: true)
        default: try endCancelledDial(choice, isConnected: false)
        }
    }

    private mutating func acquire(_ place: Int, _ manner: Int) throws {
        let route = PoolRoute(
            origin: place % PoolModel.origins,
            plan: place / PoolModel.origins % PoolModel.plans
        )
        let priorities = RequestPriority.allCases
        let (totalChoice, connectTimeoutChoice) = (manner / 3 % 3, manner / 9 % 3)
        let total = totalChoice == 0 ? MonotonicTime.distantFuture : time + .nanoseconds(3 * totalChoice)
        let connectTimeout: Duration? = connectTimeoutChoice == 0 ? nil : .nanoseconds(2 * connectTimeoutChoice - 2)
        let priority = priorities[manner % priorities.count]
        let hasSlot = canStart(route.origin)
        let waiting = requests.count { $0.isWaiting }
        let call = item()
        let plan = try route.makePlan()
        let (group, acquisition) = state.acquire(
            call,
            to: route.name,
            by: plan,
            priority: priority,
            total: total,
            connectTimeout: connectTimeout,
            at: time
        )
        try note(group, of: route)
        var request = Request(
            call: call,
            route: route,
            group: group,
            priority: priority,
            total: total,
            connectTimeout: connectTimeout,
            stage: .waiting,
            deadline: total
        )
        switch acquisition {
        case .connection(let connection):
            try require(hasSlot, "A request starts without a slot.")
            try take(connection, for: &request)
        case .dial:
            try require(hasSlot, "A dial is ordered for a request without a slot.")
            try connect(&request)
        case .waiting where hasSlot: try adoptDial(&request)
        case .waiting: try require(waiting < maximumWaiting, "Too many requests wait.")
        case .refused:
            try require(!hasSlot && waiting == maximumWaiting, "A request is refused although it could start or wait.")
            return
        }
        requests.append(request)
    }

    private mutating func resend(_ choice: Int, fresh: Bool) throws {
        guard let index = running(choice) else { return }
        var request = requests[index]
        let acquisition = state.reacquire(
            request.call,
            in: request.group,
            fresh: fresh,
            total: request.total,
            connectTimeout: request.connectTimeout,
            at: time
        )
        request.needsUnused = fresh
        switch acquisition {
        case .connection(let connection):
            try require(!fresh, "A request that needs a new connection gets an existing one.")
            try take(connection, for: &request)
        case .dial: try connect(&request, mayHaveIdle: fresh)
        case .waiting: try adoptDial(&request, mayHaveIdle: fresh)
        case .refused: throw InvariantViolation(description: "A resent request has lost its slot.")
        }
        requests[index] = request
    }

    private mutating func finish(_ choice: Int, keepsConnection: Bool) throws {
        guard let index = running(choice), let connection = requests[index].connection else { return }
        let request = requests.remove(at: index)
        var actions = state.release(keepsConnection ? connection : nil, of: request.group, at: time)[...]
        if keepsConnection { try offer(connection, isUsed: true, of: request.route, in: request.group, &actions) }
        try fillSlot(&actions)
        try require(actions.isEmpty, "The end of a request leaves \(actions.count) unexpected actions.")
    }

    private mutating func cancel(_ choice: Int) throws {
        guard !requests.isEmpty else { return }
        let request = requests[choice % requests.count]
        let removal = state.remove(request.call, at: time)
        guard request.connection == nil else {
            return try require(removal == nil, "A request with a connection is removed.")
        }
        guard let removal else { throw InvariantViolation(description: "A request without a connection is unknown.") }
        var actions = removal[...]
        try remove(request.call, mayHaveDial: true, &actions)
        try require(actions.isEmpty, "A cancellation leaves \(actions.count) unexpected actions.")
        let again = state.remove(request.call, at: time)
        try require(again == nil, "A request is removed twice.")
    }

    private mutating func expire() throws {
        var actions = state.expire(at: time)[...]
        // The failure of a request follows the actions that its end causes. Dials whose requests have other connections end along
        // with it.
        while let end = actions.firstIndex(where: { if case .fail = $0 { true } else { false } }) {
            guard case .fail(let call, let failure) = actions[end], let index = place(of: call) else {
                throw InvariantViolation(description: "An ended request fails.")
            }
            let request = requests[index]
            try require(request.connection == nil && request.deadline <= time, "A request fails before its deadline.")
            let isTotal: Bool
            switch failure {
            case .timedOut: isTotal = true
            case .connectTimedOut: isTotal = false
            case .failed: throw InvariantViolation(description: "An expired request fails with another error.")
            }
            try require(isTotal == (request.total <= time), "A request fails by the wrong deadline.")
            var own = actions[..<end]
            later = actions[end...]
            try removeCancelledDials(&own)
            try remove(call, mayHaveDial: false, &own)
            try require(own.isEmpty, "A deadline leaves \(own.count) unexpected actions.")
            actions = actions[(end + 1)...]
        }
        later = []
        try removeCancelledDials(&actions)
        try require(actions.isEmpty, "The deadlines leave \(actions.count) unexpected actions.")
        let isLate = requests.contains { $0.connection == nil && $0.deadline <= time }
        try require(!isLate, "A request outlives its deadline.")
    }

    /// Removes cancelled dials, which must all be in progress.
    private mutating func removeCancelledDials(_ actions: inout Actions) throws {
        while case .cancel(let dial)? = actions.first {
            actions.removeFirst()
            guard let position = dials.firstIndex(where: { $0.item === dial }) else {
                throw InvariantViolation(description: "A dial that is not in progress is cancelled.")
            }
            cancelled.append(dials.remove(at: position).item)
        }
    }

    private mutating func startDial(_ choice: Int) throws {
        guard !orders.isEmpty else { return }
        // The call may have ended since, as it may while another thread is about to dial for it.
        let order = orders.remove(at: choice % orders.count)
        let dial = item()
        guard state.dialStarted(dial, for: order.item, in: order.group) else { return }
        let isNeeded = requests.contains { $0.isConnecting && $0.route == order.route }
        try require(isNeeded, "A dial starts that no request of its route needs.")
        dials.append(Dialing(item: dial, route: order.route, group: order.group))
    }

    private mutating func connectDial(_ choice: Int) throws {
        guard !dials.isEmpty else { return }
        let dial = dials.remove(at: choice % dials.count)
        let connection = item()
        let (isWanted, result) = state.dialSucceeded(dial.item, connection, at: time)
        try require(isWanted, "A dial that was not cancelled is rejected.")
        var actions = result[...]
        try offer(connection, isUsed: false, of: dial.route, in: dial.group, &actions)
        try require(actions.isEmpty, "A connection leaves \(actions.count) unexpected actions.")
    }

    private mutating func failDial(_ choice: Int) throws {
        guard !dials.isEmpty else { return }
        let dial = dials.remove(at: choice % dials.count)
        var actions = state.dialFailed(dial.item, with: SluiceError(.cannotConnect, ""), at: time)[...]
        // A dial may have no request left. Its failure then fails none.
        guard let first = actions.popFirst() else { return }
        guard case .fail(let call, .failed(let error)) = first, error.code == .cannotConnect,
            let index = place(of: call), requests[index].isConnecting, requests[index].route == dial.route
        else { throw InvariantViolation(description: "The failure of a dial fails no request of its route.") }
        try remove(call, mayHaveDial: false, &actions)
        try require(actions.isEmpty, "The failure of a dial leaves \(actions.count) unexpected actions.")
    }

    private mutating func endCancelledDial(_ choice: Int, isConnected: Bool) throws {
        guard !cancelled.isEmpty else { return }
        let dial = cancelled.remove(at: choice % cancelled.count)
        if isConnected {
            let (isWanted, actions) = state.dialSucceeded(dial, item(), at: time)
            try require(!isWanted && actions.isEmpty, "The connection of a cancelled dial is used.")
        } else {
            let actions = state.dialFailed(dial, with: SluiceError(.cannotConnect, ""), at: time)
            try require(actions.isEmpty, "The failure of a cancelled dial has actions.")
        }
    }

    private mutating func closeIdle(_ choice: Int) throws {
        for request in requests {
            guard let connection = request.connection else { continue }
            let actions = state.removeConnection(connection, of: request.group, at: time)
            try require(actions.isEmpty, "The end of a connection in use has \(actions.count) actions.")
            try require(state.idleCount == idle.count, "A connection in use was idle.")
        }
        guard !idle.isEmpty else { return }
        let closed = idle.remove(at: choice % idle.count)
        for _ in 0..<2 {
            let actions = state.removeConnection(closed.connection, of: closed.group, at: time)
            try require(actions.isEmpty, "The end of an idle connection has \(actions.count) actions.")
            try require(state.idleCount == idle.count, "An idle connection is unknown.")
        }
    }

    private mutating func makeRoom() throws {
        guard let connection = state.popOldestIdle() else {
            return try require(idle.isEmpty, "No connection is evicted, although \(idle.count) are idle.")
        }
        guard let index = idle.firstIndex(where: { $0.connection === connection }) else {
            throw InvariantViolation(description: "The evicted connection is not idle.")
        }
        try require(idle[index].since == idle.first?.since, "The evicted connection is not the oldest.")
        idle.remove(at: index)
    }

    private mutating func closeAllIdle() throws {
        isReleased = true
        state.keepsIdle = false
        let closed = state.removeAllIdle()
        try require(
            closed.map(\.number).sorted() == idle.map(\.connection.number).sorted(),
            "\(closed.count) of \(idle.count) idle connections are closed."
        )
        idle = []
    }

    // MARK: Consequences

    /// Sends a request over an idle connection, which must be the most recently used one.
    private mutating func take(_ connection: PoolItem, for request: inout Request) throws {
        let route = request.route
        guard let index = idle.lastIndex(where: { $0.route == route }), idle[index].connection === connection else {
            throw InvariantViolation(description: "A request does not get the most recently used connection.")
        }
        idle.remove(at: index)
        request.stage = .running(connection)
    }

    /// Orders a dial for a request, for which no connection may be available.
    private mutating func connect(_ request: inout Request, mayHaveIdle: Bool = false) throws {
        try setConnecting(&request, mayHaveIdle: mayHaveIdle)
        orders.append(Dialing(item: request.call, route: request.route, group: request.group))
    }

    /// Gives a request a dial whose owner has another connection.
    private mutating func adoptDial(_ request: inout Request, mayHaveIdle: Bool = false) throws {
        let route = request.route
        let coming = (dials + orders).count { $0.route == route }
        let connecting = requests.count { $0.isConnecting && $0.route == route }
        try require(coming > connecting, "A request with a slot waits without a spare dial.")
        try setConnecting(&request, mayHaveIdle: mayHaveIdle)
    }

    private mutating func setConnecting(_ request: inout Request, mayHaveIdle: Bool) throws {
        let route = request.route
        let hasIdle = idle.contains { $0.route == route }
        try require(mayHaveIdle || !hasIdle, "A request connects although a connection is idle.")
        request.stage = .connecting
        let timeout = request.connectTimeout.map { time + $0 } ?? .distantFuture
        request.deadline = min(request.total, timeout)
        connecting.append(request.call)
    }

    /// Handles a free connection: it goes to the oldest connecting request that can use it, or becomes idle.
    private mutating func offer(
        _ connection: PoolItem,
        isUsed: Bool,
        of route: PoolRoute,
        in group: Int,
        _ actions: inout Actions
    ) throws {
        let oldest = connecting.first { call in
            requests.contains { $0.call === call && $0.route == route && !(isUsed && $0.needsUnused) }
        }
        if let oldest, let index = place(of: oldest) {
            guard case .start(let call, let given)? = actions.popFirst(), call === oldest, given === connection else {
                throw InvariantViolation(
                    description: "A free connection does not go to the oldest request that connects."
                )
            }
            connecting.removeAll { $0 === oldest }
            requests[index].stage = .running(connection)
        } else if isReleased {
            guard case .discard(let discarded)? = actions.popFirst(), discarded === connection else {
                throw InvariantViolation(description: "A released client keeps a connection.")
            }
        } else {
            idle.append(Idle(connection: connection, route: route, group: group, since: time))
        }
    }

    /// Handles a free slot: it goes to a request of the highest priority that may start, the first of its origin.
    private mutating func fillSlot(_ actions: inout Actions) throws {
        let candidates = requests.filter { $0.isWaiting && canStart($0.route.origin) }
        guard let highest = candidates.map(\.priority).max() else { return }
        let call: PoolItem
        var connection: PoolItem?
        var dials = false
        // Several slots may have become free. Requests that adopt a dial have no action.
        let next = candidates.filter { candidate in
            candidate.priority == highest
                && candidates.first { $0.route.origin == candidate.route.origin && $0.priority == highest }?.call
                    === candidate.call
        }
        let adopting = next.first { candidate in
            let dials = (actions + later).contains {
                if case .dial(let call, _) = $0 { call === candidate.call } else { false }
            }
            return state.isConnecting(candidate.call) && !dials
        }
        if let adopting {
            call = adopting.call
        } else {
            switch actions.popFirst() {
            case .start(let started, let given)?:
                call = started
                connection = given
            case .dial(let dialing, let group)?:
                call = dialing
                dials = true
                let isItsGroup = requests.contains { $0.call === dialing && $0.group == group }
                try require(isItsGroup, "A request connects in another group than its own.")
            default: throw InvariantViolation(description: "A request waits although a slot is free.")
            }
        }
        guard var request = candidates.first(where: { $0.call === call }), let index = place(of: call) else {
            throw InvariantViolation(description: "A request gets a slot that it may not have.")
        }
        let (origin, priority) = (request.route.origin, request.priority)
        try require(priority == highest, "A request of a higher priority waits.")
        let first = candidates.first { $0.route.origin == origin && $0.priority == priority }
        try require(first?.call === call, "A request overtakes an earlier one.")
        if let connection {
            try take(connection, for: &request)
        } else if dials {
            try connect(&request)
        } else {
            try adoptDial(&request)
        }
        requests[index] = request
    }

    /// Removes a request without a connection. Its dial is cancelled, and its slot goes to the next request.
    private mutating func remove(_ call: PoolItem, mayHaveDial: Bool, _ actions: inout Actions) throws {
        guard let index = place(of: call) else { throw InvariantViolation(description: "A request ends twice.") }
        let request = requests.remove(at: index)
        guard request.isConnecting else { return }
        connecting.removeAll { $0 === call }
        if mayHaveDial, case .cancel(let dial)? = actions.first {
            actions.removeFirst()
            guard let position = dials.firstIndex(where: { $0.item === dial && $0.route == request.route }) else {
                throw InvariantViolation(description: "A dial of another request is cancelled.")
            }
            cancelled.append(dials.remove(at: position).item)
        }
        try fillSlot(&actions)
    }

    // MARK: Checks

    private func place(of call: PoolItem) -> Int? { requests.firstIndex { $0.call === call } }

    /// Returns the index of a request that has a connection.
    private func running(_ choice: Int) -> Int? {
        let indices = requests.indices.filter { requests[$0].connection != nil }
        return indices.isEmpty ? nil : indices[choice % indices.count]
    }

    private func slots(of origin: Int) -> Int { requests.count { !$0.isWaiting && $0.route.origin == origin } }

    private func canStart(_ origin: Int) -> Bool {
        requests.count { !$0.isWaiting } < limit && slots(of: origin) < limitPerHost
    }

    /// Checks a group number: requests have the same group if and only if they have the same route.
    private mutating func note(_ group: Int, of route: PoolRoute) throws {
        groupCount = max(groupCount, group + 1)
        var known = requests.map { ($0.group, $0.route) }
        known += dials.map { ($0.group, $0.route) }
        known += idle.map { ($0.group, $0.route) }
        let isSound = known.allSatisfy { ($0.0 == group) == ($0.1 == route) }
        try require(isSound, "Two routes share a group, or one has two groups.")
    }

    /// Checks the pool against the model between two operations.
    mutating func check() throws {
        let waiting = requests.count { $0.isWaiting }
        let active = requests.count - waiting
        try require(state.active == active && active <= limit, "\(state.active) requests have a slot, not \(active).")
        try require(
            state.waiting == waiting && waiting <= maximumWaiting,
            "\(state.waiting) requests wait, not \(waiting)."
        )
        for origin in 0..<PoolModel.origins {
            try require(slots(of: origin) <= limitPerHost, "An origin exceeds its limit.")
        }
        let isIgnored = requests.contains { $0.isWaiting && canStart($0.route.origin) }
        try require(!isIgnored, "A request waits although a slot is free.")
        try require(state.idleCount == idle.count, "\(state.idleCount) connections are idle, not \(idle.count).")
        try require(idle.first?.since == state.oldestIdleTime(), "The age of the oldest idle connection is wrong.")
        try require(state.dialCount == dials.count, "\(state.dialCount) dials are in progress, not \(dials.count).")
        let deadline = requests.filter { $0.connection == nil }.map(\.deadline).min() ?? .distantFuture
        // A dial whose request has another connection ends at the request's deadline.
        let hasLeftOver = dials.count + orders.count > requests.count { $0.isConnecting }
        let isNext = state.nextDeadline == deadline || state.nextDeadline < deadline && hasLeftOver
        try require(isNext, "The next deadline is wrong.")
        let connections = requests.compactMap(\.connection) + idle.map(\.connection)
        let numbers = Set(connections.map(\.number))
        try require(numbers.count == connections.count, "A connection is used twice.")
        for route in Set(requests.filter(\.isConnecting).map(\.route)) {
            let needed = requests.count { $0.isConnecting && $0.route == route }
            let coming = (dials + orders).count { $0.route == route }
            try require(needed <= coming, "A request connects without a dial.")
        }
    }

    /// Completes all pending work. Nothing may be left.
    mutating func drain() throws {
        while !(requests.isEmpty && orders.isEmpty && dials.isEmpty) {
            if !orders.isEmpty {
                try startDial(0)
            } else if let dial = dials.first {
                if dial.item.number.isMultiple(of: 2) { try connectDial(0) } else { try failDial(0) }
            } else if let index = running(0) {
                try finish(0, keepsConnection: requests[index].call.number.isMultiple(of: 2))
            } else {
                throw InvariantViolation(description: "\(requests.count) requests can never end.")
            }
            try check()
        }
        try closeAllIdle()
        try check()
        // Unused groups are free for other routes.
        let count = min(groupCount, limit + maximumWaiting)
        var groups: Set<Int> = []
        for number in 0..<count {
            let (group, _) = state.acquire(
                item(),
                to: HTTPOrigin(scheme: "http", authority: "other\(number)"),
                by: .standard,
                priority: .normal,
                total: .distantFuture,
                connectTimeout: nil,
                at: time
            )
            groups.insert(group)
        }
        let areFree = groups.count == count && groups.allSatisfy { $0 < groupCount }
        try require(areFree, "An unused group is not free.")
    }
}
#endif
