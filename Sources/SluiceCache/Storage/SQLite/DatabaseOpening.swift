import CSQLite
import SluiceFoundation
import SluiceHTTP
import SluiceLibc

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
            if state.lastForeignCheck == nil {
                // Changes are counted from here, because entries are read from now on.
                let changes = try? connection.integer("SELECT changes FROM total WHERE id = 1")
                state.lastForeignCheck = (opened.generation, changes)
            }
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
        guard error == 0 else { throw unavailable("its folder could not be created: \(SystemError(number: error))") }
        if let exposure = files.exposure { throw unavailable(exposure) }
        let lock: FileLock
        do throws(SystemError) {
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
                throw unavailable("its file could not be created: \(SystemError(number: error))")
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
        forget(opened, &state)
        return Result { () throws(SluiceError) in
            let lock: FileLock
            do throws(SystemError) {
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
            throw unavailable("\(failure), and the file could not be moved: \(SystemError(number: error))", failure)
        }
        onEvent(.databaseMoved(URL(filePath: path), reason: failure.message))
    }
}

// MARK: - Cache files

/// The files of a SQLite cache: the database, its log, the index of the log and a lock file. All functions block.
/// Errors are `errno` values; 0 means no error.
struct CacheFiles: Sendable {
    /// The identity of a file, independent of its path.
    struct Identity: Sendable, Hashable {
        let device: UInt64
        let number: UInt64
    }

    let directory: String
    private let name: String

    init(directory: URL, name: String) {
        self.directory = directory.path
        // The name must not contain path separators.
        let plain = String(
            decoding: name.utf8.map { $0 == 0 || $0 == UInt8(ascii: "/") ? UInt8(ascii: "_") : $0 },
            as: UTF8.self
        )
        self.name = plain.isEmpty ? "cache" : plain
    }

    var database: String { "\(directory)/\(name).sqlite" }

    /// The suffixes of the files that SQLite creates next to a database.
    private static let companions = ["-wal", "-shm", "-journal"]
    /// The maximum number of databases that are kept after they were moved out of the way. The oldest are removed.
    private static let asideLimit = 2

    /// The identity of the database file; nil if there is none.
    var identity: Identity? {
        var status = stat()
        guard stat(database, &status) == 0 else { return nil }
        return Identity(device: UInt64(truncatingIfNeeded: status.st_dev), number: UInt64(status.st_ino))
    }

    /// True if there is a log that is not empty, or if this cannot be determined.
    var hasLog: Bool { logSize.map { $0 > 0 } ?? (errno != ENOENT) }

    /// The size of the log in bytes; nil if it cannot be read.
    var logSize: Int64? {
        var status = stat()
        return stat(database + "-wal", &status) == 0 ? Int64(status.st_size) : nil
    }

    /// True if the log fills the disk, by the sizes of the files and the free space.
    var logFillsDisk: Bool {
        var file = stat()
        guard let log = logSize, stat(database, &file) == 0, let free = FreeSpace(path: directory)?.bytes
        else { return false }
        return Self.fillsDisk(log: log, database: Int64(file.st_size), free: free)
    }

    /// Returns true if a log is a substantial part of the cache, and at least twice as large as the free space. All sizes are in bytes.
    static func fillsDisk(log: Int64, database: Int64, free: Int64) -> Bool {
        log > database / 8 && log / 2 > free
    }

    /// The reason why other users may have changed the files, as the end of a sentence; nil if none can have.
    ///
    /// Files in a folder that only this user can write cannot be replaced by others, so the result stays valid.
    var exposure: String? {
        if let exposure = Self.exposure(of: directory, as: "folder") { return exposure }
        for name in [""] + Self.companions {
            if let exposure = Self.exposure(of: database + name, as: "file") { return exposure }
        }
        return nil
    }

    private static func exposure(of path: String, as kind: String) -> String? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        switch FileAccess(owner: status.st_uid, mode: status.st_mode).exposure(to: geteuid()) {
        case .owned: return "its \(kind) “\(path)” belongs to another user"
        case .writable:
            return
                "other users can write to its \(kind) “\(path)”; if none of them has done so, make it private with “chmod go-w”"
        case nil: return nil
        }
    }

    /// Creates the directory and its missing parents, accessible to this user only.
    func makeDirectory() -> Int32 {
        var missing: [String] = []
        var path = directory
        var status = stat()
        while stat(path, &status) != 0 {
            guard errno == ENOENT else { return errno }
            missing.append(path)
            path = SystemFile.folder(of: path)
            if missing.last == path { return ENOENT }
        }
        for path in missing.reversed() where mkdir(path, S_IRWXU) != 0 && errno != EEXIST { return errno }
        return 0
    }

    /// Creates an empty database file, accessible to this user only, if there is none.
    ///
    /// Must not be called with open connections: closing any file descriptor of the file releases SQLite's locks on it.
    func makeDatabase() -> Int32 {
        let descriptor = open(database, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR)
        guard descriptor >= 0 else { return errno == EEXIST ? 0 : errno }
        // Existing companion files belong to a database that was removed.
        for companion in Self.companions { unlink(database + companion) }
        close(descriptor)
        return 0
    }

    /// Renames the database and its companion files, and removes the oldest databases that were renamed before.
    ///
    /// - Parameter lock: The lock, which the caller holds so that only one process does this.
    /// - Returns: The new path, and the error.
    func setAside(with lock: FileLock) -> (path: String, error: Int32) {
        var seconds = timespec()
        clock_gettime(CLOCK_REALTIME, &seconds)
        let path = "\(directory)/\(asidePrefix)\(seconds.tv_sec)-\(String(UInt32.random(in: .min ... .max), radix: 36))"
        // The database is renamed first. A log without its database is useless, but a database without its log has
        // different contents.
        guard rename(database, path) == 0 else { return (path, errno) }
        for companion in Self.companions { rename(database + companion, path + companion) }
        removeAside(keeping: Self.asideLimit)
        return (path, 0)
    }

    /// Removes the database and its companion files.
    ///
    /// - Parameter lock: The lock, which the caller holds so that no process opens the database in the meantime.
    /// - Returns: The error.
    func remove(with lock: FileLock) -> Int32 {
        guard unlink(database) == 0 else { return errno }
        for companion in Self.companions { unlink(database + companion) }
        return 0
    }

    private var asidePrefix: String { "\(name).corrupt-" }

    /// Removes databases that were moved out of the way, except the latest ones.
    func removeAside(keeping count: Int = 0) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        let aside = names.filter { name in
            name.hasPrefix(asidePrefix) && !Self.companions.contains { name.hasSuffix($0) }
        }
        for name in aside.sorted().dropLast(count) {
            for companion in [""] + Self.companions { unlink("\(directory)/\(name)\(companion)") }
        }
    }

    /// Waits for the lock under which the database is opened, created, moved or removed.
    ///
    /// - Parameter busyTimeout: The maximum time to wait, in milliseconds.
    /// - Returns: The lock.
    /// - Throws: An error if the lock cannot be taken in time.
    func lock(busyTimeout: Int) throws(SystemError) -> FileLock {
        var waited = 0
        while true {
            switch FileLock.attempt("\(directory)/\(name).lock") {
            case .taken(let lock): return lock
            case .busy where waited < busyTimeout:
                waited += 1
                usleep(1000)
            case .busy: throw SystemError(number: EWOULDBLOCK)
            case .failed(let error): throw SystemError(number: error)
            }
        }
    }
}

/// The owner and the mode of a file or folder.
struct FileAccess: Sendable, Hashable {
    enum Exposure: Sendable, Hashable {
        /// Another user owns it, and can change it and its mode.
        case owned
        /// Its group or all users can write to it.
        case writable
    }

    let owner: uid_t
    let mode: mode_t

    /// Returns the way in which others than a user can change the file; nil if only that user and root can.
    func exposure(to user: uid_t) -> Exposure? {
        if owner != user, owner != 0 { return .owned }
        return mode & (S_IWGRP | S_IWOTH) != 0 ? .writable : nil
    }
}
