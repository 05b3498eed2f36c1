import Foundation
import SluiceHTTP
import Testing

@testable import SluiceCache

/// Stale responses after a failure of the server (RFC 5861 §4, RFC 9111 §4.2.4).
@Suite struct StaleIfErrorTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let stored: String
        var request = ""
        var option: Duration?
        var age = 15.0
        let isServed: Bool

        var testDescription: String { name }
    }

    @Test(arguments: [
        Row(name: "not allowed", stored: "max-age=5", isServed: false),
        Row(name: "allowed by the response", stored: "max-age=5, stale-if-error=10", isServed: true),
        Row(name: "response limit exceeded", stored: "max-age=5, stale-if-error=9", isServed: false),
        Row(name: "allowed by the request", stored: "max-age=5", request: "stale-if-error=10", isServed: true),
        Row(
            name: "request limit exceeded",
            stored: "max-age=5, stale-if-error=99",
            request: "stale-if-error=9",
            isServed: false
        ),
        Row(
            name: "malformed in the request",
            stored: "max-age=5, stale-if-error=99",
            request: "stale-if-error=x",
            isServed: false
        ),
        Row(name: "allowed by the option", stored: "max-age=5", option: .seconds(10), isServed: true),
        Row(name: "option limit exceeded", stored: "max-age=5", option: .seconds(9), isServed: false),
        Row(
            name: "shorter limit in the response",
            stored: "max-age=5, stale-if-error=1",
            option: .seconds(99),
            isServed: false
        ),
        Row(
            name: "must-revalidate",
            stored: "max-age=5, must-revalidate",
            request: "stale-if-error=99",
            isServed: false
        ),
        Row(name: "no-cache", stored: "max-age=5, no-cache", request: "stale-if-error=99", isServed: false),
        Row(
            name: "proxy-revalidate is for shared caches",
            stored: "max-age=5, proxy-revalidate",
            option: .seconds(99),
            isServed: true
        ),
        Row(
            name: "no-cache of the request",
            stored: "max-age=5",
            request: "no-cache",
            option: .seconds(99),
            isServed: false
        ),
        Row(
            name: "max-age of the request exceeded",
            stored: "max-age=5",
            request: "max-age=9",
            option: .seconds(99),
            isServed: false
        ),
        Row(
            name: "within max-age of the request",
            stored: "max-age=5",
            request: "max-age=20",
            option: .seconds(99),
            isServed: true
        ),
        Row(
            name: "no-cache and stale-if-error of the request",
            stored: "max-age=5",
            request: "no-cache, stale-if-error=99",
            isServed: true
        ),
        Row(name: "clock set back", stored: "max-age=5, stale-if-error=2147483648", age: -9, isServed: false),
        Row(name: "fresh response, request with no-cache", stored: "max-age=60", request: "no-cache", isServed: false),
        Row(
            name: "fresh response, request with no-cache and stale-if-error",
            stored: "max-age=60",
            request: "no-cache, stale-if-error=1",
            isServed: true
        ),
    ])
    func staleResponseIsServedOnlyIfAllowed(_ row: Row) throws {
        let rules = CacheRules(HTTPCaching(staleIfError: row.option))
        let entry = CacheFixture.entry([.cacheControl: row.stored, .eTag: "\"a\""])
        let request = CacheFixture.request(row.request.isEmpty ? [:] : [.cacheControl: row.request])
        let now = CacheFixture.at(row.age)
        let forwarding = try #require(rules.plan(for: request, stored: [entry], now: now).conditionalRequest)
        let offline = rules.servableResponse(for: forwarding, now: now)
        #expect((offline != nil) == row.isServed)
        let failure = CacheFixture.head([:], status: 503)
        let reception = rules.update(for: failure, to: forwarding, requested: now, received: now)
        #expect((reception.served != nil) == row.isServed)
        #expect(reception.response?.status == (row.isServed ? nil : 503))
        #expect(reception.storing.isEmpty)
        #expect(reception.removing.isEmpty)
    }

    @Test(arguments: [
        (500, true), (502, true), (503, true), (504, true), (501, false), (505, false), (404, false), (429, false),
        (403, false),
    ])
    func onlySelectedServerErrorsCount(status: Int, isServed: Bool) throws {
        let cache = CacheSimulation(HTTPCaching(staleIfError: .seconds(60)))
        _ = cache.send(at: 0) { _ in (CacheFixture.head([.cacheControl: "max-age=5"]), "old") }
        let answer = try #require(
            cache.send(at: 9) { _ in (CacheFixture.head([:], status: HTTPStatus(rawValue: status)), "new") }
        )
        #expect(answer.body == (isServed ? "old" : "new"))
        if isServed {
            #expect(answer.head.status == .ok)
            #expect(answer.status == "Sluice; fwd=stale; fwd-status=\(status); ttl=-4")
            #expect(answer.head.headers[.age] == "9")
            #expect(answer.serving?.isStale == true)
        }
    }

    @Test func unreachableServerIsShownInCacheStatus() throws {
        let cache = CacheSimulation(HTTPCaching(staleIfError: .seconds(60)))
        _ = cache.send(at: 0) { _ in (CacheFixture.head([.cacheControl: "max-age=5"]), "0123456789") }
        #expect(cache.send(at: 9, nil)?.status == "Sluice; fwd=stale; ttl=-4")
        // A range of the response, and a condition that the request brings.
        #expect(cache.send(CacheFixture.request([.range: "bytes=1-2"]), at: 9, nil)?.body == "12")
        let dated = CacheFixture.request([.ifModifiedSince: CacheFixture.date(0)])
        #expect(cache.send(dated, at: 9, nil)?.head.status == .notModified)
        #expect(cache.send(at: 99, nil) == nil)
        #expect(cache.send(CacheFixture.request(path: "/b"), at: 9, nil) == nil)
    }

    @Test func partIsNotServedForACompleteRequest() {
        let cache = CacheSimulation(HTTPCaching(staleIfError: .seconds(60)))
        let headers: HTTPHeaders = [.contentRange: "bytes 0-3/10", .eTag: "\"a\"", .cacheControl: "max-age=5"]
        _ = cache.send(CacheFixture.request([.range: "bytes=0-3"]), at: 0) { _ in
            (CacheFixture.head(headers, status: 206), "0123")
        }
        #expect(cache.send(at: 1, nil) == nil)
        #expect(cache.send(CacheFixture.request([.range: "bytes=0-1"]), at: 9, nil)?.body == "01")
    }
}
