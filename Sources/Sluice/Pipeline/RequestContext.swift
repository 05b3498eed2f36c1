import SluiceHTTP

/// What gates and interceptors are told of the request they see.
public struct RequestContext: Sendable {
    /// The request as it stood when the step began.
    public let request: HTTPRequest
    /// Time-outs and limits of its transfers.
    public let transfer: TransferContext
    /// The words by which its user tells it apart.
    public let tags: Set<String>
    /// The client it is sent by, for requests that a step needs to send itself.
    public let client: APIClient
    /// Tells one sending of a request from all others in the process; the same in all its attempts.
    public let id: RequestID
    /// Which attempt this is, from 1.
    public let attempt: Int

    /// Makes a context.
    public init(
        request: HTTPRequest,
        transfer: TransferContext = TransferContext(),
        tags: Set<String> = [],
        client: APIClient = APIClient(),
        id: RequestID = RequestID(rawValue: 0),
        attempt: Int = 1
    ) {
        self.request = request
        self.transfer = transfer
        self.tags = tags
        self.client = client
        self.id = id
        self.attempt = attempt
    }
}
