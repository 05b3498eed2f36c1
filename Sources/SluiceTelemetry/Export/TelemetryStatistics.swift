/// Counts of what was exported, and of what was not.
public struct TelemetryStatistics: Sendable, Hashable {
    /// The number of requests that have begun and not ended.
    public internal(set) var openRequests = 0
    /// The number of spans that wait for their export.
    public internal(set) var waitingSpans = 0
    /// The number of spans that the collector accepted.
    public internal(set) var exportedSpans = 0
    /// The number of spans for which there was no room, or that came after the end.
    public internal(set) var droppedSpans = 0
    /// The number of spans that the collector refused, all of an export or a part of it.
    public internal(set) var refusedSpans = 0
    /// The number of points of metrics that the collector accepted.
    public internal(set) var exportedPoints = 0
    /// The number of points of metrics that the collector refused. Cumulative points are sent again with the next export.
    public internal(set) var refusedPoints = 0
    /// The number of durations that were counted without attributes, because there were too many combinations.
    public internal(set) var overflowedDurations = 0
    /// The number of exports that failed. Those that may succeed later are repeated.
    public internal(set) var failedExports = 0
    /// The reason of the last failure, or the collector's last warning.
    public internal(set) var lastProblem: String?

    /// Counts the outcome of an export.
    ///
    /// - Parameters:
    ///   - outcome: The outcome.
    ///   - count: The number of spans or points.
    ///   - exported: The count of those that the collector accepted.
    ///   - refused: The count of those that it did not.
    mutating func count(
        _ outcome: ExportOutcome,
        of count: Int,
        _ exported: WritableKeyPath<TelemetryStatistics, Int>,
        _ refused: WritableKeyPath<TelemetryStatistics, Int>
    ) {
        switch outcome {
        case .accepted(let rejected, let message):
            let rejected = min(max(0, rejected), count)
            self[keyPath: exported] += count - rejected
            self[keyPath: refused] += rejected
            if !message.isEmpty { lastProblem = String(message.prefix(1000)) }
        case .refused(let reason):
            self[keyPath: refused] += count
            failedExports += 1
            lastProblem = reason
        case .busy(_, let reason):
            failedExports += 1
            lastProblem = reason
        case .cancelled: failedExports += 1
        }
    }
}
