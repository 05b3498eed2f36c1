import Foundation
import SluiceHTTP
import Testing

@testable import SluiceCache

/// The heads of responses from the cache: `Age` (RFC 9111 §5.1), `Cache-Status` (RFC 9211), and omitted fields.
@Suite struct ServedHeadTests {
    private static func head(
        _ lines: String,
        at seconds: Double = 10,
        _ options: HTTPCaching = HTTPCaching(),
        collapsed: CacheStatus.Forward? = nil
    ) throws -> HTTPResponse {
        let entry = CacheFixture.entry(HTTPHeaders(lines: lines))
        let plan = CacheRules(options).plan(
            for: CacheFixture.request(),
            stored: [entry],
            now: CacheFixture.at(seconds),
            collapsed: collapsed
        )
        return try #require(plan.servableResponse?.head)
    }

    @Test(arguments: [
        ("Cache-Control: max-age=60", 10.0, "10", "Sluice; hit; ttl=50"),
        ("Cache-Control: max-age=60", 10.9, "10", "Sluice; hit; ttl=49"),
        ("Cache-Control: max-age=60\nAge: 20", 10, "30", "Sluice; hit; ttl=30"),
        ("Cache-Control: max-age=60\nAge: 20\nAge: 7", 10, "30", "Sluice; hit; ttl=30"),
        ("Cache-Control: max-age=5, stale-while-revalidate=60", 10, "10", "Sluice; hit; ttl=-5"),
        ("Cache-Control: max-age=5, stale-while-revalidate=60", 5.5, "5", "Sluice; hit; ttl=-1"),
        ("Cache-Control: max-age=9999999999", 10, "10", "Sluice; hit; ttl=2147483638"),
        ("Cache-Control: max-age=60\nCache-Status: CDN; hit", 10, "10", "CDN; hit, Sluice; hit; ttl=50"),
    ])
    func servedHeadHasAgeAndCacheStatus(lines: String, now: Double, age: String, status: String) throws {
        let head = try Self.head(lines, at: now)
        #expect(head.headers.values(for: .age) == [age])
        #expect(head.headers[.cacheStatus] == status)
    }

    @Test(arguments: [
        ("Sluice", "Sluice"), ("my.cache/1:a", "my.cache/1:a"), ("*x", "*x"), ("1st", "\"1st\""), ("", "\"\""),
        ("two words", "\"two words\""),
        ("a\"b\\c", "\"a\\\"b\\\\c\""), ("ü\n", "\"??\""), ("a;hit", "\"a;hit\""),
    ])
    func cacheNameIsATokenOrString(name: String, expected: String) throws {
        // RFC 9211 §2, RFC 8941 §3.3
        let head = try Self.head("Cache-Control: max-age=60", HTTPCaching(name: name))
        #expect(head.headers[.cacheStatus] == "\(expected); hit; ttl=50")
    }

    @Test func collapsedRequestHasCollapsedStatus() throws {
        let head = try Self.head("Cache-Control: max-age=60", collapsed: .uriMiss)
        #expect(head.headers[.cacheStatus] == "Sluice; fwd=uri-miss; ttl=50; collapsed")
    }

    @Test func noCacheFieldsAreOmittedUntilValidation() throws {
        // §5.2.2.4
        let lines =
            "Cache-Control: max-age=20, no-cache=\"Set-Cookie, x-a\"\nSet-Cookie: a=b\nX-A: 1\nX-B: 2\nETag: \"a\""
        let cache = CacheSimulation()
        _ = cache.send(at: 0, identity: "ann") { _ in (CacheFixture.head(HTTPHeaders(lines: lines)), "body") }
        let fresh = try #require(cache.send(at: 1, identity: "ann", nil))
        #expect(!fresh.head.headers.contains(.setCookie))
        #expect(!fresh.head.headers.contains("X-A"))
        #expect(fresh.head.headers["X-B"] == "2")
        let validated = try #require(
            cache.send(at: 30, identity: "ann") { _ in
                (CacheFixture.head([.eTag: "\"a\"", "X-A": "3"], status: 304, date: 30), "")
            }
        )
        #expect(validated.head.headers[.setCookie] == "a=b")
        #expect(validated.head.headers["X-A"] == "3")
        #expect(cache.send(at: 31, identity: "ann", nil)?.head.headers.contains("X-A") == false)
    }

    @Test(arguments: ["max-age=20", "public, max-age=20", "max-age=0, stale-while-revalidate=20"], [nil, "ann"])
    func cookiesAreServedOnlyToTheirOwner(cacheControl: String, owner: String?) throws {
        // RFC 9111 §7.3
        let cache = CacheSimulation()
        let isForAnyone = owner == nil || cacheControl.hasPrefix("public")
        func head(_ cookie: String, status: HTTPStatus = 200) -> HTTPResponse {
            let lines = "Cache-Control: \(cacheControl)\nSet-Cookie: \(cookie)\nSet-Cookie2: \(cookie)\nETag: \"a\""
            return CacheFixture.head(HTTPHeaders(lines: lines), status: status)
        }
        let first = try #require(cache.send(at: 0, identity: owner) { _ in (head("sid=1"), "body") })
        #expect(first.head.headers[.setCookie] == "sid=1", "The response is for the client that caused it.")
        let second = try #require(cache.send(at: 1, identity: owner, nil))
        #expect(second.head.headers[.setCookie] == (isForAnyone ? nil : "sid=1"))
        #expect(second.head.headers["Set-Cookie2"] == (isForAnyone ? nil : "sid=1"))
        if let other = cache.send(at: 1, identity: "bob", nil) { #expect(!other.head.headers.contains(.setCookie)) }
        // A 304 sets a cookie for the client whose request it answers.
        let request = CacheFixture.request([.cacheControl: "max-age=0"])
        let validated = try #require(
            cache.send(request, at: 2, identity: owner) { _ in (head("sid=2", status: 304), "") }
        )
        #expect(validated.head.headers.values(for: .setCookie) == ["sid=2"])
        #expect(cache.send(at: 3, identity: owner, nil)?.head.headers[.setCookie] == (isForAnyone ? nil : "sid=2"))
    }

    @Test(arguments: [
        (HTTPMethod.get, 200, "Cache-Control: max-age=60", "Sluice; fwd=uri-miss; fwd-status=200; stored"),
        (.get, 200, "Cache-Control: no-store", "Sluice; fwd=uri-miss; fwd-status=200"),
        (.get, 404, "X: y", "Sluice; fwd=uri-miss; fwd-status=404"),
        (.get, 304, "X: y", "Sluice; fwd=uri-miss; fwd-status=304"),
        (.post, 200, "Cache-Control: max-age=60", "Sluice; fwd=method; fwd-status=200"),
        (.get, 200, "Cache-Status: CDN; fwd=miss", "CDN; fwd=miss, Sluice; fwd=uri-miss; fwd-status=200"),
    ])
    func forwardedResponseHasTheReasonInCacheStatus(method: HTTPMethod, status: Int, lines: String, expected: String)
        throws
    {
        let cache = CacheSimulation()
        let answer = try #require(
            cache.send(CacheFixture.request(method: method), at: 0) { _ in
                (CacheFixture.head(HTTPHeaders(lines: lines), status: HTTPStatus(rawValue: status)), "body")
            }
        )
        #expect(answer.status == expected)
        #expect(answer.head.status.rawValue == status)
        // The response comes from the server, which may set its Age.
        #expect(!answer.head.headers.contains(.age))
    }

    @Test func rangeOfADataSliceIsServed() throws {
        let whole = Data("xx0123456789".utf8).dropFirst(2)
        let stored = CacheFixture.stored([.cacheControl: "max-age=60"])
        let entry = CacheEntry(key: CacheKey("n"), response: stored, body: whole, stored: CacheFixture.start)
        let request = CacheFixture.request([.range: "bytes=2-3"])
        let serving = try #require(
            CacheRules().plan(for: request, stored: [entry], now: CacheFixture.at(1)).servableResponse
        )
        #expect(serving.range == 2..<4)
        #expect(String(decoding: serving.body, as: UTF8.self) == "23")
    }
}
