import Sluice
import SluiceTesting
import XCTest

/// Query items that an interceptor adds.
final class AddedQueryTests: XCTestCase {
    private struct Adding: RequestAdapter {
        let items: [(name: String, value: String)]

        func adapt(_ request: inout HTTPRequest, context: RequestContext) {
            for item in items { request.addQuery(item.name, item.value) }
        }
    }

    func testItemsOfAnyCharactersArriveUnchanged() async throws {
        let stubs = StubTransport()
        stubs.on(.any, .text("fine"))
        let client = APIClient(baseURL: "https://shop.example") { $0.transport = stubs }
        var random = SeededGenerator(seed: 23)
        let characters = Array("aZ09-._~ &=?#/%+;:@!$'()*,[]{}|\\\"<>^`éß世\u{301}\u{1F600}\r\n\t\u{0}")
        func text(_ lengths: ClosedRange<Int>) -> String {
            String(
                (0..<Int.random(in: lengths, using: &random)).map { _ in
                    characters[Int.random(in: characters.indices, using: &random)]
                }
            )
        }
        for path in ["p", "p?x=1", "p?x", "p?"] {
            for _ in 0..<50 {
                let items = (0..<3).map { _ in (name: text(1...6), value: text(0...6)) }
                _ = try await client.string.get(path).intercept(Adding(items: items)).sender().value
                let sent = try XCTUnwrap(stubs.requests.last)
                let received = sent.queryItems.dropFirst(path.contains("x") ? 1 : 0)
                XCTAssertEqual(received.map(\.name), items.map(\.name), sent.url)
                XCTAssertEqual(received.map(\.value), items.map(\.value), sent.url)
                XCTAssertEqual(sent.path, "/p")
            }
        }
    }
}
