import Foundation
import SluiceHTTP
import Testing

@testable import SluiceCache

/// The plan for a single stored response (RFC 9111 §4, §5.2).
@Suite struct CacheReuseTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        /// The fields of the stored response.
        let stored: String
        /// The directives of the request.
        var directives = ""
        let age: Double
        let plan: String

        init(_ name: String, _ stored: String, _ directives: String = "", age: Double, _ plan: String) {
            (self.name, self.stored, self.directives, self.age, self.plan) = (name, stored, directives, age, plan)
        }

        var testDescription: String { "\(name): \(stored) | \(directives) at \(age)" }
    }

    private static func plan(_ row: Row, _ rules: CacheRules = CacheRules()) -> CachePlan {
        let stored = row.stored.isEmpty ? "X: y" : "Cache-Control: \(row.stored)"
        let entry = CacheFixture.entry(HTTPHeaders(lines: "\(stored)\nETag: \"v\""))
        let request = CacheFixture.request(row.directives.isEmpty ? [:] : HTTPHeaders(lines: row.directives))
        return rules.plan(for: request, stored: [entry], now: CacheFixture.at(row.age))
    }

    static let freshness = [
        Row("§4.2 younger than its lifetime", "max-age=60", age: 59, "hit"),
        Row("§4.2 as old as its lifetime", "max-age=60", age: 60, "stale validation"),
        Row("§4.2 older", "max-age=60", age: 61, "stale validation"),
        Row("§4.2 no lifetime", "", age: 0, "stale validation"),
        Row("§4.2 a lifetime of 0", "max-age=0", age: 0, "stale validation"),
        Row("§4.2.3 clock set back", "max-age=60", age: -1, "stale validation"),
        Row("§5.2.2.4 no-cache", "max-age=60, no-cache", age: 1, "stale validation"),
        Row("§5.2.2.4 no-cache with fields", "max-age=60, no-cache=\"X-A\"", age: 1, "hit"),
        Row("§5.2.2.2 must-revalidate while fresh", "max-age=60, must-revalidate", age: 1, "hit"),
        Row("§5.2.2.7 private", "max-age=60, private", age: 1, "hit"),
        Row("§5.2.2.10 s-maxage=0 is for shared caches", "max-age=60, s-maxage=0", age: 1, "hit"),
    ]

    static let requests = [
        Row("§5.2.1.1 max-age above the age", "max-age=60", "Cache-Control: max-age=20", age: 10, "hit"),
        Row("§5.2.1.1 max-age equal to the age", "max-age=60", "Cache-Control: max-age=10", age: 10, "hit"),
        Row("§5.2.1.1 max-age below the age", "max-age=60", "Cache-Control: max-age=9", age: 10, "request validation"),
        Row("§5.2.1.1 max-age=0", "max-age=60", "Cache-Control: max-age=0", age: 0, "request validation"),
        Row(
            "§5.2.1.1 malformed max-age",
            "max-age=60",
            "Cache-Control: max-age=x",
            age: 1,
            "request validation"
        ),
        Row("§5.2.1.1 max-age, stale response", "max-age=5", "Cache-Control: max-age=60", age: 10, "stale validation"),
        Row("§5.2.1.2 max-stale of any age", "max-age=5", "Cache-Control: max-stale", age: 1e6, "stale"),
        Row("§5.2.1.2 max-stale equal to the staleness", "max-age=5", "Cache-Control: max-stale=10", age: 15, "stale"),
        Row(
            "§5.2.1.2 max-stale below the staleness",
            "max-age=5",
            "Cache-Control: max-stale=9",
            age: 15,
            "stale validation"
        ),
        Row("§5.2.1.2 max-stale=0", "max-age=5", "Cache-Control: max-stale=0", age: 5, "stale"),
        Row(
            "§5.2.1.2 malformed max-stale",
            "max-age=5",
            "Cache-Control: max-stale=x",
            age: 5,
            "stale validation"
        ),
        Row(
            "§5.2.1.2 max-stale with must-revalidate",
            "max-age=5, must-revalidate",
            "Cache-Control: max-stale",
            age: 9,
            "stale validation"
        ),
        Row(
            "§5.2.1.2 max-stale with no-cache",
            "max-age=5, no-cache",
            "Cache-Control: max-stale",
            age: 9,
            "stale validation"
        ),
        Row("§5.2.1.2 unlimited max-stale, clock set back", "max-age=5", "Cache-Control: max-stale", age: -9, "stale"),
        Row(
            "§5.2.1.2 limited max-stale, clock set back",
            "max-age=5",
            "Cache-Control: max-stale=2147483648",
            age: -9,
            "stale validation"
        ),
        Row(
            "§5.2.1.1 max-age and max-stale, within both",
            "max-age=5",
            "Cache-Control: max-age=20, max-stale=20",
            age: 15,
            "stale"
        ),
        Row(
            "§5.2.1.1 max-age and max-stale, too old",
            "max-age=5",
            "Cache-Control: max-age=10, max-stale=20",
            age: 15,
            "stale validation"
        ),
        Row(
            "§5.2.1.3 min-fresh equal to the remaining lifetime",
            "max-age=60",
            "Cache-Control: min-fresh=50",
            age: 10,
            "hit"
        ),
        Row(
            "§5.2.1.3 min-fresh above the remaining lifetime",
            "max-age=60",
            "Cache-Control: min-fresh=51",
            age: 10,
            "request validation"
        ),
        Row(
            "§5.2.1.3 malformed min-fresh",
            "max-age=60",
            "Cache-Control: min-fresh",
            age: 1,
            "request validation"
        ),
        Row(
            "§5.2.1.3 min-fresh and max-stale",
            "max-age=5",
            "Cache-Control: min-fresh=1, max-stale",
            age: 9,
            "stale validation"
        ),
        Row("§5.2.1.4 no-cache", "max-age=60", "Cache-Control: no-cache", age: 1, "request validation"),
        Row(
            "§5.2.1.4 no-cache with an argument",
            "max-age=60",
            "Cache-Control: no-cache=\"x\"",
            age: 1,
            "request validation"
        ),
        Row(
            "§5.2.1.5 no-store prevents storing, not reuse",
            "max-age=60",
            "Cache-Control: no-store",
            age: 1,
            "hit"
        ),
        Row("§5.2.1.6 no-transform", "max-age=60", "Cache-Control: no-transform", age: 1, "hit"),
        Row("§5.2.1.7 only-if-cached, fresh", "max-age=60", "Cache-Control: only-if-cached", age: 1, "hit"),
        Row("§5.2.1.7 only-if-cached, stale", "max-age=60", "Cache-Control: only-if-cached", age: 61, "refused"),
        Row(
            "§5.2.1.7 only-if-cached with max-stale",
            "max-age=60",
            "Cache-Control: only-if-cached, max-stale",
            age: 61,
            "stale"
        ),
        Row(
            "§5.2.1.7 only-if-cached and no-cache",
            "max-age=60",
            "Cache-Control: only-if-cached, no-cache",
            age: 1,
            "refused"
        ),
        Row("§5.4 Pragma", "max-age=60", "Pragma: no-cache", age: 1, "request validation"),
        Row(
            "§5.4 Pragma beside Cache-Control",
            "max-age=60",
            "Pragma: no-cache\nCache-Control: max-age=30",
            age: 1,
            "hit"
        ),
        Row("unknown directives", "max-age=60", "Cache-Control: foo, bar=\"baz\"", age: 1, "hit"),
    ]

    static let immutable = [
        Row(
            "RFC 8246 reload of an immutable response",
            "max-age=60, immutable",
            "Cache-Control: max-age=0",
            age: 9,
            "hit"
        ),
        Row("RFC 8246 forced reload", "max-age=60, immutable", "Cache-Control: no-cache", age: 9, "request validation"),
        Row(
            "RFC 8246 expired lifetime",
            "max-age=60, immutable",
            "Cache-Control: max-age=0",
            age: 60,
            "stale validation"
        ),
        Row("RFC 8246 min-fresh", "max-age=60, immutable", "Cache-Control: min-fresh=60", age: 9, "request validation"),
    ]

    static let whileRevalidating = [
        Row("RFC 5861 §3 within the window", "max-age=5, stale-while-revalidate=10", age: 15, "swr"),
        Row("RFC 5861 §3 after the window", "max-age=5, stale-while-revalidate=10", age: 15.5, "stale validation"),
        Row("RFC 5861 §3 while fresh", "max-age=5, stale-while-revalidate=10", age: 4, "hit"),
        Row("RFC 5861 §3 malformed", "max-age=5, stale-while-revalidate=x", age: 5, "swr"),
        Row(
            "RFC 5861 §3 malformed, later",
            "max-age=5, stale-while-revalidate=x",
            age: 6,
            "stale validation"
        ),
        Row(
            "§4.2.4 must-revalidate",
            "max-age=5, stale-while-revalidate=10, must-revalidate",
            age: 9,
            "stale validation"
        ),
        Row("§4.2.4 no-cache", "max-age=5, stale-while-revalidate=10, no-cache", age: 9, "stale validation"),
        Row(
            "§5.2.1.1 max-age",
            "max-age=5, stale-while-revalidate=10",
            "Cache-Control: max-age=99",
            age: 9,
            "stale validation"
        ),
        Row(
            "§5.2.1.7 only-if-cached",
            "max-age=5, stale-while-revalidate=10",
            "Cache-Control: only-if-cached",
            age: 9,
            "stale"
        ),
        Row(
            "§5.2.1.5 no-store",
            "max-age=5, stale-while-revalidate=10",
            "Cache-Control: no-store",
            age: 9,
            "stale validation"
        ),
        Row("clock set back", "max-age=5, stale-while-revalidate=2147483648", age: -9, "stale validation"),
    ]

    @Test(arguments: freshness + requests + immutable + whileRevalidating)
    func storedResponseIsUsedAsAllowed(_ row: Row) {
        #expect(Self.plan(row).kind == row.plan)
    }

    @Test(arguments: [
        Row("no window in the response", "max-age=5", age: 9, "swr"),
        Row("after the window", "max-age=5", age: 16, "stale validation"),
        Row("shorter window in the response", "max-age=5, stale-while-revalidate=1", age: 9, "stale validation"),
        Row("longer window in the response", "max-age=5, stale-while-revalidate=99", age: 90, "swr"),
        Row("must-revalidate", "max-age=5, must-revalidate", age: 9, "stale validation"),
    ])
    func staleWhileRevalidateCanBeAnOption(_ row: Row) {
        #expect(Self.plan(row, CacheRules(HTTPCaching(staleWhileRevalidate: .seconds(10)))).kind == row.plan)
    }

    @Test func requestWithoutStoredResponseIsSent() throws {
        let plan = CacheRules().plan(for: CacheFixture.request(["X": "y"]), stored: [], now: CacheFixture.start)
        #expect(plan.kind == "uri-miss response")
        let forwarding = try #require(plan.conditionalRequest)
        #expect(forwarding.sent.headers == ["X": "y"])
        #expect(forwarding.matching.isEmpty)
    }

    @Test(arguments: [
        (HTTPMethod.post, RequestBody.none, "method response"), (.put, .none, "method response"),
        (.options, .none, "method response"), ("PURGE", .none, "method response"), ("get", .none, "method response"),
        (.get, .data(Data([1])), "bypass response"), (.head, .none, "hit"), (.get, .none, "hit"),
    ])
    func onlyGETAndHEADAreServed(method: HTTPMethod, body: RequestBody, plan: String) {
        let entry = CacheFixture.entry([.cacheControl: "max-age=60"])
        let request = CacheFixture.request(method: method, body: body)
        #expect(CacheRules().plan(for: request, stored: [entry], now: CacheFixture.start).kind == plan)
    }

    @Test func onlyIfCachedMissIs504() throws {
        // §5.2.1.7
        let plan = CacheRules().plan(
            for: CacheFixture.request([.cacheControl: "only-if-cached"]),
            stored: [],
            now: CacheFixture.start
        )
        guard case .refuse(let head) = plan else { throw CancellationError() }
        #expect(head.status == .gatewayTimeout)
        #expect(head.headers[.cacheStatus] == "Sluice; detail=only-if-cached")
    }

    @Test func newestMatchingResponseIsServed() {
        // §4.1: by Date, then by the time of arrival.
        let old = CacheFixture.entry(HTTPHeaders(lines: "Cache-Control: max-age=60\nDate: {-5}\nVary: A"), body: "old")
        let new = CacheFixture.entry(HTTPHeaders(lines: "Cache-Control: max-age=60\nDate: {-4}\nVary: B"), body: "new")
        let last = CacheFixture.entry(
            HTTPHeaders(lines: "Cache-Control: max-age=60\nDate: {-4}\nVary: C"),
            received: 1,
            body: "last"
        )
        for stored in [[old, new, last], [last, new, old], [new, last, old]] {
            let plan = CacheRules().plan(for: CacheFixture.request(), stored: stored, now: CacheFixture.at(2))
            #expect(plan.servableResponse?.entry === last)
        }
        let plan = CacheRules().plan(for: CacheFixture.request(), stored: [old, new], now: CacheFixture.at(2))
        #expect(plan.servableResponse?.entry === new)
    }

    @Test func storedValueIsNotServedAsResponse() {
        let value = CacheEntry(key: CacheKey("https://a.b/a"), body: Data([1]), stored: CacheFixture.start)
        let plan = CacheRules().plan(for: CacheFixture.request(), stored: [value], now: CacheFixture.start)
        #expect(plan.kind == "uri-miss response")
    }
}
