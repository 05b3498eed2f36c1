import SluiceHTTP

/// The pages of a paginated response.
///
/// ```swift
/// let pages = github.codable.get("users", as: [User].self).pages(by: .link)
/// for try await users in pages { print(users.count) }
/// for try await user in pages.items(\.self) { print(user.name) }
/// ```
///
/// A page is requested when the loop asks for it. Each page is a separate request that passes through all steps of the
/// pipeline. Leaving the loop or cancelling its task cancels the request in progress. Iterating twice sends the
/// requests twice. The pages end after the last page, or at the limit. They fail with the request's error model when a
/// page fails, and with ``SluiceError/Code/paginationLoop`` when a page leads back to an earlier one.
public struct Pages<Model: Sendable, ErrorModel: ErrorSerializable>: AsyncSequence, Sendable {
    /// Creates the request for the next page from a page and its request. Returns nil after the last page.
    public typealias Next =
        @Sendable (APIResponse<Model, ErrorModel>, APIRequest<Model, ErrorModel>) throws -> APIRequest<
            Model, ErrorModel
        >?

    /// The rule that finds the next page.
    enum Rule: Sendable {
        case strategy(Pagination<Model>)
        case custom(Next)
    }

    let request: APIRequest<Model, ErrorModel>
    let rule: Rule
    let limit: Int?
    let prefetch: Bool
    let followsOtherOrigins: Bool

    /// The responses of the same pages, each with head, body and metrics.
    public var responses: some AsyncSequence<APIResponse<Model, ErrorModel>, ErrorModel> & Sendable {
        PageResponses(pages: self)
    }

    /// The items of all pages.
    ///
    /// - Parameters:
    ///   - items: The items of a page: `\.orders`, `\.self`.
    ///   - limit: The maximum number of items; nil for no limit. No page is requested after the limit is reached,
    ///     except one that was prefetched.
    /// - Returns: The items, in order.
    public func items<Items: Sequence & SendableMetatype>(
        _ items: @escaping @Sendable (Model) -> Items,
        limit: Int? = nil
    ) -> some AsyncSequence<Items.Element, ErrorModel> & Sendable where Items.Element: Sendable {
        PageItems(pages: self, items: { Array(items($0)) }, limit: limit)
    }

    /// Creates an iterator. The first call of its `next()` requests the first page.
    public func makeAsyncIterator() -> Iterator {
        Iterator(walk: PageWalk(self))
    }

    /// Iterates over the pages.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let walk: PageWalk<Model, ErrorModel>

        /// Returns the next page, or nil after the last one and after an error.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(ErrorModel) -> Model? {
            try await walk.next(isolation: actor)?.result.get()
        }
    }
}

extension TypedRequest {
    /// The pages of the response. This request fetches the first page.
    ///
    /// ```swift
    /// let orders = shop.codable.get("orders", as: OrderList.self).query("limit", 100)
    ///     .pages(by: .cursor("after", at: \.nextCursor))
    /// ```
    ///
    /// - Parameters:
    ///   - pagination: The strategy that finds the next page.
    ///   - limit: The maximum number of pages; nil, the default, for no limit.
    ///   - prefetch: True to request the next page while the loop handles the current one; false by default.
    ///   - followsOtherOrigins: True if a page may lead to another scheme, host or port than that of the first request,
    ///     and a page from there back to the first one. By default such a page fails with
    ///     ``SluiceError/Code/paginationRefused``. Headers that contain secrets and the request's credentials are not
    ///     sent to another origin.
    /// - Returns: The pages. Iterating over them sends the requests.
    public func pages(
        by pagination: Pagination<Model>,
        limit: Int? = nil,
        prefetch: Bool = false,
        followsOtherOrigins: Bool = false
    ) -> Pages<Model, ErrorModel> {
        Pages(
            request: sender().request,
            rule: .strategy(pagination),
            limit: limit,
            prefetch: prefetch,
            followsOtherOrigins: followsOtherOrigins
        )
    }

    /// The pages of the response. This request fetches the first page, and a closure creates the request for each
    /// further page.
    ///
    /// ```swift
    /// let found = search.pages { response, request in
    ///     guard let position = try response.json(at: "last.position").string else { return nil }
    ///     return request.header("X-Position", position)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - limit: The maximum number of pages; nil, the default, for no limit.
    ///   - prefetch: True to request the next page while the loop handles the current one; false by default.
    ///   - next: Called to create the request for the next page, which is sent unchanged to any origin; returns nil
    ///     after the last page. An error it throws fails the pages with ``SluiceError/Code/paginationFailed``.
    /// - Returns: The pages. Iterating over them sends the requests.
    public func pages(
        limit: Int? = nil,
        prefetch: Bool = false,
        next: @escaping Pages<Model, ErrorModel>.Next
    ) -> Pages<Model, ErrorModel> {
        Pages(
            request: sender().request,
            rule: .custom(next),
            limit: limit,
            prefetch: prefetch,
            followsOtherOrigins: true
        )
    }
}

/// The responses of a paginated request: ``Pages/responses``.
private struct PageResponses<Model: Sendable, ErrorModel: ErrorSerializable>: AsyncSequence, Sendable {
    let pages: Pages<Model, ErrorModel>

    func makeAsyncIterator() -> Iterator {
        Iterator(walk: PageWalk(pages))
    }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate let walk: PageWalk<Model, ErrorModel>

        mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(ErrorModel) -> APIResponse<Model, ErrorModel>? {
            try await walk.next(isolation: actor)
        }
    }
}

/// The items of all pages: ``Pages/items(_:limit:)``. A page is requested when its first item is needed.
private struct PageItems<Element: Sendable, Model: Sendable, ErrorModel: ErrorSerializable>: AsyncSequence, Sendable {
    let pages: Pages<Model, ErrorModel>
    let items: @Sendable (Model) -> [Element]
    let limit: Int?

    func makeAsyncIterator() -> Iterator {
        Iterator(self)
    }

    struct Iterator: AsyncIteratorProtocol {
        /// The page iteration; nil once no further page is needed.
        private var walk: PageWalk<Model, ErrorModel>?
        private let items: @Sendable (Model) -> [Element]
        private var left: Int?
        private var page: ArraySlice<Element> = []

        fileprivate init(_ sequence: PageItems) {
            items = sequence.items
            left = sequence.limit
            walk = (sequence.limit ?? 1) > 0 ? PageWalk(sequence.pages) : nil
        }

        mutating func next(isolation actor: isolated (any Actor)?) async throws(ErrorModel) -> Element? {
            while true {
                if let item = page.popFirst() { return item }
                guard let model = try await walk?.next(isolation: actor)?.result.get() else {
                    walk = nil
                    return nil
                }
                page = items(model)[...]
                guard let left else { continue }
                page = page.prefix(left)
                self.left = left - page.count
                if left <= page.count { walk = nil }
            }
        }
    }
}
