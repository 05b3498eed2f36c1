import SluiceHTTP

/// What gates and interceptors are told of the request they see.
public struct RequestContext: Sendable {
    /// Which attempt this is, from 1.
    public let attempt: Int
    /// What is left of the total time, or what the attempt has of it.
    private let total: Duration?
    let sending: Sending

    init(attempt: Int, within total: Duration?, of sending: Sending) {
        self.attempt = attempt
        self.total = total
        self.sending = sending
    }

    /// The request as it stood when the pipeline was given it.
    public var request: HTTPRequest { sending.request }

    /// Time-outs and limits of the attempt's transfers.
    public var transfer: TransferContext {
        var transfer = sending.transfer
        transfer.timeouts.total = total
        return transfer
    }

    /// Makes a context, to test a gate or an interceptor with.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - transfer: Time-outs and limits.
    ///   - tags: The request's tags.
    ///   - client: The client it is sent by.
    ///   - attempt: Which attempt it is, from 1.
    public init(
        request: HTTPRequest,
        transfer: TransferContext = TransferContext(),
        tags: Set<String> = [],
        client: APIClient = APIClient(),
        attempt: Int = 1
    ) {
        var draft = RequestDraft(method: request.method, path: request.path)
        draft.tags = tags
        let sending = Sending(request, draft, transfer, .none, by: client, on: client.configuration.transport)
        self.init(attempt: attempt, within: transfer.timeouts.total, of: sending)
    }

    /// The words by which its user tells it apart.
    public var tags: Set<String> { sending.draft.tags }
    /// The client it is sent by, for requests that a step needs to send itself.
    public var client: APIClient { sending.client }
    /// Tells one sending of a request from all others in the process; the same in all its attempts.
    public var id: RequestID { sending.id }
    /// What requests of its kind have in common: ``ModifiableRequest/route(_:)``.
    public var route: String { sending.draft.route ?? RoutePattern.route(of: sending.draft.path) }
    /// When all of it must be over, attempts to come included, by the client's ``TimeSource``; nil without a total time-out and a
    /// ``Deadline``. What waits on the request's behalf need not watch it: the request ends by itself, and its task is cancelled.
    public var deadline: ContinuousClock.Instant? { sending.deadline }

    var exemptions: [Exemption] { sending.exemptions }

    /// Makes a value in the first attempt and gives the same in all others, whoever asks: a key, a trace.
    ///
    /// - Parameters:
    ///   - key: By what the value is found again; begin it with something of your own.
    ///   - make: Makes the value, where there is none of that type under the key.
    /// - Returns: The value.
    public func remembered<Value: Sendable>(_ key: String, _ make: () -> Value) -> Value {
        sending.remembered(key, make)
    }
}
