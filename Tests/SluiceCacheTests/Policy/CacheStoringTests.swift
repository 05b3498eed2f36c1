import Foundation
import SluiceHTTP
import Testing

@testable import SluiceCache

/// The decision to store a response, and the stored fields of its head (RFC 9111 §3).
@Suite struct CacheStoringTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        var request = ""
        var method: HTTPMethod = .get
        var status: HTTPStatus = 200
        let lines: String
        var options = HTTPCaching()
        let isStored: Bool

        var testDescription: String { name }
    }

    private static func reception(
        _ lines: String,
        status: HTTPStatus = 200,
        request: HTTPRequest = CacheFixture.request(),
        identity: String? = nil,
        _ options: HTTPCaching = HTTPCaching()
    ) throws -> CacheUpdate {
        let rules = CacheRules(options)
        let plan = rules.plan(for: request, identity: identity, stored: [], now: CacheFixture.start)
        return rules.update(
            for: HTTPResponse(status: status, headers: HTTPHeaders(lines: lines)),
            to: try #require(plan.conditionalRequest),
            requested: CacheFixture.start,
            received: CacheFixture.start
        )
    }

    private static let fresh = "Cache-Control: max-age=60"

    @Test(arguments: [
        Row(name: "max-age", lines: fresh, isStored: true),
        Row(name: "Expires", lines: "Expires: {60}", isStored: true),
        Row(name: "heuristics", lines: "Last-Modified: {-1000}", isStored: true),
        Row(name: "validator only", lines: "ETag: \"a\"", isStored: true),
        Row(name: "validator and no lifetime", lines: "Cache-Control: max-age=0\nETag: \"a\"", isStored: true),
        Row(name: "neither lifetime nor validator", lines: "X: y", isStored: false),
        Row(name: "expired lifetime", lines: "Cache-Control: max-age=60\nAge: 60", isStored: false),
        Row(name: "no-cache without a validator", lines: "Cache-Control: no-cache, max-age=60", isStored: false),
        Row(name: "no-cache with a validator", lines: "Cache-Control: no-cache\nETag: \"a\"", isStored: true),
        Row(name: "stale-if-error", lines: "Cache-Control: max-age=0, stale-if-error=60", isStored: true),
        Row(
            name: "stale-if-error by option",
            lines: "X: y",
            options: HTTPCaching(staleIfError: .seconds(1)),
            isStored: true
        ),
        Row(
            name: "stale-if-error by option, with must-revalidate",
            lines: "Cache-Control: must-revalidate",
            options: HTTPCaching(staleIfError: .seconds(1)),
            isStored: false
        ),
        Row(name: "§5.2.2.5 no-store", lines: "Cache-Control: max-age=60, no-store", isStored: false),
        Row(
            name: "§5.2.1.5 no-store of the request",
            request: "Cache-Control: no-store",
            lines: fresh,
            isStored: false
        ),
        Row(name: "§5.2.2.7 private", lines: "Cache-Control: private, max-age=60", isStored: true),
        Row(name: "§3.5 with Authorization", request: "Authorization: Basic eDp5", lines: fresh, isStored: true),
        Row(name: "with Set-Cookie", lines: "\(fresh)\nSet-Cookie: a=b", isStored: true),
        Row(name: "§4.1 Vary: *", lines: "\(fresh)\nVary: *", isStored: false),
        Row(
            name: "§5.2.2.3 must-understand",
            lines: "Cache-Control: max-age=60, no-store, must-understand",
            isStored: true
        ),
        Row(
            name: "§5.2.2.3 must-understand of an unknown status",
            status: 299,
            lines: "Cache-Control: max-age=60, no-store, must-understand",
            isStored: false
        ),
        Row(name: "§3 unknown status with a lifetime", status: 299, lines: fresh, isStored: true),
        Row(name: "§3 unknown status without a lifetime", status: 299, lines: "ETag: \"a\"", isStored: false),
        Row(name: "§3 302 without a lifetime", status: 302, lines: "ETag: \"a\"", isStored: false),
        Row(name: "§3 302 with private", status: 302, lines: "Cache-Control: private\nETag: \"a\"", isStored: true),
        Row(name: "§3 302 with public", status: 302, lines: "Cache-Control: public\nETag: \"a\"", isStored: true),
        Row(name: "§3 302 with a lifetime", status: 302, lines: fresh, isStored: true),
        Row(name: "§3 404 without a lifetime", status: 404, lines: "ETag: \"a\"", isStored: true),
        Row(name: "§3 500 with a lifetime", status: 500, lines: fresh, isStored: true),
        Row(name: "412", status: 412, lines: fresh, isStored: false),
        Row(name: "416", status: 416, lines: fresh, isStored: false),
        Row(name: "304 to an unconditional request", status: 304, lines: fresh, isStored: false),
        Row(
            name: "206 to a request without Range",
            status: 206,
            lines: "\(fresh)\nContent-Range: bytes 0-1/9\nETag: \"a\"",
            isStored: false
        ),
        Row(name: "103", status: 103, lines: fresh, isStored: false),
        Row(name: "HEAD", method: .head, lines: fresh, isStored: false),
        Row(name: "POST", method: .post, lines: fresh, isStored: false),
        Row(name: "ignored Range", request: "Range: bytes=0-1", lines: fresh, isStored: true),
    ])
    func onlyUsableResponsesAreStored(_ row: Row) throws {
        var request = CacheFixture.request(method: row.method)
        if !row.request.isEmpty { request.headers = HTTPHeaders(lines: row.request) }
        let reception = try Self.reception(row.lines, status: row.status, request: request, row.options)
        #expect(!reception.storing.isEmpty == row.isStored)
        #expect(reception.response?.headers[.cacheStatus]?.contains("; stored") == row.isStored)
    }

    @Test func connectionFieldsAreNotStored() throws {
        // §3.1
        let lines = """
            Cache-Control: max-age=60
            Connection: close, X-Hop, Cache-Control
            X-Hop: 1
            Keep-Alive: timeout=5
            Proxy-Authenticate: Basic
            Proxy-Authentication-Info: a=b
            Proxy-Connection: close
            TE: trailers
            Trailer: X-Sum
            Transfer-Encoding: chunked
            Upgrade: h2c
            Date: {0}
            X-End: 1
            """
        let reception = try Self.reception(lines)
        let stored = try #require(reception.storing.first?.response)
        #expect(stored.head.headers.map(\.name) == ["Cache-Control", "Date", "X-End"])
        // The caller receives the head unchanged.
        #expect(reception.response?.headers.contains("Keep-Alive") == true)
    }

    @Test(arguments: ["X: y", "Date: yesterday", "Date: {-9}\nDate: {-9}"])
    func missingOrInvalidDateIsReplaced(lines: String) throws {
        // RFC 9110 §6.6.1
        let stored = try #require(try Self.reception("Cache-Control: max-age=60\n\(lines)").storing.first?.response)
        #expect(stored.head.headers.values(for: .date) == [CacheFixture.date(0)])
    }

    @Test func identityURLAndTimeAreStored() throws {
        let stored = try #require(try Self.reception("Cache-Control: max-age=60", identity: "ann").storing.first)
        #expect(stored.response.identity == "ann")
        #expect(stored.response.url == "https://a.b/a")
        #expect(stored.response.received == CacheFixture.start)
        #expect(stored.variant == ".ann")
        let shared = try Self.reception("Cache-Control: max-age=60, public", identity: "ann").storing.first
        #expect(shared?.response.identity == nil)
        #expect(shared?.variant == "")
    }

    @Test(arguments: [
        (HTTPStatus(rawValue: 200), "Cache-Control: no-store", true), (302, "X: y", true), (404, "X: y", true),
        (410, "X: y", true), (401, "X: y", false), (403, "X: y", false), (429, "X: y", false), (500, "X: y", false),
        (503, "X: y", false), (416, "X: y", false),
    ])
    func newResponseRemovesTheReplacedOne(status: HTTPStatus, lines: String, isRemoved: Bool) throws {
        let cache = CacheSimulation()
        _ = cache.send(at: 0) { _ in (CacheFixture.head([.eTag: "\"a\""]), "old") }
        _ = cache.send(at: 1) { _ in (HTTPResponse(status: status, headers: HTTPHeaders(lines: lines)), "new") }
        #expect(cache.kept().isEmpty == isRemoved)
    }

    /// The options keep good responses. An error without freshness of its own does not take their place.
    @Test(arguments: [401, 403, 429, 500, 503])
    func staleWindowsOfTheClientKeepNoError(status: Int) {
        let options = HTTPCaching(staleIfError: .seconds(86_400), staleWhileRevalidate: .seconds(60))
        let cache = CacheSimulation(options)
        _ = cache.send(at: 0) { _ in (CacheFixture.head([.cacheControl: "private, max-age=60"]), "good") }
        _ = cache.send(at: 200) { _ in
            (HTTPResponse(status: HTTPStatus(rawValue: status), headers: [.cacheControl: "private"]), "bad")
        }
        #expect(cache.kept().map { String(decoding: $0.body, as: UTF8.self) } == ["good"])
    }

    @Test func digestOfContentBelongsToTheStoredBytes() throws {
        let cache = CacheSimulation()
        let headers: HTTPHeaders = [
            "Content-Digest": "sha-256=:whole:", "Repr-Digest": "sha-256=:whole:", .eTag: "\"a\"",
            .cacheControl: "max-age=60",
        ]
        _ = cache.send(at: 0) { _ in (CacheFixture.head(headers), "0123456789") }
        let part = try #require(cache.send(CacheFixture.request([.range: "bytes=2-4"]), at: 1, nil))
        #expect(part.head.status == .partialContent)
        #expect(part.head.headers["Content-Digest"] == nil)
        #expect(part.head.headers["Repr-Digest"] == "sha-256=:whole:")
        _ = cache.send(at: 100) { _ in
            (HTTPResponse(status: .notModified, headers: ["Content-Digest": "sha-256=:none:", .eTag: "\"a\""]), "")
        }
        let whole = try #require(cache.send(at: 101, nil))
        #expect(whole.head.headers["Content-Digest"] == "sha-256=:whole:")
    }

    @Test func noStoreRequestDoesNotChangeTheStoredResponse() {
        let cache = CacheSimulation()
        _ = cache.send(at: 0) { _ in (CacheFixture.head([.eTag: "\"a\""]), "old") }
        _ = cache.send(CacheFixture.request([.cacheControl: "no-store"]), at: 1) { _ in
            (CacheFixture.head([.eTag: "\"b\"", .cacheControl: "max-age=60"]), "new")
        }
        #expect(cache.kept().map { String(decoding: $0.body, as: UTF8.self) } == ["old"])
    }

    @Test func newResponseReplacesVariantsThatMatchTheRequest() {
        let cache = CacheSimulation()
        let request = CacheFixture.request(["X": "1"])
        _ = cache.send(request, at: 0) { _ in (CacheFixture.head([.eTag: "\"a\"", .vary: "X"]), "old") }
        _ = cache.send(CacheFixture.request(["X": "2"]), at: 0) { _ in
            (CacheFixture.head([.eTag: "\"b\"", .vary: "X"]), "of another")
        }
        _ = cache.send(request, at: 1) { _ in (CacheFixture.head([.cacheControl: "max-age=60"]), "new") }
        #expect(cache.kept().map { String(decoding: $0.body, as: UTF8.self) } == ["new", "of another"])
    }
}
