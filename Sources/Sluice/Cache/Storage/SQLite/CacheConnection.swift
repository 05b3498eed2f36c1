import CSQLite
import Dispatch
import SluiceHTTP

/// A connection and the queue that it is used on, where it may block.
struct CacheConnection: Sendable {
    enum Failure: Error {
        /// The file is not any longer the one that has its name.
        case moved
        case failed(SQLiteFailure)
    }

    struct State {
        var connection: SQLiteConnection?
        /// What it is a connection to.
        var opened: CacheDatabase.Opened?
        /// When somebody last looked whether the file still has its name.
        var checked = ContinuousClock.now
        /// What it was, and how many changes there had been, when somebody last asked for others' changes.
        var asked: (generation: Int, changes: Int64?)?
        /// How many of them this connection has made since.
        var ownChanges: Int64 = 0

        mutating func close() {
            connection = nil
            opened = nil
        }
    }

    /// Serial; the lock is there for the compiler, and nobody ever waits for it.
    let queue: DispatchQueue
    let state = Locked(State())

    init(_ label: String) {
        queue = DispatchQueue(label: label)
    }

    /// Closes it behind what was begun before.
    func closeLater() {
        queue.async { [state] in state.withLock { $0.close() } }
    }

    /// Reads, and opens or reopens the file before that where it must.
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
                    return try work(connection)
                } catch {
                    // Another process may have set the file aside, or something removed it: then it is of no matter what is wrong with it.
                    let isMoved = files.identity != opened.identity
                    if isMoved || error.isCorruption || error.isInputOutput { state.close() }
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
            let isSame = files.identity == opened.identity && (try? schema.isThat(of: connection)) != false
            // A log that came into being says that somebody writes what nobody was to write.
            if isSame, opened.access != .immutable || !files.hasLog { return connection }
            state.close()
            throw .moved
        }
        state.close()
        let connection: SQLiteConnection
        do throws(SQLiteFailure) {
            connection = try open(opened, in: files, tuning)
        } catch {
            throw .failed(error)
        }
        guard files.identity == opened.identity else { throw .moved }
        state.connection = connection
        state.opened = opened
        state.checked = .now
        return connection
    }

    /// Opens it with its log, while nobody can put another in its place: the log of one file would be taken for the other's.
    private static func open(
        _ opened: CacheDatabase.Opened,
        in files: CacheFiles,
        _ tuning: CacheTuning
    ) throws(SQLiteFailure) -> SQLiteConnection {
        var lock: CacheLock?
        do throws(SystemFailure) {
            lock = try files.lock(patience: tuning.patience)
        } catch {
            // Where there is none to be had, nobody puts another in its place either.
            guard opened.access != .readWrite else {
                throw SQLiteFailure(SQLITE_BUSY, "its lock cannot be had: \(error)")
            }
        }
        defer { withExtendedLifetime(lock) {} }
        let connection = try SQLiteConnection(path: files.database, access: opened.access, patience: tuning.patience)
        try connection.run("PRAGMA query_only = ON")
        try connection.configure()
        _ = try connection.integer("SELECT count FROM total")
        return connection
    }
}

extension SQLiteConnection {
    /// Sets what concerns reading too.
    func configure() throws(SQLiteFailure) {
        // Damage is found before it is followed.
        try run("PRAGMA cell_size_check = ON")
        try run("PRAGMA temp_store = MEMORY")
        try run("PRAGMA cache_size = -8192")
    }
}
