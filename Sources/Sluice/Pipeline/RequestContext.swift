import SluiceHTTP

/// What gates and interceptors are told of the request they see.
public struct RequestContext: Sendable {
    /// The request as it stood when the step began.
    public let request: HTTPRequest
    /// Time-outs and limits of its transfers.
    public let transfer: TransferContext
    /// The words by which its user tells it apart.
    public let tags: Set<String>

    /// Makes a context.
    public init(request: HTTPRequest, transfer: TransferContext = TransferContext(), tags: Set<String> = []) {
        self.request = request
        self.transfer = transfer
        self.tags = tags
    }
}
