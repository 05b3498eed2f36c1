extension APIClient {
    /// Requests of one model, each picked when the response to the one before is known.
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
    /// Each is sent by its own client, whichever this is asked of. For the pages of a list there is
    /// ``APIRequest/pages(by:limit:prefetch:followsOtherOrigins:)``.
    ///
    /// - Parameters:
    ///   - first: The first request.
    ///   - limit: How many requests to send at most, at least 1; 100 by default. Where the chain goes on behind them it fails with
    ///     ``SluiceError/Code/chainTooLong``.
    ///   - next: Picks the next request of a response, which may be a failure; nil for none. What it throws fails the chain.
    /// - Returns: The responses; iterating them sends the requests.
    public func chain<Model: Sendable, ErrorModel: ErrorSerializable>(
        _ first: APIRequest<Model, ErrorModel>,
        limit: Int = 100,
        next: @escaping @Sendable (APIResponse<Model, ErrorModel>) async throws -> APIRequest<Model, ErrorModel>?
    ) -> Chain<APIResponse<Model, ErrorModel>> {
        Chain(ChainLink(first), limit: limit) { try await next($0).map { ChainLink($0) } }
    }

    /// Requests of any models, each picked when the outcome of the one before is known.
    ///
    /// - Parameters:
    ///   - first: The first request, and what its outcome is in the chain.
    ///   - limit: How many requests to send at most, at least 1; 100 by default.
    ///   - next: Picks the next request of an outcome; nil for none. What it throws fails the chain.
    /// - Returns: The outcomes; iterating them sends the requests.
    public func chain<Outcome: Sendable>(
        _ first: ChainLink<Outcome>,
        limit: Int = 100,
        next: @escaping Chain<Outcome>.Next
    ) -> Chain<Outcome> {
        Chain(first, limit: limit, next: next)
    }
}
