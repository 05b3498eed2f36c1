/// The progress and speed of a body's transfer.
public struct TransferProgress: Sendable, Hashable {
    /// The number of bytes so far.
    public var completed: Int64
    /// The total number of bytes; nil if unknown.
    public var total: Int64?
    /// The speed over about the last three seconds; nil until it can be measured.
    public var bytesPerSecond: Double?
    /// The number of the attempt that the progress belongs to, from 1; 0 before the first. Retries and redirects are
    /// new attempts.
    public var attempt: Int

    /// Creates a progress value.
    ///
    /// - Parameters:
    ///   - completed: The number of bytes so far.
    ///   - total: The total number of bytes, nil if unknown.
    ///   - bytesPerSecond: The recent speed, nil if unknown.
    ///   - attempt: The number of the attempt.
    public init(completed: Int64 = 0, total: Int64? = nil, bytesPerSecond: Double? = nil, attempt: Int = 0) {
        self.completed = completed
        self.total = total
        self.bytesPerSecond = bytesPerSecond
        self.attempt = attempt
    }

    /// The completed fraction, from 0 to 1; nil if the total is unknown. An empty body is complete.
    public var fractionCompleted: Double? {
        guard let total else { return nil }
        return total > 0 ? min(1, Double(completed) / Double(total)) : 1
    }

    /// The estimated remaining time at the recent speed; nil if the speed or the total is unknown.
    public var timeLeft: Duration? {
        guard let total, let bytesPerSecond, bytesPerSecond > 0 else { return nil }
        // Limited to a century, so that the duration cannot overflow.
        return .seconds(min(3_153_600_000, Double(max(0, total - completed)) / bytesPerSecond))
    }
}

/// The progress of a body. Any number of loops may observe it, before, during and after the transfer.
///
/// ```swift
/// for await progress in sender.downloadProgress {
///     bar.update(progress.fractionCompleted)
/// }
/// ```
///
/// A loop receives the current state immediately, then the newest one up to twenty times a second, and the final state
/// last, whether the request succeeded, failed or was cancelled. A slow loop skips outdated states and never delays the
/// transfer. Iterating the sequence does not send the request. The sequence never throws: the error of a request is
/// reported with its outcome.
public struct TransferProgressSequence: AsyncSequence, Sendable {
    /// The minimum interval between values, except before the last one.
    static let interval = Duration.milliseconds(50)

    private let meter: TransferMeter
    private let direction: TransferMeter.Direction
    private let clock: any SluiceClock

    package init(_ meter: TransferMeter, _ direction: TransferMeter.Direction, clock: any SluiceClock) {
        self.meter = meter
        self.direction = direction
        self.clock = clock
    }

    /// Creates an iterator, which observes the body.
    public func makeAsyncIterator() -> Iterator {
        Iterator(meter: meter, direction: direction, clock: clock)
    }

    /// An iterator that observes a body.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let meter: TransferMeter
        fileprivate let direction: TransferMeter.Direction
        fileprivate let clock: any SluiceClock
        private var version: Int?
        private var lastReturn: ContinuousClock.Instant?
        private var isOver = false

        fileprivate init(meter: TransferMeter, direction: TransferMeter.Direction, clock: any SluiceClock) {
            self.meter = meter
            self.direction = direction
            self.clock = clock
        }

        /// Returns the newest state when it changes; nil after the final state or when the calling task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(Never) -> TransferProgress? {
            if isOver { return nil }
            while true {
                if Task.isCancelled { return nil }
                let snapshot = meter.snapshot(direction)
                let pause = lastReturn.map { TransferProgressSequence.interval - $0.duration(to: clock.now) } ?? .zero
                if snapshot.isFinal || snapshot.version != version && pause <= .zero {
                    isOver = snapshot.isFinal
                    version = snapshot.version
                    lastReturn = clock.now
                    return snapshot.progress
                }
                let isUnchanged = snapshot.version == version
                await meter.wait(direction, after: snapshot.version, atLeast: isUnchanged ? nil : pause)
            }
        }
    }
}
