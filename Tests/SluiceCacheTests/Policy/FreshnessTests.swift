import Foundation
import SluiceHTTP
import Testing

@testable import SluiceCache

/// The freshness lifetime and the age (RFC 9111 §4.2).
@Suite struct FreshnessTests {
    struct Lifetime: Sendable, CustomTestStringConvertible {
        let why: String
        let lines: String
        var status: HTTPStatus = 200
        var path = "/a"
        let seconds: Double

        var testDescription: String { why }
    }

    @Test(arguments: [
        Lifetime(why: "§4.2.1 max-age", lines: "Cache-Control: max-age=60", seconds: 60),
        Lifetime(why: "§5.3 max-age before Expires", lines: "Cache-Control: max-age=60\nExpires: {999}", seconds: 60),
        Lifetime(why: "§4.2.1 Expires less Date", lines: "Date: {-10}\nExpires: {90}", seconds: 100),
        Lifetime(why: "§5.3 Expires in the past", lines: "Expires: {-10}", seconds: 0),
        Lifetime(why: "§5.3 Expires 0", lines: "Expires: 0\nLast-Modified: {-1000}", seconds: 0),
        Lifetime(why: "§5.3 Expires that is no date", lines: "Expires: tomorrow", seconds: 0),
        Lifetime(why: "§4.2.1 several Expires: the earliest", lines: "Expires: {90}\nExpires: {30}", seconds: 30),
        Lifetime(why: "§4.2.1 several Expires, one malformed", lines: "Expires: {90}\nExpires: x", seconds: 0),
        Lifetime(why: "§5.3 Expires in RFC 850's form", lines: "Expires: Sunday, 09-Sep-01 01:47:40 GMT", seconds: 60),
        Lifetime(why: "RFC 9110 §6.6.1 Date malformed: when it came", lines: "Date: x\nExpires: {60}", seconds: 60),
        Lifetime(
            why: "RFC 9110 §6.6.1 Date twice: when it came",
            lines: "Date: {-9}\nDate: {-9}\nExpires: {60}",
            seconds: 60
        ),
        Lifetime(why: "§5.2.2.10 s-maxage is for shared caches", lines: "Cache-Control: s-maxage=60", seconds: 0),
        Lifetime(
            why: "§4.2.1 max-age malformed",
            lines: "Cache-Control: max-age=a\nLast-Modified: {-1000}",
            seconds: 0
        ),
        Lifetime(why: "§1.2.2 max-age too great", lines: "Cache-Control: max-age=9999999999", seconds: 2_147_483_648),
        Lifetime(
            why: "§4.2.2 a tenth of the time since its modification",
            lines: "Last-Modified: {-1000}",
            seconds: 100
        ),
        Lifetime(why: "§4.2.2 at most a day", lines: "Last-Modified: {-99000000}", seconds: 86_400),
        Lifetime(why: "§4.2.2 modified in the future", lines: "Last-Modified: {1000}", seconds: 0),
        Lifetime(why: "§4.2.2 Last-Modified malformed", lines: "Last-Modified: x", seconds: 0),
        Lifetime(why: "§4.2.2 no date at all", lines: "ETag: \"a\"", seconds: 0),
        Lifetime(why: "§4.2.2 not with a query", lines: "Last-Modified: {-1000}", path: "/a?b", seconds: 0),
        Lifetime(why: "a query and max-age", lines: "Cache-Control: max-age=60", path: "/a?b", seconds: 60),
        Lifetime(why: "§4.2.2 not with 302", lines: "Last-Modified: {-1000}", status: 302, seconds: 0),
        Lifetime(why: "§4.2.2 not with 500", lines: "Last-Modified: {-1000}", status: 500, seconds: 0),
        Lifetime(why: "302 with max-age", lines: "Cache-Control: max-age=60", status: 302, seconds: 60),
        Lifetime(
            why: "§4.2.2 with 302 that is public",
            lines: "Cache-Control: public\nLast-Modified: {-1000}",
            status: 302,
            seconds: 100
        ),
    ])
    func theLifetimeIsWhatTheResponseSays(_ row: Lifetime) {
        let terms = CacheFixture.stored(HTTPHeaders(lines: row.lines), status: row.status, path: row.path).terms
        #expect(CacheRules().lifetime(of: terms) == row.seconds)
    }

    @Test(arguments: [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501])
    func statusesThatMayBeReusedWithoutBeingTold(status: Int) {
        // RFC 9110 §15.1
        let headers = HTTPHeaders(lines: "Last-Modified: {-1000}")
        let terms = CacheFixture.stored(headers, status: HTTPStatus(rawValue: status)).terms
        #expect(CacheRules().lifetime(of: terms) == 100)
    }

    @Test(arguments: [(0.5, 500.0), (0, 0), (-1, 0), (7, 1000), (.nan, 0), (.infinity, 1000)])
    func theFractionOfTheHeuristicIsAnOption(fraction: Double, seconds: Double) {
        let terms = CacheFixture.stored(HTTPHeaders(lines: "Last-Modified: {-1000}")).terms
        #expect(CacheRules(HTTPCaching(heuristicFraction: fraction)).lifetime(of: terms) == seconds)
    }

    @Test func theHeuristicsLimitIsAnOption() {
        let terms = CacheFixture.stored(HTTPHeaders(lines: "Last-Modified: {-1000}")).terms
        #expect(CacheRules(HTTPCaching(maximumHeuristicLifetime: .seconds(7))).lifetime(of: terms) == 7)
        #expect(CacheRules(HTTPCaching(maximumHeuristicLifetime: .seconds(-7))).lifetime(of: terms) == 0)
    }

    struct Age: Sendable, CustomTestStringConvertible {
        let why: String
        let lines: String
        var requested = 0.0
        var received = 0.0
        var now = 0.0
        let seconds: Double

        var testDescription: String { why }
    }

    @Test(arguments: [
        Age(why: "new", lines: "Date: {0}", seconds: 0),
        Age(why: "resident_time", lines: "Date: {0}", now: 30, seconds: 30),
        Age(why: "apparent_age", lines: "Date: {-20}", now: 30, seconds: 50),
        Age(why: "age_value", lines: "Date: {0}\nAge: 15", now: 30, seconds: 45),
        Age(why: "response_delay", lines: "Date: {4}", requested: 0, received: 4, now: 10, seconds: 10),
        Age(why: "response_delay and age_value", lines: "Date: {4}\nAge: 3", received: 4, now: 10, seconds: 13),
        Age(why: "the greater of both", lines: "Date: {-20}\nAge: 15", now: 0, seconds: 20),
        Age(why: "Date in the future of its coming", lines: "Date: {100}", now: 30, seconds: 30),
        Age(why: "no Date", lines: "X: y", now: 30, seconds: 30),
        Age(why: "Date malformed", lines: "Date: yesterday", now: 30, seconds: 30),
        Age(why: "§5.1 Age malformed", lines: "Date: {0}\nAge: old", now: 30, seconds: 30),
        Age(why: "§5.1 Age negative", lines: "Date: {0}\nAge: -5", now: 30, seconds: 30),
        Age(why: "§5.1 Age a list", lines: "Date: {0}\nAge: 5, 90", now: 30, seconds: 35),
        Age(why: "§5.1 Age twice", lines: "Date: {0}\nAge: 5\nAge: 90", now: 30, seconds: 35),
        Age(why: "§5.1 Age a list whose first is none", lines: "Date: {0}\nAge: x, 90", now: 30, seconds: 30),
        Age(why: "§1.2.2 Age too great", lines: "Age: 99999999999", now: 30, seconds: 2_147_483_648),
        Age(
            why: "a clock put back while it was under way",
            lines: "Date: {-50}",
            requested: 0,
            received: -50,
            seconds: 50
        ),
        Age(why: "a clock put back since", lines: "Date: {0}", now: -1, seconds: 2_147_483_648),
        Age(why: "a clock put back a little", lines: "Date: {0}", now: -0.001, seconds: 2_147_483_648),
        Age(why: "a clock far ahead", lines: "Date: {0}", now: 1e300, seconds: 2_147_483_648),
        Age(why: "no time at all", lines: "Date: {0}", now: .nan, seconds: 2_147_483_648),
    ])
    func theAgeIsCountedFromWhereItWasMade(_ row: Age) {
        // §4.2.3
        let terms = ResponseTerms(
            HTTPResponse(status: 200, headers: HTTPHeaders(lines: row.lines)),
            url: "https://a.b/",
            requested: CacheFixture.at(row.requested),
            received: CacheFixture.at(row.received)
        )
        #expect(terms.age(at: CacheFixture.at(row.now)) == row.seconds)
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, 1e300, -1e300])
    func noTimeIsTooStrange(time: Double) {
        let odd = Date(timeIntervalSinceReferenceDate: time)
        let head = HTTPResponse(status: 200, headers: HTTPHeaders(lines: "Cache-Control: max-age=60\nDate: {0}"))
        for (requested, received, now) in [
            (odd, odd, odd), (CacheFixture.start, odd, CacheFixture.start),
            (odd, CacheFixture.start, CacheFixture.start),
            (CacheFixture.start, CacheFixture.start, odd),
        ] {
            let terms = ResponseTerms(head, url: "", requested: requested, received: received)
            #expect((0...DeltaSeconds.limit).contains(terms.age(at: now)))
        }
    }
}
