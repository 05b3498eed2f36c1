extension PendingChanges {
    /// Begins a read of storage.
    ///
    /// - Returns: What ``endRead(_:)`` is to be called with.
    mutating func beginRead() -> Int {
        readers[counter, default: 0] += 1
        return counter
    }

    /// Ends a read of storage, and forgets what only it needed.
    mutating func endRead(_ begun: Int) {
        guard let count = readers[begun] else { return }
        readers[begun] = count > 1 ? count - 1 : nil
        forgetSettled()
    }

    /// What a key has once all changes are made that storage had not made at a time.
    ///
    /// - Parameters:
    ///   - entries: What storage gave.
    ///   - key: The key.
    ///   - begun: When the read of storage began.
    /// - Returns: The entries in no order.
    func correct(_ entries: [CacheEntry], of key: CacheKey, since begun: Int) -> [CacheEntry] {
        let changes = keyed[key] ?? []
        if changes.isEmpty, sweeps.isEmpty { return entries }
        var entries = entries
        var next = sweeps.startIndex
        func sweep(before number: Int) {
            while next < sweeps.endIndex, sweeps[next].number < number {
                let selection = sweeps[next].selection
                if !sweeps[next].isSettled(by: begun) { entries.removeAll { selection.contains($0) } }
                next += 1
            }
        }
        for change in changes where !change.isSettled(by: begun) {
            sweep(before: change.number)
            entries.removeAll { change.variant == nil || $0.variant == change.variant }
            if let entry = change.entry { entries.append(entry) }
        }
        sweep(before: .max)
        return entries
    }

    /// Whether something is kept or removed under a key by its name.
    func concerns(_ key: CacheKey) -> Bool {
        !keyed.isEmpty && keyed[key] != nil
    }

    /// What is kept under a key and not in storage yet.
    func unwritten(_ key: CacheKey) -> [CacheEntry] {
        correct([], of: key, since: counter)
    }

    /// Whether an entry is kept here, because storage has not made it yet or not for long.
    func holds(_ entry: CacheEntry) -> Bool {
        keyed[entry.key]?.contains { $0.entry === entry } ?? false
    }

    /// Forgets what storage had made before the first of all reads under way.
    mutating func forgetSettled() {
        guard !settled.isEmpty else { return }
        let first = readers.keys.min() ?? .max
        let end = settled.firstIndex { $0.at > first } ?? settled.endIndex
        for (_, key) in settled[..<end] {
            if let key, var changes = keyed.removeValue(forKey: key) {
                changes.removeAll { $0.isSettled(by: first) }
                if !changes.isEmpty { keyed[key] = changes }
            } else if key == nil {
                sweeps.removeAll { $0.isSettled(by: first) }
            }
        }
        settled.removeSubrange(..<end)
    }
}
