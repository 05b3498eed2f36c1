import SluiceHTTP

/// A request whose model and error are known before it is sent.
///
/// It is a value: every modifier gives a changed copy, and ``sender()`` can be asked for as often as the request is to
/// be sent.
///
/// ```swift
/// let search: APIRequest<Page<User>, GitHubError> = github.codable.request("search/users")
///     .query("q", "swift")
///     .timeout(total: .seconds(5))
/// let page = try await search.sender().value
/// ```
///
/// A body is given to a ``BodyRequest``, which `post()`, `put()` and `patch()` make of it.
public struct APIRequest<Model: Sendable, ErrorModel: ErrorSerializable>: ModifiableRequest {
    /// Where it is sent.
    public let client: APIClient
    /// All that the request says of itself, without its types.
    public var draft: RequestDraft
    let serializer: any ResponseSerializer<Model>
    /// Nil for the client's.
    let errorDecoder: (any DataDecoder)?

    init(
        _ client: APIClient,
        _ endpoint: some Endpoint,
        _ serializer: any ResponseSerializer<Model>,
        _ errorDecoder: (any DataDecoder)? = nil
    ) {
        self.client = client
        self.draft = RequestDraft(endpoint, client.pipeline.configuration.endpointMapping)
        self.serializer = serializer
        self.errorDecoder = errorDecoder
    }

    /// Makes a request of another for another model.
    init<Other>(
        _ request: APIRequest<Other, ErrorModel>,
        _ draft: RequestDraft,
        _ serializer: any ResponseSerializer<Model>
    ) {
        client = request.client
        self.draft = draft
        self.serializer = serializer
        errorDecoder = request.errorDecoder
    }

    /// Makes a sender, which sends the request once, when it is first asked for the outcome.
    public func sender() -> RequestSender<Model, ErrorModel> {
        RequestSender(self)
    }

    /// The request as it would go to the first gate.
    ///
    /// - Returns: Method, URL, headers and body.
    /// - Throws: A ``SluiceError`` of the step ``SluiceError/Step/building``.
    public func httpRequest() throws(SluiceError) -> HTTPRequest {
        try draft.build(for: client.pipeline)
    }
}

extension APIRequest {
    /// Makes it a GET, without a body.
    public consuming func get() -> Self { bodiless(.get) }
    /// Makes it a HEAD, without a body.
    public consuming func head() -> Self { bodiless(.head) }
    /// Makes it a DELETE, without a body.
    public consuming func delete() -> Self { bodiless(.delete) }
    /// Makes it an OPTIONS, without a body.
    public consuming func options() -> Self { bodiless(.options) }

    /// Makes it a POST that can be given a body.
    public consuming func post() -> BodyRequest<Model, ErrorModel> { method(.post) }
    /// Makes it a POST without a body.
    @_disfavoredOverload
    public consuming func post() -> Self { method(.post) }
    /// Makes it a PUT that can be given a body.
    public consuming func put() -> BodyRequest<Model, ErrorModel> { method(.put) }
    /// Makes it a PUT without a body.
    @_disfavoredOverload
    public consuming func put() -> Self { method(.put) }
    /// Makes it a PATCH that can be given a body.
    public consuming func patch() -> BodyRequest<Model, ErrorModel> { method(.patch) }
    /// Makes it a PATCH without a body.
    @_disfavoredOverload
    public consuming func patch() -> Self { method(.patch) }

    /// Sets any method, with which a body can be sent, since the compiler cannot tell.
    public consuming func method(_ method: HTTPMethod) -> BodyRequest<Model, ErrorModel> {
        BodyRequest(request: self.method(method))
    }

    /// Sets any method of a request that is sent as it is.
    @_disfavoredOverload
    public consuming func method(_ method: HTTPMethod) -> Self { modified { $0.method = method } }

    private consuming func bodiless(_ method: HTTPMethod) -> Self {
        modified { draft in
            draft.method = method
            draft.body = nil
        }
    }
}
