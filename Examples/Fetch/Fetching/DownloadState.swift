/// What one download has come to, as somebody looks at it.
public struct DownloadState: Sendable, Equatable {
    /// Whether it goes on.
    public enum Phase: Sendable, Equatable {
        /// It has not begun.
        case waiting
        /// It is under way.
        case running
        /// It is whole, after so long.
        case finished(Duration)
        /// It failed, for the reason that the sentence gives.
        case failed(String)
    }

    /// What it is called: the file's name, or the URL as long as that is not known.
    public var name: String
    /// Whether it goes on.
    public var phase: Phase
    /// The bytes that are there.
    public var completed: Int64
    /// The bytes in all, where that is known.
    public var total: Int64?
    /// How fast it goes.
    public var bytesPerSecond: Double?
    /// How long it will take.
    public var timeLeft: Duration?

    /// Makes a state; of a download that has not begun by default.
    public init(
        name: String,
        phase: Phase = .waiting,
        completed: Int64 = 0,
        total: Int64? = nil,
        bytesPerSecond: Double? = nil,
        timeLeft: Duration? = nil
    ) {
        self.name = name
        self.phase = phase
        self.completed = completed
        self.total = total
        self.bytesPerSecond = bytesPerSecond
        self.timeLeft = timeLeft
    }

    /// Part of the whole, where that is known: `42%`.
    public var percent: Int? { Quantity.percent(completed, of: total) }
}
