import Sluice
import SluiceTesting
import XCTest

/// The article on pages.
final class PaginationGuideTests: XCTestCase {
    struct Post: Decodable, Sendable {
        let title: String
        let id: Int?
    }

    struct PostList: Decodable, Sendable {
        let posts: [Post]
        let nextCursor: String?
        let total: Int?
    }

    protocol PostSource: Sendable {
        func posts() -> any AsyncSequence<Post, APIError> & Sendable
    }

    struct Blog: PostSource {
        let client: APIClient

        func posts() -> any AsyncSequence<Post, APIError> & Sendable {
            client.get("posts", as: PostList.self).pages(by: .cursor("after", at: \.posts.last?.id)).items(\.posts)
        }
    }

    func testPagesBehindAProtocol() async throws {
        let server = try LoopbackServer()
        server.on("/posts") { request in
            switch request.query {
            case nil: .json(#"{"posts":[{"title":"One","id":7},{"title":"Two","id":8}]}"#)
            case "after=8": .json(#"{"posts":[{"title":"Three","id":9}]}"#)
            default: .json(#"{"posts":[]}"#)
            }
        }
        let source: any PostSource = Blog(client: APIClient(baseURL: server.url))
        var titles: [String] = []
        for try await post in source.posts() { titles.append(post.title) }
        XCTAssertEqual(titles, ["One", "Two", "Three"])
    }

    @MainActor final class Feed {
        private(set) var users: [User] = []
        private var isLoading = false
        private var pages: Pages<[User], APIError>.AsyncIterator

        init(_ github: APIClient) {
            pages = github.get("users", as: [User].self).pages(by: .link).makeAsyncIterator()
        }

        func loadMore() async throws(APIError) {
            if isLoading { return }
            isLoading = true
            var iterator = pages
            defer { (pages, isLoading) = (iterator, false) }
            users += try await iterator.next(isolation: #isolation) ?? []
        }
    }

    @MainActor func testOnePageAtATime() async throws {
        let server = try LoopbackServer()
        let next: HTTPHeaders = ["Link": "<?page=2>; rel=next"]
        server.on("/users", .json(#"[{"id":1,"name":"Ada"}]"#, headers: next), .json(#"[{"id":2,"name":"Bo"}]"#))
        let feed = Feed(APIClient(baseURL: server.url))
        for count in [1, 2, 2] {
            try await feed.loadMore()
            XCTAssertEqual(feed.users.count, count)
        }
        XCTAssertEqual(server.requestCount, 2)
    }

    func testLinks() async throws {
        let server = try LoopbackServer()
        let next: HTTPHeaders = ["Link": "<?page=2>; rel=next"]
        server.on("/users", .json(#"[{"id":1,"name":"Ada"}]"#, headers: next), .json("[]"))
        let github = APIClient(baseURL: server.url)
        let users = github.get("users", as: [User].self).pages(by: .link)
        for try await user in users.items(\.self) {
            print(user.name)
        }
        XCTAssertEqual(server.requestCount, 2)
        server.on("/users", .json("[]", headers: ["Link": #"<?page=9>; rel="last"; title="End""#]))
        let response = await github.codable.get("users", as: [User].self).sender().response
        if let last = response.head?.links["last"] { print(last.target, last.relations, last["title"] ?? "") }
        XCTAssertEqual(response.head?.links["last"]?.target, "?page=9")
    }

    func testStrategies() async throws {
        let server = try LoopbackServer()
        server.on("/posts") { request in
            let isFirst = request.query == nil || request.query == "per_page=50"
            let isSecond = !isFirst || request.headers.contains("X-After")
            return .json(
                isSecond
                    ? #"{"posts":[],"total":1}"#
                    : #"{"posts":[{"title":"One"}],"nextCursor":"c1","paging":{"next":"posts?x"},"total":9}"#
            )
        }
        let blog = APIClient(baseURL: server.url)
        let posts = blog.codable.get("posts", as: PostList.self)
        let byCursor = posts.pages(by: .cursor("after", at: \.nextCursor))
        let byOffset = posts.pages(by: .offset(counting: \.posts.count, total: \.total))
        let byNumber = posts.query("per_page", 50).pages(by: .pageNumber(pageSize: 50, counting: \.posts.count))
        let byURL = posts.pages(by: .nextURL(at: "paging.next"))
        let pages = posts.pages { response, request in
            guard let cursor = try response.result.get().nextCursor else { return nil }
            return request.header("X-After", cursor)
        }
        var counts: [Int] = []
        for way in [byCursor, byOffset, byNumber, byURL, pages] {
            counts.append(try await way.reduce(0) { count, _ in count + 1 })
        }
        XCTAssertEqual(counts, [2, 2, 1, 2, 2])

        for try await page in byCursor { print(page.posts.count) }
        for try await response in byCursor.responses { print(response.head?.headers["X-Remaining"] ?? "") }
        for try await post in byCursor.items(\.posts, limit: 100) { print(post.title) }
        let few = posts.pages(by: .link, limit: 3, prefetch: true)
        let count = try await few.reduce(0) { count, _ in count + 1 }
        XCTAssertEqual(count, 1)
    }
}
