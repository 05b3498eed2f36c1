import Foundation
import SluiceHTTP
import Testing

@testable import SluiceCache

/// The rules of RFC 9111 that differ for shared and private caches.
@Suite struct SharedCacheTests {
    /// Two requests to a resource, and the use of the first response for the second request.
    struct Exchange: Sendable, CustomTestStringConvertible {
        let name: String
        var first = ""
        var status: HTTPStatus = 200
        let lines: String
        var pause = 1.0
        var second: String?
        /// True if the server fails to respond to the second request.
        var isDown = false
        var options = HTTPCaching()
        let shared: String
        var `private`: String

        var testDescription: String { name }

        /// Returns `hit`, `stale`, `swr`, `validated`, `sent` or `failed`.
        func outcome(_ mode: CacheMode) -> String {
            let cache = CacheSimulation(options, mode: mode)
            return outcome(in: cache, in: cache)
        }

        /// Sends the first request to one cache and the second to another.
        func outcome(in cache: CacheSimulation, in other: @autoclosure () -> CacheSimulation) -> String {
            var (requests, first) = ([first, second ?? first].map(SharedCacheTests.request), 0)
            let head = HTTPResponse(status: status, headers: HTTPHeaders(lines: lines))
            let server: CacheSimulation.Server = { request in
                if first > 0, request.headers.contains(.ifNoneMatch) {
                    return (HTTPResponse(status: 304, headers: [.eTag: "\"a\""]), "")
                }
                return (head, first == 0 ? "first" : "second")
            }
            let identities = requests.map(SharedCacheTests.identity)
            _ = cache.send(requests[0], at: 0, identity: identities[0], server)
            first += 1
            let answer = other().send(requests.removeLast(), at: pause, identity: identities[1], isDown ? nil : server)
            guard let answer else { return "failed" }
            guard let serving = answer.serving else { return "sent" }
            if serving.isRevalidated { return "validated" }
            return serving.isStale ? answer.sent.isEmpty ? "stale" : "swr" : "hit"
        }
    }

    private static func request(_ lines: String) -> HTTPRequest {
        CacheFixture.request(HTTPHeaders(lines: lines))
    }

    private static func identity(_ request: HTTPRequest) -> String? {
        let values = request.headers.values(for: .authorization) + request.headers.values(for: .cookie)
        return values.isEmpty ? nil : values.joined(separator: " ")
    }

    private static let ann = "Authorization: Basic YW5u"
    private static let bob = "Authorization: Basic Ym9i"
    private static let tag = "\nETag: \"a\""

    private static let lifetimes = [
        Exchange(
            name: "§5.2.2.10 s-maxage before max-age",
            lines: "Cache-Control: max-age=1, s-maxage=60",
            pause: 30,
            shared: "hit",
            private: "sent"
        ),
        Exchange(
            name: "§5.2.2.10 a shorter s-maxage",
            lines: "Cache-Control: max-age=60, s-maxage=1",
            pause: 30,
            shared: "sent",
            private: "hit"
        ),
        Exchange(
            name: "§5.2.2.10 s-maxage before Expires",
            lines: "Cache-Control: s-maxage=60\nExpires: {1}",
            pause: 30,
            shared: "hit",
            private: "sent"
        ),
        Exchange(
            name: "§5.2.2.10 s-maxage=0 before Expires",
            lines: "Cache-Control: s-maxage=0\nExpires: {60}\(tag)",
            shared: "validated",
            private: "hit"
        ),
        Exchange(
            name: "§3 s-maxage makes a status cacheable",
            status: 302,
            lines: "Cache-Control: s-maxage=60",
            shared: "hit",
            private: "sent"
        ),
        Exchange(
            name: "§4.2.1 s-maxage malformed",
            lines: "Cache-Control: max-age=60, s-maxage=x\(tag)",
            shared: "validated",
            private: "hit"
        ),
        Exchange(
            name: "§4.2.1 the smallest of two s-maxage",
            lines: "Cache-Control: s-maxage=60, s-maxage=5\(tag)",
            pause: 30,
            shared: "validated",
            private: "validated"
        ),
        Exchange(
            name: "§4.2.1 max-age without s-maxage",
            lines: "Cache-Control: max-age=60",
            pause: 30,
            shared: "hit",
            private: "hit"
        ),
        Exchange(
            name: "§4.2.2 heuristics",
            lines: "Last-Modified: {-1000}",
            pause: 30,
            shared: "hit",
            private: "hit"
        ),
        Exchange(
            name: "§4.2.2 no heuristics with s-maxage",
            lines: "Cache-Control: s-maxage=1\nLast-Modified: {-1000}",
            pause: 30,
            shared: "sent",
            private: "hit"
        ),
        Exchange(
            name: "§4.2.3 Age counts for s-maxage",
            lines: "Cache-Control: s-maxage=60\nAge: 50\nVia: 1.0 proxy\(tag)",
            pause: 15,
            shared: "validated",
            private: "validated"
        ),
        Exchange(
            name: "§4.2.3 Age below s-maxage, through an HTTP/1.0 proxy",
            lines: "Cache-Control: s-maxage=60\nAge: 50\nVia: 1.0 proxy",
            pause: 5,
            shared: "hit",
            private: "sent"
        ),
    ]

    private static let staleness = [
        Exchange(
            name: "§5.2.2.10 s-maxage and max-stale",
            lines: "Cache-Control: s-maxage=5\(tag)",
            pause: 10,
            second: "Cache-Control: max-stale",
            shared: "validated",
            private: "stale"
        ),
        Exchange(
            name: "§5.2.2.8 proxy-revalidate and max-stale",
            lines: "Cache-Control: max-age=5, proxy-revalidate\(tag)",
            pause: 10,
            second: "Cache-Control: max-stale=60",
            shared: "validated",
            private: "stale"
        ),
        Exchange(
            name: "§5.2.2.2 must-revalidate and max-stale",
            lines: "Cache-Control: max-age=5, must-revalidate\(tag)",
            pause: 10,
            second: "Cache-Control: max-stale",
            shared: "validated",
            private: "validated"
        ),
        Exchange(
            name: "§4.2.4 max-stale alone",
            lines: "Cache-Control: max-age=5\(tag)",
            pause: 10,
            second: "Cache-Control: max-stale",
            shared: "stale",
            private: "stale"
        ),
        Exchange(
            name: "§4.2.4 s-maxage and stale-while-revalidate",
            lines: "Cache-Control: s-maxage=5, max-age=5, stale-while-revalidate=60\(tag)",
            pause: 10,
            shared: "validated",
            private: "swr"
        ),
        Exchange(
            name: "§4.2.4 proxy-revalidate and stale-while-revalidate of the options",
            lines: "Cache-Control: max-age=5, proxy-revalidate\(tag)",
            pause: 10,
            options: HTTPCaching(staleWhileRevalidate: .seconds(60)),
            shared: "validated",
            private: "swr"
        ),
        Exchange(
            name: "RFC 5861 §3 stale-while-revalidate alone",
            lines: "Cache-Control: max-age=5, stale-while-revalidate=60\(tag)",
            pause: 10,
            shared: "swr",
            private: "swr"
        ),
        Exchange(
            name: "§4.2.4 s-maxage and stale-if-error",
            lines: "Cache-Control: s-maxage=5, max-age=5, stale-if-error=60",
            pause: 10,
            isDown: true,
            shared: "failed",
            private: "stale"
        ),
        Exchange(
            name: "§4.2.4 proxy-revalidate and stale-if-error of the request",
            lines: "Cache-Control: max-age=5, proxy-revalidate",
            pause: 10,
            second: "Cache-Control: stale-if-error=60",
            isDown: true,
            shared: "failed",
            private: "stale"
        ),
        Exchange(
            name: "§4.2.4 s-maxage and stale-if-error of the options",
            lines: "Cache-Control: s-maxage=5, max-age=5",
            pause: 10,
            isDown: true,
            options: HTTPCaching(staleIfError: .seconds(60)),
            shared: "failed",
            private: "stale"
        ),
        Exchange(
            name: "RFC 5861 §4 stale-if-error alone",
            lines: "Cache-Control: max-age=5, stale-if-error=60",
            pause: 10,
            isDown: true,
            shared: "stale",
            private: "stale"
        ),
        Exchange(
            name: "fresh with proxy-revalidate",
            lines: "Cache-Control: max-age=60, proxy-revalidate",
            isDown: true,
            shared: "hit",
            private: "hit"
        ),
    ]

    private static let storing = [
        Exchange(
            name: "§5.2.2.7 private",
            lines: "Cache-Control: private, max-age=60",
            shared: "sent",
            private: "hit"
        ),
        Exchange(
            name: "§5.2.2.7 private and s-maxage",
            lines: "Cache-Control: private, s-maxage=60, max-age=60",
            shared: "sent",
            private: "hit"
        ),
        Exchange(
            name: "§5.2.2.7 private and public",
            lines: "Cache-Control: private, public, max-age=60",
            shared: "sent",
            private: "hit"
        ),
        Exchange(
            name: "§5.2.2.7 private malformed",
            lines: "Cache-Control: max-age=60, private=\"X",
            shared: "sent",
            private: "hit"
        ),
        Exchange(
            name: "§5.2.2.7 private with a field that is needed",
            lines: "Cache-Control: max-age=60, private=\"X, vary\"",
            shared: "sent",
            private: "hit"
        ),
        Exchange(
            name: "§5.2.2.7 private with other fields",
            lines: "Cache-Control: max-age=60, private=\"X, Y\"\nX: 1",
            shared: "hit",
            private: "hit"
        ),
        Exchange(
            name: "§5.2.2.3 must-understand and no-store",
            lines: "Cache-Control: must-understand, no-store, s-maxage=60, max-age=60",
            shared: "hit",
            private: "hit"
        ),
        Exchange(
            name: "§5.2.2.3 must-understand of an unknown status",
            status: 299,
            lines: "Cache-Control: must-understand, no-store, s-maxage=60, max-age=60",
            shared: "sent",
            private: "sent"
        ),
        Exchange(
            name: "§5.2.2.3 must-understand and private",
            lines: "Cache-Control: must-understand, no-store, private, max-age=60",
            shared: "sent",
            private: "hit"
        ),
        Exchange(
            name: "§5.2.2.5 no-store",
            lines: "Cache-Control: no-store, s-maxage=60, public",
            shared: "sent",
            private: "sent"
        ),
        Exchange(
            name: "§3 proxy-revalidate without a lifetime, to be served stale only",
            lines: "Cache-Control: proxy-revalidate, stale-if-error=60",
            isDown: true,
            shared: "failed",
            private: "stale"
        ),
        Exchange(
            name: "§7.3 Set-Cookie",
            lines: "Cache-Control: max-age=60\nSet-Cookie: a=b",
            shared: "sent",
            private: "hit"
        ),
        Exchange(
            name: "§7.3 Set-Cookie2",
            lines: "Cache-Control: max-age=60\nSet-Cookie2: a=b",
            shared: "sent",
            private: "hit"
        ),
        Exchange(
            name: "§7.3 Set-Cookie and must-revalidate",
            lines: "Cache-Control: max-age=60, must-revalidate\nSet-Cookie: a=b",
            shared: "sent",
            private: "hit"
        ),
        Exchange(
            name: "§7.3 Set-Cookie and public",
            lines: "Cache-Control: max-age=60, public\nSet-Cookie: a=b",
            shared: "hit",
            private: "hit"
        ),
        Exchange(
            name: "§7.3 Set-Cookie and s-maxage",
            lines: "Cache-Control: s-maxage=60\nSet-Cookie: a=b",
            shared: "hit",
            private: "sent"
        ),
    ]

    private static let credentials = [
        Exchange(
            name: "§3.5 Authorization",
            first: ann,
            lines: "Cache-Control: max-age=60\(tag)",
            shared: "sent",
            private: "hit"
        ),
        Exchange(
            name: "§3.5 Authorization and Expires",
            first: ann,
            lines: "Expires: {60}",
            second: "",
            shared: "sent",
            private: "sent"
        ),
        Exchange(
            name: "§3.5 Authorization and public, for anyone",
            first: ann,
            lines: "Cache-Control: max-age=60, public",
            second: bob,
            shared: "hit",
            private: "hit"
        ),
        Exchange(
            name: "§3.5 Authorization and s-maxage, for anyone",
            first: ann,
            lines: "Cache-Control: s-maxage=60",
            second: bob,
            shared: "hit",
            private: "sent"
        ),
        Exchange(
            name: "§3.5 Authorization and s-maxage, for those without",
            first: ann,
            lines: "Cache-Control: s-maxage=60",
            second: "",
            shared: "hit",
            private: "sent"
        ),
        Exchange(
            name: "§3.5 Authorization and s-maxage malformed",
            first: ann,
            lines: "Cache-Control: max-age=60, s-maxage=x\(tag)",
            shared: "sent",
            private: "hit"
        ),
        Exchange(
            name: "§3.5 Authorization and public malformed",
            first: ann,
            lines: "Cache-Control: max-age=60, public x",
            shared: "sent",
            private: "hit"
        ),
        Exchange(
            name: "§3.5 Authorization and must-revalidate, for the same",
            first: ann,
            lines: "Cache-Control: max-age=60, must-revalidate",
            shared: "hit",
            private: "hit"
        ),
        Exchange(
            name: "§3.5 Authorization and must-revalidate, not for another",
            first: ann,
            lines: "Cache-Control: max-age=60, must-revalidate\(tag)",
            second: bob,
            shared: "sent",
            private: "sent"
        ),
        Exchange(
            name: "§3.5 Authorization and proxy-revalidate",
            first: ann,
            lines: "Cache-Control: max-age=60, proxy-revalidate",
            shared: "sent",
            private: "hit"
        ),
        Exchange(
            name: "§3.5 Authorization, s-maxage and private",
            first: ann,
            lines: "Cache-Control: s-maxage=60, private, max-age=60",
            shared: "sent",
            private: "hit"
        ),
        Exchange(
            name: "§4.1 s-maxage and Vary: Authorization",
            first: ann,
            lines: "Cache-Control: s-maxage=60\nVary: Authorization",
            second: bob,
            shared: "sent",
            private: "sent"
        ),
        Exchange(
            name: "stored without credentials, not for those with",
            lines: "Cache-Control: max-age=60",
            second: bob,
            shared: "sent",
            private: "sent"
        ),
        Exchange(
            name: "stored without credentials, with s-maxage",
            lines: "Cache-Control: s-maxage=60",
            second: bob,
            shared: "hit",
            private: "sent"
        ),
        Exchange(
            name: "Cookie, for the same",
            first: "Cookie: sid=1",
            lines: "Cache-Control: max-age=60",
            shared: "hit",
            private: "hit"
        ),
        Exchange(
            name: "Cookie, not for another",
            first: "Cookie: sid=1",
            lines: "Cache-Control: max-age=60, must-revalidate",
            second: "Cookie: sid=2",
            shared: "sent",
            private: "sent"
        ),
        Exchange(
            name: "Cookie and s-maxage, for another",
            first: "Cookie: sid=1",
            lines: "Cache-Control: s-maxage=60",
            second: "Cookie: sid=2",
            shared: "hit",
            private: "sent"
        ),
    ]

    @Test(arguments: lifetimes + staleness + storing + credentials)
    func rulesDependOnTheMode(_ exchange: Exchange) {
        #expect(exchange.outcome(.shared) == exchange.shared)
        #expect(exchange.outcome(.private) == exchange.private)
        // Without targeted fields in the response, their names make no difference.
        #expect(exchange.outcome(.shared(targetedFields: ["CDN-Cache-Control"])) == exchange.shared)
    }

    @Test(arguments: lifetimes + staleness + storing + credentials)
    func entriesOfAPrivateCacheFollowTheRulesOfTheSharedOne(_ exchange: Exchange) {
        let cache = CacheSimulation(exchange.options)
        let outcome = exchange.outcome(
            in: cache,
            in: CacheSimulation(exchange.options, mode: .shared, cache.entries)
        )
        // A request is sent again if a private cache has stored nothing, or fields that a shared cache would have omitted.
        let misses = exchange.isDown ? ["failed"] : ["sent"]
        #expect(outcome == exchange.shared || misses.contains(outcome))
    }

    @Test func privateFieldsAreNotStored() throws {
        // §5.2.2.7
        let lines = "Cache-Control: max-age=60, private=\"X-User, X-Absent\"\nX-User: ann\nX-Other: 1"
        let cache = CacheSimulation(mode: .shared)
        let first = try #require(cache.send(at: 0) { _ in (CacheFixture.head(HTTPHeaders(lines: lines)), "") })
        #expect(first.head.headers["X-User"] == "ann")
        let head = try #require(cache.kept().first?.response?.head)
        #expect(!head.headers.contains("X-User"))
        #expect(head.headers["X-Other"] == "1")
        #expect(cache.send(at: 1, nil)?.head.headers.contains("X-User") == false)
    }

    @Test(arguments: ["private=\"X-User\", s-maxage=1", "s-maxage=1", "public, max-age=1"])
    func fieldsForOneUserReachTheRequestThatTheyAnswer(directives: String) throws {
        // §4.3.4: a 304 has them for its own request.
        let cache = CacheSimulation(mode: .shared)
        let lines = "Cache-Control: \(directives)\nETag: \"a\"\nSet-Cookie: sid=ann\nX-User: ann"
        _ = cache.send(at: 0) { _ in (CacheFixture.head(HTTPHeaders(lines: lines)), "body") }
        let validated = try #require(
            cache.send(at: 10) { _ in
                (HTTPResponse(status: 304, headers: HTTPHeaders(lines: "Set-Cookie: sid=bob\nX-User: bob")), "")
            }
        )
        #expect(validated.serving?.isRevalidated == true)
        #expect(validated.head.headers.values(for: .setCookie) == ["sid=bob"])
        #expect(validated.head.headers.values(for: "X-User") == ["bob"])
        let stored = try #require(cache.kept().first?.response?.head.headers)
        #expect(!stored.contains(.setCookie))
        #expect(stored.contains("X-User") == !directives.contains("X-User"))
    }

    @Test(arguments: ["", "\nSet-Cookie: a=b", "\nCache-Control: private", "\nCache-Control: no-store"])
    func validationThatForbidsStoringRemovesTheResponse(lines: String) throws {
        let cache = CacheSimulation(mode: .shared)
        _ = cache.send(at: 0) { _ in (CacheFixture.head([.cacheControl: "max-age=1", .eTag: "\"a\""]), "body") }
        let validated = cache.send(at: 10) { _ in
            (HTTPResponse(status: 304, headers: HTTPHeaders(lines: "ETag: \"a\"\(lines)")), "")
        }
        #expect(validated?.body == "body")
        #expect(cache.kept().isEmpty == !lines.isEmpty)
    }

    @Test func viaIsStoredAsReceived() throws {
        let cache = CacheSimulation(mode: .shared)
        let lines = "Cache-Control: s-maxage=60\nVia: 1.0 a, 1.1 b\nAge: 7"
        _ = cache.send(at: 0) { _ in (CacheFixture.head(HTTPHeaders(lines: lines)), "") }
        let head = try #require(cache.send(at: 3, nil)?.head)
        #expect(head.headers.values(for: "Via") == ["1.0 a, 1.1 b"])
        #expect(head.headers.values(for: .age) == ["10"])
    }
}
