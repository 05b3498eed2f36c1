import SluiceHTTP

/// Removal of unused pieces and pages, in steps between which other work runs.
extension CacheDatabase {
    /// Starts a sweep unless one is running.
    ///
    /// - Parameter isFirst: True to also discard the drafts that other processes have abandoned.
    func sweepLater(isFirst: Bool = false) {
        let isUnderWay = status.withLock { status in
            defer { status.isSweeping = true }
            return status.isSweeping
        }
        if isUnderWay { return }
        if isFirst {
            let now = time.date
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
        if renewIfEmpty() { return false }
        let isSwept = transact { transaction throws(SQLiteFailure) in try transaction.sweep() }
        switch isSwept {
        case .success(true): return true
        case .success(false): break
        case .failure: return false
        }
        return writer.state.withLock { state in
            guard let connection = state.connection else { return false }
            do throws(SQLiteFailure) {
                if try connection.giveBackPages() { return true }
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
    private func renewIfEmpty() -> Bool {
        writer.state.withLock { state in
            guard let connection = state.connection, let opened = state.opened else { return false }
            defer { connection.rollBack() }
            do {
                let pages = try connection.integer("PRAGMA page_count") ?? 0
                guard pages >= tuning.renewalPages, try CacheSize(totalOf: connection).count == 0 else { return false }
                let lock = try files.lock(patience: tuning.patience)
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
            state.close()
            status.withLock { $0.forget(opened) }
            return true
        }
    }
}
