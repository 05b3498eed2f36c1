import Dispatch
import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A download that is not yet whole: a hidden file beside where the download will be, and a journal of what is in it.
///
/// Made by ``open(key:destination:lease:)`` and ended by ``place(sha256:reportsSHA256:)``, ``close()`` or ``discard()``; what
/// is called afterwards does nothing, or fails where there is something to be done. Several may write at once, at different
/// offsets.
///
/// The journal never says more than there is: it is written after the bytes it speaks of, and removed before they are lost.
final class PartFile: Sendable {
    struct State: Sendable {
        var resource: RemoteResource?
        /// Rises when the part begins anew, so that bytes of what was there before can be told apart.
        var generation = 0
        var completed = ByteRanges()
        /// What is on the disk for certain.
        var synced = ByteRanges()
        /// How much of it an earlier send had brought.
        var resumed: Int64 = 0
        var schedule: JournalSchedule
        var hasJournal = false
        /// Why what was written may not be on the disk. The system says so once, so that it has to be remembered.
        var failure: Int32 = 0
        var isOver = false
    }

    /// In steps of so many bytes the system is told to begin to bring them to the disk.
    private static let writebackSize: Int64 = 8 << 20

    let location: PartPlace
    let descriptor: PartDescriptor
    /// The sender's, by which this process knows that the part is held; nil for a part that nobody else can find, which is not
    /// resumed.
    let lease: PartLease?
    let state: Locked<State>
    /// Concurrent for those who write; what ends the part waits for them and keeps others away.
    private let queue = DispatchQueue(label: "sluice.part", attributes: .concurrent)

    init(location: PartPlace, descriptor: PartDescriptor, lease: PartLease?) {
        self.location = location
        self.descriptor = descriptor
        self.lease = lease
        state = Locked(State(schedule: JournalSchedule(now: .now)))
    }

    deinit {
        // Nobody uses it any more, so that there is nothing to wait for.
        guard !state.withLock({ $0.isOver }) else { return }
        if lease == nil { location.remove() }
        release()
    }

    /// What the part is a part of; nil if nothing can be resumed and nothing was begun.
    var resource: RemoteResource? { state.withLock { $0.resource } }

    /// What is there of it.
    var completed: ByteRanges { state.withLock { $0.completed } }

    /// Which beginning of the part it is.
    var generation: Int { state.withLock { $0.generation } }

    /// What errors call the download.
    var subject: String { location.subject(resource) }

    /// Begins anew with a resource, and forgets what was there.
    ///
    /// - Parameter resource: What will be written.
    /// - Returns: The part's new generation.
    /// - Throws: `insufficientSpace` where the length is known and the disk has not as much.
    @discardableResult
    func begin(_ resource: RemoteResource) async throws(SluiceError) -> Int {
        try await perform(flags: .barrier) { part throws(SluiceError) in
            part.forget()
            let generation = part.state.withLock { state in
                state.resource = resource
                state.generation += 1
                return state.generation
            }
            let error = part.descriptor.setLength(0)
            guard error == 0 else { throw .cannotWrite(part.subject, error) }
            try part.checkSpace()
            return generation
        }
    }

    /// Sees whether there is room for what is missing, where the length is known.
    ///
    /// - Throws: `insufficientSpace`.
    func requireSpace() async throws(SluiceError) {
        try await perform { part throws(SluiceError) in try part.checkSpace() }
    }

    private func checkSpace() throws(SluiceError) {
        let missing = state.withLock { state in state.resource?.length.map { $0 - state.completed.count } }
        if let missing, let free = descriptor.freeSpace, missing > free {
            throw .insufficientSpace(subject, needed: missing, free: free)
        }
    }

    /// Says more of the resource that is being written: its length, its name; of no effect in another generation.
    func learn(_ resource: RemoteResource, in generation: Int? = nil) {
        let step = state.withLock { state -> JournalSchedule.Step? in
            if state.isOver || state.resource == resource || state.generation != generation ?? state.generation {
                return nil
            }
            state.resource = resource
            return state.completed.isEmpty ? nil : state.schedule.wantNote()
        }
        if let step { journalLater(step) }
    }

    /// Writes pieces one behind the other, without copying them.
    ///
    /// - Parameters:
    ///   - chunks: The pieces.
    ///   - offset: Where in the whole they begin.
    ///   - generation: The part's, if the pieces are of no other.
    /// - Throws: `resourceChanged` where the part has begun anew; `insufficientSpace`, `cannotWriteFile`, or
    ///   `lengthMismatch` for what lies behind the resource's end. What was written before counts.
    func write(_ chunks: [Data], at offset: Int64, in generation: Int? = nil) async throws(SluiceError) {
        try await perform { part throws(SluiceError) in
            // Nothing begins anew meanwhile, since that waits for those who write.
            if let generation, generation != part.generation { throw .resourceChanged }
            try part.writeAll(chunks, at: offset)
        }
    }

    /// Gives the part back and keeps it for a later send, if there is something in it that can be resumed; else removes it.
    func close() async {
        await end { part in
            guard part.isWorthKeeping, part.descriptor.sync() == 0 else { return part.location.remove() }
            part.state.withLock { $0.synced = $0.completed }
            let hasOlder = part.state.withLock { $0.hasJournal }
            // An older one says less, and yet the truth. Without any, the part is of no use.
            if !part.writeJournal(isSynced: true), !hasOlder { part.location.remove() }
        }
    }

    /// Gives the part back and removes it.
    func discard() async {
        await end { $0.location.remove() }
    }

    /// Does work that may block, beside others' or alone; fails where the part is over.
    func perform<Value: Sendable>(
        flags: DispatchWorkItemFlags = [],
        _ work: @escaping @Sendable (PartFile) throws(SluiceError) -> Value
    ) async throws(SluiceError) -> Value {
        try await queue.result(flags: flags) { () -> Result<Value, SluiceError> in
            Result { () throws(SluiceError) in
                if self.state.withLock({ $0.isOver }) {
                    throw SluiceError(
                        .internalFailure,
                        "The download “\(self.subject)” has ended already.",
                        step: .file
                    )
                }
                return try work(self)
            }
        }.get()
    }

    /// Writes the journal once it is its turn.
    func journalLater(_ step: JournalSchedule.Step) {
        queue.async { self.journal(step) }
    }

    /// Does the last work, once and alone.
    private func end(_ work: @escaping @Sendable (PartFile) -> Void) async {
        await queue.result(flags: .barrier) {
            if self.state.withLock({ $0.isOver }) { return }
            work(self)
            self.finish()
        }
    }

    /// Lets nobody use the part any more; called alone.
    func finish() {
        state.withLock { $0.isOver = true }
        release()
    }

    private func release() {
        descriptor.close()
        if let lease { PartClaims.shared.release(location.part, from: lease) }
    }

    private var isWorthKeeping: Bool {
        lease != nil
            && state.withLock { $0.failure == 0 && $0.resource?.validator != nil && !$0.completed.isEmpty }
    }

    private func writeAll(_ chunks: [Data], at offset: Int64) throws(SluiceError) {
        let (length, failure) = state.withLock { ($0.resource?.length, $0.failure) }
        guard failure == 0 else { throw .cannotWrite(subject, failure) }
        let count = chunks.reduce(into: Int64(0)) { $0 += Int64($1.count) }
        let (end, isOver) = offset.addingReportingOverflow(count)
        guard offset >= 0, !isOver, end <= length ?? .max else {
            throw .lengthMismatch(subject, isOver ? .max : end, of: length)
        }
        let (written, error) = descriptor.write(chunks, at: offset)
        let step = state.withLock { state -> JournalSchedule.Step? in
            state.completed.insert(offset..<offset + written)
            return state.schedule.wrote(written, now: .now)
        }
        if let step { journalLater(step) }
        guard error == 0 else { throw .cannotWrite(subject, error) }
        beginWriteback(behind: offset, until: end)
    }

    /// Begins to bring to the disk the steps that were just passed.
    private func beginWriteback(behind offset: Int64, until end: Int64) {
        let step = Self.writebackSize
        let (first, last) = (offset / step * step, end / step * step)
        guard last > first else { return }
        let error = descriptor.beginWriteback(first..<last)
        if error != 0 { state.withLock { $0.failure = error } }
    }
}
