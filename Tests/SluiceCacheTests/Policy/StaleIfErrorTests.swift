import Foundation
import SluiceHTTP
import Testing

@testable import SluiceCache

/// Stale responses after a failure of the server (RFC 5861 §4, RFC 9111 §4.2.4).
@Suite struct StaleIfErrorTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let why: String
        let stored: String
        var request = ""
        var option: Duration?
        var age = 15.0
        let isServed: Bool

        var testDescription: String { why }
    }

    @Test(arguments: [
        Row(why: "nothing allows it", stored: "max-age=5", isServed: false),
        Row(why: "the response does", stored: "max-age=5, stale-if-error=10", isServed: true),
        Row(why: "but not for so long", stored: "max-age=5, stale-if-error=9", isServed: false),
        Row(why: "the request does", stored: "max-age=5", request: "stale-if-error=10", isServed: true),
        Row(
            why: "but not for so long",
            stored: "max-age=5, stale-if-error=99",
            request: "stale-if-error=9",
            isServed: false
        ),
        Row(
            why: "and it cannot be read",
            stored: "max-age=5, stale-if-error=99",
            request: "stale-if-error=x",
            isServed: false
        ),
        Row(why: "the option does", stored: "max-age=5", option: .seconds(10), isServed: true),
        Row(why: "but not for so long", stored: "max-age=5", option: .seconds(9), isServed: false),
        Row(
            why: "the response's own is shorter",
            stored: "max-age=5, stale-if-error=1",
            option: .seconds(99),
            isServed: false
        ),
        Row(
            why: "must-revalidate",
            stored: "max-age=5, must-revalidate",
            request: "stale-if-error=99",
            isServed: false
        ),
        Row(why: "no-cache", stored: "max-age=5, no-cache", request: "stale-if-error=99", isServed: false),
        Row(
            why: "proxy-revalidate is for others",
            stored: "max-age=5, proxy-revalidate",
            option: .seconds(99),
            isServed: true
        ),
        Row(
            why: "a request's no-cache",
            stored: "max-age=5",
            request: "no-cache",
            option: .seconds(99),
            isServed: false
        ),
        Row(
            why: "a request's max-age",
            stored: "max-age=5",
            request: "max-age=9",
            option: .seconds(99),
            isServed: false
        ),
        Row(
            why: "a request's max-age that is kept",
            stored: "max-age=5",
            request: "max-age=20",
            option: .seconds(99),
            isServed: true
        ),
        Row(why: "a request's both", stored: "max-age=5", request: "no-cache, stale-if-error=99", isServed: true),
        Row(why: "a clock put back", stored: "max-age=5, stale-if-error=2147483648", age: -9, isServed: false),
        Row(why: "what is fresh, though none was wanted", stored: "max-age=60", request: "no-cache", isServed: false),
        Row(why: "the same, if it errs", stored: "max-age=60", request: "no-cache, stale-if-error=1", isServed: true),
    ])
    func itIsGivenWhereThatIsAllowed(_ row: Row) throws {
        let rules = CacheRules(HTTPCaching(staleIfError: row.option))
        let entry = CacheFixture.entry([.cacheControl: row.stored, .eTag: "\"a\""])
        let request = CacheFixture.request(row.request.isEmpty ? [:] : [.cacheControl: row.request])
        let now = CacheFixture.at(row.age)
        let forwarding = try #require(rules.plan(for: request, stored: [entry], now: now).passed)
        let offline = rules.serving(for: forwarding, now: now)
        #expect((offline != nil) == row.isServed)
        let failure = CacheFixture.head([:], status: 503)
        let reception = rules.reception(of: failure, to: forwarding, requested: now, received: now)
        #expect((reception.served != nil) == row.isServed)
        #expect(reception.response?.status == (row.isServed ? nil : 503))
        #expect(reception.storing.isEmpty)
        #expect(reception.removing.isEmpty)
    }

    @Test(arguments: [
        (500, true), (502, true), (503, true), (504, true), (501, false), (505, false), (404, false), (429, false),
        (403, false),
    ])
    func onlyFailuresOfTheServerCount(status: Int, isServed: Bool) throws {
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

    @Test func withoutANetworkItSaysThatNothingCame() throws {
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

    @Test func aPartIsNotGivenForTheWhole() {
        let cache = CacheSimulation(HTTPCaching(staleIfError: .seconds(60)))
        let headers: HTTPHeaders = [.contentRange: "bytes 0-3/10", .eTag: "\"a\"", .cacheControl: "max-age=5"]
        _ = cache.send(CacheFixture.request([.range: "bytes=0-3"]), at: 0) { _ in
            (CacheFixture.head(headers, status: 206), "0123")
        }
        #expect(cache.send(at: 1, nil) == nil)
        #expect(cache.send(CacheFixture.request([.range: "bytes=0-1"]), at: 9, nil)?.body == "01")
    }
}
