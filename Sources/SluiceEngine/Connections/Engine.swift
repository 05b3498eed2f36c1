#if os(Linux)
import CLinux
import SluiceHTTP
import SluiceLibc
import Synchronization

/// The engine of the process: its event loops and its descriptors.
///
/// It starts with the first request and runs until the process ends. It needs no shutdown.
package final class Engine: Sendable {
    /// The shared engine, or nil if the system provides no thread or descriptor. It then starts with a later access.
    package static var shared: Engine? {
        started.withLock { engine in
            if engine == nil { engine = Engine(loops: requestedLoops.load(ordering: .relaxed)) }
            return engine
        }
    }
    private static let started = Locked<Engine?>(nil)

    /// The number of loops to start. 0 selects one loop per two processors, and at most eight.
    package static let requestedLoops = Atomic(0)

    /// True in a process that was forked after its parent started the engine. The sockets belong to the parent.
    package static var isForked: Bool { LoopShutdown.isForked }

    package static let unavailable = SluiceError(
        .internalFailure,
        "The network engine could not start: the system could not provide a thread, a file descriptor or memory."
    )

    /// Returns the error if a library could not be loaded, or if the system provides too little.
    ///
    /// - Parameter library: The file of the library; nil if none is missing.
    /// - Returns: The error.
    static func unavailable(without library: String?) -> SluiceError {
        library.map { file in
            let text = "The library \(file) could not be loaded. Install the package that contains it."
            return SluiceError(.internalFailure, text)
        } ?? unavailable
    }

    static let forked = SluiceError(
        .internalFailure,
        "This process was forked after the first request, so it cannot send requests. Start another program with exec, or fork before the first request."
    )

    package let loops: [EventLoop]
    /// The open sockets and their limit.
    package let descriptors = DescriptorBudget()
    private let nextLoop = Atomic(0)

    private init?(loops requested: Int) {
        let count = requested > 0 ? requested : max(1, min(8, sysconf(Int32(_SC_NPROCESSORS_ONLN)) / 2))
        var loops: [EventLoop] = []
        for index in 0..<count {
            guard let loop = EventLoop(index: index) else { break }
            loops.append(loop)
        }
        guard !loops.isEmpty else { return nil }
        self.loops = loops
        LoopShutdown.add(loops)
    }

    /// The engine, or an error if it could not start or the process was forked.
    package static var available: Result<Engine, SluiceError> {
        if isForked { return .failure(forked) }
        return shared.map { .success($0) } ?? .failure(unavailable)
    }

    /// Returns the loop for the next connection, in rotation.
    package func chooseLoop() -> EventLoop {
        loops[Int(UInt(bitPattern: nextLoop.wrappingAdd(1, ordering: .relaxed).oldValue) % UInt(loops.count))]
    }
}

// MARK: - Descriptor budget

/// The number of open sockets of the engine, and its limit: a share of the process's limit (RLIMIT_NOFILE).
///
/// From the limit on, each new socket closes the least recently used idle connection of all clients. If none is idle,
/// the socket is opened all the same, but never with one of the last descriptors: the program needs some, and libdispatch
/// aborts a process that has none. Beyond the limit, idle connections close soon.
package final class DescriptorBudget: Sendable {
    private let open = Atomic(0)
    /// The limit, as read for the last socket.
    private let lastLimit = Atomic(Int.max)
    private let pools = Locked<[ObjectIdentifier: WeakPool]>([:])

    /// A limit that replaces the default, or 0 for none. Set by tests only.
    let limitOverride = Atomic(0)

    private struct WeakPool: Sendable {
        weak var pool: ConnectionPool?
    }

    /// The maximum number of descriptors of the process.
    private var processLimit: Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
        return Int(clamping: limit.rlim_cur)
    }

    /// The number of open sockets.
    var count: Int { open.load(ordering: .relaxed) }

    /// True while there are more sockets than the limit.
    var isExceeded: Bool { count > lastLimit.load(ordering: .relaxed) }

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

    /// Creates a socket. Closes idle connections if there are too many, or if too few descriptors are left.
    ///
    /// - Returns: The socket, non-blocking and closed on exec, or -1 with `errno` set.
    func socket(_ family: Int32) -> Int32 {
        let processLimit = processLimit
        let override = limitOverride.load(ordering: .relaxed)
        // Idle connections leave a quarter to the program, and those in use a sixteenth, at most 16.
        let limit = override > 0 ? override : processLimit / 4 * 3
        let last = processLimit - min(16, processLimit / 16)
        lastLimit.store(limit, ordering: .relaxed)
        if count >= limit { _ = evict() }
        var descriptor = socket(family, below: last)
        while descriptor < 0, errno == EMFILE || errno == ENFILE, evict() {
            descriptor = socket(family, below: last)
        }
        if descriptor >= 0 { open.wrappingAdd(1, ordering: .relaxed) }
        return descriptor
    }

    /// Creates a socket whose descriptor is less than `last`. The system chooses the least one that is free.
    private func socket(_ family: Int32, below last: Int) -> Int32 {
        let descriptor = SluiceLibc.socket(family, sluice_stream_socket | sluice_socket_flags, 0)
        guard descriptor >= last else { return descriptor }
        SluiceLibc.close(descriptor)
        errno = EMFILE
        return -1
    }

    /// Closes a socket that ``socket(_:)`` created.
    package func close(_ descriptor: Int32) {
        SluiceLibc.close(descriptor)
        open.wrappingSubtract(1, ordering: .relaxed)
    }

    /// Closes the connection that has been idle for the longest time. Returns false if none is idle.
    private func evict() -> Bool {
        let pools = pools.withLock { $0.values.compactMap(\.pool) }
        let oldest = pools.map { (pool: $0, since: $0.oldestIdle) }.min { $0.since < $1.since }
        return oldest?.pool.closeOldestIdle() ?? false
    }
}
#endif
