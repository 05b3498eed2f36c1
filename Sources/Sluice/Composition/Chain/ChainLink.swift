/// A request of a ``Chain`` whose requests are of several models, and what its outcome is in the chain.
///
/// ```swift
/// let link = ChainLink<Progress>(login) { response in .signedIn(response.result) }
/// ```
public struct ChainLink<Outcome: Sendable>: Sendable {
    let send: @Sendable () async -> Outcome

    /// Makes a link.
    ///
    /// - Parameters:
    ///   - request: What to send, by its own client.
    ///   - outcome: Makes one of the chain's outcomes of its response, which may be a failure.
    public init<Model: Sendable, ErrorModel: ErrorSerializable>(
        _ request: APIRequest<Model, ErrorModel>,
        _ outcome: @escaping @Sendable (APIResponse<Model, ErrorModel>) -> Outcome
    ) {
        send = { outcome(await request.sender().response) }
    }

    /// Makes a link whose outcome is its response.
    public init<Model: Sendable, ErrorModel: ErrorSerializable>(
        _ request: APIRequest<Model, ErrorModel>
    ) where Outcome == APIResponse<Model, ErrorModel> {
        self.init(request) { $0 }
    }
}
