import SluiceHTTP

/// The pages of an API's answer, one after the other.
///
/// ```swift
/// let pages = github.codable.get("users", as: [User].self).pages(by: .link)
/// for try await users in pages { print(users.count) }
/// for try await user in pages.items(\.self) { print(user.name) }
/// ```
///
/// A page is asked for when the loop wants it, by a request of its own that meets all steps of the pipeline; leaving the loop, or
/// cancelling its task, cancels the one under way. Iterated twice, they are asked for twice. They end behind the last page and
/// after as many as allowed, and fail with the request's error: as a page does, and with ``SluiceError/Code/paginationLoop`` where a
/// page leads back to one before.
public struct Pages<Model: Sendable, ErrorModel: ErrorSerializable>: AsyncSequence, Sendable {
    /// A page.
    public typealias Element = Model
    /// The request's error.
    public typealias Failure = ErrorModel
    /// Gives the request for the next page, of a page and the request for it; nil behind the last page.
    public typealias Next =
        @Sendable (APIResponse<Model, ErrorModel>, APIRequest<Model, ErrorModel>) throws -> APIRequest<
            Model, ErrorModel
        >?

    enum Way: Sendable {
        case strategy(Pagination<Model>)
        case custom(Next)
    }

    let request: APIRequest<Model, ErrorModel>
    let way: Way
    let limit: Int?
    let prefetch: Bool
    let followsOtherOrigins: Bool

    /// The same pages with all that came of each request: head, body, metrics.
    public var responses: PageResponses<Model, ErrorModel> { PageResponses(pages: self) }

    /// The items of all pages.
    ///
    /// - Parameters:
    ///   - items: Where they are in a page: `\.orders`, `\.self`.
    ///   - limit: How many to take at most, nil for no limit; no page is asked for beyond them, but for one that
    ///     was prefetched.
    /// - Returns: The items in their order.
    public func items<Items: Sequence & SendableMetatype>(
        _ items: @escaping @Sendable (Model) -> Items,
        limit: Int? = nil
    ) -> PageItems<Items.Element, Model, ErrorModel> where Items.Element: Sendable {
        PageItems(pages: self, items: { Array(items($0)) }, limit: limit)
    }

    /// Makes an iterator, which asks for the first page when it is wanted.
    public func makeAsyncIterator() -> Iterator {
        Iterator(walk: PageWalk(self))
    }

    /// Goes from page to page.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var walk: PageWalk<Model, ErrorModel>

        /// The next page, nil behind the last one and after an error.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(ErrorModel) -> Model? {
            try await walk.next(isolation: actor)?.result.get()
        }
    }
}

extension APIRequest {
    /// The pages of its answer, of which this request asks for the first.
    ///
    /// ```swift
    /// let orders = shop.codable.get("orders", as: OrderList.self).query("limit", 100)
    ///     .pages(by: .cursor("after", at: \.nextCursor))
    /// ```
    ///
    /// - Parameters:
    ///   - pagination: How a page leads to the next.
    ///   - limit: How many pages to ask for at most; nil, the default, for as many as there are.
    ///   - prefetch: Whether the next page is asked for while the loop is busy with one; false by default.
    ///   - followsOtherOrigins: Whether a page may lead to another scheme, host or port than the first request's, which fails with
    ///     ``SluiceError/Code/paginationRefused`` by default. Headers that hold secrets are not sent there.
    /// - Returns: The pages; iterating them sends the requests.
    public func pages(
        by pagination: Pagination<Model>,
        limit: Int? = nil,
        prefetch: Bool = false,
        followsOtherOrigins: Bool = false
    ) -> Pages<Model, ErrorModel> {
        Pages(
            request: self,
            way: .strategy(pagination),
            limit: limit,
            prefetch: prefetch,
            followsOtherOrigins: followsOtherOrigins
        )
    }

    /// The pages of its answer, of which this request asks for the first, and a closure for each other.
    ///
    /// ```swift
    /// let found = search.pages { response, request in
    ///     guard let position = try response.json(at: "last.position").string else { return nil }
    ///     return request.header("X-Position", position)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - limit: How many pages to ask for at most; nil, the default, for as many as there are.
    ///   - prefetch: Whether the next page is asked for while the loop is busy with one; false by default.
    ///   - next: Gives the request for the next page, which is sent as it is, wherever it goes; nil behind the last page. What it
    ///     throws fails the pages with ``SluiceError/Code/paginationFailed``.
    /// - Returns: The pages; iterating them sends the requests.
    public func pages(
        limit: Int? = nil,
        prefetch: Bool = false,
        next: @escaping Pages<Model, ErrorModel>.Next
    ) -> Pages<Model, ErrorModel> {
        Pages(request: self, way: .custom(next), limit: limit, prefetch: prefetch, followsOtherOrigins: true)
    }
}
