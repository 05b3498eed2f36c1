import SluiceHTTP

/// The connections to one origin that one policy allows to share, and the requests that need one of them.
struct PoolGroup<Call: AnyObject, Connection: Identifiable> {
    /// A connection that nobody uses.
    struct Idle {
        let connection: Connection
        let since: MonotonicTime
    }

    /// A connection that several requests use at a time.
    struct Shared {
        let connection: Connection
        /// The requests that it may carry at a time.
        var capacity: Int
        var streams = 0
        /// True once it has taken no further request, until one of those that it carries ends.
        var isFull = false
        /// The moment since which it has carried none.
        var since: MonotonicTime

        var hasRoom: Bool { streams < capacity && !isFull }
    }

    /// The use of the connections, by the version of HTTP that the server speaks.
    enum Sharing {
        case unknown, exclusive, multiplexed

        /// The use before anything is known of the server.
        init(_ origin: HTTPOrigin, _ plan: ConnectionPlan) {
            switch plan.httpVersion {
            case .http1: self = .exclusive
            case .http2PriorKnowledge: self = .multiplexed
            case .automatic: self = origin.scheme == "https" ? .unknown : .exclusive
            }
        }
    }

    /// The requests that one more connection of HTTP/2 is made for: as many as a server lets it have as a rule.
    private static var usualCapacity: Int { 100 }

    let origin: Int
    let plan: ConnectionPlan
    var sharing: Sharing
    /// Connections that nobody uses, the most recently used last.
    var idle: [Idle] = []
    var shared: [Shared] = []
    /// The requests at a time that the server lets a connection have, as it last said.
    var knownCapacity: Int?
    /// Requests with a slot and without a connection, the oldest first.
    var connecting: [Call] = []
    /// Dials in progress, and those that are to be started.
    var dials = 0
    /// True once a further connection could not be made while others are there, so that requests wait for those.
    var hasFailedToGrow = false
    /// Requests and dials, which keep the group alive.
    var users = 0

    /// True if a request that needs a connection, and has no dial of its own, is to have one.
    var needsDial: Bool {
        switch sharing {
        case .exclusive: true
        case .unknown: dials == 0
        case .multiplexed: connecting.count > dials * Self.usualCapacity && (shared.isEmpty || !hasFailedToGrow)
        }
    }

    /// True if nothing keeps the group.
    var isUnused: Bool { users == 0 && idle.isEmpty && shared.isEmpty }

    /// True if a shared connection without streams is idle; a request may wait for one that takes none at the moment.
    private var mayCloseShared: Bool { connecting.isEmpty }

    /// The connections that nobody uses.
    var idleCount: Int { idle.count + (mayCloseShared ? shared.count { $0.streams == 0 } : 0) }

    /// The moment since which the least recently used connection has been idle.
    var oldestIdle: MonotonicTime? {
        let unused = mayCloseShared ? shared.lazy.filter { $0.streams == 0 }.map(\.since).min() : nil
        guard let first = idle.first?.since else { return unused }
        return unused.map { min($0, first) } ?? first
    }

    /// Takes out the connection that has been idle for the longest time.
    mutating func popOldestIdle() -> Connection? {
        guard let since = oldestIdle else { return nil }
        if idle.first?.since == since { return idle.removeFirst().connection }
        guard let index = shared.firstIndex(where: { $0.streams == 0 && $0.since == since }) else { return nil }
        return shared.remove(at: index).connection
    }

    /// Takes the connection that was used last, or room on a shared one.
    mutating func takeConnection() -> Connection? {
        if let idle = idle.popLast() { return idle.connection }
        guard let index = shared.firstIndex(where: \.hasRoom) else { return nil }
        shared[index].streams += 1
        return shared[index].connection
    }
}
