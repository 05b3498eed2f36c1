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
    private var settled: APIResponse<Model, ErrorModel>?

    init(_ request: APIRequest<Model, ErrorModel>) {
        self.request = request
        let draft = request.draft
        let pipeline = request.client.pipeline
        let meter = TransferMeter(time: pipeline.time)
        self.meter = meter
        flight = Flight(cancelled: Landing.cancelled) { land in
            pipeline.begin(draft, meter) { landing in
                meter.end(after: landing.outcome)
                // Nobody waits for it any longer, and so nobody else will say that it is over.
                if !land(landing) { landing.sending?.finish(.failure(.cancelled)) }
            }
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

    /// Stops the transfer; whoever waits gets a cancellation error now, and whoever asks later too.
    ///
    /// Without effect once there is an outcome. Can be called from any thread and before the request is sent.
    public nonisolated func cancel() {
        flight.cancel()
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

    /// Makes the response of the first who brings the outcome, and keeps it for all. One who left before there was any
    /// gets a cancellation, which is nobody else's.
    private func settle(_ landing: Landing?) -> APIResponse<Model, ErrorModel> {
        if let settled { return settled }
        guard let landing else { return APIResponse(failure: .cancelled, of: request) }
        let response = APIResponse(landing.outcome, to: request)
        settled = response
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

    init(_ outcome: TransportOutcome, _ sending: Sending? = nil) {
        self.outcome = outcome
        self.sending = sending
    }
}
