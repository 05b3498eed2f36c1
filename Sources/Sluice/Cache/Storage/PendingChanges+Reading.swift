extension PendingChanges {
    /// Begins a read of storage.
    ///
    /// - Returns: The number to pass to ``endRead(_:)``.
    mutating func beginRead() -> Int {
        readers[counter, default: 0] += 1
        return counter
    }

    /// Ends a read of storage, and drops the changes that only this read needed.
    mutating func endRead(_ begun: Int) {
        guard let count = readers[begun] else { return }
        readers[begun] = count > 1 ? count - 1 : nil
        forgetSettled()
    }

    /// Applies the changes that storage had not made when a read began to the result of that read.
    ///
    /// - Parameters:
    ///   - entries: The entries read from storage.
    ///   - key: The key.
    ///   - begun: The number of the read.
    /// - Returns: The current entries for the key, in no particular order.
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

    /// Returns true if there is a change to this key.
    func concerns(_ key: CacheKey) -> Bool {
        !keyed.isEmpty && keyed[key] != nil
    }

    /// Returns the entries for a key that have not been written to storage.
    func unwritten(_ key: CacheKey) -> [CacheEntry] {
        correct([], of: key, since: counter)
    }

    /// Returns true if a change contains this entry, because storage has not written it or a read may still need it.
    func holds(_ entry: CacheEntry) -> Bool {
        keyed[entry.key]?.contains { $0.entry === entry } ?? false
    }

    /// Drops the changes that storage had made before the oldest read in progress.
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
