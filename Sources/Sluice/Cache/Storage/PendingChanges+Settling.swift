extension PendingChanges {
    /// Records the result of a batch.
    ///
    /// A failed store becomes a removal, because storage may contain an older entry. A failed removal is kept until it
    /// succeeds.
    ///
    /// - Parameters:
    ///   - batch: The changes passed to storage.
    ///   - failed: The numbers of the changes that failed.
    /// - Returns: The entries that storage has written.
    mutating func settle(_ batch: [Item], failed: Set<Int>) -> [CacheEntry] {
        counter += 1
        var stored: [CacheEntry] = []
        for item in batch {
            bytes -= item.bytes
            let selection: CacheSelection
            switch item.write {
            case .change(.store(let entry)): selection = CacheSelection(entry.key, variant: entry.variant)
            case .change(.remove(let removed)): selection = removed
            case .change(.touch): continue
            case .commit(_, let key, let variant): selection = CacheSelection(key, variant: variant)
            }
            let hasFailed = failed.contains(item.number)
            if hasFailed { owe(selection, number: item.number) } else { settled.append((counter, selection.key)) }
            guard let key = selection.key else {
                if !hasFailed, let index = sweeps.firstIndex(where: { $0.number == item.number }) {
                    sweeps[index].settled = counter
                }
                continue
            }
            if !hasFailed { forgetOwed(key, variant: selection.variant, before: item.number) }
            guard let index = keyed[key]?.firstIndex(where: { $0.number == item.number }) else { continue }
            if hasFailed {
                keyed[key]?[index].entry = nil
            } else {
                if let entry = keyed[key]?[index].entry { stored.append(entry) }
                keyed[key]?[index].settled = counter
            }
        }
        forgetSettled()
        if owed.count > Self.owedLimit { collapse() }
        return stored
    }

    /// Records a removal that must be made before all later changes.
    private mutating func owe(_ selection: CacheSelection, number: Int) {
        if let key = selection.key { forgetOwed(key, variant: selection.variant, before: number) }
        owed[number] = Item(
            number: number,
            write: .change(.remove(selection)),
            bytes: Self.removalBytes,
            isOwed: true
        )
        bytes += Self.removalBytes
    }

    /// Drops failed removals that a later change with the same key and variant supersedes.
    private mutating func forgetOwed(_ key: CacheKey, variant: String?, before number: Int) {
        guard !owed.isEmpty, let changes = keyed[key] else { return }
        let kept = changes.filter { change in
            guard change.number < number, change.variant == variant, let item = owed[change.number] else { return true }
            bytes -= item.bytes
            owed[change.number] = nil
            return false
        }
        if kept.count < changes.count { keyed[key] = kept.isEmpty ? nil : kept }
    }

    /// Replaces failed and queued changes, up to the last queued removal, by a single removal of all entries in
    /// storage.
    ///
    /// Entries in storage are lost, but no removal is. Memory use stays bounded however long storage fails.
    mutating func collapse() {
        let lastRemoval = queue.lastIndex(where: \.isRemoval)
        let end = lastRemoval.map { $0 + 1 } ?? queue.startIndex
        guard let last = lastRemoval.map({ queue[$0].number }) ?? owed.keys.max() else { return }
        let replaced = owed.values + queue[..<end]
        let numbers = Set(replaced.map(\.number))
        for item in replaced { bytes -= item.bytes }
        superseded.subtract(numbers)
        owed = [:]
        removals = 0
        queue.removeSubrange(..<end)
        keyed = keyed.compactMapValues { changes in
            let kept = changes.filter { !numbers.contains($0.number) }
            return kept.isEmpty ? nil : kept
        }
        sweeps.removeAll { numbers.contains($0.number) }
        let place = sweeps.firstIndex { $0.number > last } ?? sweeps.endIndex
        sweeps.insert(Sweep(number: last, selection: CacheSelection()), at: place)
        owe(CacheSelection(), number: last)
    }
}
