/// How a body comes on its way: any number of loops may watch it, from before it begins until after its end.
///
/// ```swift
/// for await progress in sender.downloadProgress {
///     bar.update(progress.fractionCompleted)
/// }
/// ```
///
/// A loop sees the state at once, then the newest one up to twenty times a second, and the final state last, whether the request has
/// succeeded, failed or been cancelled. One that is slow misses what has been overtaken; none holds the transfer up. It does not send the request.
public struct TransferProgressSequence: AsyncSequence, Sendable {
    /// States of the body.
    public typealias Element = TransferProgress
    /// A failure of the request ends the sequence; whoever reads the outcome learns of it.
    public typealias Failure = Never

    /// How far values are apart at least, but for the last.
    static let interval = Duration.milliseconds(50)

    private let meter: TransferMeter
    private let direction: TransferMeter.Direction
    private let time: any TimeSource

    package init(_ meter: TransferMeter, _ direction: TransferMeter.Direction, time: any TimeSource) {
        self.meter = meter
        self.direction = direction
        self.time = time
    }

    /// Begins to watch.
    public func makeAsyncIterator() -> Iterator {
        Iterator(meter: meter, direction: direction, time: time)
    }

    /// Watches a body.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let meter: TransferMeter
        fileprivate let direction: TransferMeter.Direction
        fileprivate let time: any TimeSource
        private var version: Int?
        private var given: ContinuousClock.Instant?
        private var isOver = false

        fileprivate init(meter: TransferMeter, direction: TransferMeter.Direction, time: any TimeSource) {
            self.meter = meter
            self.direction = direction
            self.time = time
        }

        /// The newest state once there is one; nil after the final one, and where the calling task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(Never) -> TransferProgress? {
            if isOver { return nil }
            while true {
                if Task.isCancelled { return nil }
                let sight = meter.sight(direction)
                let rest = given.map { TransferProgressSequence.interval - $0.duration(to: time.now) } ?? .zero
                if sight.isFinal || sight.version != version && rest <= .zero {
                    isOver = sight.isFinal
                    version = sight.version
                    given = time.now
                    return sight.progress
                }
                let isUnchanged = sight.version == version
                await meter.wait(direction, after: sight.version, atLeast: isUnchanged ? nil : rest)
            }
        }
    }
}
