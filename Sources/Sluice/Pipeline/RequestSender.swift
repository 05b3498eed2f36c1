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
    private nonisolated let flight: Flight<APIResponse<Model, ErrorModel>>

    init(_ request: APIRequest<Model, ErrorModel>) {
        self.request = request
        flight = Flight(
            cancelled: { .failed(request, .cancelled) },
            work: { await .outcome(of: request) }
        )
    }

    /// The model.
    ///
    /// - Throws: The request's error model, cancellation included.
    public nonisolated var value: Model {
        get async throws(ErrorModel) { try await flight.value().result.get() }
    }

    /// The model or the error.
    public nonisolated var result: Result<Model, ErrorModel> {
        get async { await flight.value().result }
    }

    /// Everything: the request as it was sent, the response's head and body, the metrics, and the result.
    public nonisolated var response: APIResponse<Model, ErrorModel> {
        get async { await flight.value() }
    }

    /// Stops the transfer; whoever waits gets a cancellation error now, and whoever asks later too.
    ///
    /// Without effect once there is an outcome. Can be called from any thread and before the request is sent.
    public nonisolated func cancel() {
        flight.cancel()
    }
}
