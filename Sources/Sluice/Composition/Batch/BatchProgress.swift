import SluiceHTTP

/// The progress of a batch of requests.
public struct BatchProgress: Sendable, Hashable {
    /// The number of requests that have succeeded.
    public var succeeded: Int
    /// The number of requests that have failed, without cancelled ones.
    public var failed: Int
    /// The number of all requests.
    public var total: Int
    /// The number of bytes sent of all request bodies. A retry counts its own body from 0.
    public var bytesSent: Int64
    /// The number of bytes received of all response bodies.
    public var bytesReceived: Int64

    /// Creates a progress value.
    ///
    /// - Parameters:
    ///   - succeeded: The number of requests that have succeeded.
    ///   - failed: The number of requests that have failed.
    ///   - total: The number of all requests.
    ///   - bytesSent: The number of bytes sent.
    ///   - bytesReceived: The number of bytes received.
    public init(
        succeeded: Int = 0,
        failed: Int = 0,
        total: Int,
        bytesSent: Int64 = 0,
        bytesReceived: Int64 = 0
    ) {
        self.succeeded = succeeded
        self.failed = failed
        self.total = total
        self.bytesSent = bytesSent
        self.bytesReceived = bytesReceived
    }

    /// The number of requests that have succeeded or failed.
    public var completed: Int { succeeded + failed }

    /// The fraction of completed requests, from 0 to 1. An empty batch is complete.
    public var fractionCompleted: Double { total > 0 ? Double(completed) / Double(total) : 1 }
}

/// The progress of a batch. Any number of loops can read it, before, during and after the batch.
///
/// ```swift
/// for await progress in sender.progress {
///     bar.update(progress.fractionCompleted)
/// }
/// ```
///
/// A loop gets the current state at once, then the newest state up to twenty times a second when it has changed, and
/// the final state last, whether the batch has succeeded, failed or been cancelled. Reading does not send the requests,
/// and a slow reader does not delay them.
public struct BatchProgressSequence: AsyncSequence, Sendable {
    /// The state of a batch at one moment.
    public typealias Element = BatchProgress
    /// The sequence does not throw. A failed batch ends it; the error is in the batch's outcome.
    public typealias Failure = Never

    private static let interval = Duration.milliseconds(50)

    private let run: BatchRun

    init(_ run: BatchRun) {
        self.run = run
    }

    /// Returns an iterator over the states.
    public func makeAsyncIterator() -> Iterator { Iterator(run: run) }

    /// An iterator over the states of a batch.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let run: BatchRun
        private var last: BatchProgress?
        private var given: ContinuousClock.Instant?
        private var isOver = false

        fileprivate init(run: BatchRun) {
            self.run = run
        }

        /// Returns the next state; nil after the final one, or if the calling task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(Never) -> BatchProgress? {
            if isOver { return nil }
            while true {
                if Task.isCancelled { return nil }
                let sight = run.signal.snapshot(.download)
                let progress = run.progress
                let rest = given.map { BatchProgressSequence.interval - $0.duration(to: run.time.now) } ?? .zero
                if sight.isFinal || progress != last && rest <= .zero {
                    isOver = sight.isFinal
                    last = progress
                    given = run.time.now
                    return progress
                }
                // Transferred bytes do not wake the iterator, so it polls for them.
                let pause = rest > .zero ? rest : BatchProgressSequence.interval
                let hasBegun = sight.progress.attempt > 0
                await run.signal.wait(.download, after: sight.version, atLeast: hasBegun ? pause : nil)
            }
        }
    }
}
