import SluiceHTTP
import Synchronization

/// Sends a request once and keeps its outcome.
///
/// The request is sent when the first of ``value``, ``result`` and ``response`` is read. All reads, from any number of
/// tasks, give the same outcome. A cancelled task stops waiting at once, unless a task is decoding the response. The
/// transfer itself stops when the last waiting task is cancelled, or by ``cancel()``.
public actor RequestSender<Model: Sendable, ErrorModel: ErrorSerializable> {
    /// The request to send.
    public nonisolated var request: APIRequest<Model, ErrorModel> {
        var request = APIRequest<Model, ErrorModel>(client, draft, serializer, errorDecoder)
        request.errorSerializer = errorSerializer
        return request
    }

    // The fields of the request, and not the request: each copy or release of a generic value makes the runtime look up its metadata.
    nonisolated let client: APIClient
    nonisolated let draft: RequestDraft
    nonisolated let serializer: any ResponseSerializer<Model>
    nonisolated let errorDecoder: (any DataDecoder)?
    private nonisolated let errorSerializer: (@Sendable (RequestFailure) -> ErrorModel)?
    private nonisolated let meter: TransferMeter
    /// The ticket among the running requests of the client; 0 until the request is sent, and the maximum once it has left them.
    private nonisolated let ticket = Atomic<UInt64>(0)
    /// Not isolated, so that a cancellation takes effect without waiting for the actor.
    private nonisolated let flight = SingleFlight(cancelled: CallOutcome.cancelled)
    /// The data source look-up that may answer before the request is sent; nil if the request does not read the cache.
    private nonisolated let dataSource: DataSourceRequest?
    /// The decoded outcome, once a caller has received it.
    private var decoded: DecodedOutcome?

    init(_ request: borrowing APIRequest<Model, ErrorModel>) {
        meter = TransferMeter(clock: request.client.pipeline.clock)
        dataSource = Self.dataSource(of: request, meter)
        client = request.client
        draft = request.draft
        serializer = request.serializer
        errorDecoder = request.errorDecoder
        errorSerializer = request.errorSerializer
    }

    /// Not a part of the initializer, because most requests have none.
    @inline(never)
    private static func dataSource(
        of request: borrowing APIRequest<Model, ErrorModel>,
        _ meter: TransferMeter
    ) -> DataSourceRequest? {
        let pipeline = request.client.pipeline
        guard pipeline.mayReadCache(request.draft) else { return nil }
        let (draft, serializer) = (request.draft, request.serializer)
        return DataSourceRequest(pipeline, draft, meter) { stored in
            guard let model = try? pipeline.model(from: stored, draft, serializer),
                !draft.reportsFailure(model)
            else { return nil }
            return ModelBox(model)
        }
    }

    /// Sends the request for the first caller.
    private nonisolated func begin(_ flight: SingleFlight<CallOutcome>) -> SingleFlight<CallOutcome>.Stop {
        let pipeline = client.pipeline
        guard let ticket = pipeline.running.enter(flight) else {
            meter.end()
            flight.complete(CallOutcome(.failure(pipeline.refusal(of: draft))))
            return {}
        }
        self.ticket.store(ticket.number, ordering: .relaxed)
        // A closure that captures one object needs no allocation. Not by `??`, which converts closures, with two allocations.
        if let dataSource { return dataSource.begin { [self] in finish($0) } }
        return pipeline.begin(draft, meter, caller: flight.caller) { [self] in finish($0) }
    }

    /// Takes the outcome of the transfer.
    private nonisolated func finish(_ callOutcome: CallOutcome) {
        meter.end(after: callOutcome.outcome)
        // The first caller reports the end of the request, which is running until then.
        if flight.complete(callOutcome) { return }
        // No caller waits any longer.
        if !callOutcome.isShared, let call = callOutcome.call {
            call.finish(.failure(.cancelled))
            call.notifyPlugins(APIResponse(failure: .cancelled, of: self).result)
        }
        leave()
    }

    /// Removes the request from those of the client that are running. Has no effect if it is not among them.
    private nonisolated func leave() {
        let number = ticket.load(ordering: .relaxed)
        guard number != .max, let running = RunningRequests.Ticket(number: number) else { return }
        ticket.store(.max, ordering: .relaxed)
        // Has no effect if another thread has been faster.
        client.pipeline.running.leave(running)
    }

    nonisolated func errorModel(_ failure: RequestFailure) -> ErrorModel {
        errorSerializer?(failure) ?? ErrorModel(failure)
    }

    /// Returns the outcome of the transfer, which the first caller starts. Nil if the calling task is cancelled first.
    private nonisolated func callOutcome() async -> CallOutcome? {
        await flight.value { [self] in begin($0) }
    }

    /// The model.
    ///
    /// - Throws: The request's error model, also on cancellation.
    public var value: Model {
        get async throws(ErrorModel) {
            switch decoded(await callOutcome()) {
            case .model(let box, _): return model(in: box)
            case .response(let box): return try modelOfResponse(in: box)
            }
        }
    }

    /// The model or the error.
    public var result: Result<Model, ErrorModel> {
        get async { response(from: decoded(await callOutcome())).result }
    }

    /// The complete outcome: the request as it was sent, the response's head and body, the metrics, and the result.
    public var response: APIResponse<Model, ErrorModel> {
        get async { response(from: decoded(await callOutcome())) }
    }

    /// The models in order: the stored one followed by the server's if the request's ``DataSource`` gives both,
    /// otherwise only one.
    ///
    /// The last model is ``value``, or the error that it throws. Any number of loops may read them. A loop that ends
    /// early, or whose task is cancelled, stops the request if no other caller waits for it.
    public nonisolated var values: some AsyncSequence<Model, ErrorModel> & Sendable { RequestValues(self) }

    /// The responses in order, as ``values`` gives their models: each with its source and its age, the last one with
    /// its error if it failed. The sequence does not throw.
    public nonisolated var responses: some AsyncSequence<APIResponse<Model, ErrorModel>, Never> & Sendable {
        RequestResponses(self)
    }

    /// Returns the stored response, if the request shows it before the server's.
    func firstResponse() async -> APIResponse<Model, ErrorModel>? {
        guard let first = await dataSource?.first(), let box = first.decoded,
            case .success(let stored) = first.outcome
        else { return nil }
        return APIResponse(model(in: box), stored, to: self)
    }

    /// Stops the transfer. All current and later callers get a cancellation error.
    ///
    /// Has no effect once there is an outcome. Can be called from any thread, and before the request is sent.
    public nonisolated func cancel() {
        flight.cancel()
        dataSource?.cancel()
        meter.end()
    }

    deinit {
        // The progress ended before the request left.
        if ticket.load(ordering: .relaxed) == .max { return }
        // Ends the progress sequences of a request that was never sent.
        meter.end()
        // No caller has read the outcome.
        leave()
    }

    /// The progress of the request's body, as ``downloadProgress`` describes it.
    public nonisolated var uploadProgress: some AsyncSequence<TransferProgress, Never> & Sendable {
        TransferProgressSequence(meter, .upload, clock: client.pipeline.clock)
    }

    /// The progress of the response's body. Any number of loops can read it, before and after the request is sent.
    ///
    /// ```swift
    /// for await progress in sender.downloadProgress {
    ///     bar.update(progress.fractionCompleted)
    /// }
    /// ```
    ///
    /// A loop receives the current state immediately, then the newest one up to twenty times a second, and the final
    /// state last, whether the request succeeded, failed or was cancelled. A slow loop skips outdated states and never
    /// delays the transfer. Reading the progress does not send the request. It never throws: the error of a request is
    /// reported with its outcome.
    public nonisolated var downloadProgress: some AsyncSequence<TransferProgress, Never> & Sendable {
        TransferProgressSequence(meter, .download, clock: client.pipeline.clock)
    }

    /// The progress of both bodies.
    nonisolated var transferProgress: (upload: TransferProgress, download: TransferProgress) {
        (meter.snapshot(.upload).progress, meter.snapshot(.download).progress)
    }

    /// Decodes the outcome for the first caller, and returns the same to all later ones. A caller that was cancelled
    /// before there was an outcome gets a cancellation error, which later callers do not get.
    private func decoded(_ callOutcome: CallOutcome?) -> DecodedOutcome {
        if let decoded { return decoded }
        guard let callOutcome else {
            // A transport that ignores the cancellation holds this sender until it returns.
            if flight.isAbandoned {
                meter.end()
                leave()
            }
            return failed(.cancelled)
        }
        let decoded = decode(callOutcome)
        self.decoded = decoded
        var failure: SluiceError?
        switch decoded {
        case .response(let box): failure = failureOfResponse(in: box)
        case .model(let box, let answer):
            if let dataSource, callOutcome.decoded == nil, !draft.reportsFailure(model(in: box)) {
                dataSource.store(answer)
            }
        }
        if let call = callOutcome.call {
            call.finish(failure.map(TransportOutcome.failure) ?? callOutcome.outcome)
            if !call.steps.plugins.isEmpty { notifyPlugins(of: decoded, call) }
        }
        leave()
        return decoded
    }

    private nonisolated func decode(_ callOutcome: CallOutcome) -> DecodedOutcome {
        switch callOutcome.outcome {
        case .failure(let error): return failed(error)
        case .success(let answer):
            if let box = callOutcome.decoded { return .model(box, answer) }
            do throws(SluiceError) {
                return .model(ModelBox(try client.pipeline.model(from: answer, draft, serializer)), answer)
            } catch {
                return failed(error, answer)
            }
        }
    }

    // A function that may create an `APIResponse` looks up the metadata of its type as it begins. These are functions of
    // their own, because a request that ends with a model needs none of them.

    @inline(never)
    private nonisolated func failed(_ error: SluiceError, _ answer: ServerResponse? = nil) -> DecodedOutcome {
        .response(ResponseBox(APIResponse(failure: error, of: self, answer)))
    }

    @inline(never)
    private nonisolated func failureOfResponse(in box: AnyObject) -> SluiceError? { response(in: box).failure }

    @inline(never)
    private nonisolated func modelOfResponse(in box: AnyObject) throws(ErrorModel) -> Model {
        try response(in: box).result.get()
    }

    @inline(never)
    private nonisolated func notifyPlugins(of decoded: DecodedOutcome, _ call: Call) {
        call.notifyPlugins(response(from: decoded).result)
    }

    private nonisolated func response(from decoded: DecodedOutcome) -> APIResponse<Model, ErrorModel> {
        switch decoded {
        case .model(let box, let answer): APIResponse(model(in: box), answer, to: self)
        case .response(let box): response(in: box)
        }
    }

    // The casts are unchecked in a release build, because a checked cast looks up metadata. Only this sender creates the boxes of its
    // outcome, with its own types.

    private nonisolated func model(in box: AnyObject) -> Model { unsafeDowncast(box, to: ModelBox<Model>.self).model }

    private nonisolated func response(in box: AnyObject) -> APIResponse<Model, ErrorModel> {
        unsafeDowncast(box, to: ResponseBox<Model, ErrorModel>.self).response
    }
}

/// The decoded outcome of a request, without generic parameters: each copy or release of a generic value makes the runtime look up its
/// metadata. The response of a model is created when a caller reads it.
private enum DecodedOutcome: Sendable {
    /// A ``ModelBox`` and the response that it was decoded from.
    case model(any AnyObject & Sendable, ServerResponse)
    /// A ``ResponseBox``.
    case response(any AnyObject & Sendable)
}

/// A response as an object, for an outcome that is not just a model.
private final class ResponseBox<Model: Sendable, ErrorModel: ErrorSerializable>: Sendable {
    let response: APIResponse<Model, ErrorModel>

    init(_ response: APIResponse<Model, ErrorModel>) {
        self.response = response
    }
}

extension RequestDraft {
    /// Returns true if the model is the outcome of an envelope that reports a failure. Such a response is not stored.
    fileprivate func reportsFailure(_ model: some Sendable) -> Bool {
        modelLocation.isOutcome && (model as? any EnvelopeReport)?.isSuccess == false
    }
}

extension TransferMeter {
    /// Ends the progress with the body's size, in case the transport has not reported it.
    func end(after outcome: TransportOutcome) {
        if case .success(let response) = outcome { end(received: Int64(response.bodyCount)) } else { end() }
    }
}

// MARK: - Sequences of responses and models

/// The responses of a request in order: ``RequestSender/responses``.
private struct RequestResponses<Model: Sendable, ErrorModel: ErrorSerializable>: AsyncSequence, Sendable {
    let sender: RequestSender<Model, ErrorModel>

    init(_ sender: RequestSender<Model, ErrorModel>) {
        self.sender = sender
    }

    func makeAsyncIterator() -> Iterator { Iterator(sender) }

    struct Iterator: AsyncIteratorProtocol {
        private let sender: RequestSender<Model, ErrorModel>
        private var last: PendingResponse<Model, ErrorModel>?
        private var isOver = false

        init(_ sender: RequestSender<Model, ErrorModel>) {
            self.sender = sender
        }

        mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(Never) -> APIResponse<Model, ErrorModel>? {
            if isOver { return nil }
            if last == nil {
                // The last response is requested now, so that it is under way while the loop's body handles the first.
                let last = PendingResponse(sender)
                self.last = last
                if let first = await sender.firstResponse() { return first }
            }
            isOver = true
            return await last?.value
        }
    }
}

/// The models of a request in order: ``RequestSender/values``.
private struct RequestValues<Model: Sendable, ErrorModel: ErrorSerializable>: AsyncSequence, Sendable {
    private let responses: RequestResponses<Model, ErrorModel>

    init(_ sender: RequestSender<Model, ErrorModel>) {
        responses = RequestResponses(sender)
    }

    func makeAsyncIterator() -> Iterator { Iterator(responses: responses.makeAsyncIterator()) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate var responses: RequestResponses<Model, ErrorModel>.Iterator

        mutating func next(isolation actor: isolated (any Actor)?) async throws(ErrorModel) -> Model? {
            try await responses.next(isolation: actor)?.result.get()
        }
    }
}

/// A response that is requested before a caller waits for it. Cancelled when the last reference is released.
final class PendingResponse<Model: Sendable, ErrorModel: ErrorSerializable>: Sendable {
    private let task: Task<APIResponse<Model, ErrorModel>, Never>

    init(_ sender: RequestSender<Model, ErrorModel>) {
        task = Task { await sender.response }
    }

    deinit {
        task.cancel()
    }

    var value: APIResponse<Model, ErrorModel> {
        get async {
            await withTaskCancellationHandler {
                await task.value
            } onCancel: {
                task.cancel()
            }
        }
    }
}

extension RequestSender: CustomStringConvertible, CustomReflectable, RedactedMirror {
    /// A short text that names the request.
    public nonisolated var description: String { "a sender of \(request)" }

    /// The request. The outcome is left out because it may hold secrets.
    package nonisolated var shown: [Mirror.Child] { [("request", request)] }
}
