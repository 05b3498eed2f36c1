import SluiceFoundation
import SluiceHTTP

// Names and arguments of other libraries, and those that people try first. None can be called: each says what to write.

extension Pages {
    /// Unavailable: the message says what to write.
    @available(
        *,
        unavailable,
        message: "Collect the pages in a loop: \"for try await page in pages { all.append(page) }\"."
    )
    public func all() async throws(ErrorModel) -> [Model] { [] }

    /// Unavailable: the message says what to write.
    @available(
        *,
        unavailable,
        message: "Say where a page has its items: \"items(\\.users)\", or \"items(\\.self)\" for pages that are arrays."
    )
    public func items() -> Self { self }
}

extension Pagination {
    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write the text of the URL: \"nextURL(at: { $0.next?.absoluteString })\".")
    public static func nextURL(at url: (Model) -> URL?) -> Pagination { .link }

    /// Unavailable: the message says what to write.
    @available(
        *,
        unavailable,
        message: "Count the items, because a page without items is the last: \"pageNumber(counting: \\.orders.count)\"."
    )
    public static func pageNumber(_ parameter: String = "page", from first: Int = 1, pageSize: Int? = nil) -> Pagination
    { .link }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"from: 1\": \"pageNumber(from: 1, counting: \\.orders.count)\".")
    public static func pageNumber(
        _ parameter: String = "page",
        startingAt first: Int,
        pageSize: Int? = nil,
        counting count: (Model) -> Int = { _ in 0 }
    ) -> Pagination { .link }

    /// Unavailable: the message says what to write.
    @available(
        *,
        unavailable,
        message: "Count the items, because a page without items is the last: \"offset(counting: \\.orders.count)\"."
    )
    public static func offset(_ parameter: String = "offset", from start: Int = 0, pageSize: Int? = nil) -> Pagination {
        .link
    }
}
