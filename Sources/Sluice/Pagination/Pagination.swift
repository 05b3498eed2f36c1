import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// How one page of an API's answers leads to the next.
///
/// ```swift
/// github.codable.get("users").pages(by: .link)
/// slack.codable.get("conversations.list").pages(by: .cursor("cursor", at: \.metadata.nextCursor))
/// shop.codable.get("orders").pages(by: .pageNumber(counting: \.orders.count))
/// ```
///
/// Where none of these fits there is `pages(next:)`, with a closure of one's own.
public struct Pagination<Model: Sendable>: Sendable {
    /// How many items a page has; nil where it does not matter.
    let count: (@Sendable (Model) -> Int)?
    let next: @Sendable (PageView<Model>) throws(SluiceError) -> NextPage

    private init(
        counting count: (@Sendable (Model) -> Int)? = nil,
        _ next: @escaping @Sendable (PageView<Model>) throws(SluiceError) -> NextPage
    ) {
        self.count = count
        self.next = next
    }

    /// The `Link` header's relation `next` (RFC 8288), as GitHub and GitLab have it.
    public static var link: Pagination { link("next") }

    /// A relation of the `Link` header (RFC 8288); the page without one is the last.
    public static func link(_ relation: String) -> Pagination {
        Pagination { page in
            page.response.head.links[relation].map { .url($0.target) } ?? .none
        }
    }

    /// A cursor in the page, which is sent as a query item for the next; nil or an empty one ends.
    ///
    /// - Parameters:
    ///   - parameter: The query item's name.
    ///   - cursor: Where the cursor is: `\.metadata.nextCursor`.
    /// - Returns: A way from page to page.
    public static func cursor(
        _ parameter: String,
        at cursor: @escaping @Sendable (Model) -> String?
    ) -> Pagination {
        Pagination { page in
            guard let cursor = cursor(page.model), !cursor.isEmpty else { return .none }
            return .query(parameter, cursor)
        }
    }

    /// The number of items so far, which is sent as a query item; a page without items is the last.
    ///
    /// - Parameters:
    ///   - parameter: The query item's name, `offset` by default.
    ///   - start: What the first page's is, whether the request says so or not; 0 by default.
    ///   - pageSize: How many items a page has, where it is known that one with fewer is the last.
    ///   - count: How many items a page has: `\.orders.count`.
    ///   - total: How many items there are in all, where the page says so.
    /// - Returns: A way from page to page.
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

    /// The page's number, which is sent as a query item; a page without items is the last.
    ///
    /// - Parameters:
    ///   - parameter: The query item's name, `page` by default.
    ///   - first: What the first page's is, whether the request says so or not; 1 by default.
    ///   - pageSize: How many items a page has, where it is known that one with fewer is the last.
    ///   - count: How many items a page has: `\.orders.count`.
    ///   - total: How many items there are in all, where the page says so.
    /// - Returns: A way from page to page.
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

    /// A URL in the page's JSON body, whatever the model is made of; null, an empty one or none ends.
    ///
    /// - Parameter path: Where it is in the body, outside of any envelope: `"paging.next"`.
    /// - Returns: A way from page to page. A body without JSON, and anything but text at the path, fails with
    ///   ``SluiceError/Code/decodingFailed``.
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
                    "The response has no URL of a next page at “\(path)”: there is \(JSON.Kind(other)).",
                    step: .serialization
                )
            }
        }
    }
}

extension PageView {
    /// Whether what is known of the items says that this is the last page.
    ///
    /// - Parameters:
    ///   - pageSize: How many items a page has that is not the last.
    ///   - total: How many items there are.
    ///   - before: How many of them are before the first page.
    /// - Returns: Whether there is nothing to ask for.
    fileprivate func isLast(pageSize: Int?, total: Int?, before: Int = 0) -> Bool {
        if items <= 0 { return true }
        if let pageSize, items < pageSize { return true }
        guard let total else { return false }
        return self.total >= total - min(max(before, 0), max(total, 0))
    }
}
