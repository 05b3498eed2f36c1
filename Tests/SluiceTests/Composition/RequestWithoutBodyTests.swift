import Foundation
import Sluice
import SluiceTesting
import XCTest

/// Requests with a method that allows a body, sent without one, wherever a request is taken.
final class RequestWithoutBodyTests: XCTestCase {
    private func client() throws -> APIClient {
        let server = try LoopbackServer()
        addTeardownBlock { server.stop() }
        server.on(.post, "/start", .text("started"))
        server.on(.post, "/users/*") { .json(#"{"id":1,"name":"\#($0.target.split(separator: "/").last ?? "")"}"#) }
        server.on(.get, "/users/*", .json(#"{"id":2,"name":"Grace"}"#))
        return APIClient(baseURL: server.url)
    }

    func testBatchesTakeThem() async throws {
        let shop = try client()
        let start = shop.string.post("start")
        let ada = shop.post("users/Ada", as: User.self)
        let (text, user, other) = try await shop.batch(start, ada, shop.get("users/2", as: User.self))
        XCTAssertEqual([text, user.name, other.name], ["started", "Ada", "Grace"])
        let users = try await shop.batch([ada, ada])
        XCTAssertEqual(users.map(\.name), ["Ada", "Ada"])
        let names = try await shop.batch(["a", "b"].map { shop.post("users/\($0)", as: User.self) }).map(\.name)
        XCTAssertEqual(names, ["a", "b"])
        let (response, failure) = await shop.batchSender(ada, shop.string.post("none"), failsFast: false).responses
        XCTAssertEqual(response.request?.method, .post)
        XCTAssertEqual(failure.status, .notFound)
    }

    func testChainsTakeThem() async throws {
        let shop = try client()
        let first = shop.post("users/Ada", as: User.self)
        let names = try await shop.chain(first) { response in
            response.request?.method == .post ? shop.get("users/2", as: User.self) : nil
        }
        .reduce(into: []) { $0.append(try $1.result.get().name) }
        XCTAssertEqual(names, ["Ada", "Grace"])
        let link = ChainLink<String>(shop.string.post("start")) { (try? $0.result.get()) ?? "" }
        let texts = try await shop.chain(link) { _ in nil }.reduce(into: []) { $0.append($1) }
        XCTAssertEqual(texts, ["started"])
    }

    func testGraphsTakeThem() async throws {
        let shop = try client()
        let start = shop.string.post("start")
        var graph = RequestGraph()
        let started = graph.add("start", start)
        let user = graph.add("user", after: started) { text in shop.post("users/\(text)", as: User.self) }
        let results = try await graph.run()
        XCTAssertEqual(try results.value(of: user).name, "started")
    }

    func testTheyAreReadInEachWay() async throws {
        let shop = try client()
        let ada = shop.post("users/Ada", as: User.self)
        var pages: [String] = []
        for try await page in ada.pages(next: { _, _ in nil }) { pages.append(page.name) }
        XCTAssertEqual(pages, ["Ada"])
        let bytes = try await ada.stream().bytes.reduce(into: Data()) { $0 += $1 }
        XCTAssertEqual(String(decoding: bytes, as: UTF8.self), #"{"id":1,"name":"Ada"}"#)
        let file = try await ada.download(to: .temporary).sender().responseURL
        addTeardownBlock { try? FileManager.default.removeItem(at: file) }
        XCTAssertEqual(try Data(contentsOf: file), bytes)
        let response = await withCheckedContinuation { continuation in
            ada.send { continuation.resume(returning: $0) }
        }
        XCTAssertEqual(try response.result.get().name, "Ada")
    }

    func testFunctionsOfUsersTakeThem() async throws {
        func name(of request: some TypedRequest<User, APIError>) async throws -> String {
            try await request.sender().value.name
        }
        let shop = try client()
        let ada = shop.post("users/Ada", as: User.self)
        let names = try await [
            name(of: ada), name(of: shop.get("users/2")), name(of: shop.post("users/b").json(["a": 1])),
        ]
        XCTAssertEqual(names, ["Ada", "Grace", "b"])
    }
}
