import Foundation
import SluiceHTTP
import Testing

@testable import SluiceCache

/// HEAD requests answered from a stored GET response, and the effect of HEAD responses on it (RFC 9111 §4.3.5).
@Suite struct HeadFresheningTests {
    @Test func headIsServedFromAStoredGETResponse() throws {
        let cache = CacheSimulation()
        _ = cache.send(at: 0) { _ in (CacheFixture.head([.cacheControl: "max-age=60", .contentLength: "4"]), "body") }
        let answer = try #require(cache.send(CacheFixture.request(method: .head), at: 1, nil))
        #expect(answer.head.status == .ok)
        #expect(answer.head.headers[.contentLength] == "4")
        #expect(answer.serving?.isBodiless == true)
        #expect(answer.body.isEmpty)
    }

    @Test func headResponseIsNotStored() throws {
        let cache = CacheSimulation()
        _ = cache.send(CacheFixture.request(method: .head), at: 0) { _ in
            (CacheFixture.head([.cacheControl: "max-age=60"]), "")
        }
        #expect(cache.kept().isEmpty)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let stored: String
        var status: HTTPStatus = 200
        let answer: String
        /// The state of the stored response afterwards: `fresh`, `gone` or `same`.
        let becomes: String

        var testDescription: String { "\(stored) | \(status) \(answer)" }
    }

    @Test(arguments: [
        Row(stored: "ETag: \"a\"", answer: "ETag: \"a\"", becomes: "fresh"),
        Row(stored: "ETag: \"a\"\nContent-Length: 4", answer: "ETag: \"a\"\nContent-Length: 4", becomes: "fresh"),
        Row(stored: "ETag: \"a\"", answer: "ETag: \"a\"\nContent-Length: 4", becomes: "fresh"),
        Row(stored: "ETag: W/\"a\"", answer: "ETag: W/\"a\"", becomes: "fresh"),
        Row(stored: "Last-Modified: {-9}", answer: "Last-Modified: {-9}", becomes: "fresh"),
        Row(stored: "ETag: \"a\"\nContent-Encoding: gzip", answer: "ETag: \"a\"\nContent-Length: 99", becomes: "fresh"),
        Row(stored: "ETag: \"a\"", answer: "ETag: \"b\"", becomes: "gone"),
        Row(stored: "ETag: \"a\"", answer: "ETag: W/\"a\"", becomes: "gone"),
        Row(stored: "ETag: \"a\"", answer: "ETag: \"a\"\nLast-Modified: {-9}", becomes: "gone"),
        Row(stored: "ETag: \"a\"", answer: "ETag: \"a\"\nContent-Length: 5", becomes: "gone"),
        Row(stored: "ETag: \"a\"", answer: "Content-Length: 5", becomes: "gone"),
        Row(stored: "ETag: \"a\"", answer: "ETag: \"a\"\nVary: *", becomes: "gone"),
        Row(stored: "ETag: \"a\"", status: 404, answer: "X: y", becomes: "gone"),
        Row(stored: "ETag: \"a\"", status: 301, answer: "X: y", becomes: "gone"),
        Row(stored: "ETag: \"a\"", answer: "X: y", becomes: "same"),
        Row(stored: "ETag: \"a\"", answer: "Content-Length: 4", becomes: "same"),
        Row(stored: "ETag: \"a\"", answer: "ETag: \"a\"\nContent-Length: x", becomes: "fresh"),
        Row(stored: "ETag: \"a\"", status: 500, answer: "X: y", becomes: "same"),
        Row(stored: "ETag: \"a\"", status: 403, answer: "X: y", becomes: "same"),
        Row(stored: "ETag: \"a\"", status: 304, answer: "ETag: \"a\"", becomes: "fresh"),
        Row(stored: "ETag: \"a\"", status: 304, answer: "ETag: \"b\"", becomes: "same"),
    ])
    func headResponseFreshensOrRemovesTheStoredResponse(_ row: Row) throws {
        let cache = CacheSimulation()
        let stored = HTTPHeaders(lines: "Cache-Control: max-age=0\n\(row.stored)")
        _ = cache.send(at: 0) { _ in (CacheFixture.head(stored), "body") }
        let answer = HTTPHeaders(lines: "Cache-Control: max-age=60\nDate: {9}\n\(row.answer)")
        _ = cache.send(CacheFixture.request(method: .head), at: 9) { request in
            request.headers.contains(.ifNoneMatch) || row.status != 304
                ? (CacheFixture.head(answer, status: row.status), "") : (CacheFixture.head([:], status: 500), "")
        }
        let kept = cache.kept().first?.response
        let found = kept.map { $0.metadata.explicitLifetime == 60 ? "fresh" : "same" } ?? "gone"
        #expect(found == row.becomes)
        #expect(cache.kept().first.map { String(decoding: $0.body, as: UTF8.self) == "body" } ?? true)
        #expect(kept?.method != .head)
    }

    @Test func headResponseDoesNotAffectOtherIdentities() {
        let cache = CacheSimulation()
        _ = cache.send(at: 0, identity: "ann") { _ in (CacheFixture.head([.eTag: "\"a\""]), "body") }
        _ = cache.send(CacheFixture.request(method: .head), at: 9, identity: "bob") { _ in
            (CacheFixture.head([.eTag: "\"b\""]), "")
        }
        #expect(cache.kept().count == 1)
    }
}
