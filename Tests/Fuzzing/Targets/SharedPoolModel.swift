#if os(Linux)
import SluiceEngine
import SluiceHTTP

/// A call, dial or connection, which the pool distinguishes by identity only.
private final class PoolItem: Sendable, Identifiable {}

/// A plain model of a pool whose connections carry several requests at a time.
///
/// Unlike ``PoolModel``, it does not predict the pool's decisions. It follows them and checks invariants after each.
struct SharedPoolModel {
    private typealias State = PoolState<PoolItem, PoolItem, PoolItem>
    private typealias ID = ObjectIdentifier

    private struct Request {
        let call: PoolItem
        let group: Int
        let origin: Int
        let total: MonotonicTime
        /// False while the request waits for a slot.
        var hasSlot: Bool
        var connection: PoolItem?
    }

    /// A dial, or the call for which a dial must still be started.
    private struct Dialing {
        let item: PoolItem
        let group: Int
        let origin: Int
    }

    private struct Connection {
        let item: PoolItem
        let group: Int
        /// The number of requests that it may carry; nil for HTTP/1.1.
        var capacity: Int?
        var streams = 0
        /// False after the pool was told to use it for no further request.
        var isKnown = true
        /// True after it refused a request, until one of its requests ends.
        var isFull = false
        /// True after it refused a request although it carried no other. It is then tried once more.
        var hasRefusedFirst = false

        var hasRoom: Bool { isKnown && streams < capacity ?? 1 && !isFull }
    }

    private static let origins = 3

    private let limitPerHost: Int
    private var state: State
    private var now: Int64 = 0
    private var isReleased = false
    /// All requests that have not ended, in the order of their arrival.
    private var requests: [Request] = []
    private var connections: [Connection] = []
    /// The calls for which a dial must still be started.
    private var orders: [Dialing] = []
    private var dials: [Dialing] = []
    /// The groups in which a request that is sent again may have overtaken others.
    private var overtaken: Set<Int> = []

    init(limitPerHost: Int, maximumWaiting: Int) {
        self.limitPerHost = limitPerHost
        state = State(limit: .max, limitPerHost: limitPerHost, maximumWaiting: maximumWaiting)
    }

    private var time: MonotonicTime { MonotonicTime(nanoseconds: now) }

    // MARK: Operations

    /// Runs the operation in the low half of a byte, so that the letters from a on are the numbers from 1 on.
    mutating func step(_ operation: UInt8, _ input: inout FuzzInput) throws {
        let choice = input.digit()
        switch operation & 15 {
        // a: a request. The digits are its origin and its deadlines.
        case 1: try acquire(choice, input.digit())
        // b: a dial starts.
        case 2: startDial(choice)
        // c, d, e: a dial connects with HTTP/2, with HTTP/1.1, or fails.
        case 3: try connectDial(choice, capacity: 1 + input.digit() % 4)
        case 4: try connectDial(choice, capacity: nil)
        case 5: try failDial(choice)
        // f, g: a request ends, and its connection is kept or closed.
        case 6: try finish(choice, keepsConnection: true)
        case 7: try finish(choice, keepsConnection: false)
        // h, i: a request is sent again, because its stream ended or the connection refused it.
        case 8: try resend(choice, isRefused: false)
        case 9: try resend(choice, isRefused: true)
        // j: a server changes the number of concurrent requests.
        case 10: try setCapacity(choice, input.digit() % 4)
        // k: a connection gets no further request.
        case 11: try retire(choice)
        // l: a request is cancelled.
        case 12: try cancel(choice)
        // m: the oldest idle connection is evicted.
        case 13: try makeRoom()
        // n: the client is released.
        case 14: try leave()
        // o, p: time passes, with or without a check of the deadlines.
        case 15:
            now += Int64(choice)
            try perform(state.expire(at: time))
        default: now += Int64(choice)
        }
    }

    private mutating func acquire(_ place: Int, _ manner: Int) throws {
        let origin = place % Self.origins
        // The second origin always uses HTTP/2, the last HTTP/1.1, and the first either.
        var options = ConnectionOptions()
        options.httpVersion = origin == 1 ? .http2PriorKnowledge : .automatic
        let name = HTTPOrigin(scheme: origin == 0 ? "https" : "http", authority: "host\(origin)")
        let call = PoolItem()
        let total = manner % 3 == 0 ? MonotonicTime.distantFuture : time + .nanoseconds(3 * (manner % 3))
        let (group, acquisition) = state.acquire(
            call,
            to: name,
            by: try options.plan(for: name),
            priority: .normal,
            total: total,
            connectTimeout: manner / 3 % 3 == 0 ? nil : .nanoseconds(manner / 3 % 3),
            at: time
        )
        if case .refused = acquisition {
            return try require(!canStart(origin), "A request is refused although a slot is free.")
        }
        requests.append(
            Request(call: call, group: group, origin: origin, total: total, hasSlot: canStart(origin))
        )
        try follow(acquisition, for: call, in: group)
    }

    private mutating func follow(_ acquisition: State.Acquisition, for call: PoolItem, in group: Int) throws {
        switch acquisition {
        case .connection(let connection): try start(call, connection)
        case .dial: order(call, group)
        case .waiting: break
        case .refused: throw InvariantViolation(description: "A resent request has lost its slot.")
        }
    }

    private mutating func startDial(_ choice: Int) {
        guard !orders.isEmpty else { return }
        let order = orders.remove(at: choice % orders.count)
        let dial = PoolItem()
        if state.dialStarted(dial, for: order.item, in: order.group) {
            dials.append(Dialing(item: dial, group: order.group, origin: order.origin))
        }
    }

    private mutating func order(_ call: PoolItem, _ group: Int) {
        let origin = requests.first { $0.call === call }?.origin ?? 0
        orders.append(Dialing(item: call, group: group, origin: origin))
    }

    private mutating func connectDial(_ choice: Int, capacity: Int?) throws {
        guard !dials.isEmpty else { return }
        let dialing = dials.remove(at: choice % dials.count)
        let (dial, group) = (dialing.item, dialing.group)
        let capacity = [capacity, capacity ?? 1, nil][dialing.origin]
        let connection = PoolItem()
        connections.append(Connection(item: connection, group: group, capacity: capacity))
        let (isWanted, actions) = state.dialSucceeded(dial, connection, capacity: capacity, at: time)
        try require(isWanted, "A dial that was not cancelled is rejected.")
        try perform(actions)
        if capacity != nil { overtaken.remove(group) }
    }

    private mutating func failDial(_ choice: Int) throws {
        guard !dials.isEmpty else { return }
        let dialing = dials.remove(at: choice % dials.count)
        let (dial, group) = (dialing.item, dialing.group)
        let others = connections.contains { $0.group == group && $0.isKnown && $0.capacity != nil }
        let actions = state.dialFailed(dial, with: SluiceError(.cannotConnect, ""), at: time)
        let fails = actions.contains { if case .fail = $0 { true } else { false } }
        try require(!fails || !others, "A request fails with a dial although it can wait for a stream.")
        try perform(actions)
    }

    private mutating func finish(_ choice: Int, keepsConnection: Bool) throws {
        guard let index = running(choice), let item = requests[index].connection else { return }
        let request = requests.remove(at: index)
        let isShared = leave(item, isRefused: false)
        if isShared {
            overtaken.remove(request.group)
            try perform(state.releaseStream(of: item, in: request.group, at: time))
        } else {
            if !keepsConnection { connections.removeAll { $0.item === item } }
            try perform(state.release(keepsConnection ? item : nil, of: request.group, at: time))
        }
        if isReleased { connections.removeAll { $0.item === item && $0.streams == 0 } }
    }

    private mutating func resend(_ choice: Int, isRefused: Bool) throws {
        guard let index = running(choice), let item = requests[index].connection else { return }
        let request = requests[index]
        requests[index].connection = nil
        let isShared = leave(item, isRefused: isRefused)
        if !isShared { connections.removeAll { $0.item === item } }
        overtaken.insert(request.group)
        let acquisition = state.reacquire(
            request.call,
            in: request.group,
            fresh: !isShared,
            leaving: isShared && !isRefused ? item : nil,
            refusing: isShared && isRefused ? item : nil,
            total: request.total,
            connectTimeout: nil,
            at: time
        )
        try follow(acquisition, for: request.call, in: request.group)
    }

    private mutating func setCapacity(_ choice: Int, _ capacity: Int) throws {
        let shared = connections.indices.filter { connections[$0].capacity != nil }
        guard !shared.isEmpty else { return }
        let index = shared[choice % shared.count]
        let (item, group) = (connections[index].item, connections[index].group)
        connections[index].capacity = capacity
        connections[index].isFull = false
        connections[index].hasRefusedFirst = false
        overtaken.remove(group)
        try perform(state.setCapacity(capacity, of: item, in: group, at: time))
    }

    private mutating func retire(_ choice: Int) throws {
        guard !connections.isEmpty else { return }
        let index = choice % connections.count
        let (item, group) = (connections[index].item, connections[index].group)
        // The pool cannot remove an HTTP/1.1 connection that is in use.
        if connections[index].capacity == nil, connections[index].streams > 0 { return }
        connections[index].isKnown = false
        if connections[index].streams == 0 { connections.remove(at: index) }
        try perform(state.removeConnection(item, of: group, at: time))
        try perform(state.removeConnection(item, of: group, at: time))
    }

    private mutating func cancel(_ choice: Int) throws {
        guard !requests.isEmpty else { return }
        let request = requests[choice % requests.count]
        guard let actions = state.remove(request.call, at: time) else {
            return try require(request.connection != nil, "A request without a connection is unknown.")
        }
        try require(request.connection == nil, "A request with a connection is removed.")
        requests.removeAll { $0.call === request.call }
        try perform(actions)
    }

    private mutating func makeRoom() throws {
        guard let item = state.popOldestIdle() else { return }
        try removeIdle(item)
    }

    private mutating func leave() throws {
        isReleased = true
        state.keepsIdle = false
        for item in state.removeAllIdle() { try removeIdle(item) }
    }

    // MARK: Consequences

    private mutating func removeIdle(_ item: PoolItem) throws {
        guard let index = connections.firstIndex(where: { $0.item === item }) else {
            throw InvariantViolation(description: "An idle connection is unknown.")
        }
        let connection = connections.remove(at: index)
        try require(connection.streams == 0 && connection.isKnown, "A connection in use is idle.")
    }

    private mutating func perform(_ actions: [State.Action]) throws {
        for action in actions {
            switch action {
            case .start(let call, let connection): try start(call, connection)
            case .dial(let call, let group):
                noteSlot(of: call)
                order(call, group)
            case .cancel(let dial):
                guard let index = dials.firstIndex(where: { $0.item === dial }) else {
                    throw InvariantViolation(description: "A dial that is not in progress is cancelled.")
                }
                dials.remove(at: index)
            case .discard(let connection):
                try require(isReleased, "A connection is discarded although the client is not released.")
                try removeIdle(connection)
            case .fail(let call, _):
                guard let index = requests.firstIndex(where: { $0.call === call }) else {
                    throw InvariantViolation(description: "A request ends twice.")
                }
                try require(requests[index].connection == nil, "A request with a connection fails.")
                requests.remove(at: index)
            }
        }
        noteSlots()
    }

    private mutating func start(_ call: PoolItem, _ item: PoolItem) throws {
        guard let request = requests.firstIndex(where: { $0.call === call }),
            let index = connections.firstIndex(where: { $0.item === item })
        else {
            throw InvariantViolation(description: "An ended request starts, or one starts on an unknown connection.")
        }
        try require(requests[request].connection == nil, "A request starts twice.")
        try require(
            requests[request].group == connections[index].group,
            "A request starts on a connection of another group."
        )
        try require(connections[index].hasRoom, "A request starts on a connection without room.")
        connections[index].streams += 1
        requests[request].connection = item
        requests[request].hasSlot = true
    }

    /// Removes a request from its connection. Returns true for an HTTP/2 connection.
    private mutating func leave(_ item: PoolItem, isRefused: Bool) -> Bool {
        guard let index = connections.firstIndex(where: { $0.item === item }) else { return false }
        connections[index].streams -= 1
        guard connections[index].capacity != nil else { return false }
        let isFirst = isRefused && connections[index].streams == 0
        connections[index].isFull = isRefused && (!isFirst || connections[index].hasRefusedFirst)
        connections[index].hasRefusedFirst = isFirst
        if !connections[index].isKnown, connections[index].streams == 0 { connections.remove(at: index) }
        return true
    }

    private mutating func noteSlot(of call: PoolItem) {
        if let index = requests.firstIndex(where: { $0.call === call }) { requests[index].hasSlot = true }
    }

    /// Assigns slots to requests that have neither a dial nor a connection, the first of each origin first.
    private mutating func noteSlots() {
        for origin in 0..<Self.origins {
            while requests.count(where: \.hasSlot) < state.active, canStart(origin),
                let index = requests.firstIndex(where: { !$0.hasSlot && $0.origin == origin })
            {
                requests[index].hasSlot = true
            }
        }
    }

    private func canStart(_ origin: Int) -> Bool {
        requests.count { $0.hasSlot && $0.origin == origin } < limitPerHost
    }

    /// Returns the index of a request that has a connection.
    private func running(_ choice: Int) -> Int? {
        let indices = requests.indices.filter { requests[$0].connection != nil }
        return indices.isEmpty ? nil : indices[choice % indices.count]
    }

    // MARK: Checks

    /// Checks the pool against the model between two operations.
    func check() throws {
        let active = requests.count(where: \.hasSlot)
        try require(state.active == active, "\(state.active) requests have a slot, not \(active).")
        try require(state.waiting == requests.count - active, "\(state.waiting) requests wait for a slot.")
        let isIgnored = requests.contains { !$0.hasSlot && canStart($0.origin) }
        try require(!isIgnored, "A request waits although a slot is free.")
        try require(state.dialCount == dials.count, "\(state.dialCount) dials are in progress, not \(dials.count).")
        for group in Set(requests.map(\.group)) {
            let needing = requests.count { $0.group == group && $0.hasSlot && $0.connection == nil }
            if needing == 0 { continue }
            let hasRoom = connections.contains { $0.group == group && $0.hasRoom }
            try require(!hasRoom || overtaken.contains(group), "A request waits although a connection has room.")
            let coming = orders.count { $0.group == group } + dials.count { $0.group == group }
            let hasShared = connections.contains { $0.group == group && $0.isKnown && $0.capacity != nil }
            try require(coming > 0 || hasShared, "A request can never start.")
            let isExclusive = requests.contains { $0.group == group && $0.origin == 2 }
            try require(!isExclusive || coming >= needing, "A request waits for the HTTP/1.1 connection of another.")
        }
    }

    /// Completes all pending work. Nothing may be left.
    mutating func drain() throws {
        var round = 0
        while !(requests.isEmpty && orders.isEmpty && dials.isEmpty) {
            round += 1
            if round > 10_000 { throw InvariantViolation(description: "\(requests.count) requests can never end.") }
            if !orders.isEmpty {
                startDial(0)
            } else if !dials.isEmpty {
                switch round % 3 {
                case 0: try connectDial(0, capacity: nil)
                case 1: try connectDial(0, capacity: 2)
                default: try failDial(0)
                }
            } else if running(0) != nil {
                try finish(round, keepsConnection: round.isMultiple(of: 2))
            } else {
                // Removes the servers that accept no requests.
                guard let index = connections.indices.last(where: { connections[$0].isKnown }) else {
                    throw InvariantViolation(description: "\(requests.count) requests can never end.")
                }
                try retire(index)
            }
            try check()
        }
        try leave()
        try require(
            state.active == 0 && state.waiting == 0 && state.idleCount == 0,
            "Requests or idle connections are left."
        )
        try require(state.nextDeadline == .distantFuture, "A deadline is left.")
    }
}
#endif
