import Dispatch
import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An incomplete download: a hidden file next to the destination, and a journal of the bytes in it.
///
/// Created by ``open(key:destination:lease:)`` and ended by ``place(sha256:reportsSHA256:)``, ``close()`` or
/// ``discard()``. Later calls do nothing, or fail if they have work to do. Several tasks may write at once, at
/// different offsets.
///
/// The journal never describes more than is there: it is written after the bytes it describes, and removed before they
/// are lost.
final class PartFile: Sendable {
    struct State: Sendable {
        var resource: RemoteResource?
        /// Increases when the partial file starts again, so that bytes of an earlier version are rejected.
        var generation = 0
        var completed = ByteRanges()
        /// The bytes that are known to be on the disk.
        var synced = ByteRanges()
        /// The number of bytes from an earlier send.
        var resumed: Int64 = 0
        var schedule: JournalSchedule
        var hasJournal = false
        /// The error for which written bytes may not be on the disk. The system reports it only once, so it is kept.
        var failure: Int32 = 0
        var isOver = false
    }

    /// The step size, in bytes, in which write-back to the disk is started.
    private static let writebackSize: Int64 = 8 << 20

    let location: PartPlace
    let descriptor: PartDescriptor
    /// The lease of the sender that holds the partial file. Nil for a private partial file, which is not resumed.
    let lease: PartLease?
    let state: Locked<State>
    /// Concurrent for writers. Work that ends the partial file runs as a barrier.
    private let queue = DispatchQueue(label: "sluice.part", attributes: .concurrent)

    init(location: PartPlace, descriptor: PartDescriptor, lease: PartLease?) {
        self.location = location
        self.descriptor = descriptor
        self.lease = lease
        state = Locked(State(schedule: JournalSchedule(now: .now)))
    }

    deinit {
        // No other reference is left, so there is no work to wait for.
        guard !state.withLock({ $0.isOver }) else { return }
        if lease == nil { location.remove() }
        release()
    }

    /// The known properties of the resource; nil if nothing can be resumed and nothing was begun.
    var resource: RemoteResource? { state.withLock { $0.resource } }

    /// The bytes that are there.
    var completed: ByteRanges { state.withLock { $0.completed } }

    /// The generation of the partial file, which increases whenever it starts again.
    var generation: Int { state.withLock { $0.generation } }

    /// The name of the download in error messages.
    var subject: String { location.subject(resource) }

    /// Starts again with a resource, and forgets the bytes that are there.
    ///
    /// - Parameter resource: The resource that will be written.
    /// - Returns: The new generation.
    /// - Throws: `insufficientSpace` if the length is known and the disk does not have enough space.
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

    /// Checks that the disk has space for the missing bytes, if the length is known.
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

    /// Updates the known properties of the resource, such as its length and name. Has no effect in another generation.
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

    /// Writes pieces one after the other, without copying them.
    ///
    /// - Parameters:
    ///   - chunks: The pieces.
    ///   - offset: The offset of the first piece in the resource.
    ///   - generation: The generation that the pieces belong to; nil for the current one.
    /// - Throws: `resourceChanged` if the partial file has started again; `insufficientSpace`, `cannotWriteFile`, or
    ///   `lengthMismatch` for bytes after the end of the resource. Bytes written before the error count.
    func write(_ chunks: [Data], at offset: Int64, in generation: Int? = nil) async throws(SluiceError) {
        try await perform { part throws(SluiceError) in
            // The generation cannot change here, because a new start waits for writers.
            if let generation, generation != part.generation { throw .resourceChanged }
            try part.writeAll(chunks, at: offset)
        }
    }

    /// Releases the partial file. It is kept for a later send if it can be resumed, and removed otherwise.
    func close() async {
        await end { part in
            guard part.isWorthKeeping, part.descriptor.sync() == 0 else { return part.location.remove() }
            part.state.withLock { $0.synced = $0.completed }
            let hasOlder = part.state.withLock { $0.hasJournal }
            // An older journal describes fewer bytes, but is correct. Without any journal the partial file is useless.
            if !part.writeJournal(isSynced: true), !hasOlder { part.location.remove() }
        }
    }

    /// Releases the partial file and removes it.
    func discard() async {
        await end { $0.location.remove() }
    }

    /// Runs work that may block on the queue: in parallel with other work, or alone with `.barrier`. Fails if the
    /// partial file has ended.
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

    /// Writes the journal in a later turn of the queue.
    func journalLater(_ step: JournalSchedule.Step) {
        queue.async { self.journal(step) }
    }

    /// Runs the last work, once and alone.
    private func end(_ work: @escaping @Sendable (PartFile) -> Void) async {
        await queue.result(flags: .barrier) {
            if self.state.withLock({ $0.isOver }) { return }
            work(self)
            self.finish()
        }
    }

    /// Marks the partial file as ended and releases it. Must run alone.
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

    /// Starts writing back the steps that a write has completed.
    private func beginWriteback(behind offset: Int64, until end: Int64) {
        let step = Self.writebackSize
        let (first, last) = (offset / step * step, end / step * step)
        guard last > first else { return }
        let error = descriptor.beginWriteback(first..<last)
        if error != 0 { state.withLock { $0.failure = error } }
    }
}
