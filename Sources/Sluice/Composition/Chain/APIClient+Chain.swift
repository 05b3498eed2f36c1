extension APIClient {
    /// Creates a chain of requests with the same model, each chosen from the response to the one before.
    ///
    /// ```swift
    /// let order: APIRequest<Order, ShopError> = shop.codable.post("orders")
    /// let chain = shop.chain(order) { response in
    ///     guard let order = try? response.result.get(), order.isPending else { return nil }
    ///     return shop.codable.get("orders/\(order.id)")
    /// }
    /// for try await response in chain { print(response.status ?? 0) }
    /// ```
    ///
    /// Each request is sent by its own client, not necessarily by this one. For the pages of a list, use
    /// ``APIRequest/pages(by:limit:prefetch:followsOtherOrigins:)``.
    ///
    /// - Parameters:
    ///   - first: The first request.
    ///   - limit: The maximum number of requests, at least 1; 100 by default. A longer chain fails with
    ///     ``SluiceError/Code/chainTooLong``.
    ///   - next: Returns the next request for a response, which may be a failure; nil to end the chain. An error it
    ///     throws fails the chain.
    /// - Returns: The responses; iterating over them sends the requests.
    public func chain<Model: Sendable, ErrorModel: ErrorSerializable>(
        _ first: APIRequest<Model, ErrorModel>,
        limit: Int = 100,
        next: @escaping @Sendable (APIResponse<Model, ErrorModel>) async throws -> APIRequest<Model, ErrorModel>?
    ) -> Chain<APIResponse<Model, ErrorModel>> {
        Chain(ChainLink(first), limit: limit) { try await next($0).map { ChainLink($0) } }
    }

    /// Creates a chain of requests with any models, each chosen from the outcome of the one before.
    ///
    /// - Parameters:
    ///   - first: The first request, and its conversion to an outcome of the chain.
    ///   - limit: The maximum number of requests, at least 1; 100 by default.
    ///   - next: Returns the next request for an outcome; nil to end the chain. An error it throws fails the chain.
    /// - Returns: The outcomes; iterating over them sends the requests.
    public func chain<Outcome: Sendable>(
        _ first: ChainLink<Outcome>,
        limit: Int = 100,
        next: @escaping Chain<Outcome>.Next
    ) -> Chain<Outcome> {
        Chain(first, limit: limit, next: next)
    }
}
