import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension PartFile {
    /// Performs a step of the schedule, in parallel with writers.
    func journal(_ step: JournalSchedule.Step) {
        let completed = state.withLock { $0.isOver || $0.failure != 0 ? nil : $0.completed }
        if let completed {
            if step == .sync {
                let error = descriptor.sync()
                state.withLock { state in
                    if error == 0 { state.synced = completed } else { state.failure = error }
                }
            }
            _ = writeJournal(isSynced: step == .sync)
        }
        let next = state.withLock { $0.schedule.finish(step, now: .now) }
        if let next { journalLater(next) }
    }

    /// Writes the journal, if a later send can use it.
    ///
    /// - Parameter isSynced: True if the journal must survive a power failure.
    /// - Returns: True if the journal was written.
    func writeJournal(isSynced: Bool) -> Bool {
        let snapshot = state.withLock { state -> PartJournal? in
            guard let resource = state.resource, resource.validator != nil, state.failure == 0 else { return nil }
            return PartJournal(
                resource: resource,
                completed: state.completed,
                synced: state.synced,
                bootID: BootID.current
            )
        }
        guard lease != nil, let snapshot, let contents = try? JSONEncoder().encode(snapshot),
            contents.count <= PartJournal.limit,
            SystemFile.replace(location.journal, with: contents, by: location.newJournal, isSynced: isSynced) == 0
        else { return false }
        state.withLock { $0.hasJournal = true }
        return true
    }

    /// Restores the state that an earlier send has left, as far as it is reliable, and empties the file otherwise. Must
    /// run alone.
    func recall() -> Int32 {
        let length = descriptor.length ?? 0
        if case .contents(let data) = SystemFile.contents(
            of: location.journal,
            limit: PartJournal.limit + 1,
            isOwn: true
        ) {
            if data.count <= PartJournal.limit, let journal = try? JSONDecoder().decode(PartJournal.self, from: data),
                let completed = journal.trusted(partLength: length, bootID: BootID.current), !completed.isEmpty
            {
                let isSameBoot = journal.bootID == BootID.current
                state.withLock { state in
                    state.resource = journal.resource
                    state.completed = completed
                    state.synced = isSameBoot ? journal.synced : completed
                    state.resumed = completed.count
                    state.hasJournal = true
                }
                return 0
            }
            state.withLock { $0.hasJournal = true }
        }
        if length == 0, !state.withLock({ $0.hasJournal }) { return 0 }
        forget()
        return descriptor.setLength(0)
    }

    /// Forgets the bytes that are there and removes the journal from the disk first: after a crash no journal may
    /// describe bytes that have been overwritten. Must run alone.
    func forget() {
        let hasJournal = state.withLock { state in
            state.resource = nil
            state.completed = ByteRanges()
            state.synced = ByteRanges()
            state.resumed = 0
            defer { state.hasJournal = false }
            return state.hasJournal
        }
        guard hasJournal else { return }
        location.removeJournal()
        SystemFile.syncFolder(of: location.journal)
    }
}
