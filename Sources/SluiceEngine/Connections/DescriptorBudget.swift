#if os(Linux)
import Glibc
import SluiceHTTP
import Synchronization

/// The number of open sockets of the engine, and its limit: a share of the process's limit (RLIMIT_NOFILE).
///
/// Above the limit, idle connections are closed to make room, starting with the least recently used one of all clients.
package final class DescriptorBudget: Sendable {
    private let open = Atomic(0)
    private let pools = Locked<[ObjectIdentifier: WeakPool]>([:])

    /// A limit that replaces the default, or 0 for none. Set by tests only.
    let limitOverride = Atomic(0)

    private struct WeakPool: Sendable {
        weak var pool: ConnectionPool?
    }

    /// Three quarters of the process's limit. The rest is for the program.
    private var limit: Int {
        let override = limitOverride.load(ordering: .relaxed)
        if override > 0 { return override }
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 768 }
        return Int(clamping: limit.rlim_cur) / 4 * 3
    }

    /// The number of open sockets.
    var count: Int { open.load(ordering: .relaxed) }

    /// The transfers and connections of all clients.
    var statistics: SocketTransport.Statistics {
        let loads = pools.withLock { $0.values.compactMap(\.pool) }.map(\.load)
        return SocketTransport.Statistics(
            activeTransfers: loads.reduce(0) { $0 + $1.active },
            queuedTransfers: loads.reduce(0) { $0 + $1.queued },
            connections: count
        )
    }

    func add(_ pool: ConnectionPool) {
        let entry = WeakPool(pool: pool)
        pools.withLock { $0[ObjectIdentifier(pool)] = entry }
    }

    func remove(_ identity: ObjectIdentifier) {
        pools.withLock { $0[identity] = nil }
    }

    /// Creates a socket. Closes idle connections if there are too many, or if the system has no descriptor left.
    ///
    /// - Returns: The socket, non-blocking and closed on exec, or -1 with `errno` set.
    func socket(_ family: Int32) -> Int32 {
        if count >= limit { _ = evict() }
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        var descriptor = Glibc.socket(family, type, 0)
        while descriptor < 0, errno == EMFILE || errno == ENFILE, evict() { descriptor = Glibc.socket(family, type, 0) }
        if descriptor >= 0 { open.wrappingAdd(1, ordering: .relaxed) }
        return descriptor
    }

    /// Closes a socket that ``socket(_:)`` created.
    package func close(_ descriptor: Int32) {
        Glibc.close(descriptor)
        open.wrappingSubtract(1, ordering: .relaxed)
    }

    /// Closes the connection that has been idle for the longest time. Returns false if none is idle.
    private func evict() -> Bool {
        let pools = pools.withLock { $0.values.compactMap(\.pool) }
        let oldest = pools.min { $0.oldestIdle < $1.oldestIdle }
        return oldest?.closeOldestIdle() ?? false
    }
}
#endif
