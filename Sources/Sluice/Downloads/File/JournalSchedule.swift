/// The schedule by which the journal of a partial file is written: often enough to lose little, seldom enough to cost
/// little.
struct JournalSchedule: Sendable {
    enum Step: Sendable, Hashable {
        /// Write the journal, so that it survives the end of the process.
        case note
        /// Sync the file first, then write the journal, so that it survives a power failure.
        case sync
    }

    /// The thresholds in bytes and time. `noteSize` applies only if `notePause` has passed since the last note.
    static let noteSize: Int64 = 4 << 20
    static let notePause = Duration.milliseconds(25)
    static let noteInterval = Duration.milliseconds(250)
    static let syncSize: Int64 = 256 << 20
    static let syncInterval = Duration.seconds(15)

    private var unnoted: Int64 = 0
    private var unsynced: Int64 = 0
    private var lastNote: ContinuousClock.Instant
    private var lastSync: ContinuousClock.Instant
    private var isBusy = false
    private var isNoteWanted = false

    init(now: ContinuousClock.Instant) {
        lastNote = now
        lastSync = now
    }

    /// Counts written bytes.
    ///
    /// - Returns: The step that is due, unless another is running. The caller performs it and then calls
    ///   ``finish(_:now:)``.
    mutating func wrote(_ count: Int64, now: ContinuousClock.Instant) -> Step? {
        unnoted = unnoted.addingClamped(count)
        unsynced = unsynced.addingClamped(count)
        if isBusy { return nil }
        let sinceNote = now - lastNote
        let step: Step
        if unsynced >= Self.syncSize || now - lastSync >= Self.syncInterval {
            step = .sync
        } else if sinceNote >= Self.noteInterval || unnoted >= Self.noteSize && sinceNote >= Self.notePause {
            step = .note
        } else {
            return nil
        }
        begin(step)
        return step
    }

    /// Requests a note for a reason other than written bytes.
    ///
    /// - Returns: The step that is due; nil while another is running. The note then follows it.
    mutating func wantNote() -> Step? {
        isNoteWanted = isBusy
        if isBusy { return nil }
        begin(.note)
        return .note
    }

    /// Ends a step.
    ///
    /// - Returns: The step that is due next, as for ``wrote(_:now:)``.
    mutating func finish(_ step: Step, now: ContinuousClock.Instant) -> Step? {
        isBusy = false
        lastNote = now
        if step == .sync { lastSync = now }
        return isNoteWanted ? wantNote() : nil
    }

    private mutating func begin(_ step: Step) {
        isBusy = true
        unnoted = 0
        if step == .sync { unsynced = 0 }
    }
}

extension Int64 {
    fileprivate func addingClamped(_ other: Int64) -> Int64 {
        let (sum, isOver) = addingReportingOverflow(other)
        return isOver ? .max : sum
    }
}
