import Dispatch
import SluiceFoundation
import SluiceHTTP
import SluiceLibc

/// An incomplete download: a hidden file next to the destination, and a journal of the bytes in it.
///
/// Created by ``open(key:destination:lease:)`` and ended by ``moveToDestination(sha256:sender:)``, ``close()`` or
/// ``discard()``. Later calls do nothing, or fail if they have work to do. Several tasks may write at once, at
/// different offsets; the writes run one after the other.
///
/// The journal never describes more than is there: it is written after the bytes it describes, and removed before they
/// are lost.
final class PartialDownload: Sendable {
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
        var hasEnded = false
    }

    /// The step size, in bytes, in which write-back to the disk is started.
    private static let writebackSize: Int64 = 8 << 20

    let location: PartialDownloadLocation
    let descriptor: PartialDownloadDescriptor
    /// The lease of the sender that holds the partial file. Nil for a private partial file, which is not resumed.
    let lease: PartialDownloadLease?
    let state: Locked<State>
    /// The queue of all work on the files.
    private let queue: DispatchQueue

    /// Returns a queue for the work on one partial file, which blocks for as long as the disk does.
    ///
    /// It is serial: Dispatch runs serial queues on threads that do not count towards the limit of its pool. On Linux
    /// that pool also runs Swift's tasks, so that blocked work on concurrent queues would stop every task of the
    /// process.
    static func makeQueue() -> DispatchQueue { DispatchQueue(label: "sluice.part") }

    init(
        location: PartialDownloadLocation,
        descriptor: PartialDownloadDescriptor,
        lease: PartialDownloadLease?,
        queue: DispatchQueue
    ) {
        self.location = location
        self.descriptor = descriptor
        self.lease = lease
        self.queue = queue
        state = Locked(State(schedule: JournalSchedule(now: .now)))
    }

    deinit {
        // No other reference is left, so there is no work to wait for.
        guard !state.withLock({ $0.hasEnded }) else { return }
        if lease == nil { removeFiles() }
        release()
    }

    /// The known properties of the resource; nil if nothing can be resumed and nothing was begun.
    var resource: RemoteResource? { state.withLock { $0.resource } }

    /// The bytes that are there.
    var completed: ByteRanges { state.withLock { $0.completed } }

    /// True if this send has received bytes, by any of its requests.
    var hasReceived: Bool { state.withLock { $0.completed.count > $0.resumed } }

    /// The generation of the partial file, which increases whenever it starts again.
    var generation: Int { state.withLock { $0.generation } }

    /// The name of the download in error messages.
    var subject: String { location.subject(resource) }

    /// Starts again with a resource, and forgets the bytes that are there.
    ///
    /// - Parameter resource: The resource that will be written.
    /// - Returns: The new generation.
    /// - Throws: `insufficientSpace` if the length is known and the disk does not have enough space; `cannotWriteFile`.
    @discardableResult
    func begin(_ resource: RemoteResource) async throws(SluiceError) -> Int {
        try await perform { part throws(SluiceError) in
            let failure = part.reset()
            guard failure == 0 else { throw .cannotWrite(part.subject, failure) }
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
    func updateResource(_ resource: RemoteResource, in generation: Int? = nil) {
        let step = state.withLock { state -> JournalSchedule.Step? in
            if state.hasEnded || state.resource == resource || state.generation != generation ?? state.generation {
                return nil
            }
            state.resource = resource
            return state.completed.isEmpty ? nil : state.schedule.requestWrite()
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
            // The generation cannot change here, because the queue is serial.
            if let generation, generation != part.generation { throw .resourceChanged }
            try part.writeAll(chunks, at: offset)
        }
    }

    /// Releases the partial file. It is kept for a later send if it can be resumed, and removed otherwise.
    func close() async {
        await end { part in
            guard part.isResumable, part.hasName, part.descriptor.sync() == 0 else { return part.removeFiles() }
            part.state.withLock { $0.synced = $0.completed }
            let hasOlder = part.state.withLock { $0.hasJournal }
            // An older journal describes fewer bytes, but is correct. Without any journal the partial file is useless.
            if !part.writeJournal(isSynced: true), !hasOlder { part.removeFiles() }
        }
    }

    /// True if the partial file still has its name. If another program has removed or replaced it, the names may belong
    /// to another process.
    var hasName: Bool { descriptor.holder(of: location.part) == .thisFile }

    /// Removes the partial file and its journal, unless they belong to another process by now.
    private func removeFiles() {
        switch descriptor.holder(of: location.part) {
        // A journal that remains describes no bytes of an empty file.
        case .thisFile: if !location.remove() { _ = descriptor.setLength(0) }
        case .noFile: location.removeJournal()
        case .otherFile: return
        }
        // Otherwise a power failure could bring the journal back, beside the bytes of another version.
        if state.withLock(\.hasJournal) { SystemFile.syncFolder(of: location.journal) }
    }

    /// Releases the partial file and removes it.
    func discard() async {
        await end { $0.removeFiles() }
    }

    /// Runs work that may block, after all earlier work. Fails if the partial file has ended.
    func perform<Value: Sendable>(
        _ work: @escaping @Sendable (PartialDownload) throws(SluiceError) -> Value
    ) async throws(SluiceError) -> Value {
        try await queue.result { () -> Result<Value, SluiceError> in
            Result { () throws(SluiceError) in
                if self.state.withLock({ $0.hasEnded }) {
                    throw SluiceError(
                        .internalFailure,
                        "The download “\(self.subject)” has already ended.",
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

    /// Runs the last work, once.
    private func end(_ work: @escaping @Sendable (PartialDownload) -> Void) async {
        await queue.result {
            if self.state.withLock({ $0.hasEnded }) { return }
            work(self)
            self.finish()
        }
    }

    /// Marks the partial file as ended and releases it. Runs on the queue.
    func finish() {
        state.withLock { $0.hasEnded = true }
        release()
    }

    private func release() {
        descriptor.close()
        if let lease { PartialDownloadClaims.shared.release(location.part, from: lease) }
    }

    private var isResumable: Bool {
        // A later send does not trust the file of another owner.
        lease != nil && descriptor.isOwn
            && state.withLock { $0.failure == 0 && $0.resource?.validator != nil && !$0.completed.isEmpty }
    }

    private func writeAll(_ chunks: [Data], at offset: Int64) throws(SluiceError) {
        let (length, failure) = state.withLock { ($0.resource?.length, $0.failure) }
        guard failure == 0 else { throw .cannotWrite(subject, failure) }
        let count = chunks.reduce(into: Int64(0)) { $0 += Int64($1.count) }
        let (end, overflows) = offset.addingReportingOverflow(count)
        guard offset >= 0, !overflows, end <= length ?? .max else {
            throw .lengthMismatch(subject, overflows ? .max : end, of: length)
        }
        let (written, error) = descriptor.write(chunks, at: offset)
        let step = state.withLock { state -> JournalSchedule.Step? in
            state.completed.insert(offset..<offset + written)
            return state.schedule.didWrite(written, now: .now)
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

// MARK: - Opening

extension PartialDownload {
    /// Opens or creates the partial file of a download.
    ///
    /// The partial file is used by one sender at a time. If another process or sender holds it, a fresh one is used,
    /// which is removed unless it becomes complete. If the holder is a sender of this process that is about to end, the
    /// call waits for it, so that a send right after a cancellation can resume.
    ///
    /// Partial files in the same folder that killed processes have left and that cannot be resumed are removed:
    /// ``PartialDownloadSweep``.
    ///
    /// - Parameters:
    ///   - key: The key that sends of the same download share: the method and the URL.
    ///   - destination: The destination of the download.
    ///   - lease: The lease of the sender.
    ///   - isRepeatable: False for a download that no later send resumes. It gets a fresh partial file.
    /// - Returns: The partial file, with the reliable bytes of an earlier send.
    /// - Throws: `cannotWriteFile`, `fileExists`, `insufficientSpace`, or `cancelled`.
    static func open(
        key: String,
        destination: DownloadDestination,
        lease: PartialDownloadLease,
        isRepeatable: Bool = true
    ) async throws(SluiceError) -> PartialDownload {
        let location = try PartialDownloadLocation(key: key, destination: destination)
        let queue = makeQueue()
        try await queue.result {
            Result { () throws(SluiceError) in
                try location.prepare()
                PartialDownloadSweep(folder: location.folder, claims: .shared).runIfDue()
            }
        }.get()
        guard isRepeatable else {
            if lease.isEnding { throw .cancelled }
            return try await queue.result { Result { () throws(SluiceError) in try fresh(beside: location, queue) } }
                .get()
        }
        guard try await PartialDownloadClaims.shared.claim(location.part, for: lease) else {
            return try await queue.result { Result { () throws(SluiceError) in try fresh(beside: location, queue) } }
                .get()
        }
        return try await queue.result { () -> Result<PartialDownload, SluiceError> in
            let opened = Result { () throws(SluiceError) in try claimed(location, by: lease, queue) }
            // Release the claim if it is not used. A partial file with a lease releases its claim itself.
            if (try? opened.get())?.lease == nil { PartialDownloadClaims.shared.release(location.part, from: lease) }
            return opened
        }.get()
    }

    /// Removes the partial file of an earlier send. Does nothing if there is none or its folder does not exist.
    ///
    /// - Parameters:
    ///   - key: The key that sends of the same download share.
    ///   - destination: The destination of the download.
    /// - Throws: As `open`.
    static func discard(key: String, destination: DownloadDestination) async throws(SluiceError) {
        let location = try PartialDownloadLocation(key: key, destination: destination)
        guard await makeQueue().result(of: { location.hasFolder }) else { return }
        let lease = PartialDownloadLease()
        let part = try await open(key: key, destination: destination, lease: lease)
        await part.discard()
        lease.end()
    }

    private static func claimed(
        _ location: PartialDownloadLocation,
        by lease: PartialDownloadLease,
        _ queue: DispatchQueue
    ) throws(SluiceError) -> PartialDownload {
        guard case .opened(let descriptor) = PartialDownloadDescriptor.open(location.part, isNew: false) else {
            return try fresh(beside: location, queue)
        }
        let part = PartialDownload(location: location, descriptor: descriptor, lease: lease, queue: queue)
        let error = part.restore()
        guard error == 0 else { throw .cannotWrite(part.subject, error) }
        return part
    }

    /// Creates a partial file for this sender only, because the usual one is in use or is not a usable file, or because
    /// the download is not repeatable.
    private static func fresh(
        beside location: PartialDownloadLocation,
        _ queue: DispatchQueue
    ) throws(SluiceError) -> PartialDownload {
        // A sweep of another download may hold and remove a file between its creation and its lock.
        for _ in 0..<16 {
            let location = location.unique
            switch PartialDownloadDescriptor.open(location.part, isNew: true) {
            case .opened(let descriptor):
                return PartialDownload(location: location, descriptor: descriptor, lease: nil, queue: queue)
            case .locked: continue
            case .failed(let error): throw .cannotUseFolder(location.folder, error)
            }
        }
        throw .cannotUseFolder(location.folder, EBUSY)
    }
}

// MARK: - Moving to the destination

extension PartialDownload {
    /// Renames the download to its final name, once it is complete, synced and verified.
    ///
    /// - Parameters:
    ///   - expected: The required SHA-256, in hexadecimal digits of either case; nil to accept any file.
    ///   - sender: The lease of the sender, also of a private partial file.
    /// - Returns: The file at its destination.
    /// - Throws: `lengthMismatch`; `checksumMismatch`, and the partial file is removed; `fileExists`, and the partial
    ///   file is kept complete for a send with another conflict rule; `cannotWriteFile`, also if another program has
    ///   removed or replaced the partial file; `insufficientSpace`; `cancelled` before the file is renamed.
    func moveToDestination(
        sha256 expected: String? = nil,
        sender: PartialDownloadLease? = nil
    ) async throws(SluiceError) -> DownloadedFile {
        let length = try await perform { part throws(SluiceError) in try part.wholeLength() }
        var digest: String?
        if expected != nil { digest = try await sha256(upTo: length) }
        if let expected, expected.lowercased() != digest {
            let error = SluiceError.checksumMismatch(subject)
            await discard()
            throw error
        }
        return try await perform { [digest] part throws(SluiceError) in
            try part.syncAndMove(length, sha256: digest, sender)
        }
    }

    /// Returns the length of the whole file, if all of it is there.
    private func wholeLength() throws(SluiceError) -> Int64 {
        let (completed, known) = state.withLock { ($0.completed, $0.resource?.length) }
        let length = known ?? completed.end
        guard completed.prefix == length, completed.end == length else {
            throw .lengthMismatch(subject, completed.count, of: known)
        }
        // Another program may have truncated the file.
        let actual = descriptor.length ?? 0
        guard actual >= length else { throw .lengthMismatch(subject, actual, of: length) }
        return length
    }

    private func sha256(upTo length: Int64) async throws(SluiceError) -> String {
        let isCancelled = Locked(false)
        let work = { @Sendable (part: PartialDownload) throws(SluiceError) -> String in
            var offset: Int64 = 0
            let digest = try SystemSHA256.digest { buffer throws(SluiceError) in
                if isCancelled.withLock({ $0 }) { throw .cancelled }
                let rest = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(Int(clamping: length - offset)))
                let count = part.descriptor.read(into: rest, at: offset)
                guard count >= 0 else { throw .cannotWrite(part.subject, Int32(clamping: -count)) }
                offset += Int64(count)
                return count
            }
            guard let digest else {
                throw SluiceError(.unsupported, "The system's libcrypto does not provide SHA-256.", step: .file)
            }
            return HexText.text(of: digest[...])
        }
        return try await withTaskCancellationHandler {
            await Result.of { () async throws(SluiceError) in try await perform(work) }
        } onCancel: {
            isCancelled.withLock { $0 = true }
        }.get()
    }

    /// Syncs the file and renames it. Runs on the queue.
    private func syncAndMove(
        _ length: Int64,
        sha256: String?,
        _ sender: PartialDownloadLease?
    ) throws(SluiceError) -> DownloadedFile {
        guard hasName else { throw .partWasReplaced(subject) }
        var error = state.withLock { $0.failure }
        if error == 0, descriptor.length != length { error = descriptor.setLength(length) }
        if error == 0 {
            error = descriptor.sync()
            if error != 0 { state.withLock { [error] in $0.failure = error } }
        }
        // A sync can take long. The sender may have been cancelled meanwhile.
        if error == 0, sender?.isEnding == true { throw .cancelled }
        // Until the sync ends, the file is readable by its owner only.
        if error == 0, hasName {
            let (mode, failure) = location.fileMode()
            if let mode {
                error = descriptor.setMode(mode)
            } else if isResumable, [EMFILE, ENFILE, ENOMEM, EIO].contains(failure) {
                // The bytes are kept for another send. A file that cannot be resumed remains private instead.
                error = failure
            }
        }
        guard error == 0 else { throw .cannotWrite(subject, error) }
        let (resource, resumed) = state.withLock { ($0.resource, $0.resumed) }
        let path: String
        do throws(SluiceError) {
            path = try location.moveToDestination(resource, of: descriptor)
        } catch {
            // The file remains a partial file, readable by its owner only.
            _ = descriptor.setMode(PartialDownloadDescriptor.privateMode)
            throw error
        }
        location.removeJournal()
        SystemFile.syncFolder(of: path)
        finish()
        return DownloadedFile(
            url: URL(filePath: path, directoryHint: .notDirectory),
            length: length,
            resumedBytes: resumed,
            sha256: sha256
        )
    }
}
