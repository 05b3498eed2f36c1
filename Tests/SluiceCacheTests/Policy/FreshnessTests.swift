import Foundation
import SluiceHTTP
import Testing

@testable import SluiceCache

/// The freshness lifetime and the age (RFC 9111 §4.2).
@Suite struct FreshnessTests {
    struct Lifetime: Sendable, CustomTestStringConvertible {
        let name: String
        let lines: String
        var status: HTTPStatus = 200
        var path = "/a"
        let seconds: Double

        var testDescription: String { name }
    }

    @Test(arguments: [
        Lifetime(name: "§4.2.1 max-age", lines: "Cache-Control: max-age=60", seconds: 60),
        Lifetime(name: "§5.3 max-age before Expires", lines: "Cache-Control: max-age=60\nExpires: {999}", seconds: 60),
        Lifetime(name: "§4.2.1 Expires less Date", lines: "Date: {-10}\nExpires: {90}", seconds: 100),
        Lifetime(name: "§5.3 Expires in the past", lines: "Expires: {-10}", seconds: 0),
        Lifetime(name: "§5.3 Expires 0", lines: "Expires: 0\nLast-Modified: {-1000}", seconds: 0),
        Lifetime(name: "§5.3 malformed Expires", lines: "Expires: tomorrow", seconds: 0),
        Lifetime(name: "§4.2.1 several Expires: the earliest", lines: "Expires: {90}\nExpires: {30}", seconds: 30),
        Lifetime(name: "§4.2.1 several Expires, one malformed", lines: "Expires: {90}\nExpires: x", seconds: 0),
        Lifetime(name: "§5.3 Expires in RFC 850 format", lines: "Expires: Sunday, 09-Sep-01 01:47:40 GMT", seconds: 60),
        Lifetime(name: "§4.2 Expires in any case", lines: "Expires: sun, 09 SEP 2001 01:47:40 gmt", seconds: 60),
        Lifetime(
            name: "§4.2 Date in any case",
            lines: "Date: SUN, 09 SEP 2001 01:46:30 GMT\nExpires: {90}",
            seconds: 100
        ),
        Lifetime(name: "RFC 9110 §6.6.1 malformed Date: time of receipt", lines: "Date: x\nExpires: {60}", seconds: 60),
        Lifetime(
            name: "RFC 9110 §6.6.1 two Date fields: time of receipt",
            lines: "Date: {-9}\nDate: {-9}\nExpires: {60}",
            seconds: 60
        ),
        Lifetime(name: "§5.2.2.10 s-maxage is for shared caches", lines: "Cache-Control: s-maxage=60", seconds: 0),
        Lifetime(
            name: "§4.2.1 max-age malformed",
            lines: "Cache-Control: max-age=a\nLast-Modified: {-1000}",
            seconds: 0
        ),
        Lifetime(
            name: "§1.2.2 max-age above the limit",
            lines: "Cache-Control: max-age=9999999999",
            seconds: 2_147_483_648
        ),
        Lifetime(
            name: "§4.2.2 a tenth of the time since its modification",
            lines: "Last-Modified: {-1000}",
            seconds: 100
        ),
        Lifetime(name: "§4.2.2 at most a day", lines: "Last-Modified: {-99000000}", seconds: 86_400),
        Lifetime(name: "§4.2.2 modified in the future", lines: "Last-Modified: {1000}", seconds: 0),
        Lifetime(name: "§4.2.2 Last-Modified malformed", lines: "Last-Modified: x", seconds: 0),
        Lifetime(name: "§4.2.2 no Last-Modified", lines: "ETag: \"a\"", seconds: 0),
        Lifetime(name: "§4.2.2 not with a query", lines: "Last-Modified: {-1000}", path: "/a?b", seconds: 0),
        Lifetime(name: "a query and max-age", lines: "Cache-Control: max-age=60", path: "/a?b", seconds: 60),
        Lifetime(name: "§4.2.2 not with 302", lines: "Last-Modified: {-1000}", status: 302, seconds: 0),
        Lifetime(name: "§4.2.2 not with 500", lines: "Last-Modified: {-1000}", status: 500, seconds: 0),
        Lifetime(name: "302 with max-age", lines: "Cache-Control: max-age=60", status: 302, seconds: 60),
        Lifetime(
            name: "§4.2.2 with 302 and public",
            lines: "Cache-Control: public\nLast-Modified: {-1000}",
            status: 302,
            seconds: 100
        ),
    ])
    func lifetimeFollowsFromTheResponse(_ row: Lifetime) {
        let metadata = CacheFixture.stored(HTTPHeaders(lines: row.lines), status: row.status, path: row.path).metadata
        #expect(CacheRules().lifetime(of: metadata) == row.seconds)
    }

    @Test(arguments: [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501])
    func heuristicLifetimeAppliesToCacheableStatuses(status: Int) {
        // RFC 9110 §15.1
        let headers = HTTPHeaders(lines: "Last-Modified: {-1000}")
        let metadata = CacheFixture.stored(headers, status: HTTPStatus(rawValue: status)).metadata
        #expect(CacheRules().lifetime(of: metadata) == 100)
    }

    @Test(arguments: [(0.5, 500.0), (0, 0), (-1, 0), (7, 1000), (.nan, 0), (.infinity, 1000)])
    func heuristicFractionIsAnOption(fraction: Double, seconds: Double) {
        let metadata = CacheFixture.stored(HTTPHeaders(lines: "Last-Modified: {-1000}")).metadata
        #expect(CacheRules(HTTPCaching(heuristicFraction: fraction)).lifetime(of: metadata) == seconds)
    }

    @Test func maximumHeuristicLifetimeIsAnOption() {
        let metadata = CacheFixture.stored(HTTPHeaders(lines: "Last-Modified: {-1000}")).metadata
        #expect(CacheRules(HTTPCaching(maximumHeuristicLifetime: .seconds(7))).lifetime(of: metadata) == 7)
        #expect(CacheRules(HTTPCaching(maximumHeuristicLifetime: .seconds(-7))).lifetime(of: metadata) == 0)
    }

    struct Age: Sendable, CustomTestStringConvertible {
        let name: String
        let lines: String
        var requested = 0.0
        var received = 0.0
        var now = 0.0
        let seconds: Double

        var testDescription: String { name }
    }

    @Test(arguments: [
        Age(name: "new", lines: "Date: {0}", seconds: 0),
        Age(name: "resident_time", lines: "Date: {0}", now: 30, seconds: 30),
        Age(name: "apparent_age", lines: "Date: {-20}", now: 30, seconds: 50),
        Age(name: "age_value", lines: "Date: {0}\nAge: 15", now: 30, seconds: 45),
        Age(name: "response_delay", lines: "Date: {4}", requested: 0, received: 4, now: 10, seconds: 10),
        Age(name: "response_delay and age_value", lines: "Date: {4}\nAge: 3", received: 4, now: 10, seconds: 13),
        Age(name: "greater of apparent_age and age_value", lines: "Date: {-20}\nAge: 15", now: 0, seconds: 20),
        Age(name: "Date after the time of receipt", lines: "Date: {100}", now: 30, seconds: 30),
        Age(name: "no Date", lines: "X: y", now: 30, seconds: 30),
        Age(name: "Date malformed", lines: "Date: yesterday", now: 30, seconds: 30),
        Age(name: "§5.1 Age malformed", lines: "Date: {0}\nAge: old", now: 30, seconds: 30),
        Age(name: "§5.1 Age negative", lines: "Date: {0}\nAge: -5", now: 30, seconds: 30),
        Age(name: "§5.1 Age list", lines: "Date: {0}\nAge: 5, 90", now: 30, seconds: 35),
        Age(name: "§5.1 two Age fields", lines: "Date: {0}\nAge: 5\nAge: 90", now: 30, seconds: 35),
        Age(name: "§5.1 Age list with a malformed first member", lines: "Date: {0}\nAge: x, 90", now: 30, seconds: 30),
        Age(name: "§1.2.2 Age above the limit", lines: "Age: 99999999999", now: 30, seconds: 2_147_483_648),
        Age(
            name: "clock set back during the request",
            lines: "Date: {-50}",
            requested: 0,
            received: -50,
            seconds: 50
        ),
        Age(name: "clock set back after receipt", lines: "Date: {0}", now: -1, seconds: 2_147_483_648),
        Age(name: "clock set back by a millisecond", lines: "Date: {0}", now: -0.001, seconds: 2_147_483_648),
        Age(name: "clock far ahead", lines: "Date: {0}", now: 1e300, seconds: 2_147_483_648),
        Age(name: "time is NaN", lines: "Date: {0}", now: .nan, seconds: 2_147_483_648),
    ])
    func ageCountsFromTheOriginServer(_ row: Age) {
        // §4.2.3
        let metadata = CacheMetadata(
            HTTPResponse(status: 200, headers: HTTPHeaders(lines: row.lines)),
            url: "https://a.b/",
            requested: CacheFixture.at(row.requested),
            received: CacheFixture.at(row.received)
        )
        #expect(metadata.age(at: CacheFixture.at(row.now)) == row.seconds)
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, 1e300, -1e300])
    func extremeTimesDoNotTrap(time: Double) {
        let odd = Date(timeIntervalSinceReferenceDate: time)
        let head = HTTPResponse(status: 200, headers: HTTPHeaders(lines: "Cache-Control: max-age=60\nDate: {0}"))
        for (requested, received, now) in [
            (odd, odd, odd), (CacheFixture.start, odd, CacheFixture.start),
            (odd, CacheFixture.start, CacheFixture.start),
            (CacheFixture.start, CacheFixture.start, odd),
        ] {
            let metadata = CacheMetadata(head, url: "", requested: requested, received: received)
            #expect((0...DeltaSeconds.limit).contains(metadata.age(at: now)))
        }
    }
}
