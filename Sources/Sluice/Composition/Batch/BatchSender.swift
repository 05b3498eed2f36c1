import SluiceHTTP

/// Sends a batch of requests once and keeps their outcomes.
///
/// ```swift
/// let sender = github.batchSender(requests)
/// async let users = sender.value
/// for await progress in sender.progress { bar.update(progress.fractionCompleted) }
/// ```
///
/// The requests are sent when the first of ``value`` and ``results`` is read. All reads, from any number of tasks, give
/// the same outcome. A cancelled task stops waiting at once. The transfers stop when the last waiting task is
/// cancelled, or by ``cancel()``.
///
/// `Models` and `Results` are arrays or tuples in the order of the requests. `Failure` is their error model, or
/// `any Error` if there are several.
public final class BatchSender<Models: Sendable, Results: Sendable, Failure: Error>: Sendable {
    private let run: BatchRun
    private let flight: Flight<Void>
    private let models: @Sendable (BatchReading) throws(Failure) -> Models
    private let collected: @Sendable (BatchReading) -> Results

    init(
        _ run: BatchRun,
        models: @escaping @Sendable (BatchReading) throws(Failure) -> Models,
        results: @escaping @Sendable (BatchReading) -> Results
    ) {
        self.run = run
        self.models = models
        collected = results
        flight = Flight(cancelled: ()) { land, _ in
            let task = Task {
                await run.send()
                _ = land(())
            }
            return {
                run.end()
                task.cancel()
            }
        }
    }

    deinit {
        // Ends the progress sequences of a batch that was never sent.
        run.end()
    }

    /// The models, if all requests succeed.
    ///
    /// - Throws: The error model of the request that failed first, or a cancellation if the batch was cancelled.
    public var value: Models {
        get async throws(Failure) { try models(await reading()) }
    }

    /// The result of each request, in order. Requests that were not sent, because another failed or the batch was
    /// cancelled, have a cancellation.
    public var results: Results {
        get async { collected(await reading()) }
    }

    /// The index of the request that failed first; nil if all succeeded, or the batch was cancelled before one failed.
    public var firstFailure: Int? {
        get async { await reading() == .kept ? run.firstFailure : nil }
    }

    /// The progress of all requests. Any number of loops can read it, before and after the requests are sent.
    public var progress: BatchProgressSequence { BatchProgressSequence(run) }

    /// Stops all transfers. All callers get a cancellation for each request without an outcome.
    ///
    /// Has no effect once all requests have an outcome. Can be called from any thread, and before the requests are
    /// sent.
    public func cancel() {
        run.end()
        flight.cancel()
    }

    private func reading() async -> BatchReading {
        guard await flight.value() != nil else { return .left }
        // End the batch before results are read, so that later outcomes change nothing.
        run.end()
        return .kept
    }
}

/// The state of a batch for one reader.
enum BatchReading: Sendable {
    /// The batch has ended, and its results can be read.
    case kept
    /// The reader was cancelled before the batch ended.
    case left
}
