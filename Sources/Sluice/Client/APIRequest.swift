import SluiceHTTP

/// A request with the types of its model and error model.
///
/// It is a value. Every modifier returns a changed copy. Each ``sender()`` sends the request once.
///
/// ```swift
/// let search: APIRequest<Page<User>, GitHubError> = github.codable.request("search/users")
///     .query("q", "swift")
///     .timeout(total: .seconds(5))
/// let page = try await search.sender().value
/// ```
///
/// Only a ``BodyRequest``, which `post()`, `put()` and `patch()` return, has functions that set a body.
public struct APIRequest<Model: Sendable, ErrorModel: ErrorSerializable>: ModifiableRequest {
    /// The client that sends the request.
    public let client: APIClient
    /// The description of the request, without its types.
    public var draft: RequestDraft
    let serializer: any ResponseSerializer<Model>
    /// Nil for the client's decoder.
    let errorDecoder: (any DataDecoder)?
    /// Nil for the initializer of the error model.
    var errorSerializer: (@Sendable (RequestFailure) -> ErrorModel)?

    init(
        _ client: APIClient,
        _ endpoint: some Endpoint,
        _ serializer: any ResponseSerializer<Model>,
        _ errorDecoder: (any DataDecoder)? = nil
    ) {
        self.init(
            client,
            RequestDraft(endpoint, client.pipeline.configuration.endpointMapping),
            serializer,
            errorDecoder
        )
    }

    init(
        _ client: APIClient,
        _ draft: RequestDraft,
        _ serializer: any ResponseSerializer<Model>,
        _ errorDecoder: (any DataDecoder)?
    ) {
        self.client = client
        self.draft = draft
        self.serializer = serializer
        self.errorDecoder = errorDecoder
    }

    /// Creates a request from another one, for another model.
    init<Other>(
        _ request: APIRequest<Other, ErrorModel>,
        _ draft: RequestDraft,
        _ serializer: any ResponseSerializer<Model>
    ) {
        client = request.client
        self.draft = draft
        self.serializer = serializer
        errorDecoder = request.errorDecoder
        errorSerializer = request.errorSerializer
    }

    /// Creates a sender, which sends the request once, when its outcome is first read.
    public func sender() -> RequestSender<Model, ErrorModel> {
        RequestSender(self)
    }

    /// Builds the request that the first gate receives.
    ///
    /// - Returns: The method, URL, headers and body.
    /// - Throws: A ``SluiceError`` of step ``SluiceError/Step/building``.
    public func httpRequest() throws(SluiceError) -> HTTPRequest {
        try draft.build(for: client.pipeline)
    }
}

extension APIRequest {
    /// Changes the method to POST, so that a body can be added.
    public consuming func post() -> BodyRequest<Model, ErrorModel> { method(.post) }
    /// Changes the method to POST.
    @_disfavoredOverload
    public consuming func post() -> Self { method(.post) }
    /// Changes the method to PUT, so that a body can be added.
    public consuming func put() -> BodyRequest<Model, ErrorModel> { method(.put) }
    /// Changes the method to PUT.
    @_disfavoredOverload
    public consuming func put() -> Self { method(.put) }
    /// Changes the method to PATCH, so that a body can be added.
    public consuming func patch() -> BodyRequest<Model, ErrorModel> { method(.patch) }
    /// Changes the method to PATCH.
    @_disfavoredOverload
    public consuming func patch() -> Self { method(.patch) }

    /// Sets the method. A body can be added.
    public consuming func method(_ method: HTTPMethod) -> BodyRequest<Model, ErrorModel> {
        BodyRequest(request: self.method(method))
    }

    /// Sets the method.
    @_disfavoredOverload
    public consuming func method(_ method: HTTPMethod) -> Self { modified { $0.method = method } }
}

// MARK: - Errors

extension APIRequest {
    /// Creates the errors of this request by a closure, instead of the initializer of the error model.
    ///
    /// ```swift
    /// let request = shop.get("cart", as: Cart.self).serializingErrors { failure in
    ///     failure.response?.status == .notFound ? ShopError.noCart : ShopError(failure)
    /// }
    /// ```
    ///
    /// - Parameter serialize: Called with each failure of the request; returns its error model.
    /// - Returns: A request with that error model.
    public func serializingErrors<Other: ErrorSerializable>(
        by serialize: @escaping @Sendable (RequestFailure) -> Other
    ) -> APIRequest<Model, Other> {
        var request = APIRequest<Model, Other>(client, draft, serializer, errorDecoder)
        request.errorSerializer = serialize
        return request
    }
}

// MARK: - Envelopes

extension APIRequest {
    /// Returns the contents of the envelope as the model, so that a failure does not fail the request.
    ///
    /// A failure in the envelope, a status that is not accepted, and a server that cannot be reached have an outcome.
    /// Only these requests fail: one that is cancelled or could not be built, and one whose model cannot be decoded.
    /// The request fails with ``SluiceError/Code/unsupported`` if neither it nor the client declares an ``Envelope``.
    public func outcome() -> APIRequest<EnvelopeOutcome<Model>, ErrorModel> {
        var draft = draft
        draft.options.modelLocation.isOutcome = true
        return APIRequest<EnvelopeOutcome<Model>, ErrorModel>(
            self,
            draft,
            EnvelopeOutcomeSerializer(serializer: serializer)
        )
    }
}

/// A request with a model and an error model: an ``APIRequest``, or a ``BodyRequest``, which is sent without a body.
public protocol TypedRequest<Model, ErrorModel>: ModifiableRequest {
    /// The type of the model.
    associatedtype Model: Sendable
    /// The type of the error.
    associatedtype ErrorModel: ErrorSerializable

    /// Creates a sender, which sends the request once, when its outcome is first read.
    func sender() -> RequestSender<Model, ErrorModel>
}

extension APIRequest: TypedRequest {}
extension BodyRequest: TypedRequest {}

extension APIRequest: CustomStringConvertible, CustomReflectable, RedactedMirror {}
