import CSQLite
import SluiceFoundation
import SluiceHTTP

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Runs on the writer's queue.
extension CacheDatabase {
    /// Returns the open file and the connection that writes to it. Opens the file if necessary.
    func open(
        _ state: inout CacheConnection.State
    ) throws(SluiceError) -> (connection: SQLiteConnection, opened: Opened) {
        let status = status.withLock { $0 }
        if let connection = state.connection, let opened = state.opened, opened.generation == status.opened?.generation
        {
            return (connection, opened)
        }
        if let refusal = status.refusal, clock.now < refusal.end { throw refusal.error }
        state.close()
        do throws(SluiceError) {
            let (connection, access) = try openFile()
            guard let identity = files.identity else { throw fileReplaced }
            let opened = self.status.withLock { status in
                status.generation += 1
                let opened = Opened(identity: identity, access: access, generation: status.generation)
                status.opened = opened
                status.refusal = nil
                return opened
            }
            state.connection = connection
            state.opened = opened
            onEvent(.opened(URL(filePath: files.database)))
            if access == .readWrite { sweepLater(isFirst: true) }
            return (connection, opened)
        } catch {
            refuse(error)
            throw error
        }
    }

    /// Prevents further attempts to open the file for a while. Reports each error once until it changes.
    func refuse(_ error: SluiceError) {
        let end = clock.now + tuning.retryInterval
        let isNew = status.withLock { status in
            defer { status.refusal = (error, end) }
            status.opened = nil
            return status.refusal?.error.reason != error.reason
        }
        if isNew { onEvent(.storageUnavailable(error)) }
    }

    private func openFile() throws(SluiceError) -> (SQLiteConnection, SQLiteConnection.Access) {
        let error = files.makeDirectory()
        guard error == 0 else { throw unavailable("its folder could not be created: \(SystemFailure(number: error))") }
        if let exposure = files.exposure { throw unavailable(exposure) }
        let lock: FileLock
        do throws(SystemFailure) {
            lock = try files.lock(busyTimeout: tuning.busyTimeout)
        } catch {
            // If the lock cannot be created, the file cannot be written either.
            guard [EROFS, EACCES, EPERM].contains(error.number), files.identity != nil else {
                throw unavailable("its lock could not be acquired: \(error)")
            }
            return try openToRead()
        }
        defer { withExtendedLifetime(lock) {} }
        removeLogThatFillsDisk(with: lock)
        for _ in 0..<Self.attempts {
            let error = files.makeDatabase()
            guard error == 0 else {
                throw unavailable("its file could not be created: \(SystemFailure(number: error))")
            }
            let opened: (connection: SQLiteConnection, verdict: CacheSchema.Verdict)?
            do throws(SQLiteFailure) {
                opened = try openToWrite()
            } catch {
                guard error.isCorruption else { throw unavailable("\(error)", error) }
                try setAside(as: error, with: lock)
                continue
            }
            guard let opened else { return try openToRead() }
            try check(opened.verdict)
            return (opened.connection, .readWrite)
        }
        throw fileReplaced
    }

    /// Removes the files of the cache if its log fills the disk. Without space, the log cannot be moved into the database, nor can
    /// entries be removed, so that the cache would keep the disk full.
    private func removeLogThatFillsDisk(with lock: FileLock) {
        // Only a file of this cache is removed. The connection reads neither the log nor its index, which may need space.
        guard files.logFillsDisk,
            let connection = try? SQLiteConnection(path: files.database, access: .immutable, busyTimeout: 0),
            (try? connection.integer("PRAGMA application_id")) == CacheSchema.application
        else { return }
        _ = files.remove(with: lock)
    }

    /// Opens the file for writing; returns nil if it is read-only.
    private func openToWrite() throws(SQLiteFailure) -> (SQLiteConnection, CacheSchema.Verdict)? {
        let connection = try SQLiteConnection(
            path: files.database,
            access: .readWrite,
            busyTimeout: tuning.busyTimeout,
            limit: tuning.statementLimit
        )
        if connection.isReadOnly { return nil }
        try connection.configure()
        // The settings below are written to the file, and must not change that of another program.
        switch try schema.prepare(connection, isReadOnly: true) {
        case .foreign: return (connection, .foreign)
        case .newer(let version): return (connection, .newer(version))
        case .current, .older: break
        }
        try configureToWrite(connection)
        return (connection, try schema.prepare(connection, isReadOnly: false))
    }

    private func configureToWrite(_ connection: SQLiteConnection) throws(SQLiteFailure) {
        // Must be set before the database contains tables. Setting it again would write to the file.
        if try connection.integer("PRAGMA auto_vacuum") != 2 { try connection.run("PRAGMA auto_vacuum = INCREMENTAL") }
        let mode = try connection.withStatement("PRAGMA journal_mode = WAL") { statement throws(SQLiteFailure) in
            try statement.step() ? statement.string(0) : ""
        }
        guard mode == "wal" else {
            throw SQLiteFailure(SQLITE_CANTOPEN, "the file system does not support shared memory")
        }
        try connection.run("PRAGMA synchronous = NORMAL")
        try connection.run("PRAGMA secure_delete = FAST")
        try connection.run("PRAGMA journal_size_limit = 8388608")
        try connection.execute("PRAGMA wal_autocheckpoint = \(tuning.checkpointPages)")
        if let limit = tuning.pageLimit { try connection.execute("PRAGMA max_page_count = \(limit)") }
    }

    /// Opens a file that may not be written.
    private func openToRead() throws(SluiceError) -> (SQLiteConnection, SQLiteConnection.Access) {
        var access = SQLiteConnection.Access.readOnly
        while true {
            let verdict: CacheSchema.Verdict
            let connection: SQLiteConnection
            do throws(SQLiteFailure) {
                connection = try SQLiteConnection(path: files.database, access: access, busyTimeout: tuning.busyTimeout)
                try connection.configure()
                verdict = try schema.prepare(connection, isReadOnly: true)
            } catch {
                // Without a log and shared memory, the file is complete and can be opened as immutable.
                guard access == .readOnly, !error.isCorruption, !files.hasLog else {
                    throw unavailable("\(error)", error)
                }
                access = .immutable
                continue
            }
            try check(verdict)
            return (connection, access)
        }
    }

    private func check(_ verdict: CacheSchema.Verdict) throws(SluiceError) {
        switch verdict {
        case .current: return
        case .newer(let version):
            throw unavailable(
                "its version is \(version), and this program supports versions up to \(schema.version) only; the file was not changed"
            )
        case .foreign: throw unavailable("it is a database of another program; the file was not changed")
        case .older: throw unavailable("it has an older version and is read-only")
        }
    }

    func unavailable(_ why: String, _ failure: SQLiteFailure? = nil) -> SluiceError {
        SluiceError(
            .cacheFailed,
            "The cache “\(files.database)” cannot be used: \(why).",
            step: .cache,
            underlyingError: failure
        )
    }

    // MARK: Setting a file aside

    /// Moves a damaged file, or one that is not a database, out of the way, unless another process has done so.
    func setAside(
        _ opened: Opened,
        as failure: SQLiteFailure,
        _ state: inout CacheConnection.State
    ) -> Result<Void, SluiceError> {
        state.close()
        status.withLock { $0.forget(opened) }
        return Result { () throws(SluiceError) in
            let lock: FileLock
            do throws(SystemFailure) {
                lock = try files.lock(busyTimeout: tuning.busyTimeout)
            } catch {
                let error = unavailable("\(failure), and the file could not be moved: \(error)", failure)
                refuse(error)
                throw error
            }
            // A newer program may have migrated the file in the meantime. It is then not damaged, and opening it
            // reports the version.
            guard files.identity == opened.identity, !isOfAnotherVersion else { return }
            do throws(SluiceError) {
                try setAside(as: failure, with: lock)
            } catch {
                refuse(error)
                throw error
            }
        }
    }

    private var isOfAnotherVersion: Bool {
        let access = SQLiteConnection.Access.readOnly
        guard
            let connection = try? SQLiteConnection(
                path: files.database,
                access: access,
                busyTimeout: tuning.busyTimeout
            ),
            let isSame = try? schema.isCurrent(in: connection)
        else { return false }
        return !isSame
    }

    func setAside(as failure: SQLiteFailure, with lock: FileLock) throws(SluiceError) {
        let (path, error) = files.setAside(with: lock)
        guard error == 0 else {
            throw unavailable("\(failure), and the file could not be moved: \(SystemFailure(number: error))", failure)
        }
        onEvent(.databaseMoved(URL(filePath: path), reason: failure.message))
    }
}
