import SluiceFoundation
import SluiceHTTP
import SluiceLibc

/// The journal of a partial file, as it is stored next to it.
struct PartialDownloadJournal: Codable, Sendable, Hashable {
    static let currentVersion = 1
    /// The maximum length in bytes. A longer file is not a journal.
    static let limit = 1 << 20

    var version = currentVersion
    var resource: RemoteResource
    /// The bytes that were written. They are reliable until the system restarts.
    var completed: ByteRanges
    /// The bytes that were synced to the disk. They are reliable after a power failure too.
    var synced: ByteRanges
    /// The boot of the system in which the journal was written; nil if the system has no identifier.
    var bootID: String?

    /// Returns the bytes of the partial file that are reliable.
    ///
    /// - Parameters:
    ///   - partLength: The length of the partial file, in bytes.
    ///   - bootID: The identifier of the current boot.
    /// - Returns: The bytes; nil if the journal has another version, or describes more bytes than there are.
    func trusted(partLength: Int64, bootID: String?) -> ByteRanges? {
        guard version == Self.currentVersion, resource.length ?? 0 >= 0 else { return nil }
        let isSameBoot = bootID != nil && self.bootID == bootID
        let ranges = isSameBoot ? completed : synced
        guard ranges.end <= min(partLength, resource.length ?? .max) else { return nil }
        return ranges
    }
}

extension PartialDownloadJournal {
    /// Decodes a journal; nil for any other contents of a file.
    init?(_ contents: Data) {
        guard contents.count <= Self.limit, let journal = try? JSONDecoder().decode(Self.self, from: contents) else {
            return nil
        }
        self = journal
    }

    /// Decodes the version first, because other versions may have other members.
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        version = try container.decode(Int.self, forKey: .version)
        guard version == Self.currentVersion else {
            throw DecodingError.dataCorruptedError(
                forKey: .version,
                in: container,
                debugDescription: "The version is not supported."
            )
        }
        resource = try container.decode(RemoteResource.self, forKey: .resource)
        completed = try container.decode(ByteRanges.self, forKey: .completed)
        synced = try container.decode(ByteRanges.self, forKey: .synced)
        bootID = try container.decodeIfPresent(String.self, forKey: .bootID)
    }
}

// MARK: - Writing and reading

extension PartialDownload {
    /// Performs a step of the schedule. Runs on the queue, so writes wait for it.
    func journal(_ step: JournalSchedule.Step) {
        let completed = state.withLock { $0.hasEnded || $0.failure != 0 ? nil : $0.completed }
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
        let snapshot = state.withLock { state -> PartialDownloadJournal? in
            guard let resource = state.resource, resource.validator != nil, state.failure == 0 else { return nil }
            return PartialDownloadJournal(
                resource: resource,
                completed: state.completed,
                synced: state.synced,
                bootID: BootID.current
            )
        }
        guard lease != nil, hasName, let snapshot, let contents = try? JSONEncoder().encode(snapshot),
            contents.count <= PartialDownloadJournal.limit,
            SystemFile.replace(location.journal, with: contents, by: location.newJournal, isSynced: isSynced) == 0
        else { return false }
        state.withLock { $0.hasJournal = true }
        return true
    }

    /// Restores the state that an earlier send has left, as far as it is reliable, and empties the file otherwise. Runs
    /// on the queue.
    ///
    /// - Returns: 0, or the error that prevents the use of the file. The file is then unchanged.
    func restore() -> Int32 {
        let length = descriptor.length ?? 0
        switch location.readJournal() {
        case .failed(let error) where !PartialDownloadLocation.isPermanent(error):
            // The journal may be readable later, and with it the bytes of the file.
            return error
        case .failed: state.withLock { $0.hasJournal = true }
        case .absent: break
        case .contents(let data):
            // A hole may be the place of bytes that were lost because they were not synced, as when a disk is removed while the system runs.
            // Some file systems, such as ZFS, also store zeros as holes.
            let journal = PartialDownloadJournal(data)
            let bootID = journal.map { descriptor.hasHole(in: $0.completed) } == true ? nil : BootID.current
            if let journal, let completed = journal.trusted(partLength: length, bootID: bootID), !completed.isEmpty {
                let isSameBoot = journal.bootID == bootID
                state.withLock { state in
                    state.resource = journal.resource
                    // The journal of an earlier version has the query.
                    state.resource?.url = RemoteResource.withoutQuery(journal.resource.url)
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
        let error = reset()
        return error == 0 ? descriptor.setLength(0) : error
    }

    /// Drops the bytes that are there and removes the journal from the disk first: after a crash no journal may
    /// describe bytes that have been overwritten. Runs on the queue.
    ///
    /// - Returns: 0, or the error if the journal cannot be removed. Nothing is dropped then.
    func reset() -> Int32 {
        if state.withLock(\.hasJournal), hasName {
            let error = location.removeJournal()
            guard error == 0 else { return error }
            SystemFile.syncFolder(of: location.journal)
        }
        state.withLock { state in
            state.resource = nil
            state.completed = ByteRanges()
            state.synced = ByteRanges()
            state.resumed = 0
            state.hasJournal = false
        }
        return 0
    }
}

// MARK: - Schedule

/// The schedule by which the journal of a partial file is written: often enough to lose little, seldom enough to cost
/// little.
struct JournalSchedule: Sendable {
    enum Step: Sendable, Hashable {
        /// Write the journal, so that it survives the end of the process.
        case write
        /// Sync the file first, then write the journal, so that it survives a power failure.
        case sync
    }

    /// The thresholds in bytes and time. `writeSize` applies only if `writePause` has passed since the last write.
    static let writeSize: Int64 = 4 << 20
    static let writePause = Duration.milliseconds(25)
    static let writeInterval = Duration.milliseconds(250)
    static let syncSize: Int64 = 256 << 20
    static let syncInterval = Duration.seconds(15)

    private var unrecorded: Int64 = 0
    private var unsynced: Int64 = 0
    private var lastWrite: ContinuousClock.Instant
    private var lastSync: ContinuousClock.Instant
    private var isBusy = false
    private var isWriteRequested = false

    init(now: ContinuousClock.Instant) {
        lastWrite = now
        lastSync = now
    }

    /// Counts written bytes.
    ///
    /// - Returns: The step that is due, unless another is running. The caller performs it and then calls
    ///   ``finish(_:now:)``.
    mutating func didWrite(_ count: Int64, now: ContinuousClock.Instant) -> Step? {
        unrecorded = unrecorded.addingClamped(count)
        unsynced = unsynced.addingClamped(count)
        if isBusy { return nil }
        let sinceWrite = now - lastWrite
        let step: Step
        if unsynced >= Self.syncSize || now - lastSync >= Self.syncInterval {
            step = .sync
        } else if sinceWrite >= Self.writeInterval || unrecorded >= Self.writeSize && sinceWrite >= Self.writePause {
            step = .write
        } else {
            return nil
        }
        begin(step)
        return step
    }

    /// Requests a write for a reason other than written bytes.
    ///
    /// - Returns: The step that is due; nil while another is running. The write then follows it.
    mutating func requestWrite() -> Step? {
        isWriteRequested = isBusy
        if isBusy { return nil }
        begin(.write)
        return .write
    }

    /// Ends a step.
    ///
    /// - Returns: The step that is due next, as for ``wrote(_:now:)``.
    mutating func finish(_ step: Step, now: ContinuousClock.Instant) -> Step? {
        isBusy = false
        lastWrite = now
        if step == .sync { lastSync = now }
        return isWriteRequested ? requestWrite() : nil
    }

    private mutating func begin(_ step: Step) {
        isBusy = true
        unrecorded = 0
        if step == .sync { unsynced = 0 }
    }
}

extension Int64 {
    fileprivate func addingClamped(_ other: Int64) -> Int64 {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? .max : sum
    }
}

// MARK: - Boot

/// The identifier of the current boot of the system. Bytes written since this boot are still there, on the disk or in
/// memory.
enum BootID {
    /// Nil if the system does not provide one.
    static let current: String? = {
        #if canImport(Darwin)
        var text = [CChar](repeating: 0, count: 64)
        var size = text.count
        guard sysctlbyname("kern.bootsessionuuid", &text, &size, nil, 0) == 0 else { return nil }
        let id = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        #else
        guard case .contents(let data) = SystemFile.contents(of: "/proc/sys/kernel/random/boot_id", limit: 256) else {
            return nil
        }
        let id = String(decoding: data.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        #endif
        return id.isEmpty ? nil : id
    }()
}
