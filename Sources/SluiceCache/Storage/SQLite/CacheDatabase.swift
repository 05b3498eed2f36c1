import Dispatch
import SluiceFoundation
import SluiceHTTP

/// The database file of a cache, with one connection for writing and two for reading. Each has its own queue, so that
/// reads never wait for writes.
///
/// A file that is damaged or not a database is moved out of the way. If the path refers to a different file than
/// before, that file is opened. In both cases, the call continues with the new file.
final class CacheDatabase: Sendable {
    let files: CacheFiles
    let schema: CacheSchema
    let tuning: CacheTuning
    let clock: any SluiceClock
    let onEvent: @Sendable (CacheEvent) -> Void
    let writer = CacheConnection("sluice.cache.write")
    let status = Locked(Status())
    private let readers = [CacheConnection("sluice.cache.read"), CacheConnection("sluice.cache.read")]
    private let waiting = Locked([0, 0])
    private let pending: PendingReads
    /// The checks for foreign changes. They wait for writes, which may take long without any fault of the disk.
    private let checks: PendingReads

    /// The file that was opened last.
    struct Opened: Sendable {
        let identity: CacheFiles.Identity
        let access: SQLiteConnection.Access
        /// A number that is different each time the file is opened.
        let generation: Int
    }

    /// The state that both kinds of connections share.
    struct Status: Sendable {
        var opened: Opened?
        var generation = 0
        /// The reason why the file could not be opened, and the time until which it is not tried again.
        var refusal: (error: SluiceError, end: ContinuousClock.Instant)?
        /// True if a check for foreign changes was too late for the one who waited for it.
        var hasMissedChanges = false
        /// True while a sweep is running.
        var isSweeping = false
    }

    init(
        files: CacheFiles,
        schema: CacheSchema,
        tuning: CacheTuning,
        clock: any SluiceClock,
        onEvent: @escaping @Sendable (CacheEvent) -> Void
    ) {
        self.files = files
        self.schema = schema
        self.tuning = tuning
        self.clock = clock
        self.onEvent = onEvent
        pending = PendingReads(limit: tuning.diskLimit)
        checks = PendingReads(limit: tuning.diskLimit)
    }

    deinit {
        for connection in readers + [writer] { connection.closeLater() }
    }

    /// The number of attempts of a call if the file is replaced.
    static let attempts = 4

    /// Removes the databases that were moved out of the way, on the writer's queue.
    func removeAside() { writer.queue.async { [files] in files.removeAside() } }

    /// Reads from the database, without waiting for writes.
    ///
    /// - Parameter work: The work, which runs on a queue that may block.
    /// - Returns: The result of the work.
    /// - Throws: An error if the database cannot be read.
    func read<Value: Sendable>(
        _ work: @escaping @Sendable (SQLiteConnection) throws(SQLiteFailure) -> Value
    ) async throws(SluiceError) -> Value {
        let index = joinReaders()
        defer { leaveReader(index) }
        let reader = readers[index]
        for _ in 0..<Self.attempts {
            let opened = try await opened()
            let outcome = await reader.queue.result { [self] () -> Result<Value, CacheConnection.Failure> in
                reader.read(opened, in: files, schema, tuning, work)
            }
            switch outcome {
            case .success(let value): return value
            case .failure(.moved): status.withLock { $0.forget(opened) }
            case .failure(.failed(let failure)):
                guard failure.isCorruption else { throw error(failure, isWrite: false) }
                try await writer.queue.result { [self] in
                    writer.state.withLock { setAside(opened, as: failure, &$0) }
                }.get()
            }
        }
        throw fileReplaced
    }

    /// Reads from the database, without a task if the file is open and unchanged. Fails if the disk does not respond within its limit, and
    /// then at once until it has responded.
    ///
    /// - Parameters:
    ///   - work: The work, which runs on a queue that may block. It is repeated if the file has been replaced.
    ///   - completion: Called once with the result, usually on that queue.
    func read<Value: Sendable>(
        _ work: @escaping @Sendable (SQLiteConnection) throws(SQLiteFailure) -> Value,
        completion: @escaping @Sendable (Result<Value, SluiceError>) -> Void
    ) {
        let fail: @Sendable () -> Void = { [self] in completion(.failure(diskHangs)) }
        guard let id = pending.begin(fail) else {
            // Not before the call returns, which its caller does not expect.
            Task.detached { fail() }
            return
        }
        let finish: @Sendable (Result<Value, SluiceError>) -> Void = { [pending] result in
            if pending.end(id) { completion(result) }
        }
        let again: @Sendable () -> Void = { [self] in
            Task {
                finish(await .of { () async throws(SluiceError) in try await read(work) })
            }
        }
        guard let opened = status.withLock({ $0.opened }) else { return again() }
        let index = joinReaders()
        let reader = readers[index]
        reader.queue.async { [self] in
            guard pending.isWaiting(id) else {
                leaveReader(index)
                _ = pending.end(id)
                return
            }
            let outcome = reader.read(opened, in: files, schema, tuning, work)
            leaveReader(index)
            switch outcome {
            case .success(let value): finish(.success(value))
            case .failure(.failed(let failure)) where failure.isBusy:
                finish(.failure(error(failure, isWrite: false)))
            case .failure(.moved):
                status.withLock { $0.forget(opened) }
                again()
            // The retry encounters the problem again, and resolves or reports it.
            case .failure(.failed): again()
            }
        }
    }

    /// Passes on whether another process has changed the storage since the last call. Fails as a read does if the disk does not respond.
    func checkForeignChanges(_ completion: @escaping @Sendable (Result<Bool, SluiceError>) -> Void) {
        let fail: @Sendable () -> Void = { [self] in completion(.failure(diskHangs)) }
        guard let id = checks.begin(fail) else { return fail() }
        writer.queue.async { [self] in
            let hasChanges = hasForeignChanges()
            if checks.end(id) { return completion(hasChanges) }
            // Nobody has heard of the changes that this check may have found.
            status.withLock { $0.hasMissedChanges = true }
        }
    }

    /// Waits for the completion of a call.
    func result<Value: Sendable>(
        of call: (@escaping @Sendable (Result<Value, SluiceError>) -> Void) -> Void
    ) async throws(SluiceError) -> Value {
        let fence = Locked(())
        let result = await withUnsafeContinuation { continuation in
            call { result in
                fence.synchronize()
                continuation.resume(returning: result)
            }
        }
        fence.synchronize()
        return try result.get()
    }

    private var diskHangs: SluiceError { unavailable("the disk has not responded for \(tuning.diskLimit)") }

    /// Selects the reader with the shorter queue.
    private func joinReaders() -> Int {
        waiting.withLock { waiting in
            let index = waiting[0] <= waiting[1] ? 0 : 1
            waiting[index] += 1
            return index
        }
    }

    private func leaveReader(_ index: Int) {
        waiting.withLock { $0[index] -= 1 }
    }

    /// Returns the open file. Opens it if necessary.
    private func opened() async throws(SluiceError) -> Opened {
        if let opened = status.withLock({ $0.opened }) { return opened }
        return try await writer.queue.result { [self] in
            writer.state.withLock { state in
                Result { () throws(SluiceError) in try open(&state).opened }
            }
        }.get()
    }

    /// Writes to the database in one transaction, after the work that is already queued.
    ///
    /// - Parameter work: The work, which runs on a queue that may block. It is repeated if the file has been replaced.
    /// - Returns: The result of the work.
    /// - Throws: An error if the database cannot be written.
    func write<Value: Sendable>(
        _ work: @escaping @Sendable (inout CacheTransaction) throws(SQLiteFailure) -> Value
    ) async throws(SluiceError) -> Value {
        try await writer.queue.result { [self] in transact(work) }.get()
    }

    /// Writes to the database in one transaction, without reporting the result.
    func writeLater(_ work: @escaping @Sendable (inout CacheTransaction) throws(SQLiteFailure) -> Void) {
        writer.queue.async { [self] in _ = transact(work) }
    }

    func error(_ failure: SQLiteFailure, isWrite: Bool) -> SluiceError {
        SluiceError(
            .cacheFailed,
            "The cache “\(files.database)” could not be \(isWrite ? "written" : "read"): \(failure).",
            step: .cache,
            underlyingError: failure
        )
    }

    var fileReplaced: SluiceError {
        SluiceError(
            .cacheFailed,
            "The cache “\(files.database)” could not be used: its file was replaced repeatedly.",
            step: .cache
        )
    }
}

extension CacheDatabase.Status {
    /// Lets the next call open the file again, unless another call has already done so.
    mutating func forget(_ old: CacheDatabase.Opened) {
        if opened?.generation == old.generation { opened = nil }
    }
}

// MARK: - Writing

/// Runs on the writer's queue.
extension CacheDatabase {
    func transact<Value>(
        _ work: @Sendable (inout CacheTransaction) throws(SQLiteFailure) -> Value
    ) -> Result<Value, SluiceError> where Value: Sendable {
        writer.state.withLock { state in
            Result { () throws(SluiceError) in try transact(work, &state) }
        }
    }

    /// Closes the connections, and lets the next call open the file again. An idle reader would keep the space of a removed file.
    func forget(_ opened: Opened, _ state: inout CacheConnection.State) {
        state.close()
        for reader in readers { reader.closeLater() }
        status.withLock { $0.forget(opened) }
    }

    private func transact<Value: Sendable>(
        _ work: @Sendable (inout CacheTransaction) throws(SQLiteFailure) -> Value,
        _ state: inout CacheConnection.State
    ) throws(SluiceError) -> Value {
        var isSecond = false
        for _ in 0..<Self.attempts {
            let (connection, opened) = try open(&state)
            guard opened.access == .readWrite else {
                reopen(opened, &state)
                throw unavailable("it is read-only")
            }
            do throws(SQLiteFailure) {
                var transaction = try state.waiting(tuning) { busyTimeout throws(SQLiteFailure) in
                    try connection.wait(upTo: busyTimeout)
                    defer { try? connection.wait(upTo: tuning.busyTimeout) }
                    return try CacheTransaction(connection, tuning, isRetry: isSecond)
                }
                // An empty file is only removed under this write lock, so the file stays in place from here on.
                guard files.identity == opened.identity, try schema.isCurrent(in: connection) else {
                    connection.rollBack()
                    forget(opened, &state)
                    continue
                }
                let value = try work(&transaction)
                try transaction.commit()
                // Another connection may have found the file damaged, and moved it out of the way meanwhile.
                guard files.identity == opened.identity else {
                    forget(opened, &state)
                    continue
                }
                if transaction.isChange { state.ownChanges += 1 }
                if transaction.leavesWork { sweepLater() }
                if let size = files.logSize, size > tuning.logLimit { emptyLog(of: connection) }
                return value
            } catch {
                connection.rollBack()
                if error.isCorruption {
                    try setAside(opened, as: error, &state).get()
                } else if error.isFull, !isSecond {
                    // A checkpoint may find space for the log's pages in the file, and frees space in the log.
                    isSecond = true
                    try? connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                } else {
                    if error.isIOError { state.close() }
                    throw self.error(error, isWrite: true)
                }
            }
        }
        throw fileReplaced
    }

    /// Empties the log, unless another connection is reading it.
    private func emptyLog(of connection: SQLiteConnection) {
        try? connection.wait(upTo: 0)
        try? connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        try? connection.wait(upTo: tuning.busyTimeout)
    }

    /// Lets the next call try to open the file for writing again, unless the last attempt was very recent.
    private func reopen(_ opened: Opened, _ state: inout CacheConnection.State) {
        guard ContinuousClock.now - state.checked > tuning.retryInterval else { return }
        state.checked = .now
        forget(opened, &state)
    }

    /// Returns true if another process has changed the storage since the last call.
    private func hasForeignChanges() -> Result<Bool, SluiceError> {
        writer.state.withLock { state in
            Result { () throws(SluiceError) in
                var (connection, opened) = try open(&state)
                if files.identity != opened.identity {
                    forget(opened, &state)
                    (connection, opened) = try open(&state)
                }
                do throws(SQLiteFailure) {
                    let changes = try connection.integer("SELECT changes FROM total WHERE id = 1")
                    defer {
                        state.lastForeignCheck = (opened.generation, changes)
                        state.ownChanges = 0
                    }
                    let hasMissed = status.withLock { status in
                        defer { status.hasMissedChanges = false }
                        return status.hasMissedChanges
                    }
                    if hasMissed { return true }
                    guard let last = state.lastForeignCheck else { return false }
                    if last.generation != opened.generation { return true }
                    return last.changes.map { ($0 &+ state.ownChanges) & 0xffff_ffff } != changes
                } catch {
                    throw self.error(error, isWrite: false)
                }
            }
        }
    }
}

// MARK: - Sweeping

/// Removal of unused pieces and pages, in steps between which other work runs.
extension CacheDatabase {
    /// Starts a sweep unless one is running.
    ///
    /// - Parameter isFirst: True to also discard the drafts that other processes have abandoned.
    func sweepLater(isFirst: Bool = false) {
        let wasSweeping = status.withLock { status in
            defer { status.isSweeping = true }
            return status.isSweeping
        }
        if wasSweeping { return }
        if isFirst {
            let now = clock.date
            writeLater { transaction throws(SQLiteFailure) in try transaction.discardAbandonedDrafts(at: now) }
        }
        sweep()
    }

    private func sweep() {
        // The closure does not keep the storage alive.
        writer.queue.async { [weak self] in
            guard let self else { return }
            if step() { sweep() } else { status.withLock { $0.isSweeping = false } }
        }
    }

    /// Runs one step. Returns true if there is more to do.
    private func step() -> Bool {
        if removeFileIfEmpty() { return false }
        let isSwept = transact { transaction throws(SQLiteFailure) in try transaction.sweep() }
        switch isSwept {
        case .success(true): return true
        case .success(false): break
        case .failure: return false
        }
        return writer.state.withLock { state in
            guard let connection = state.connection else { return false }
            do throws(SQLiteFailure) {
                if try connection.releasePages() { return true }
                // Only a checkpoint truncates the file.
                try connection.run("PRAGMA wal_checkpoint(PASSIVE)")
            } catch {
                connection.rollBack()
            }
            return false
        }
    }

    /// Removes a large file that contains no entries, so that the next call creates a new one. Sweeping it would take
    /// nearly as long as filling it took.
    private func removeFileIfEmpty() -> Bool {
        writer.state.withLock { state in
            guard let connection = state.connection, let opened = state.opened else { return false }
            defer { connection.rollBack() }
            do {
                let pages = try connection.integer("PRAGMA page_count") ?? 0
                guard pages >= tuning.replacementPages, try CacheSize(totalOf: connection).count == 0 else {
                    return false
                }
                let lock = try files.lock(busyTimeout: tuning.busyTimeout)
                defer { withExtendedLifetime(lock) {} }
                // No process can write to the file from here on. The next writer notices that it has been removed.
                try connection.run("BEGIN IMMEDIATE")
                let isUsed = try connection.integer("SELECT EXISTS (SELECT 1 FROM entry UNION ALL SELECT 1 FROM draft)")
                guard isUsed == 0, files.identity == opened.identity, files.remove(with: lock) == 0 else {
                    return false
                }
            } catch {
                // The file is swept instead.
                return false
            }
            forget(opened, &state)
            return true
        }
    }
}
