import Foundation
import SluiceHTTP
import Testing

@testable import SluiceCache

/// Targeted fields (RFC 9213) in place of `Cache-Control` and `Expires`.
@Suite struct TargetedFieldTests {
    private static let targets: [HTTPHeaderName] = ["Example-CDN-Cache-Control", "CDN-Cache-Control"]

    private static func stored(_ lines: String, _ mode: CacheMode, _ first: HTTPRequest) -> CacheSimulation {
        let cache = CacheSimulation(mode: mode)
        _ = cache.send(first, at: 0, identity: first.headers[.authorization]) { _ in
            (HTTPResponse(status: 200, headers: HTTPHeaders(lines: lines)), "first")
        }
        return cache
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let lines: String
        var request = ""
        /// The seconds for which the response is fresh with targeted fields; nil if it is not stored.
        let targeted: Int?
        /// The same without targeted fields.
        let usual: Int?

        var testDescription: String { name }
    }

    private static let hour = "CDN-Cache-Control: max-age=3600\n"

    @Test(arguments: [
        Row(name: "§2.2 alone", lines: hour, targeted: 3600, usual: nil),
        Row(name: "§2.2 Cache-Control is shorter", lines: hour + "Cache-Control: max-age=1", targeted: 3600, usual: 1),
        Row(
            name: "§2.2 Cache-Control is longer",
            lines: "CDN-Cache-Control: max-age=1\nCache-Control: max-age=3600",
            targeted: 1,
            usual: 3600
        ),
        Row(
            name: "§2.2 s-maxage of Cache-Control",
            lines: hour + "Cache-Control: s-maxage=9",
            targeted: 3600,
            usual: 9
        ),
        Row(
            name: "§2.2 no-store of Cache-Control",
            lines: hour + "Cache-Control: no-store",
            targeted: 3600,
            usual: nil
        ),
        Row(name: "§2.2 private of Cache-Control", lines: hour + "Cache-Control: private", targeted: 3600, usual: nil),
        Row(
            name: "§2.2 no-cache of Cache-Control",
            lines: hour + "Cache-Control: no-cache",
            targeted: 3600,
            usual: nil
        ),
        Row(name: "§2.2 Expires", lines: hour + "Expires: {9}", targeted: 3600, usual: 9),
        Row(name: "§2.2 Expires in the past", lines: hour + "Expires: {-9}", targeted: 3600, usual: nil),
        Row(name: "§2.2 Expires malformed", lines: hour + "Expires: 0", targeted: 3600, usual: nil),
        Row(
            name: "§2.2 no lifetime, and Expires",
            lines: "CDN-Cache-Control: foo\nExpires: {60}\nETag: \"a\"",
            targeted: 0,
            usual: 60
        ),
        Row(
            name: "§2.2 no lifetime, and heuristics",
            lines: "CDN-Cache-Control: none\nCache-Control: no-store\nLast-Modified: {-1000}",
            targeted: 100,
            usual: nil
        ),
        Row(name: "§2.2 no-store", lines: "CDN-Cache-Control: no-store\nExpires: {60}", targeted: nil, usual: 60),
        Row(
            name: "§2.2 no-store and max-age",
            lines: "CDN-Cache-Control: no-store, max-age=9\nCache-Control: max-age=60",
            targeted: nil,
            usual: 60
        ),
        Row(name: "§2.2 private", lines: "CDN-Cache-Control: private\nExpires: {60}", targeted: nil, usual: 60),
        Row(name: "§2.2 no-cache", lines: "CDN-Cache-Control: no-cache\nExpires: {60}", targeted: nil, usual: 60),
        Row(name: "§2.2 s-maxage", lines: "CDN-Cache-Control: max-age=1, s-maxage=60", targeted: 60, usual: nil),
        Row(
            name: "§2.2 unknown directive",
            lines: "CDN-Cache-Control: foobar, max-age=3600, x=(1 2);y",
            targeted: 3600,
            usual: nil
        ),
        Row(
            name: "§2.2 the first of the list",
            lines: "\(hour)Example-CDN-Cache-Control: max-age=5",
            targeted: 5,
            usual: nil
        ),
        Row(
            name: "§2.2 another targeted field",
            lines: "Other-CDN-Cache-Control: max-age=3600\nCache-Control: max-age=5",
            targeted: 5,
            usual: 5
        ),
        Row(
            name: "§2.1 empty",
            lines: "CDN-Cache-Control:\nCache-Control: max-age=5",
            targeted: 5,
            usual: 5
        ),
        Row(
            name: "§2.1 the first is empty",
            lines: "\(hour)Example-CDN-Cache-Control:",
            targeted: 3600,
            usual: nil
        ),
        Row(
            name: "§2.1 the first is invalid",
            lines: "\(hour)Example-CDN-Cache-Control: max-age=5,",
            targeted: 3600,
            usual: nil
        ),
        Row(
            name: "§2.1 invalid member",
            lines: "CDN-Cache-Control: max-age=3600, &&&&&\nCache-Control: no-store",
            targeted: nil,
            usual: nil
        ),
        Row(
            name: "§2.1 space before the equals sign",
            lines: "CDN-Cache-Control: max-age =3600\nCache-Control: max-age=5",
            targeted: 5,
            usual: 5
        ),
        Row(
            name: "§2.1 space after the equals sign",
            lines: "CDN-Cache-Control: max-age= 3600\nCache-Control: max-age=5",
            targeted: 5,
            usual: 5
        ),
        Row(
            name: "§2.1 uppercase",
            lines: "CDN-Cache-Control: Max-Age=3600\nCache-Control: max-age=5",
            targeted: 5,
            usual: 5
        ),
        Row(
            name: "§2.1 a number of 16 digits",
            lines: "CDN-Cache-Control: max-age=1000000000000000\nCache-Control: max-age=5",
            targeted: 5,
            usual: 5
        ),
        Row(
            name: "§2.1 a number above the limit",
            lines: "CDN-Cache-Control: max-age=99999999999",
            targeted: 2_147_483_648,
            usual: nil
        ),
        Row(
            name: "§2.1 a string for a number",
            lines: "CDN-Cache-Control: max-age=\"3600\"\nCache-Control: max-age=5",
            targeted: nil,
            usual: 5
        ),
        Row(
            name: "§2.1 a decimal for a number",
            lines: "CDN-Cache-Control: max-age=60.5\nCache-Control: max-age=5",
            targeted: nil,
            usual: 5
        ),
        Row(
            name: "§2.1 a negative number",
            lines: "CDN-Cache-Control: max-age=-1\nCache-Control: max-age=5",
            targeted: nil,
            usual: 5
        ),
        Row(
            name: "§2.1 no-store with a value",
            lines: "CDN-Cache-Control: max-age=60, no-store=?0",
            targeted: nil,
            usual: nil
        ),
        Row(
            name: "§2.1 parameters are ignored",
            lines: "CDN-Cache-Control: max-age=60;x=1, foo;no-store",
            targeted: 60,
            usual: nil
        ),
        Row(
            name: "RFC 8941 §4.2.2 the last of a repeated directive",
            lines: "CDN-Cache-Control: max-age=5, max-age=60",
            targeted: 60,
            usual: nil
        ),
        Row(
            name: "RFC 8941 §4.2 several lines",
            lines: "CDN-Cache-Control: max-age=60\nCDN-Cache-Control: must-revalidate",
            targeted: 60,
            usual: nil
        ),
        Row(
            name: "RFC 8941 §4.2 several lines, one invalid",
            lines: "CDN-Cache-Control: max-age=60\nCDN-Cache-Control: =\nCache-Control: max-age=5",
            targeted: 5,
            usual: 5
        ),
        Row(
            name: "RFC 9111 §3.5 Authorization",
            lines: hour + "Cache-Control: max-age=60, public",
            request: "Authorization: x",
            targeted: nil,
            usual: 60
        ),
        Row(
            name: "RFC 9111 §3.5 Authorization and public",
            lines: "CDN-Cache-Control: max-age=60, public",
            request: "Authorization: x",
            targeted: 60,
            usual: nil
        ),
        Row(
            name: "RFC 9111 §3.5 Authorization and public with a value",
            lines: "CDN-Cache-Control: max-age=60, public=?0",
            request: "Authorization: x",
            targeted: nil,
            usual: nil
        ),
        Row(name: "RFC 9111 §7.3 Set-Cookie", lines: hour + "Set-Cookie: a=b", targeted: nil, usual: nil),
        Row(
            name: "RFC 9110 §7.6.1 Connection does not remove a targeted field",
            lines: "CDN-Cache-Control: max-age=5\nCache-Control: max-age=3600\nConnection: CDN-Cache-Control",
            targeted: 5,
            usual: 3600
        ),
    ])
    func firstValidFieldOfTheListDecides(_ row: Row) {
        let request = CacheFixture.request(HTTPHeaders(lines: row.request))
        #expect(Self.lifetime(row.lines, .shared(targetedFields: Self.targets), request) == row.targeted)
        #expect(Self.lifetime(row.lines, .shared, request) == row.usual)
    }

    private static func lifetime(_ lines: String, _ mode: CacheMode, _ request: HTTPRequest) -> Int? {
        let cache = stored(lines, mode, request)
        let identity = request.headers[.authorization]
        guard let metadata = cache.kept().first.flatMap(mode.metadata(of:)) else { return nil }
        let lifetime = cache.rules.lifetime(of: metadata)
        // The answers agree: a hit up to the end, and none after it.
        #expect((cache.send(request, at: lifetime - 0.5, identity: identity, nil) != nil) == (lifetime > 0))
        #expect(cache.send(request, at: lifetime, identity: identity, nil) == nil)
        return Int(lifetime)
    }

    @Test(arguments: [CacheMode.private, .shared, .shared(targetedFields: ["Other-Cache-Control"])])
    func cacheWithoutTheTargetedFieldFollowsNoStore(mode: CacheMode) {
        // RFC 9111 §5.2.2.5: for this cache, the response should never have been stored.
        for field in ["no-store, max-age=3600", "no-store, must-understand, max-age=3600"] {
            let lines = "CDN-Cache-Control: max-age=3600\nCache-Control: \(field)\nETag: \"a\""
            let cache = Self.stored(lines, .shared(targetedFields: Self.targets), CacheFixture.request())
            #expect(cache.kept().count == 1)
            let other = CacheSimulation(mode: mode, cache.entries)
            #expect((other.send(at: 1, nil) == nil) == !field.contains("must-understand"))
        }
    }

    @Test func privateCacheIgnoresTargetedFields() throws {
        let lines = "CDN-Cache-Control: no-store\nCache-Control: max-age=60"
        let head = try #require(Self.stored(lines, .private, CacheFixture.request()).send(at: 1, nil)?.head)
        #expect(head.headers["CDN-Cache-Control"] == "no-store")
    }

    @Test func fieldsArePassedOn() throws {
        // §2.2
        let lines = "CDN-Cache-Control: max-age=60\nOther-Cache-Control: x\nCache-Control: no-store\nExpires: 0"
        let mode = CacheMode.shared(targetedFields: Self.targets)
        let head = try #require(Self.stored(lines, mode, CacheFixture.request()).send(at: 1, nil)?.head)
        #expect(head.headers["CDN-Cache-Control"] == "max-age=60")
        #expect(head.headers["Other-Cache-Control"] == "x")
        #expect(head.headers["Cache-Control"] == "no-store")
        #expect(head.headers["Expires"] == "0")
    }

    @Test func fieldNamesOfDirectivesApply() throws {
        let mode = CacheMode.shared(targetedFields: Self.targets)
        let lines = "CDN-Cache-Control: max-age=60, private=\"X\", no-cache=\"Y\"\nX: 1\nY: 2\nZ: 3"
        let cache = Self.stored(lines, mode, CacheFixture.request())
        #expect(cache.kept().first?.response?.head.headers.contains("X") == false)
        let head = try #require(cache.send(at: 1, nil)?.head)
        #expect(!head.headers.contains("X") && !head.headers.contains("Y") && head.headers.contains("Z"))
        // A stored response without its directives would be for anyone.
        let needed = "CDN-Cache-Control: max-age=60, private=\"cdn-cache-control\""
        #expect(Self.stored(needed, mode, CacheFixture.request()).kept().isEmpty)
    }

    @Test(arguments: [
        ("max-age=5, stale-while-revalidate=60", "swr"),
        ("max-age=5, s-maxage=5, stale-while-revalidate=60", "validated"),
        ("max-age=5, must-revalidate, stale-while-revalidate=60", "validated"), ("max-age=5", "validated"),
    ])
    func staleResponsesFollowTheTargetedField(directives: String, use: String) throws {
        let lines = "CDN-Cache-Control: \(directives)\nCache-Control: max-age=1, proxy-revalidate\nETag: \"a\""
        let cache = Self.stored(lines, .shared(targetedFields: Self.targets), CacheFixture.request())
        let answer = try #require(cache.send(at: 10) { _ in (HTTPResponse(status: 304), "") })
        #expect((answer.serving?.isRevalidated == true ? "validated" : "swr") == use)
        #expect(answer.body == "first")
    }

    @Test func validationUpdatesTheTargetedField() throws {
        // RFC 9111 §4.3.4
        let mode = CacheMode.shared(targetedFields: Self.targets)
        let cache = Self.stored("CDN-Cache-Control: max-age=5\nETag: \"a\"", mode, CacheFixture.request())
        let headers = HTTPHeaders(lines: "CDN-Cache-Control: max-age=100\nCache-Control: no-store")
        let validated = try #require(cache.send(at: 10) { _ in (HTTPResponse(status: 304, headers: headers), "") })
        #expect(validated.serving?.isRevalidated == true)
        #expect(cache.send(at: 100, nil)?.serving?.isStale == false)
    }
}
