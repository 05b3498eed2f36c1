import SluiceHTTP

/// Sends a batch of requests once and keeps their outcomes.
///
/// ```swift
/// let sender = github.batchSender(requests)
/// async let users = sender.value
/// for await progress in sender.progress { bar.update(progress.fractionCompleted) }
/// ```
///
/// The requests are sent when the first of ``value``, ``results`` and ``responses`` is read. All reads, from any number
/// of tasks, give the same outcome. A cancelled task stops waiting at once. The transfers stop when the last waiting
/// task is cancelled, or by ``cancel()``. A sender holds the bodies of its responses in memory.
///
/// `Models`, `Results` and `Responses` are arrays or tuples in the order of the requests. `Failure` is their error
/// model, or `any Error` if there are several.
public final class BatchSender<Models: Sendable, Results: Sendable, Responses: Sendable, Failure: Error>: Sendable {
    private let run: BatchRun
    private let flight: SingleFlight<Void>
    private let modelsOfAll: @Sendable (BatchReading) throws(Failure) -> Models
    private let resultsOfAll: @Sendable (BatchReading) -> Results
    private let responsesOfAll: @Sendable (BatchReading) -> Responses

    init(
        _ run: BatchRun,
        models: @escaping @Sendable (BatchReading) throws(Failure) -> Models,
        results: @escaping @Sendable (BatchReading) -> Results,
        responses: @escaping @Sendable (BatchReading) -> Responses
    ) {
        self.run = run
        modelsOfAll = models
        resultsOfAll = results
        responsesOfAll = responses
        flight = SingleFlight(cancelled: ()) { flight in
            let task = Task {
                await run.send()
                flight.complete(())
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
        get async throws(Failure) { try modelsOfAll(await reading()) }
    }

    /// The result of each request, in order. Requests that were not sent, because another failed or the batch was
    /// cancelled, have a cancellation.
    public var results: Results {
        get async { resultsOfAll(await reading()) }
    }

    /// The complete outcome of each request, in order: status, headers, body, metrics and result.
    public var responses: Responses {
        get async { responsesOfAll(await reading()) }
    }

    /// The index of the request that failed first; nil if all succeeded, or the batch was cancelled before one failed.
    public var firstFailure: Int? {
        get async { await reading() == .ended ? run.firstFailure : nil }
    }

    /// The progress of all requests. Any number of loops can read it, before, during and after the batch.
    ///
    /// A loop gets the current state at once, then the newest state up to twenty times a second when it has changed,
    /// and the final state last, whether the batch has succeeded, failed or been cancelled. Reading does not send the
    /// requests, and a slow reader does not delay them.
    public var progress: some AsyncSequence<BatchProgress, Never> & Sendable { ProgressSequence(run) }

    /// Stops all transfers. All callers get a cancellation for each request without an outcome.
    ///
    /// Has no effect once all requests have an outcome. Can be called from any thread, and before the requests are
    /// sent.
    public func cancel() {
        run.end()
        flight.cancel()
    }

    private func reading() async -> BatchReading {
        guard await flight.value() != nil else { return .cancelled }
        // End the batch before results are read, so that later outcomes change nothing.
        run.end()
        return .ended
    }
}

/// The state of a batch for one reader.
enum BatchReading: Sendable {
    /// The batch has ended, and its results can be read.
    case ended
    /// The reader was cancelled before the batch ended.
    case cancelled
}

extension APIClient {
    /// Sends requests with any models and errors at once and returns all models.
    ///
    /// ```swift
    /// let (user, repos) = try await github.batch(userRequest, reposRequest)
    /// ```
    ///
    /// Each request is sent by its own client, not necessarily by this one. The first failure cancels the other
    /// requests and their transfers, and so does cancelling the calling task. Use a ``BatchSender`` for progress and
    /// individual results.
    ///
    /// - Parameters:
    ///   - request: The requests.
    ///   - maximumInFlight: The maximum number of requests to send at once, at least 1; nil, the default, for all.
    /// - Returns: The models in the requests' order.
    /// - Throws: The error model of the request that failed first.
    public func batch<each Request: TypedRequest>(
        _ request: repeat each Request,
        maximumInFlight: Int? = nil
    ) async throws -> (repeat (each Request).Model) {
        try await batchSender(repeat each request, maximumInFlight: maximumInFlight).value
    }

    /// Sends requests with any models and one error model at once, and returns all models.
    ///
    /// - Parameters:
    ///   - request: The requests.
    ///   - maximumInFlight: The maximum number of requests to send at once, at least 1; nil, the default, for all.
    /// - Returns: The models in the requests' order.
    /// - Throws: The error model of the request that failed first.
    public func batch<each Model: Sendable, ErrorModel: ErrorSerializable>(
        _ request: repeat APIRequest<each Model, ErrorModel>,
        maximumInFlight: Int? = nil
    ) async throws(ErrorModel) -> (repeat each Model) {
        let sender = batchSender(repeat each request, maximumInFlight: maximumInFlight)
        do {
            return try await sender.value
        } catch let error as ErrorModel {
            throw error
        } catch {
            throw ErrorModel(RequestFailure(error: .cancelled))
        }
    }

    /// Sends requests with the same model, a limited number at a time, and returns all models.
    ///
    /// ```swift
    /// let users = try await github.batch(ids.map { github.get("user/\($0)", as: User.self) })
    /// ```
    ///
    /// Each request is sent by its own client, not necessarily by this one. The first failure cancels the other
    /// requests and their transfers, and so does cancelling the calling task. An empty array returns an empty array at
    /// once.
    ///
    /// - Parameters:
    ///   - requests: The requests.
    ///   - maximumInFlight: The maximum number of requests to send at once, at least 1; 16 by default. The others wait
    ///     outside the pipeline, where no time-out runs and no gate is asked.
    /// - Returns: The models in the requests' order.
    /// - Throws: The error model of the request that failed first.
    public func batch<Request: TypedRequest>(
        _ requests: [Request],
        maximumInFlight: Int = 16
    ) async throws(Request.ErrorModel) -> [Request.Model] {
        try await batchSender(requests, upTo: maximumInFlight, failsFast: true, keepsBodies: false).value
    }

    /// Creates a sender for requests with any models and errors. It sends them once, when an outcome is first read.
    ///
    /// ```swift
    /// let (user, repos) = await github.batchSender(userRequest, reposRequest, failsFast: false).responses
    /// print(user.status ?? 0, repos.head?.headers["Link"] ?? "")
    /// ```
    ///
    /// - Parameters:
    ///   - request: The requests, each of which is sent by its own client.
    ///   - maximumInFlight: The maximum number of requests to send at once, at least 1; nil, the default, for all.
    ///   - failsFast: True to cancel the other requests after the first failure; true by default.
    /// - Returns: A sender whose models, results and responses are tuples in the requests' order.
    public func batchSender<each Request: TypedRequest>(
        _ request: repeat each Request,
        maximumInFlight: Int? = nil,
        failsFast: Bool = true
    ) -> BatchSender<
        (repeat (each Request).Model), (repeat Result<(each Request).Model, (each Request).ErrorModel>),
        (repeat APIResponse<(each Request).Model, (each Request).ErrorModel>), any Error
    > {
        let slots = (repeat BatchSlot(each request))
        var members: [any BatchMember] = []
        for slot in repeat each slots { members.append(slot) }
        let run = BatchRun(members, upTo: maximumInFlight ?? .max, failsFast: failsFast, clock: pipeline.clock)
        return BatchSender(run) { reading in
            if let first = run.firstFailure { try run.members[first].check(reading) }
            return (repeat try (each slots).response(reading).result.get())
        } results: { reading in
            (repeat (each slots).response(reading).result)
        } responses: { reading in
            (repeat (each slots).response(reading))
        }
    }

    /// Creates a sender for requests with the same model. It sends them once, when an outcome is first read.
    ///
    /// ```swift
    /// let sender = github.batchSender(requests, maximumInFlight: 4, failsFast: false)
    /// async let results = sender.results
    /// for await progress in sender.progress { print("\(progress.completed) of \(progress.total)") }
    /// ```
    ///
    /// - Parameters:
    ///   - requests: The requests, each of which is sent by its own client.
    ///   - maximumInFlight: The maximum number of requests to send at once, at least 1; 16 by default. The others wait
    ///     outside the pipeline, where no time-out runs and no gate is asked.
    ///   - failsFast: True to cancel the other requests after the first failure; true by default.
    /// - Returns: A sender whose models, results and responses are arrays in the requests' order.
    public func batchSender<Request: TypedRequest>(
        _ requests: [Request],
        maximumInFlight: Int = 16,
        failsFast: Bool = true
    ) -> BatchSender<
        [Request.Model], [Result<Request.Model, Request.ErrorModel>],
        [APIResponse<Request.Model, Request.ErrorModel>], Request.ErrorModel
    > {
        batchSender(requests, upTo: maximumInFlight, failsFast: failsFast, keepsBodies: true)
    }

    private func batchSender<Request: TypedRequest>(
        _ requests: [Request],
        upTo maximumInFlight: Int,
        failsFast: Bool,
        keepsBodies: Bool
    ) -> BatchSender<
        [Request.Model], [Result<Request.Model, Request.ErrorModel>],
        [APIResponse<Request.Model, Request.ErrorModel>], Request.ErrorModel
    > {
        let slots = requests.map { BatchSlot($0, keepsBody: keepsBodies) }
        let run = BatchRun(slots, upTo: maximumInFlight, failsFast: failsFast, clock: pipeline.clock)
        return BatchSender(run) { (reading) throws(Request.ErrorModel) in
            if let first = run.firstFailure { _ = try slots[first].response(reading).result.get() }
            return try slots.map { (slot) throws(Request.ErrorModel) in try slot.response(reading).result.get() }
        } results: { reading in
            slots.map { $0.response(reading).result }
        } responses: { reading in
            slots.map { $0.response(reading) }
        }
    }
}

extension BatchSender: CustomReflectable, RedactedMirror {
    /// Nothing, because the outcomes of the requests may hold secrets.
    package var shown: [Mirror.Child] { [] }
}
