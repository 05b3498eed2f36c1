import CSQLite
import Dispatch
import SluiceHTTP

/// A database connection with the serial queue on which it is used and may block.
struct CacheConnection: Sendable {
    enum Failure: Error {
        /// The path no longer refers to the opened file.
        case moved
        case failed(SQLiteFailure)
    }

    struct State {
        var connection: SQLiteConnection?
        /// The file to which the connection is open.
        var opened: CacheDatabase.Opened?
        /// The time of the last check that the path still refers to the file.
        var checked = ContinuousClock.now
        /// The generation of the file and its number of changes at the last check for foreign changes.
        var lastForeignCheck: (generation: Int, changes: Int64?)?
        /// The number of changes that this connection has made since.
        var ownChanges: Int64 = 0
        /// The end of the time in which work waits only briefly for a lock; nil if the last wait was successful.
        private var backOffEnd: ContinuousClock.Instant?

        mutating func close() {
            connection = nil
            opened = nil
        }

        /// Runs work that waits for a lock. After a wait without success, further work waits only briefly for a while. Otherwise, each piece of
        /// work in the queue would wait for the full time.
        mutating func waiting<Value>(
            _ tuning: CacheTuning,
            _ work: (_ busyTimeout: Int) throws(SQLiteFailure) -> Value
        ) throws(SQLiteFailure) -> Value {
            let isBackingOff = backOffEnd.map { .now < $0 } ?? false
            do throws(SQLiteFailure) {
                let value = try work(isBackingOff ? min(50, tuning.busyTimeout) : tuning.busyTimeout)
                backOffEnd = nil
                return value
            } catch {
                if error.isBusy, !isBackingOff { backOffEnd = .now + tuning.retryInterval }
                throw error
            }
        }
    }

    /// A serial queue. The lock on the state satisfies the compiler and is never contended.
    let queue: DispatchQueue
    let state = Locked(State())

    init(_ label: String) {
        queue = DispatchQueue(label: label)
    }

    /// Closes the connection after the work that is already queued.
    func closeLater() {
        queue.async { [state] in state.withLock { $0.close() } }
    }

    /// Reads from the database. Opens or reopens the file first if necessary.
    func read<Value: Sendable>(
        _ opened: CacheDatabase.Opened,
        in files: CacheFiles,
        _ schema: CacheSchema,
        _ tuning: CacheTuning,
        _ work: @Sendable (SQLiteConnection) throws(SQLiteFailure) -> Value
    ) -> Result<Value, Failure> {
        state.withLock { state in
            Result { () throws(Failure) in
                let connection = try Self.current(&state, opened, in: files, schema, tuning)
                do throws(SQLiteFailure) {
                    connection.beginWork()
                    return try work(connection)
                } catch {
                    // Another process may have moved or removed the file. Its errors are then irrelevant.
                    let isMoved = files.identity != opened.identity
                    if isMoved || error.isCorruption || error.isIOError { state.close() }
                    throw isMoved ? .moved : .failed(error)
                }
            }
        }
    }

    private static func current(
        _ state: inout State,
        _ opened: CacheDatabase.Opened,
        in files: CacheFiles,
        _ schema: CacheSchema,
        _ tuning: CacheTuning
    ) throws(Failure) -> SQLiteConnection {
        if let connection = state.connection, state.opened?.generation == opened.generation {
            let now = ContinuousClock.now
            if now - state.checked < tuning.checkInterval { return connection }
            state.checked = now
            connection.beginWork()
            let isSame = files.identity == opened.identity && (try? schema.isCurrent(in: connection)) != false
            // If a log exists, another process writes to the file that was opened as immutable.
            if isSame, opened.access != .immutable || !files.hasLog { return connection }
            state.close()
            throw .moved
        }
        state.close()
        let connection: SQLiteConnection
        do throws(SQLiteFailure) {
            connection = try state.waiting(tuning) { busyTimeout throws(SQLiteFailure) in
                try open(opened, in: files, tuning, lockTimeout: busyTimeout)
            }
        } catch {
            throw .failed(error)
        }
        guard files.identity == opened.identity else { throw .moved }
        state.connection = connection
        state.opened = opened
        state.checked = .now
        return connection
    }

    /// Opens the file together with its log, under the lock, so that no process replaces the file in between.
    /// Otherwise, SQLite might read the log of a different file.
    private static func open(
        _ opened: CacheDatabase.Opened,
        in files: CacheFiles,
        _ tuning: CacheTuning,
        lockTimeout: Int
    ) throws(SQLiteFailure) -> SQLiteConnection {
        var lock: FileLock?
        do throws(SystemError) {
            lock = try files.lock(busyTimeout: lockTimeout)
        } catch {
            // If the lock cannot be taken because the location is read-only, no process can replace the file either.
            guard opened.access != .readWrite else {
                throw SQLiteFailure(SQLITE_BUSY, "its lock could not be acquired: \(error)")
            }
        }
        defer { withExtendedLifetime(lock) {} }
        let connection = try SQLiteConnection(
            path: files.database,
            access: opened.access,
            busyTimeout: tuning.busyTimeout,
            limit: tuning.readLimit,
            limitsWork: true
        )
        try connection.run("PRAGMA query_only = ON")
        try connection.configure()
        _ = try connection.integer("SELECT count FROM total")
        return connection
    }
}

extension SQLiteConnection {
    /// Sets the options for both reading and writing.
    func configure() throws(SQLiteFailure) {
        // Detects damaged pages before they are used.
        try run("PRAGMA cell_size_check = ON")
        try run("PRAGMA temp_store = MEMORY")
        try run("PRAGMA cache_size = -8192")
    }
}

// MARK: - Pending reads

/// The reads for which requests wait. Each fails after a limit, so that a disk that hangs, such as one of another computer, delays a
/// request only once.
final class PendingReads: Sendable {
    private struct Read {
        let began: ContinuousClock.Instant
        let fail: @Sendable () -> Void
    }

    private struct State {
        var reads: [Int: Read] = [:]
        var lastID = 0
        /// The number of reads that have failed here, and that the disk has not answered.
        var overdue = 0
        var isWatching = false
    }

    private let limit: Duration
    private let state = Locked(State())

    init(limit: Duration) {
        self.limit = limit
    }

    /// Adds a read.
    ///
    /// - Parameter fail: Called, on any thread, if the disk has not answered it within the limit.
    /// - Returns: The number of the read; nil if an earlier one is overdue.
    func begin(_ fail: @escaping @Sendable () -> Void) -> Int? {
        let (id, isFirst): (Int?, Bool) = state.withLock { state in
            if state.overdue > 0 { return (nil, false) }
            state.lastID += 1
            state.reads[state.lastID] = Read(began: .now, fail: fail)
            defer { state.isWatching = true }
            return (state.lastID, !state.isWatching)
        }
        if isFirst { watch() }
        return id
    }

    /// Returns true if a read has not failed.
    func isWaiting(_ id: Int) -> Bool { state.withLock { $0.reads[id] != nil } }

    /// Removes a read that the disk has answered. Returns false if it has failed before.
    func end(_ id: Int) -> Bool {
        let read = state.withLock { state in
            let read = state.reads.removeValue(forKey: id)
            if read == nil { state.overdue -= 1 }
            return read
        }
        return read != nil
    }

    private func watch() {
        DispatchQueue.global().asyncAfter(deadline: .now() + limit / .seconds(4)) { [self] in
            let (late, goesOn) = state.withLock { state in
                let now = ContinuousClock.now
                let late = state.reads.filter { now - $0.value.began >= limit }
                for id in late.keys { state.reads[id] = nil }
                state.overdue += late.count
                state.isWatching = !state.reads.isEmpty
                return (late.values, state.isWatching)
            }
            for read in late { read.fail() }
            if goesOn { watch() }
        }
    }
}
