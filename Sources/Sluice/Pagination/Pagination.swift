import SluiceFoundation
import SluiceHTTP

/// A strategy that finds the next page from the current one.
///
/// ```swift
/// github.get("users", as: [User].self).pages(by: .link)
/// slack.get("conversations.list", as: Channels.self).pages(by: .cursor("cursor", at: \.metadata.nextCursor))
/// shop.get("orders", as: OrderPage.self).pages(by: .pageNumber(counting: \.orders.count))
/// ```
///
/// If none of these fits, pass a closure to `pages(next:)`.
public struct Pagination<Model: Sendable>: Sendable {
    /// Returns the number of items on a page; nil if the strategy does not count items.
    let count: (@Sendable (Model) -> Int)?
    let next: @Sendable (PageView<Model>) throws(SluiceError) -> NextPage

    private init(
        counting count: (@Sendable (Model) -> Int)? = nil,
        _ next: @escaping @Sendable (PageView<Model>) throws(SluiceError) -> NextPage
    ) {
        self.count = count
        self.next = next
    }

    /// The `next` relation of the `Link` header (RFC 8288), as used by GitHub and GitLab.
    public static var link: Pagination { link("next") }

    /// A relation of the `Link` header (RFC 8288). A page without it is the last.
    public static func link(_ relation: String) -> Pagination {
        Pagination { page in
            page.response.head.links[relation].map { .url($0.target) } ?? .none
        }
    }

    /// A UUID in the page, sent as a query item with the next request. A page whose UUID is nil is the last.
    @_disfavoredOverload
    public static func cursor(_ parameter: String, at cursor: @escaping @Sendable (Model) -> UUID?) -> Pagination {
        self.cursor(parameter) { cursor($0)?.uuidString }
    }

    /// A cursor in the page, sent as a query item with the next request. A page whose cursor is nil or empty is the
    /// last.
    ///
    /// - Parameters:
    ///   - parameter: The query item's name.
    ///   - cursor: The cursor of a page, such as a string or a number: `\.metadata.nextCursor`, `\.orders.last?.id`.
    /// - Returns: A pagination strategy.
    public static func cursor<Cursor: LosslessStringConvertible & SendableMetatype>(
        _ parameter: String,
        at cursor: @escaping @Sendable (Model) -> Cursor?
    ) -> Pagination {
        Pagination { page in
            guard let cursor = cursor(page.model)?.description, !cursor.isEmpty else { return .none }
            return .query(parameter, cursor)
        }
    }

    /// The number of items so far, sent as a query item. A page without items is the last.
    ///
    /// - Parameters:
    ///   - parameter: The query item's name, `offset` by default.
    ///   - start: The offset of the first page, even if the request does not send it; 0 by default.
    ///   - pageSize: The number of items on a full page. A page with fewer items is then the last.
    ///   - count: The number of items on a page: `\.orders.count`.
    ///   - total: The total number of items, if the page contains it.
    /// - Returns: A pagination strategy.
    public static func offset(
        _ parameter: String = "offset",
        from start: Int = 0,
        pageSize: Int? = nil,
        counting count: @escaping @Sendable (Model) -> Int,
        total: @escaping @Sendable (Model) -> Int? = { _ in nil }
    ) -> Pagination {
        Pagination(counting: count) { page in
            let (offset, isOver) = start.addingReportingOverflow(page.total)
            if isOver || page.isLast(pageSize: pageSize, total: total(page.model), before: start) { return .none }
            return .query(parameter, "\(offset)")
        }
    }

    /// The page number, sent as a query item. A page without items is the last.
    ///
    /// - Parameters:
    ///   - parameter: The query item's name, `page` by default.
    ///   - first: The number of the first page, even if the request does not send it; 1 by default.
    ///   - pageSize: The number of items on a full page. A page with fewer items is then the last.
    ///   - count: The number of items on a page: `\.orders.count`.
    ///   - total: The total number of items, if the page contains it.
    /// - Returns: A pagination strategy.
    public static func pageNumber(
        _ parameter: String = "page",
        from first: Int = 1,
        pageSize: Int? = nil,
        counting count: @escaping @Sendable (Model) -> Int,
        total: @escaping @Sendable (Model) -> Int? = { _ in nil }
    ) -> Pagination {
        Pagination(counting: count) { page in
            let (number, isOver) = first.addingReportingOverflow(page.number)
            if isOver || page.isLast(pageSize: pageSize, total: total(page.model)) { return .none }
            return .query(parameter, "\(number)")
        }
    }

    /// A URL in the page, or a reference relative to the page's URL. A page whose URL is nil or empty is the last.
    ///
    /// - Parameter url: The URL of the next page: `\.paging.next`.
    /// - Returns: A pagination strategy.
    public static func nextURL(at url: @escaping @Sendable (Model) -> String?) -> Pagination {
        Pagination { page in
            guard let url = url(page.model), !url.isEmpty else { return .none }
            return .url(url)
        }
    }

    /// A URL in the page's JSON body, independent of the model. A page whose URL is null, empty or absent is the last.
    ///
    /// - Parameter path: The path to the URL, from the root of the body and outside any envelope: `"paging.next"`.
    /// - Returns: A pagination strategy. A body that is not JSON, or a value at the path that is not a string, fails
    ///   with ``SluiceError/Code/decodingFailed``.
    public static func nextURL(at path: JSONPath) -> Pagination {
        Pagination { page throws(SluiceError) in
            let body: JSON
            do throws(JSONSyntaxError) {
                body = try JSON(parsing: page.response.body)
            } catch {
                throw .undecodable(DecodingFailure(JSON.self, body: page.response.body, error: error))
            }
            switch body[path: path] {
            case .null: return .none
            case .string(let url): return url.isEmpty ? .none : .url(url)
            case let other:
                throw SluiceError(
                    .decodingFailed,
                    "The response has no URL of a next page at “\(path)”: the value is \(JSON.Kind(other)).",
                    step: .serialization
                )
            }
        }
    }
}

extension PageView {
    /// Returns true if the item counts show that this is the last page.
    ///
    /// - Parameters:
    ///   - pageSize: The number of items on a full page.
    ///   - total: The total number of items.
    ///   - before: The number of items before the first page.
    /// - Returns: True if there is no further page.
    fileprivate func isLast(pageSize: Int?, total: Int?, before: Int = 0) -> Bool {
        if items <= 0 { return true }
        if let pageSize, items < pageSize { return true }
        guard let total else { return false }
        return self.total >= total - min(max(before, 0), max(total, 0))
    }
}
