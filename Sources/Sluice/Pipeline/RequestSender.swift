import SluiceHTTP

/// Sends a request once and keeps what came of it.
///
/// The request is sent when the first of ``value``, ``result`` and ``response`` is read; each of them, read however often
/// and by however many tasks, gives the same outcome. A task that is cancelled stops waiting at once; the transfer
/// itself stops when the last one that waits is cancelled, or by ``cancel()``.
public actor RequestSender<Model: Sendable, ErrorModel: ErrorSerializable> {
    /// What is sent.
    public nonisolated let request: APIRequest<Model, ErrorModel>

    /// Not isolated: a cancellation must take effect without waiting for the actor.
    private nonisolated let flight: Flight<Landing>
    private nonisolated let meter: TransferMeter
    /// Where an answer may be had before it is sent.
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
        flight = Flight(cancelled: Landing.cancelled) { land, caller in
            let finish: @Sendable (Landing) -> Void = { landing in
                meter.end(after: landing.outcome)
                // Nobody waits for it any longer, and so nobody else will say that it is over.
                if !land(landing), !landing.isShared { landing.sending?.finish(.failure(.cancelled)) }
            }
            return sourced?.begin(finish) ?? pipeline.begin(draft, meter, caller: caller, completion: finish)
        }
    }

    /// The model.
    ///
    /// - Throws: The request's error model, cancellation included.
    public var value: Model {
        get async throws(ErrorModel) { try settle(await flight.value()).result.get() }
    }

    /// The model or the error.
    public var result: Result<Model, ErrorModel> {
        get async { settle(await flight.value()).result }
    }

    /// Everything: the request as it was sent, the response's head and body, the metrics, and the result.
    public var response: APIResponse<Model, ErrorModel> {
        get async { settle(await flight.value()) }
    }

    /// The models that come one after the other: what is kept and the server's, where the request's ``DataSource`` gives both, or the one
    /// there is.
    ///
    /// The last is ``value``, or the error that it throws. Any number of loops may read them; one that leaves early, or whose task is
    /// cancelled, stops the request if nobody else waits for it.
    public nonisolated var values: RequestValues<Model, ErrorModel> { RequestValues(self) }

    /// Like ``values``, with all that is known of each: where it came from, how old it is, and why the last one failed.
    public nonisolated var responses: RequestResponses<Model, ErrorModel> { RequestResponses(self) }

    /// What is kept, where it is to be shown before the answer.
    func firstResponse() async -> APIResponse<Model, ErrorModel>? {
        await sourced?.first()?.made as? APIResponse<Model, ErrorModel>
    }

    /// Stops the transfer; whoever waits gets a cancellation error now, and whoever asks later too.
    ///
    /// Without effect once there is an outcome. Can be called from any thread and before the request is sent.
    public nonisolated func cancel() {
        flight.cancel()
        sourced?.cancel()
        meter.end()
    }

    deinit {
        // For those who watch what was never sent.
        meter.end()
    }

    /// How the request's body goes out: to be watched by any number of loops, whether it has been sent or not.
    public nonisolated var uploadProgress: TransferProgressSequence {
        TransferProgressSequence(meter, .upload, time: request.client.pipeline.time)
    }

    /// How the response's body comes in: to be watched by any number of loops, whether the request has been sent or not.
    public nonisolated var downloadProgress: TransferProgressSequence {
        TransferProgressSequence(meter, .download, time: request.client.pipeline.time)
    }

    /// How many bytes of the bodies have gone and come so far.
    nonisolated var transferred: (upload: Int64, download: Int64) {
        (meter.sight(.upload).progress.completed, meter.sight(.download).progress.completed)
    }

    /// Makes the response of the first who brings the outcome, and keeps it for all. One who left before there was any
    /// gets a cancellation, which is nobody else's.
    private func settle(_ landing: Landing?) -> APIResponse<Model, ErrorModel> {
        if let settled { return settled }
        guard let landing else { return APIResponse(failure: .cancelled, of: request) }
        let response = landing.made as? APIResponse ?? APIResponse(landing.outcome, to: request)
        settled = response
        if let sourced, landing.made == nil, response.isSuccess, case .success(let answer) = landing.outcome {
            sourced.keep(answer)
        }
        landing.sending?.finish(response.failure.map(TransportOutcome.failure) ?? landing.outcome)
        return response
    }
}

extension TransferMeter {
    /// Ends with what came, where no transport may have told of it.
    func end(after outcome: TransportOutcome) {
        if case .success(let response) = outcome { end(received: Int64(response.body.count)) } else { end() }
    }
}

/// An outcome on its way to those who wait for it; a class, so that handing it on copies a pointer.
final class Landing: Sendable {
    static let cancelled = Landing(.failure(.cancelled))

    let outcome: TransportOutcome
    /// What all attempts shared, where they shared anything.
    let sending: Sending?
    /// The response of the sender's type, where it has been made already, of what was kept.
    let made: (any Sendable)?
    /// Whether others get it too.
    let isShared: Bool

    init(
        _ outcome: TransportOutcome,
        _ sending: Sending? = nil,
        made: (any Sendable)? = nil,
        isShared: Bool = false
    ) {
        self.isShared = isShared
        self.made = made
        self.outcome = outcome
        self.sending = sending
    }
}
