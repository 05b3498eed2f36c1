import SluiceHTTP

/// Removing what is left behind, a step at a time with other work in between.
extension CacheDatabase {
    /// - Parameter isFirst: Whether what others have left behind is looked for too.
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
        // Those who hold a storage no longer do not wait for this either.
        writer.queue.async { [weak self] in
            guard let self else { return }
            if step() { sweep() } else { status.withLock { $0.isSweeping = false } }
        }
    }

    /// Whether there is more to do.
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
                // Only this makes the file shorter.
                try connection.run("PRAGMA wal_checkpoint(PASSIVE)")
            } catch {
                connection.rollBack()
            }
            return false
        }
    }

    /// Lets the next call begin a new file in the place of a large one that nothing is in: sweeping it would take nearly as long as it took to
    /// fill it.
    private func renewIfEmpty() -> Bool {
        writer.state.withLock { state in
            guard let connection = state.connection, let opened = state.opened else { return false }
            defer { connection.rollBack() }
            do {
                let pages = try connection.integer("PRAGMA page_count") ?? 0
                guard pages >= tuning.renewalPages, try CacheSize(totalOf: connection).count == 0 else { return false }
                let lock = try files.lock(patience: tuning.patience)
                defer { withExtendedLifetime(lock) {} }
                // From here on nobody writes it, and whoever did so next will see that it is not there.
                try connection.run("BEGIN IMMEDIATE")
                let isUsed = try connection.integer("SELECT EXISTS (SELECT 1 FROM entry UNION ALL SELECT 1 FROM draft)")
                guard isUsed == 0, files.identity == opened.identity, files.remove(with: lock) == 0 else {
                    return false
                }
            } catch {
                // It is swept then.
                return false
            }
            state.close()
            status.withLock { $0.forget(opened) }
            return true
        }
    }
}
