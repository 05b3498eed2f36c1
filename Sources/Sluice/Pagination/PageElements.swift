import SluiceHTTP

/// The pages of an API's answer with all that came of each request: head, body, metrics. See ``Pages/responses``.
public struct PageResponses<Model: Sendable, ErrorModel: ErrorSerializable>: AsyncSequence, Sendable {
    /// A page.
    public typealias Element = APIResponse<Model, ErrorModel>
    /// The request's error.
    public typealias Failure = ErrorModel

    let pages: Pages<Model, ErrorModel>

    /// Makes an iterator, which asks for the first page when it is wanted.
    public func makeAsyncIterator() -> Iterator {
        Iterator(walk: PageWalk(pages))
    }

    /// Goes from page to page.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var walk: PageWalk<Model, ErrorModel>

        /// The next page, nil behind the last one and after an error.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(ErrorModel) -> APIResponse<Model, ErrorModel>? {
            try await walk.next(isolation: actor)
        }
    }
}

/// The items of an API's answer, over all of its pages. See ``Pages/items(_:limit:)``.
///
/// The next page is asked for when an item of it is wanted.
public struct PageItems<Element: Sendable, Model: Sendable, ErrorModel: ErrorSerializable>: AsyncSequence, Sendable {
    /// The request's error.
    public typealias Failure = ErrorModel

    let pages: Pages<Model, ErrorModel>
    let items: @Sendable (Model) -> [Element]
    let limit: Int?

    /// Makes an iterator, which asks for the first page when an item is wanted.
    public func makeAsyncIterator() -> Iterator {
        Iterator(self)
    }

    /// Goes from item to item.
    public struct Iterator: AsyncIteratorProtocol {
        /// Nil once no further page is wanted.
        private var walk: PageWalk<Model, ErrorModel>?
        private let items: @Sendable (Model) -> [Element]
        private var left: Int?
        private var page: ArraySlice<Element> = []

        fileprivate init(_ sequence: PageItems) {
            items = sequence.items
            left = sequence.limit
            walk = (sequence.limit ?? 1) > 0 ? PageWalk(sequence.pages) : nil
        }

        /// The next item, nil behind the last one and after an error.
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
