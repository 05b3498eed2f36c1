extension PendingChanges {
    /// Notes what became of a batch.
    ///
    /// What could not be kept leaves a removal behind, since storage may hold something older in its place; a removal that could
    /// not be made is remembered until it can be.
    ///
    /// - Parameters:
    ///   - batch: What was given to storage.
    ///   - failed: The numbers of what it could not do.
    /// - Returns: The entries that storage has now.
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

    /// Remembers a removal that has to be made before all that comes later.
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

    /// Forgets removals that a later change of the same makes needless.
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

    /// Makes one removal of all that storage holds out of what waits, up to the last removal among it.
    ///
    /// That loses entries but no removal, and takes no more room however long storage does not write.
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
