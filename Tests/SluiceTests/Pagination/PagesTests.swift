import Sluice
import SluiceTesting
import XCTest

final class PagesTests: XCTestCase {
    private struct Page: Codable, Sendable {
        var items: [Int]
        var next: String?
    }

    /// Creates a server with pages of two items: `/items?page=1` to `/items?page=4`.
    private func server() throws -> (LoopbackServer, APIRequest<Page, APIError>) {
        let server = try LoopbackServer()
        server.on("/items") { request in
            let page = Int(request.query?.split(separator: "=").last ?? "") ?? 1
            var headers: HTTPHeaders = [:]
            if page < 4 { headers["Link"] = "</items?page=\(page + 1)>; rel=\"next\"" }
            let items = page > 4 ? [] : [2 * page - 1, 2 * page]
            return .json(encoding: Page(items: items, next: page < 4 ? "\(page + 1)" : nil), headers: headers)
        }
        addTeardownBlock { server.stop() }
        return (server, APIClient(baseURL: server.url).codable.get("items"))
    }

    func testEachStrategyReachesLastPage() async throws {
        let strategies: [(Pagination<Page>, Int)] = [
            (.link, 4), (.cursor("page", at: \.next), 4), (.pageNumber(counting: \.items.count), 5),
            (.pageNumber(counting: \.items.count, total: { _ in 8 }), 4),
        ]
        for (pagination, count) in strategies {
            let (server, request) = try server()
            let items = try await request.pages(by: pagination).items(\.items).reduce(into: []) { $0.append($1) }
            XCTAssertEqual(items, Array(1...8))
            XCTAssertEqual(server.requests.count, count)
        }
    }

    func testOffsetCountsItems() async throws {
        let server = try LoopbackServer()
        server.on("/items") { request in
            let offset = Int(request.query?.split(separator: "=").last ?? "") ?? 0
            return .json(encoding: Array((offset..<7).prefix(3)))
        }
        let request: APIRequest<[Int], APIError> = APIClient(baseURL: server.url).codable.get("items")
        let pages = request.pages(by: .offset(pageSize: 3, counting: \.count))
        let items = try await pages.items(\.self).reduce(into: []) { $0.append($1) }
        XCTAssertEqual(items, Array(0..<7))
        XCTAssertEqual(server.requests.map(\.query), [nil, "offset=3", "offset=6"])
    }

    func testFollowsURLInBody() async throws {
        let server = try LoopbackServer()
        server.on("/v1/a", .json(#"{"items":[1],"links":{"next":"b?x=1"}}"#))
        server.on("/v1/b", .json(#"{"items":[2],"links":{"next":null}}"#))
        let request: APIRequest<Page, APIError> = APIClient(baseURL: "\(server.url)/v1").codable.get("a")
        let items = try await request.pages(by: .nextURL(at: "links.next")).items(\.items).reduce(into: []) {
            $0.append($1)
        }
        XCTAssertEqual(items, [1, 2])
        XCTAssertEqual(server.requests.map(\.target), ["/v1/a", "/v1/b?x=1"])
    }

    func testClosureReturnsNextRequest() async throws {
        let (server, request) = try server()
        let pages = request.pages { response, request in
            guard let next = try response.result.get().next else { return nil }
            return request.header("X-Page", next).query("page", next)
        }
        // The query item is added to the existing ones, and the server reads the last.
        let items = try await pages.items(\.items).reduce(into: []) { $0.append($1) }
        XCTAssertEqual(items, Array(1...8))
        XCTAssertEqual(server.requests.map { $0.headers["X-Page"] }, [nil, "2", "3", "4"])
        struct Broken: Error {}
        do {
            for try await _ in request.pages(next: { _, _ in throw Broken() }) {}
            XCTFail("The sequence did not fail.")
        } catch {
            XCTAssertEqual(error.code, .paginationFailed)
            XCTAssertTrue(error.underlyingError is Broken)
            XCTAssertEqual(error.status, .ok)
        }
    }

    func testRequestsPagesOnDemand() async throws {
        let (server, request) = try server()
        let pages = request.pages(by: .link)
        XCTAssertEqual(server.requestCount, 0)
        var iterator = pages.makeAsyncIterator()
        for count in 1...4 {
            let page = try await iterator.next()
            XCTAssertEqual(page?.items.first, 2 * count - 1)
            XCTAssertEqual(server.requestCount, count)
        }
        let none = try await iterator.next()
        XCTAssertNil(none)
        var items = pages.items(\.items, limit: 3).makeAsyncIterator()
        for item in [1, 2, 3, nil, nil] {
            let next = try await items.next()
            XCTAssertEqual(next, item)
        }
        XCTAssertEqual(server.requestCount, 6)
        let few = try await request.pages(by: .link, limit: 2).reduce(into: []) { $0 += $1.items }
        XCTAssertEqual(few, [1, 2, 3, 4])
        let none2 = try await pages.items(\.items, limit: 0).reduce(0, +)
        let none3 = try await request.pages(by: .link, limit: 0).reduce(0) { $0 + $1.items.count }
        XCTAssertEqual(none2 + none3, 0)
        XCTAssertEqual(server.requestCount, 8)
    }

    func testReturnsWholeResponses() async throws {
        let (_, request) = try server()
        var links: [String?] = []
        for try await response in request.pages(by: .link).responses {
            links.append(response.head?.links["next"]?.target)
        }
        XCTAssertEqual(links, ["/items?page=2", "/items?page=3", "/items?page=4", nil])
    }

    func testPrefetchesNextPageAndCancelsItWhenLoopEnds() async throws {
        let (server, request) = try server()
        var iterator = request.pages(by: .link, prefetch: true).makeAsyncIterator()
        _ = try await iterator.next()
        await server.waitForRequests(2)
        let second = try await iterator.next()
        XCTAssertEqual(second?.items, [3, 4])
        await server.waitForRequests(3)
        let items = try await request.pages(by: .link, prefetch: true).items(\.items).reduce(into: []) { $0.append($1) }
        XCTAssertEqual(items, Array(1...8))

        let slow = try LoopbackServer()
        slow.on("/items", .json(#"{"items":[1],"next":"2"}"#), .hang)
        let slowRequest: APIRequest<Page, APIError> = APIClient(baseURL: slow.url).codable.get("items")
        for try await page in slowRequest.pages(by: .cursor("page", at: \.next), prefetch: true) {
            XCTAssertEqual(page.items, [1])
            await slow.waitForRequests(2)
            break
        }
        await slow.waitForOpenConnections { $0 == 0 }
    }

    func testFailedPageEndsSequence() async throws {
        let server = try LoopbackServer()
        server.on("/items", .json(#"{"items":[1],"next":"2"}"#), .json(#"{"message":"No"}"#, status: .forbidden))
        for prefetch in [false, true] {
            let request: APIRequest<Page, ShopError> = APIClient(baseURL: server.url).codable.get("items")
            var pages = request.pages(by: .cursor("page", at: \.next), prefetch: prefetch).makeAsyncIterator()
            do {
                _ = try await pages.next(isolation: nil)
                _ = try await pages.next(isolation: nil)
                XCTFail("The second page did not fail.")
            } catch {
                XCTAssertEqual(error.message, "No")
            }
            let none = try await pages.next()
            XCTAssertNil(none)
            server.on("/items", .json(#"{"items":[1],"next":"2"}"#), .json(#"{"message":"No"}"#, status: .forbidden))
        }
    }

    func testLoopIsFoundInSpiteOfHeadersThatChange() async throws {
        let server = try LoopbackServer()
        server.on("/items", .json(#"{"items":[1],"next":"2"}"#))
        let nonce = Shared(0)
        let client = APIClient(baseURL: server.url) {
            $0.requestMapping = { request in
                var request = request
                request.headers["X-Nonce"] = "\(nonce.change { $0 += 1; return $0 })"
                return request
            }
        }
        let request: APIRequest<Page, APIError> = client.codable.get("items")
        var count = 0
        do {
            for try await _ in request.pages(by: .cursor("page", at: \.next)) { count += 1 }
            XCTFail("The sequence did not fail.")
        } catch {
            XCTAssertEqual(error.code, .paginationLoop)
        }
        XCTAssertEqual(count, 2)
    }

    func testRepeatedPageIsLoopError() async throws {
        let server = try LoopbackServer()
        server.on("/items", .json(#"{"items":[1],"next":"2"}"#))
        for prefetch in [false, true] {
            let request: APIRequest<Page, APIError> = APIClient(baseURL: server.url).codable.get("items")
            var count = 0
            do {
                for try await _ in request.pages(by: .cursor("page", at: \.next), prefetch: prefetch) { count += 1 }
                XCTFail("The sequence did not fail.")
            } catch {
                XCTAssertEqual(error.code, .paginationLoop)
                XCTAssertEqual(error.status, .ok)
            }
            XCTAssertEqual(count, 2)
        }
        XCTAssertEqual(server.requestCount, 4)
    }

    /// The model of a request for an outcome contains errors.
    func testLoopOfOutcomesIsAnOutcome() async throws {
        let server = try LoopbackServer()
        server.on("/items", .json(#"{"code":0,"data":[1]}"#, headers: ["Link": "</items>; rel=next"]))
        let client = APIClient(baseURL: server.url) {
            $0.envelope = Envelope(status: "code", success: 0, payload: "data")
        }
        let request = client.codable.get("items", as: [Int].self).outcome()
        var failures: [SluiceError.Code?] = []
        for try await page in request.pages(by: .link) { failures.append(page.failure?.code) }
        XCTAssertEqual(failures, [nil, .paginationLoop])
        // A failure is given once.
        server.on("/items", .drop)
        var codes: [SluiceError.Code?] = []
        for try await page in request.pages(by: .link) { codes.append(page.failure?.code) }
        XCTAssertEqual(codes, [.connectionLost])
    }

    func testLinkOfPageThatRedirectHasMovedIsRefused() async throws {
        let other = try LoopbackServer()
        let server = try LoopbackServer()
        server.on("/items", .redirect(to: "\(other.url)/items"))
        other.on("/items", .json(#"{"items":[0]}"#, headers: ["Link": "<\(server.url)/keys>; rel=next"]))
        let request: APIRequest<Page, APIError> = APIClient(baseURL: server.url).codable.get("items")
        do {
            for try await _ in request.pages(by: .link) {}
            XCTFail("The sequence did not fail.")
        } catch {
            XCTAssertEqual(error.code, .paginationRefused)
        }
        XCTAssertEqual(server.requestCount, 1)
    }

    func testHostSetByInterceptorIsNoOtherOrigin() async throws {
        struct Replica: RequestAdapter {
            let authority: String
            func adapt(_ request: inout HTTPRequest, context: RequestContext) { request.authority = authority }
        }
        for link in ["http://api.example/more", "/more", "more"] {
            let server = try LoopbackServer()
            server.on("/items", .json(#"{"items":[0]}"#, headers: ["Link": "<\(link)>; rel=next"]))
            server.on("/more", .json(#"{"items":[1]}"#))
            let client = APIClient(baseURL: "http://api.example") {
                $0.requestInterceptors = [Replica(authority: server.authority)]
            }
            let request: APIRequest<Page, APIError> = client.codable.get("items")
            let items = try await request.pages(by: .link).items(\.items).reduce(into: []) { $0.append($1) }
            XCTAssertEqual(items, [0, 1], link)
        }
    }

    func testFollowsOtherOriginOnlyIfAllowed() async throws {
        let (other, _) = try server()
        let server = try LoopbackServer()
        server.on("/items", .json(#"{"items":[0]}"#, headers: ["Link": "<\(other.url)/items?page=4>; rel=next"]))
        let client = APIClient(baseURL: server.url) { $0.headers["Authorization"] = "secret" }
        let request: APIRequest<Page, APIError> = client.codable.get("items")
        do {
            for try await _ in request.pages(by: .link) {}
            XCTFail("The sequence did not fail.")
        } catch {
            XCTAssertEqual(error.code, .paginationRefused)
        }
        XCTAssertEqual(other.requestCount, 0)
        let pages = request.pages(by: .link, followsOtherOrigins: true)
        let items = try await pages.items(\.items).reduce(into: []) { $0.append($1) }
        XCTAssertEqual(items, [0, 7, 8])
        XCTAssertNil(other.requests.first?.headers["Authorization"])
        XCTAssertEqual(server.requests.last?.headers["Authorization"], "secret")
    }
}
