import SluiceFoundation
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
    typealias Next =
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

    /// Creates an iterator. The first call of its `next(isolation:)` requests the first page. It returns nil after the
    /// last page and after an error.
    public func makeAsyncIterator() -> some AsyncIteratorProtocol<Model, ErrorModel> {
        Iterator(walk: PageWalk(self))
    }

    /// Iterates over the pages.
    package struct Iterator: AsyncIteratorProtocol {
        fileprivate let walk: PageWalk<Model, ErrorModel>

        /// Returns the next page, or nil after the last one and after an error.
        package mutating func next(isolation actor: isolated (any Actor)?) async throws(ErrorModel) -> Model? {
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
    ///     after the last page. A ``SluiceError`` it throws fails the pages, and any other error fails them with
    ///     ``SluiceError/Code/paginationFailed``.
    /// - Returns: The pages. Iterating over them sends the requests.
    public func pages(
        limit: Int? = nil,
        prefetch: Bool = false,
        next:
            @escaping @Sendable (APIResponse<Model, ErrorModel>, APIRequest<Model, ErrorModel>) throws
            -> APIRequest<Model, ErrorModel>?
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

// MARK: - Page walk

/// Iterates over pages. Requests a page when the caller asks for it, or one page ahead if prefetching is enabled.
final class PageWalk<Model: Sendable, ErrorModel: ErrorSerializable> {
    typealias Request = APIRequest<Model, ErrorModel>
    typealias Response = APIResponse<Model, ErrorModel>

    private enum Position {
        /// The next page has not been requested yet.
        case before(Request)
        /// The next page has been requested in advance.
        case prefetched(PendingResponse<Model, ErrorModel>, Request)
        /// The response may lead to another page.
        case after(Response, Request)
        case failed(SluiceError)
        case over
    }

    private let pages: Pages<Model, ErrorModel>
    private var position: Position
    private var history = PageHistory()
    /// The origin of the first page.
    private var origin: HTTPOrigin?
    private var pageCount = 0
    private var itemCount = 0

    init(_ pages: Pages<Model, ErrorModel>) {
        self.pages = pages
        position = pages.limit ?? 1 > 0 ? .before(pages.request) : .over
    }

    /// Returns the next page, or nil after the last one and after an error.
    func next(isolation actor: isolated (any Actor)?) async throws(ErrorModel) -> Response? {
        while true {
            switch position {
            case .over:
                return nil
            case .failed(let error):
                position = .over
                let response = Response(failure: error, of: pages.request.sender())
                // The model of a request for an outcome contains the failure.
                _ = try response.result.get()
                return response
            case .after(let response, let request):
                advance(from: response, to: request)
            case .before(let request):
                return try receive(await request.sender().response, request)
            case .prefetched(let pending, let request):
                return try receive(await pending.value, request)
            }
        }
    }

    private func receive(_ response: Response, _ request: Request) throws(ErrorModel) -> Response {
        do {
            _ = try response.result.get()
        } catch {
            position = .over
            throw error
        }
        pageCount += 1
        guard pageCount < pages.limit ?? .max else {
            position = .over
            return response
        }
        position = .after(response, request)
        if pages.prefetch {
            advance(from: response, to: request)
            if case .before(let request) = position {
                position = .prefetched(PendingResponse(request.sender()), request)
            }
        }
        return response
    }

    /// Determines the request for the page after a response.
    private func advance(from response: Response, to request: Request) {
        do throws(SluiceError) {
            if origin == nil {
                let first = try request.httpRequest()
                origin = first.origin
                try history.add(first, identifiesURLs: identifiesURLs)
            }
            guard let next = try successor(of: response, to: request) else { return position = .over }
            try history.add(next.httpRequest(), identifiesURLs: identifiesURLs)
            position = .before(next)
        } catch {
            position = .failed(error.with(request: response.request, response: response.head))
        }
    }

    /// True if the requests for pages differ by their URLs only. Other parts of a request may change by themselves, such as a signature.
    private var identifiesURLs: Bool { if case .strategy = pages.rule { true } else { false } }

    private func successor(of response: Response, to request: Request) throws(SluiceError) -> Request? {
        switch pages.rule {
        case .custom(let next):
            do {
                return try next(response, request)
            } catch {
                if let error = error as? SluiceError { throw error }
                let reason = "The closure that returns the request for the next page threw an error."
                throw SluiceError(.paginationFailed, reason, step: .recovery, underlyingError: error)
            }
        case .strategy(let pagination):
            guard let origin, case .success(let model) = response.result else { return nil }
            // The model of an outcome contains the failure. Without a response there is no next page.
            guard let received = try? response.received() else { return nil }
            let items = max(0, pagination.count?(model) ?? 0)
            let (total, isOver) = itemCount.addingReportingOverflow(items)
            itemCount = isOver ? .max : total
            let next = try pagination.next(
                PageView(model: model, response: received, number: pageCount, items: items, total: itemCount)
            )
            // Interceptors change the URL of each request, also of the next one.
            let draft = try request.draft.next(
                next,
                from: received.isRedirected ? received.request : request.httpRequest(),
                isRedirected: received.isRedirected,
                origin: origin,
                followsOtherOrigins: pages.followsOtherOrigins,
                for: request.client.pipeline
            )
            return draft.map { APIRequest(request, $0, request.serializer) }
        }
    }
}

/// The requests sent so far, used to detect a page that leads back to an earlier one.
struct PageHistory: Sendable {
    /// A digest of a request, which is short however long the request is. The hashes have random seeds, so that no server can construct
    /// requests with the same digest.
    private struct Digest: Hashable, Sendable {
        let first: Int
        let second: Int

        init(_ request: HTTPRequest, _ headers: HTTPHeaders, _ body: Data?) {
            func hash(_ salt: Int) -> Int {
                var hasher = Hasher()
                hasher.combine(salt)
                hasher.combine(request.method)
                hasher.combine(request.url)
                hasher.combine(headers)
                hasher.combine(body)
                return hasher.finalize()
            }
            first = hash(1)
            second = hash(2)
        }
    }

    private var entries: Set<Digest> = []

    /// Records a request.
    ///
    /// - Parameters:
    ///   - request: The request that is sent next.
    ///   - identifiesURLs: True to compare methods and URLs only.
    /// - Throws: ``SluiceError/Code/paginationLoop`` if the same request has been sent before.
    mutating func add(_ request: HTTPRequest, identifiesURLs: Bool = false) throws(SluiceError) {
        var body: Data?
        switch request.body.source {
        case _ where identifiesURLs: break
        case .none: break
        case .data(let data): body = data
        // A stream may have different content each time.
        case .file, .stream, .deferred, .encoded: return
        }
        guard entries.insert(Digest(request, identifiesURLs ? [:] : request.headers, body)).inserted else {
            throw SluiceError(
                .paginationLoop,
                "The pages form a loop: page \(entries.count) leads back to an earlier page.",
                step: .recovery,
                request: request
            )
        }
    }
}
