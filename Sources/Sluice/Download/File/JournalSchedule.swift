/// When what is known of a part is written down: often enough that little is lost, seldom enough that it costs nothing.
struct JournalSchedule: Sendable {
    enum Step: Sendable, Hashable {
        /// Write down what there is, for a process that is killed.
        case note
        /// Bring it to the disk first, for a power failure.
        case sync
    }

    /// In bytes and time; those of a note come with a pause at least.
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

    /// Counts what was written.
    ///
    /// - Returns: What is due, if nothing is being done; the caller does it and says so by ``finish(_:now:)``.
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

    /// Asks for a note for another reason than what was written.
    ///
    /// - Returns: What is due; nothing where something is being done, after which the note is.
    mutating func wantNote() -> Step? {
        isNoteWanted = isBusy
        if isBusy { return nil }
        begin(.note)
        return .note
    }

    /// Ends a step.
    ///
    /// - Returns: What is due next, as by ``wrote(_:now:)``.
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
