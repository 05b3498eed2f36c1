import SluiceHTTP

/// Sends a request once and keeps its outcome.
///
/// The request is sent when the first of ``value``, ``result`` and ``response`` is read. All reads, from any number of
/// tasks, give the same outcome. A cancelled task stops waiting at once. The transfer itself stops when the last
/// waiting task is cancelled, or by ``cancel()``.
public actor RequestSender<Model: Sendable, ErrorModel: ErrorSerializable> {
    /// The request to send.
    public nonisolated let request: APIRequest<Model, ErrorModel>

    /// Not isolated, so that a cancellation takes effect without waiting for the actor.
    private nonisolated let flight: SingleFlight<CallOutcome>
    private nonisolated let meter: TransferMeter
    /// The data source lookup that may answer before the request is sent; nil if the request does not read the cache.
    private nonisolated let sourced: SourcedRequest?
    private var settled: APIResponse<Model, ErrorModel>?

    init(_ request: APIRequest<Model, ErrorModel>) {
        self.request = request
        let draft = request.draft
        let pipeline = request.client.pipeline
        let meter = TransferMeter(time: pipeline.time)
        self.meter = meter
        let sourced =
            !pipeline.asksCache(draft)
            ? nil
            : SourcedRequest(pipeline, draft, meter) { response in
                let made = APIResponse(.success(response), to: request)
                return made.isSuccess ? made : nil
            }
        self.sourced = sourced
        flight = SingleFlight(cancelled: CallOutcome.cancelled) { complete, caller in
            let finish: @Sendable (CallOutcome) -> Void = { callOutcome in
                meter.end(after: callOutcome.outcome)
                // No caller waits any longer, so none will report the end of the request.
                if !complete(callOutcome), !callOutcome.isShared { callOutcome.call?.finish(.failure(.cancelled)) }
            }
            return sourced?.begin(finish) ?? pipeline.begin(draft, meter, caller: caller, completion: finish)
        }
    }

    /// The model.
    ///
    /// - Throws: The request's error model, also on cancellation.
    public var value: Model {
        get async throws(ErrorModel) { try settle(await flight.value()).result.get() }
    }

    /// The model or the error.
    public var result: Result<Model, ErrorModel> {
        get async { settle(await flight.value()).result }
    }

    /// The complete outcome: the request as it was sent, the response's head and body, the metrics, and the result.
    public var response: APIResponse<Model, ErrorModel> {
        get async { settle(await flight.value()) }
    }

    /// The models in order: the stored one followed by the server's if the request's ``DataSource`` gives both,
    /// otherwise only one.
    ///
    /// The last model is ``value``, or the error that it throws. Any number of loops may read them. A loop that ends
    /// early, or whose task is cancelled, stops the request if no other caller waits for it.
    public nonisolated var values: RequestValues<Model, ErrorModel> { RequestValues(self) }

    /// Like ``values``, with the complete response of each: its source, its age, and the error of the last one if it
    /// failed.
    public nonisolated var responses: RequestResponses<Model, ErrorModel> { RequestResponses(self) }

    /// Returns the stored response, if the request shows it before the server's.
    func firstResponse() async -> APIResponse<Model, ErrorModel>? {
        await sourced?.first()?.made as? APIResponse<Model, ErrorModel>
    }

    /// Stops the transfer. All current and later callers get a cancellation error.
    ///
    /// Has no effect once there is an outcome. Can be called from any thread, and before the request is sent.
    public nonisolated func cancel() {
        flight.cancel()
        sourced?.cancel()
        meter.end()
    }

    deinit {
        // Ends the progress sequences of a request that was never sent.
        meter.end()
    }

    /// The progress of the request's body. Any number of loops can read it, before and after the request is sent.
    public nonisolated var uploadProgress: TransferProgressSequence {
        TransferProgressSequence(meter, .upload, time: request.client.pipeline.time)
    }

    /// The progress of the response's body. Any number of loops can read it, before and after the request is sent.
    public nonisolated var downloadProgress: TransferProgressSequence {
        TransferProgressSequence(meter, .download, time: request.client.pipeline.time)
    }

    /// The number of body bytes sent and received so far.
    nonisolated var transferred: (upload: Int64, download: Int64) {
        (meter.snapshot(.upload).progress.completed, meter.snapshot(.download).progress.completed)
    }

    /// Creates the response for the first caller that gets the outcome, and keeps it for all. A caller that left before
    /// there was an outcome gets a cancellation error of its own, which is not kept.
    private func settle(_ callOutcome: CallOutcome?) -> APIResponse<Model, ErrorModel> {
        if let settled { return settled }
        guard let callOutcome else { return APIResponse(failure: .cancelled, of: request) }
        let response = callOutcome.made as? APIResponse ?? APIResponse(callOutcome.outcome, to: request)
        settled = response
        if let sourced, callOutcome.made == nil, response.isSuccess, case .success(let answer) = callOutcome.outcome {
            sourced.keep(answer)
        }
        callOutcome.call?.finish(response.failure.map(TransportOutcome.failure) ?? callOutcome.outcome)
        return response
    }
}

extension TransferMeter {
    /// Ends the progress with the body's size, in case the transport has not reported it.
    func end(after outcome: TransportOutcome) {
        if case .success(let response) = outcome { end(received: Int64(response.body.count)) } else { end() }
    }
}

// MARK: - Sequences of responses and models

/// The responses of a request in order: ``RequestSender/responses``.
public struct RequestResponses<Model: Sendable, ErrorModel: ErrorSerializable>: AsyncSequence, Sendable {
    /// A response with its complete outcome.
    public typealias Element = APIResponse<Model, ErrorModel>
    /// The sequence does not throw: a failed request produces a response that carries the error.
    public typealias Failure = Never

    private let sender: RequestSender<Model, ErrorModel>

    init(_ sender: RequestSender<Model, ErrorModel>) {
        self.sender = sender
    }

    /// Returns an iterator. The request is sent on the first read, unless it was sent before.
    public func makeAsyncIterator() -> Iterator { Iterator(sender) }

    /// An iterator over the responses.
    public struct Iterator: AsyncIteratorProtocol {
        private let sender: RequestSender<Model, ErrorModel>
        private var last: LastResponse?
        private var isOver = false

        init(_ sender: RequestSender<Model, ErrorModel>) {
            self.sender = sender
        }

        /// Returns the next response, or nil after the last.
        public mutating func next() async -> APIResponse<Model, ErrorModel>? {
            await next(isolation: nil)
        }

        /// Returns the next response, or nil after the last.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> APIResponse<Model, ErrorModel>? {
            if isOver { return nil }
            if last == nil {
                // The last response is requested now, so that it is under way while the loop's body handles the first.
                let last = LastResponse(sender)
                self.last = last
                if let first = await sender.firstResponse() { return first }
            }
            isOver = true
            return await last?.value()
        }

        /// A task that waits for the final response and is cancelled when this object is released.
        private final class LastResponse: Sendable {
            private let task: Task<APIResponse<Model, ErrorModel>, Never>

            init(_ sender: RequestSender<Model, ErrorModel>) {
                task = Task { await sender.response }
            }

            deinit {
                task.cancel()
            }

            func value() async -> APIResponse<Model, ErrorModel> {
                await withTaskCancellationHandler {
                    await task.value
                } onCancel: {
                    task.cancel()
                }
            }
        }
    }
}

/// The models of a request in order: ``RequestSender/values``.
public struct RequestValues<Model: Sendable, ErrorModel: ErrorSerializable>: AsyncSequence, Sendable {
    /// A model.
    public typealias Element = Model
    /// The error thrown if the final model cannot be obtained.
    public typealias Failure = ErrorModel

    private let responses: RequestResponses<Model, ErrorModel>

    init(_ sender: RequestSender<Model, ErrorModel>) {
        responses = RequestResponses(sender)
    }

    /// Returns an iterator. The request is sent on the first read, unless it was sent before.
    public func makeAsyncIterator() -> Iterator { Iterator(responses: responses.makeAsyncIterator()) }

    /// An iterator over the models.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var responses: RequestResponses<Model, ErrorModel>.Iterator

        /// Returns the next model, or nil after the last.
        public mutating func next() async throws(ErrorModel) -> Model? {
            try await next(isolation: nil)
        }

        /// Returns the next model, or nil after the last.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(ErrorModel) -> Model? {
            try await responses.next(isolation: actor)?.result.get()
        }
    }
}

extension RequestSender: CustomStringConvertible, CustomReflectable {
    /// A short text that names the request.
    public nonisolated var description: String { "a sender of \(request)" }

    /// The request. The outcome is left out because it may hold secrets.
    public nonisolated var customMirror: Mirror { Mirror(self, children: ["request": request], displayStyle: .class) }
}
