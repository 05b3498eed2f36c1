import SluiceHTTP

/// The pages of a paginated response with the details of each request: head, body and metrics. See ``Pages/responses``.
public struct PageResponses<Model: Sendable, ErrorModel: ErrorSerializable>: AsyncSequence, Sendable {
    /// A page.
    public typealias Element = APIResponse<Model, ErrorModel>
    /// The request's error model.
    public typealias Failure = ErrorModel

    let pages: Pages<Model, ErrorModel>

    /// Creates an iterator. The first call of its `next()` requests the first page.
    public func makeAsyncIterator() -> Iterator {
        Iterator(walk: PageWalk(pages))
    }

    /// Iterates over the pages.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var walk: PageWalk<Model, ErrorModel>

        /// Returns the next page, or nil after the last one and after an error.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(ErrorModel) -> APIResponse<Model, ErrorModel>? {
            try await walk.next(isolation: actor)
        }
    }
}

/// The items of all pages of a paginated response. See ``Pages/items(_:limit:)``.
///
/// A page is requested when its first item is needed.
public struct PageItems<Element: Sendable, Model: Sendable, ErrorModel: ErrorSerializable>: AsyncSequence, Sendable {
    /// The request's error model.
    public typealias Failure = ErrorModel

    let pages: Pages<Model, ErrorModel>
    let items: @Sendable (Model) -> [Element]
    let limit: Int?

    /// Creates an iterator. The first call of its `next()` requests the first page.
    public func makeAsyncIterator() -> Iterator {
        Iterator(self)
    }

    /// Iterates over the items.
    public struct Iterator: AsyncIteratorProtocol {
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

        /// Returns the next item, or nil after the last one and after an error.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(ErrorModel) -> Element? {
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
