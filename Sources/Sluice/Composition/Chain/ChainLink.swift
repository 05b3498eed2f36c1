/// A request of a ``Chain`` with several models, and the conversion of its response to an outcome of the chain.
///
/// ```swift
/// let link = ChainLink<Progress>(login) { response in .signedIn(response.result) }
/// ```
public struct ChainLink<Outcome: Sendable>: Sendable {
    let send: @Sendable () async -> Outcome

    /// Creates a link.
    ///
    /// - Parameters:
    ///   - request: The request, which is sent by its own client.
    ///   - outcome: Converts the response, which may be a failure, to an outcome of the chain.
    public init<Model: Sendable, ErrorModel: ErrorSerializable>(
        _ request: APIRequest<Model, ErrorModel>,
        _ outcome: @escaping @Sendable (APIResponse<Model, ErrorModel>) -> Outcome
    ) {
        send = { outcome(await request.sender().response) }
    }

    /// Creates a link whose outcome is its response.
    public init<Model: Sendable, ErrorModel: ErrorSerializable>(
        _ request: APIRequest<Model, ErrorModel>
    ) where Outcome == APIResponse<Model, ErrorModel> {
        self.init(request) { $0 }
    }
}
