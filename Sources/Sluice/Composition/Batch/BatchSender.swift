import SluiceHTTP

/// Sends requests together, once, and keeps what came of them.
///
/// ```swift
/// let sender = github.batchSender(requests)
/// async let users = sender.value
/// for await progress in sender.progress { bar.update(progress.fractionCompleted) }
/// ```
///
/// The requests are sent when the first of ``value`` and ``results`` is read; each of them, read however often and by however many
/// tasks, gives the same outcome. A task that is cancelled stops waiting at once; the transfers stop when the last one that waits is
/// cancelled, or by ``cancel()``.
///
/// `Models` and `Results` are arrays or tuples in the order of the requests; `Failure` is their error model, or `any Error` where they
/// have several.
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
        // For those who watch what was never sent.
        run.end()
    }

    /// The models, if all requests succeed.
    ///
    /// - Throws: The error model of the request that failed first; a cancellation if nobody waits for the others any longer.
    public var value: Models {
        get async throws(Failure) { try models(await reading()) }
    }

    /// The result of each request, in their order; of those that were not sent, since another had failed or all were cancelled, a
    /// cancellation.
    public var results: Results {
        get async { collected(await reading()) }
    }

    /// Which request failed first, counted from 0 in their order; nil where all succeeded, and where they were cancelled before one failed.
    public var firstFailure: Int? {
        get async { await reading() == .kept ? run.firstFailure : nil }
    }

    /// How far all of them are: to be watched by any number of loops, whether they have been sent or not.
    public var progress: BatchProgressSequence { BatchProgressSequence(run) }

    /// Stops all transfers; whoever waits gets a cancellation of each request that has no outcome yet.
    ///
    /// Without effect once all have. Can be called from any thread and before they are sent.
    public func cancel() {
        run.end()
        flight.cancel()
    }

    private func reading() async -> BatchReading {
        guard await flight.value() != nil else { return .left }
        // Before anything is read: what comes later changes nothing.
        run.end()
        return .kept
    }
}

/// What a reader of a batch is told.
enum BatchReading: Sendable {
    /// What has been kept.
    case kept
    /// That it was cancelled itself before there was anything.
    case left
}
