import SluiceHTTP

/// How a batch comes on its way: any number of loops may watch it, from before it begins until after its end.
///
/// ```swift
/// for await progress in sender.progress {
///     bar.update(progress.fractionCompleted)
/// }
/// ```
///
/// A loop sees the state at once, then the newest one up to twenty times a second where it has changed, and the final state last, whether
/// the batch has succeeded, failed or been cancelled. It does not send the requests, and none holds them up.
public struct BatchProgressSequence: AsyncSequence, Sendable {
    /// States of the batch.
    public typealias Element = BatchProgress
    /// A failure ends the sequence; whoever reads the outcome learns of it.
    public typealias Failure = Never

    private static let interval = Duration.milliseconds(50)

    private let run: BatchRun

    init(_ run: BatchRun) {
        self.run = run
    }

    /// Begins to watch.
    public func makeAsyncIterator() -> Iterator { Iterator(run: run) }

    /// Watches a batch.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let run: BatchRun
        private var last: BatchProgress?
        private var given: ContinuousClock.Instant?
        private var isOver = false

        fileprivate init(run: BatchRun) {
            self.run = run
        }

        /// The newest state once there is one; nil after the final one, and where the calling task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(Never) -> BatchProgress? {
            if isOver { return nil }
            while true {
                if Task.isCancelled { return nil }
                let sight = run.signal.sight(.download)
                let progress = run.progress
                let rest = given.map { BatchProgressSequence.interval - $0.duration(to: run.time.now) } ?? .zero
                if sight.isFinal || progress != last && rest <= .zero {
                    isOver = sight.isFinal
                    last = progress
                    given = run.time.now
                    return progress
                }
                // Bytes wake nobody; they are looked for.
                let pause = rest > .zero ? rest : BatchProgressSequence.interval
                let hasBegun = sight.progress.attempt > 0
                await run.signal.wait(.download, after: sight.version, atLeast: hasBegun ? pause : nil)
            }
        }
    }
}
