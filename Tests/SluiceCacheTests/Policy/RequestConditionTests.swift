import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceCache

/// Conditional requests of the caller, answered from fresh responses (RFC 9111 §4.3.2, RFC 9110 §13).
@Suite struct RequestConditionTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let stored: String
        var status: HTTPStatus = 200
        let request: String
        let answer: String

        var testDescription: String { "\(stored) \(status) | \(request)" }
    }

    private static let dated = "Last-Modified: {-1000}"

    @Test(arguments: [
        // RFC 9110 §13.1.2, with the weak comparison (§8.8.3.2).
        Row(stored: "ETag: \"a\"", request: "If-None-Match: \"a\"", answer: "304"),
        Row(stored: "ETag: \"a\"", request: "If-None-Match: W/\"a\"", answer: "304"),
        Row(stored: "ETag: W/\"a\"", request: "If-None-Match: \"a\"", answer: "304"),
        Row(stored: "ETag: \"a\"", request: "If-None-Match: \"b\"", answer: "200"),
        Row(stored: "ETag: \"a\"", request: "If-None-Match: \"b\", W/\"a\"", answer: "304"),
        Row(stored: "ETag: \"a\"", request: "If-None-Match: \"b\"\nIf-None-Match: \"a\"", answer: "304"),
        Row(stored: "ETag: \"a,b\"", request: "If-None-Match: \"x\", \"a,b\"", answer: "304"),
        Row(stored: "ETag: \"a\"", request: "If-None-Match: \"x\", \"y, \"a\"", answer: "200"),
        Row(stored: "ETag: \"a\"", request: "If-None-Match: a", answer: "200"),
        Row(stored: "ETag: \"a\"", request: "If-None-Match:", answer: "200"),
        Row(stored: "ETag: \"A\"", request: "If-None-Match: \"a\"", answer: "200"),
        Row(stored: "X: y", request: "If-None-Match: \"a\"", answer: "200"),
        Row(stored: "X: y", request: "If-None-Match: *", answer: "304"),
        Row(stored: "ETag: \"*\"", request: "If-None-Match: \"a\", *", answer: "200"),
        // §13.1.3: compared with the Last-Modified of the stored response, or its Date if it has none.
        Row(stored: dated, request: "If-Modified-Since: {-1000}", answer: "304"),
        Row(stored: dated, request: "If-Modified-Since: {-999}", answer: "304"),
        Row(stored: dated, request: "If-Modified-Since: {-1001}", answer: "200"),
        Row(stored: dated, request: "If-Modified-Since: x", answer: "200"),
        Row(stored: dated, request: "If-Modified-Since: {0}\nIf-Modified-Since: {0}", answer: "200"),
        Row(stored: "Date: {-5}", request: "If-Modified-Since: {-5}", answer: "304"),
        Row(stored: "Date: {-5}", request: "If-Modified-Since: {-6}", answer: "200"),
        Row(stored: "Last-Modified: x\nDate: {-5}", request: "If-Modified-Since: {-5}", answer: "304"),
        // §13.2.2: If-None-Match takes precedence over If-Modified-Since.
        Row(stored: "ETag: \"a\"\n\(dated)", request: "If-None-Match: \"b\"\nIf-Modified-Since: {0}", answer: "200"),
        Row(
            stored: "ETag: \"a\"\n\(dated)",
            request: "If-None-Match: \"a\"\nIf-Modified-Since: {-9999}",
            answer: "304"
        ),
        // §13.2.1: only if the response would be 2xx.
        Row(stored: "ETag: \"a\"", status: 404, request: "If-None-Match: \"a\"", answer: "404"),
        Row(stored: "ETag: \"a\"", status: 301, request: "If-None-Match: *", answer: "301"),
        Row(stored: "ETag: \"a\"", status: 203, request: "If-None-Match: \"a\"", answer: "304"),
        // RFC 9111 §4.3.2: only the server can evaluate these.
        Row(stored: "ETag: \"a\"", request: "If-Match: \"a\"", answer: "request response"),
        Row(stored: "ETag: \"a\"", request: "If-Match: *\nIf-None-Match: \"a\"", answer: "request response"),
        Row(stored: dated, request: "If-Unmodified-Since: {0}", answer: "request response"),
    ])
    func freshResponseAnswersConditions(_ row: Row) {
        let entry = CacheFixture.entry(
            HTTPHeaders(lines: "Cache-Control: max-age=60\n\(row.stored)"),
            status: row.status
        )
        for method in [HTTPMethod.get, .head] {
            let request = CacheFixture.request(HTTPHeaders(lines: row.request), method: method)
            let plan = CacheRules().plan(for: request, stored: [entry], now: CacheFixture.at(1))
            #expect((plan.servableResponse?.head.status.description ?? plan.kind) == row.answer)
            #expect(plan.servableResponse.map { $0.isBodiless == (row.answer == "304" || method == .head) } ?? true)
        }
    }

    @Test func a304OmitsFieldsOfTheContent() throws {
        // RFC 9110 §15.4.5
        let lines = """
            Cache-Control: max-age=60
            Content-Location: /b
            Content-Type: text/plain
            Content-Length: 10
            Content-Language: de
            Date: {0}
            ETag: "a"
            Expires: {60}
            Last-Modified: {-9}
            Vary: X
            X: y
            """
        let entry = CacheFixture.entry(HTTPHeaders(lines: lines))
        let request = CacheFixture.request([.ifNoneMatch: "\"a\""])
        let plan = CacheRules().plan(for: request, stored: [entry], now: CacheFixture.at(1))
        let head = try #require(plan.servableResponse?.head)
        #expect(
            head.headers.map(\.name) == [
                "Cache-Control", "Content-Location", "Date", "ETag", "Expires", "Vary", "X", "Age", "Cache-Status",
            ]
        )
        #expect(plan.servableResponse?.body.isEmpty == true)
        #expect(plan.servableResponse?.range == 0..<0)
    }

    @Test func randomEntityTagListsDoNotTrap() {
        var random = SeededGenerator(seed: 13)
        let alphabet = Array("\"\"W/, ab*".utf8)
        for _ in 0..<3000 {
            let bytes = (0..<Int.random(in: 0...20, using: &random)).map { _ in
                alphabet.randomElement(using: &random) ?? 0
            }
            let text = String(decoding: bytes, as: UTF8.self)
            let list = EntityTagList([FieldValue("\"first\", \(text)")])
            #expect(list.tags.first?.opaque == "\"first\"")
            #expect(!list.isAny)
        }
    }
}
