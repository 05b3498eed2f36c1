#if os(Linux)
import SluiceHTTP

/// The connections to one origin that share a policy, and the requests that wait for one of them.
struct PoolGroup<Call: AnyObject, Connection: Identifiable> {
    struct Idle {
        let connection: Connection
        let since: MonotonicTime
    }

    /// A connection without requests.
    struct Unused {
        let group: Int
        let connection: Connection.ID
        let since: MonotonicTime
    }

    /// A connection with concurrent requests.
    struct Shared {
        let connection: Connection
        /// The maximum number of concurrent requests.
        var capacity: Int
        /// True if the capacity is zero because the server does not respond.
        var isSuspect = false
        var streams = 0
        /// True after the connection refused a request, until one of its requests ends.
        private var isFull = false
        /// True if the connection refused the last request although it carried no other.
        private var hasRefusedFirst = false
        /// The time since which the connection has carried no request.
        var since: MonotonicTime

        var hasRoom: Bool { streams < capacity && !isFull }
        /// True if the server allows no streams.
        var allowsNone: Bool { capacity == 0 && !isSuspect }

        init(connection: Connection, capacity: Int, since: MonotonicTime) {
            self.connection = connection
            self.capacity = capacity
            self.since = since
        }

        /// Records that a request has ended or was refused.
        ///
        /// The requests that filled the connection may have ended before the refusal is recorded. No later end would then show that it has
        /// room, so it is tried once more.
        mutating func recordEnd(isRefused: Bool) {
            streams -= 1
            isFull = isRefused && (streams > 0 || hasRefusedFirst)
            hasRefusedFirst = isRefused && streams == 0
        }

        mutating func recordRoom() {
            isFull = false
            hasRefusedFirst = false
        }
    }

    /// The use of an open connection.
    struct Use {
        /// The time since which the connection is idle, or nil if it is in use.
        let idleSince: MonotonicTime?
        /// The number of concurrent requests.
        let requests: Int
    }

    /// The mode of use of the connections, which depends on the HTTP version of the server.
    enum Sharing {
        case unknown, exclusive, multiplexed

        /// The mode before the server is known.
        init(_ origin: HTTPOrigin, _ plan: ConnectionPlan) {
            switch plan.httpVersion {
            case .http1: self = .exclusive
            case .http2PriorKnowledge: self = .multiplexed
            case .automatic: self = origin.scheme == "https" ? .unknown : .exclusive
            }
        }
    }

    /// The usual limit of servers on concurrent requests.
    private static var usualCapacity: Int { 100 }
    /// The time after which a group that has failed to grow dials again.
    static var growthPause: Duration { .seconds(1) }

    var sharing: Sharing
    /// The maximum number of connections, including those that are being established.
    let maximumConnections: Int
    /// The idle connections, in order of their last use.
    var idle: [Idle] = []
    var shared: [Shared] = []
    /// The connections that have not closed: idle, in use, and those that take no further requests.
    var open: [Connection.ID: Connection] = [:]
    /// The last known maximum number of concurrent requests that the server allows on a connection.
    var knownCapacity: Int?
    /// Requests that have a slot but no connection, the oldest first.
    var connecting: [Call] = []
    /// The number of dials in progress or about to be started.
    var dials = 0
    /// The dials without an owner, in the order in which they lost it.
    var unownedDials: [ObjectIdentifier] = []
    /// The time at which a dial failed while other connections existed, or led to a connection without streams. Requests then wait for the
    /// connections that exist.
    var failedToGrow: MonotonicTime?
    /// The timer that ends the pause after that.
    var growthTimer: (key: GrowthKey, id: TimerHeap<ObjectIdentifier>.ID)?
    /// The number of requests and dials that keep the group alive.
    var users = 0

    /// The number of connections that count towards the maximum. A connection of HTTP/2 that takes no further requests does not.
    private var counted: Int { sharing == .multiplexed ? shared.count : open.count }

    /// True if requests may wait for the end of another one, because of the maximum number of connections.
    var isLimited: Bool { maximumConnections != .max }

    /// The number of connections that may be added.
    var room: Int { maximumConnections - counted - dials }

    /// True if requests without a dial wait for a connection in use, and not for one that is being established.
    var isFull: Bool { room <= 0 && counted > 0 }

    /// The number of waiting requests that a dial of HTTP/2 serves.
    private var expectedCapacity: Int { min(Self.usualCapacity, max(1, knownCapacity ?? Self.usualCapacity)) }

    /// Allows another dial if the last one failed some time ago. Returns true if it was not allowed before.
    mutating func retryGrowth(at now: MonotonicTime) -> Bool {
        guard let failed = failedToGrow, failed + Self.growthPause <= now else { return false }
        failedToGrow = nil
        return true
    }

    /// True if a request that needs a connection, and has no dial, should start one.
    var needsDial: Bool {
        guard room > 0 else { return false }
        return switch sharing {
        case .exclusive: true
        case .unknown: dials == 0
        case .multiplexed: connecting.count > dials * expectedCapacity && (shared.isEmpty || failedToGrow == nil)
        }
    }

    /// Returns the number of dials that lead to a number of connections.
    ///
    /// The next one decides the mode if it is unknown, and one connection is enough for requests that share it.
    func dials(for count: Int) -> Int {
        switch sharing {
        case .exclusive: max(0, min(count - counted - dials, room))
        case .unknown, .multiplexed: counted + dials == 0 ? min(count, 1, room) : 0
        }
    }

    /// Records that a request or a dial no longer uses the group. Returns true if the group can be removed.
    mutating func removeUser() -> Bool {
        users -= 1
        return isUnused
    }

    /// True if the group can be removed.
    var isUnused: Bool { users == 0 && idle.isEmpty && shared.isEmpty }

    /// True if a shared connection without streams counts as idle. It does not while requests wait for it.
    private var mayCloseShared: Bool { connecting.isEmpty }

    /// The number of idle connections.
    var idleCount: Int { idle.count + (mayCloseShared ? shared.count { $0.streams == 0 } : 0) }

    /// The use of the idle and the shared connections.
    var uses: [Connection.ID: Use] {
        var uses: [Connection.ID: Use] = [:]
        for entry in idle { uses[entry.connection.id] = Use(idleSince: entry.since, requests: 0) }
        for entry in shared {
            let isIdle = entry.streams == 0
            uses[entry.connection.id] = Use(idleSince: isIdle ? entry.since : nil, requests: entry.streams)
        }
        return uses
    }

    /// Appends the connections without requests, also those that do not count as idle while requests wait.
    func appendUnused(of group: Int, to all: inout [Unused]) {
        for entry in idle { all.append(Unused(group: group, connection: entry.connection.id, since: entry.since)) }
        for entry in shared where entry.streams == 0 {
            all.append(Unused(group: group, connection: entry.connection.id, since: entry.since))
        }
    }

    /// Returns true if a connection counts as idle, false if it will once no request waits, and nil if it has been used or removed.
    func isIdle(_ entry: Unused) -> Bool? {
        if idle.contains(where: { $0.connection.id == entry.connection && $0.since == entry.since }) { return true }
        let isUnused = shared.contains {
            $0.connection.id == entry.connection && $0.since == entry.since && $0.streams == 0
        }
        return isUnused ? mayCloseShared : nil
    }

    /// Removes a connection without requests.
    mutating func removeIdle(_ id: Connection.ID) -> Connection? {
        if let index = idle.firstIndex(where: { $0.connection.id == id }) { return idle.remove(at: index).connection }
        return shared.firstIndex { $0.connection.id == id }.map { shared.remove(at: $0).connection }
    }

    /// Takes the most recently used idle connection, or a stream of a shared one.
    mutating func takeConnection() -> Connection? {
        idle.popLast()?.connection ?? takeStream()
    }

    /// Takes a stream of a shared connection.
    mutating func takeStream() -> Connection? {
        guard let index = shared.firstIndex(where: \.hasRoom) else { return nil }
        shared[index].streams += 1
        return shared[index].connection
    }
}

/// The identity of a group in the pool's timers.
final class GrowthKey: Sendable {}

// MARK: - Requests and dials of groups

extension PoolState {
    /// A request without a connection.
    struct Pending {
        let call: Call
        let group: GroupID
        let total: MonotonicTime
        var connectTimeout: Duration?
        /// True if the request is sent again because a used connection was dead, as another one may be.
        var needsUnused = false
        /// True once the request has a slot.
        var isConnecting = false
        /// True from the decision to start a dial for the request until the dial ends or has another owner.
        var hasDial = false
        var dial: Dial?
        /// The time since which the request needs a connection: it has a slot, and the limits allow it one.
        var since = MonotonicTime.distantFuture
        /// The time by which the request must have a connection.
        var deadline = MonotonicTime.distantFuture
        var timer: TimerHeap<ObjectIdentifier>.ID?

        /// True if the request leaves used connections to others. Without a dial, there may be no other connection for it.
        var awaitsUnused: Bool { needsUnused && hasDial }
    }

    struct Dialing {
        let dial: Dial
        let group: GroupID
        /// The time since which its first owner needed a connection.
        let since: MonotonicTime
        /// The request that the dial belongs to. Nil once that request has another connection.
        var owner: Call?
        /// The deadline of a dial that was started without a request. It continues if its owner leaves.
        var deadline: MonotonicTime?
        /// The deadline of a dial without an owner.
        var timer: TimerHeap<ObjectIdentifier>.ID?
    }
}
#endif
