import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Runs on the writer's queue.
extension CacheDatabase {
    func transact<Value>(
        _ work: @Sendable (inout CacheTransaction) throws(SQLiteFailure) -> Value
    ) -> Result<Value, SluiceError> where Value: Sendable {
        writer.state.withLock { state in
            Result { () throws(SluiceError) in try transact(work, &state) }
        }
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
                throw unavailable("it may not be written")
            }
            do throws(SQLiteFailure) {
                var transaction = try CacheTransaction(connection, tuning, isRetry: isSecond)
                // An empty file is only removed under this write lock, so the file stays in place from here on.
                guard files.identity == opened.identity, try schema.isThat(of: connection) else {
                    connection.rollBack()
                    state.close()
                    status.withLock { $0.forget(opened) }
                    continue
                }
                let value = try work(&transaction)
                try transaction.commit()
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
                    if error.isInputOutput { state.close() }
                    throw self.error(error, to: "write")
                }
            }
        }
        throw unsettled
    }

    /// Empties the log, unless another connection is reading it.
    private func emptyLog(of connection: SQLiteConnection) {
        try? connection.execute("PRAGMA busy_timeout = 0")
        try? connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        try? connection.execute("PRAGMA busy_timeout = \(tuning.patience)")
    }

    /// Lets the next call try to open the file for writing again, unless the last attempt was very recent.
    private func reopen(_ opened: Opened, _ state: inout CacheConnection.State) {
        guard ContinuousClock.now - state.checked > tuning.retryInterval else { return }
        state.checked = .now
        state.close()
        status.withLock { $0.forget(opened) }
    }

    /// Moves a damaged file, or one that is not a database, out of the way, unless another process has done so.
    func setAside(
        _ opened: Opened,
        as failure: SQLiteFailure,
        _ state: inout CacheConnection.State
    ) -> Result<Void, SluiceError> {
        state.close()
        status.withLock { $0.forget(opened) }
        return Result { () throws(SluiceError) in
            let lock: CacheLock
            do throws(SystemFailure) {
                lock = try files.lock(patience: tuning.patience)
            } catch {
                let error = unavailable("\(failure), and it cannot be set aside: \(error)", failure)
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
        guard let connection = try? SQLiteConnection(path: files.database, access: access, patience: tuning.patience),
            let isSame = try? schema.isThat(of: connection)
        else { return false }
        return !isSame
    }

    func setAside(as failure: SQLiteFailure, with lock: CacheLock) throws(SluiceError) {
        let (path, error) = files.setAside(with: lock)
        guard error == 0 else {
            throw unavailable("\(failure), and it cannot be set aside: \(SystemFailure(number: error))", failure)
        }
        onEvent(.databaseSetAside(URL(filePath: path), reason: failure.message))
    }

    /// Returns true if another process has changed the storage since the last call.
    func hasForeignChanges() -> Result<Bool, SluiceError> {
        writer.state.withLock { state in
            Result { () throws(SluiceError) in
                var (connection, opened) = try open(&state)
                if files.identity != opened.identity {
                    state.close()
                    status.withLock { $0.forget(opened) }
                    (connection, opened) = try open(&state)
                }
                do throws(SQLiteFailure) {
                    let changes = try connection.integer("SELECT changes FROM total WHERE id = 1")
                    defer {
                        state.asked = (opened.generation, changes)
                        state.ownChanges = 0
                    }
                    guard let asked = state.asked else { return false }
                    if asked.generation != opened.generation { return true }
                    return asked.changes.map { ($0 &+ state.ownChanges) & 0xffff_ffff } != changes
                } catch {
                    throw self.error(error, to: "read")
                }
            }
        }
    }
}
