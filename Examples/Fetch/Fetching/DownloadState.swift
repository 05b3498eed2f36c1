/// The current state of one download, for display.
public struct DownloadState: Sendable, Equatable {
    /// The phases of a download.
    public enum Phase: Sendable, Equatable {
        /// The download has not started.
        case waiting
        /// The download is running.
        case running
        /// The download is complete, after the given duration.
        case finished(Duration)
        /// The download failed, for the reason in the given sentence.
        case failed(String)
    }

    /// The display name: the name of the file, or the URL until that name is known.
    public var name: String
    /// The phase of the download.
    public var phase: Phase
    /// The number of bytes that are present.
    public var completed: Int64
    /// The total number of bytes, if it is known.
    public var total: Int64?
    /// The current speed.
    public var bytesPerSecond: Double?
    /// The estimated time left.
    public var timeLeft: Duration?

    /// Creates a state, by default of a download that has not started.
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

    /// The percentage of bytes that are present, from 0 to 100; nil if the total is unknown.
    public var percent: Int? { Quantity.percent(completed, of: total) }
}
