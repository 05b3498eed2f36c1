#if os(Linux)
import Foundation
import SluiceEngine
import SluiceHTTP
import Testing

/// A cookie table with a clock, used with URLs and texts.
final class CookieTableFixture {
    var now = Date(timeIntervalSince1970: 1_800_000_000)
    var table: CookieTable

    init(_ lines: [CookieLine] = [], limits: CookieTable.Limits = CookieTable.Limits()) {
        table = CookieTable(lines, limits: limits, at: now) { PublicSuffixes.contains($0) }
    }

    static func origin(_ url: String, host: String? = nil) -> CookieOrigin? {
        let parts = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        let request = HTTPRequest(
            scheme: String(parts[0].dropLast()),
            authority: String(parts[2]),
            path: "/" + (parts.count > 3 ? parts[3] : ""),
            headers: host.map { ["Host": $0] } ?? [:]
        )
        return CookieOrigin(request)
    }

    @discardableResult
    func set(_ field: String, at url: String) throws -> Bool {
        let origin = try #require(CookieTableFixture.origin(url))
        return table.store(Array(field.utf8), from: origin, at: now)
    }

    func sent(to url: String, host: String? = nil) throws -> String? {
        let origin = try #require(CookieTableFixture.origin(url, host: host))
        return table.header(for: origin, at: now).map { String(decoding: $0, as: UTF8.self) }
    }

    var cookies: [Cookie] { table.lines(at: now).map(\.cookie) }
}

/// Cookies from `Set-Cookie` to `Cookie` fields.
@Suite struct CookieTableTests {
    /// The URL and the field that set a cookie, the URL of a request, and its `Cookie` field.
    static let scopes: [(String, String, String, String?)] = [
        // Hosts and domains.
        ("http://a.shop.example/", "x=1", "http://a.shop.example/", "x=1"),
        ("http://a.shop.example/", "x=1", "http://A.Shop.Example:8080/", "x=1"),
        ("http://a.shop.example/", "x=1", "http://a.shop.example./", "x=1"),
        ("http://a.shop.example/", "x=1", "http://shop.example/", nil),
        ("http://a.shop.example/", "x=1", "http://b.a.shop.example/", nil),
        ("http://a.shop.example/", "x=1; Domain=a.shop.example", "http://b.a.shop.example/", "x=1"),
        ("http://a.shop.example/", "x=1; Domain=.shop.example", "http://b.shop.example/", "x=1"),
        ("http://a.shop.example/", "x=1; Domain=SHOP.example", "http://shop.example/", "x=1"),
        ("http://a.shop.example/", "x=1; Domain=shop.example.", "http://shop.example/", "x=1"),
        ("http://a.shop.example/", "x=1; Domain=shop.example", "http://notshop.example/", nil),
        ("http://a.shop.example/", "x=1; Domain=b.a.shop.example", "http://b.a.shop.example/", nil),
        ("http://a.shop.example/", "x=1; Domain=b.shop.example", "http://b.shop.example/", nil),
        ("http://a.shop.example/", "x=1; Domain=hop.example", "http://a.shop.example/", nil),
        ("http://a.shop.example/", "x=1; Domain=other.example; Domain=shop.example", "http://b.shop.example/", "x=1"),
        ("http://a.shop.example/", "x=1; Domain=shop.example; Domain=other.example", "http://a.shop.example/", nil),
        ("http://a.shop.example/", "x=1; Domain=shop.example; Domain=", "http://a.shop.example/", "x=1"),
        ("http://a.shop.example/", "x=1; Domain=shop.example; Domain=", "http://b.shop.example/", nil),
        ("http://a.shop.example/", "x=1; Domain=.", "http://a.shop.example/", "x=1"),
        ("http://a.shop.example/", "x=1; Domain=..shop.example", "http://a.shop.example/", nil),
        ("http://a.shop.example/", "x=1; Domain=shöp.example", "http://a.shop.example/", nil),
        // Public suffixes.
        ("http://a.co.uk/", "x=1; Domain=co.uk", "http://a.co.uk/", nil),
        ("http://a.co.uk/", "x=1; Domain=CO.uk.", "http://a.co.uk/", nil),
        ("http://a.co.uk/", "x=1; Domain=uk", "http://a.co.uk/", nil),
        ("http://a.b.co.uk/", "x=1; Domain=b.co.uk", "http://c.b.co.uk/", "x=1"),
        ("http://a.github.io/", "x=1; Domain=github.io", "http://a.github.io/", nil),
        ("http://github.io/", "x=1; Domain=github.io", "http://github.io/", "x=1"),
        ("http://github.io/", "x=1; Domain=github.io", "http://a.github.io/", nil),
        ("http://a.example/", "x=1; Domain=example", "http://a.example/", nil),
        ("http://a.example/", "x=1; Domain=com", "http://a.example/", nil),
        ("http://localhost/", "x=1; Domain=localhost", "http://localhost/", "x=1"),
        ("http://intranet/", "x=1", "http://intranet/", "x=1"),
        // Addresses.
        ("http://127.0.0.1/", "x=1; Domain=127.0.0.1", "http://127.0.0.1:81/", "x=1"),
        ("http://127.0.0.1/", "x=1; Domain=0.0.1", "http://127.0.0.1/", nil),
        ("http://10.1.2.3/", "x=1; Domain=.2.3", "http://10.1.2.3/", nil),
        ("http://[::1]:8080/", "x=1", "http://[::1]/", "x=1"),
        ("http://[::1]/", "x=1", "http://[::2]/", nil),
        ("http://[::1]/", "x=1; Domain=::1", "http://[::1]/", "x=1"),
        // Paths.
        ("http://a.example/", "x=1; Path=/x", "http://a.example/x", "x=1"),
        ("http://a.example/", "x=1; Path=/x", "http://a.example/x/y?z", "x=1"),
        ("http://a.example/", "x=1; Path=/x", "http://a.example/x?/y", "x=1"),
        ("http://a.example/", "x=1; Path=/x", "http://a.example/xy", nil),
        ("http://a.example/", "x=1; Path=/x", "http://a.example/X", nil),
        ("http://a.example/", "x=1; Path=/x", "http://a.example/", nil),
        ("http://a.example/", "x=1; Path=/x/", "http://a.example/x", nil),
        ("http://a.example/", "x=1; Path=/x/", "http://a.example/x/y", "x=1"),
        ("http://a.example/x/y/z", "x=1", "http://a.example/x/y", "x=1"),
        ("http://a.example/x/y/z", "x=1", "http://a.example/x", nil),
        ("http://a.example/x/y/", "x=1", "http://a.example/x/y", "x=1"),
        ("http://a.example/x", "x=1", "http://a.example/y", "x=1"),
        ("http://a.example/x?y/z", "x=1", "http://a.example/y", "x=1"),
        ("http://a.example/x/y", "x=1; Path=y", "http://a.example/x", "x=1"),
        ("http://a.example/x/y", "x=1; Path=/; Path=", "http://a.example/z", nil),
        // The Secure attribute.
        ("https://a.example/", "x=1; Secure", "https://a.example/", "x=1"),
        ("https://a.example/", "x=1; Secure", "http://a.example/", nil),
        ("https://a.example/", "x=1", "http://a.example/", "x=1"),
        ("http://a.example/", "x=1; Secure", "https://a.example/", nil),
        ("http://localhost/", "x=1; Secure", "http://localhost/", "x=1"),
        ("http://127.0.0.1:8080/", "x=1; Secure=no", "http://127.0.0.1/", "x=1"),
        ("http://[::1]/", "x=1; Secure", "http://[::1]:8080/", "x=1"),
        ("http://app.localhost/", "x=1; Secure", "http://app.localhost/", "x=1"),
        ("http://127.9.9.9/", "x=1; Secure", "http://127.9.9.9/", "x=1"),
        ("http://localhost.example/", "x=1; Secure", "http://localhost.example/", nil),
        // Prefixes.
        ("https://a.example/", "__Secure-x=1; Secure", "https://a.example/", "__Secure-x=1"),
        ("https://a.example/", "__Secure-x=1", "https://a.example/", nil),
        ("https://a.example/", "__SECURE-x=1", "https://a.example/", nil),
        ("https://a.example/", "__Host-x=1; Secure; Path=/", "https://a.example/", "__Host-x=1"),
        ("https://a.example/", "__hOsT-x=1; Secure; Path=/", "https://a.example/", "__hOsT-x=1"),
        ("https://a.example/", "__Host-x=1; Secure", "https://a.example/", nil),
        ("https://a.example/", "__Host-x=1; Path=/", "https://a.example/", nil),
        ("https://a.example/", "__host-x=1; Secure; Path=/x", "https://a.example/x", nil),
        ("https://b.a.example/", "__Host-x=1; Secure; Path=/; Domain=a.example", "https://b.a.example/", nil),
        ("https://a.example/", "__Host-x; Secure; Path=/", "https://a.example/", nil),
        ("https://a.example/", "=__secure-x=1; Secure", "https://a.example/", nil),
        ("https://a.example/", "__Hostx=1", "https://a.example/", "__Hostx=1"),
        // Names and values.
        ("http://a.example/", "NaMe=VaLuE", "http://a.example/", "NaMe=VaLuE"),
        ("http://a.example/", "token", "http://a.example/", "token"),
        ("http://a.example/", "=token", "http://a.example/", "token"),
        ("http://a.example/", "x=", "http://a.example/", "x="),
        ("http://a.example/", "x=a\tb c", "http://a.example/", "x=a\tb c"),
    ]

    /// The order of creation counts, and an expired cookie has no successor (RFC 6265bis §5.7).
    @Test func cookieThatIsSetAgainAfterItsEndIsNew() throws {
        let fixture = CookieTableFixture()
        try fixture.set("a=1; Max-Age=2", at: "http://shop.example/")
        try fixture.set("b=2", at: "http://shop.example/")
        try fixture.set("a=3; Max-Age=2", at: "http://shop.example/")
        #expect(try fixture.sent(to: "http://shop.example/") == "a=3; b=2")
        fixture.now += 3
        try fixture.set("a=4", at: "http://shop.example/")
        #expect(try fixture.sent(to: "http://shop.example/") == "b=2; a=4")
    }

    @Test(arguments: scopes)
    func cookiesAreSentToMatchingHostsAndPathsOnly(_ from: String, _ field: String, _ to: String, _ cookies: String?)
        throws
    {
        let fixture = CookieTableFixture()
        try fixture.set(field, at: from)
        #expect(try fixture.sent(to: to) == cookies)
    }

    @Test func bytesThatAreNotUTF8ArePreserved() throws {
        let origin = try #require(CookieTableFixture.origin("http://a.example/"))
        let fixture = CookieTableFixture()
        let (first, second): ([UInt8], [UInt8]) = ([0xFF, 0x3D, 0xFE], [0xFE, 0x3D, 0xE4])
        for field in [first, second] { _ = fixture.table.store(field, from: origin, at: fixture.now) }
        let bytes = first + [0x3B, 0x20] + second
        #expect(fixture.table.header(for: origin, at: fixture.now) == bytes)
        // The same after writing and reading a file.
        let lines = fixture.table.lines(at: fixture.now).map(\.bytes)
        #expect(lines.count == 2)
        let again = CookieTableFixture(lines.compactMap { CookieLine($0) })
        #expect(again.table.header(for: origin, at: again.now) == bytes)
    }

    @Test func cookiesAreSortedByPathLengthAndThenAge() throws {
        let fixture = CookieTableFixture()
        for field in [
            "a=1; Path=/", "b=1; Path=/x", "c=1; Path=/", "d=1; Path=/x/y", "e=1; Path=/x; Domain=shop.example",
        ] {
            try fixture.set(field, at: "http://shop.example/")
        }
        #expect(try fixture.sent(to: "http://shop.example/x/y") == "d=1; b=1; e=1; a=1; c=1")
        // A replaced cookie keeps its place. A cookie that was removed is new.
        try fixture.set("a=2; Path=/", at: "http://shop.example/")
        #expect(try fixture.sent(to: "http://shop.example/") == "a=2; c=1")
        try fixture.set("a=; Path=/; Max-Age=0", at: "http://shop.example/")
        try fixture.set("a=3; Path=/", at: "http://shop.example/")
        #expect(try fixture.sent(to: "http://shop.example/") == "c=1; a=3")
        // The order survives writing and reading.
        let again = CookieTableFixture(fixture.table.lines(at: fixture.now))
        #expect(try again.sent(to: "http://shop.example/x/y") == "d=1; b=1; e=1; c=1; a=3")
    }

    @Test func cookieIsReplacedByOneOfSameNameDomainAndPath() throws {
        let fixture = CookieTableFixture()
        for field in [
            "x=1", "X=2", "x=3; Domain=a.example", "x=4; Path=/y", "x=5", "x=6; Domain=A.example; HttpOnly",
        ] {
            try fixture.set(field, at: "http://a.example/")
        }
        #expect(fixture.cookies.map(\.value) == ["5", "2", "6", "4"])
        #expect(fixture.cookies.map(\.isHTTPOnly) == [false, false, true, false])
        #expect(fixture.table.count == 4)
    }

    @Test func expiredCookieIsNeitherSentNorListed() throws {
        let fixture = CookieTableFixture()
        try fixture.set("a=1; Max-Age=60", at: "http://a.example/")
        try fixture.set(
            "b=1; Expires=\(HTTPDate.string(from: fixture.now.addingTimeInterval(120)))",
            at: "http://a.example/"
        )
        try fixture.set("c=1", at: "http://a.example/")
        #expect(try fixture.sent(to: "http://a.example/") == "a=1; b=1; c=1")
        fixture.now.addTimeInterval(60)
        #expect(try fixture.sent(to: "http://a.example/") == "b=1; c=1")
        #expect(fixture.cookies.map(\.name) == ["b", "c"])
        fixture.now.addTimeInterval(60)
        #expect(fixture.cookies.map(\.name) == ["c"])
        #expect(fixture.table.count == 1)
        fixture.now.addTimeInterval(1e9)
        #expect(try fixture.sent(to: "http://a.example/") == "c=1")
    }

    @Test(arguments: [
        "Max-Age=0", "Max-Age=-1", "Expires=Thu, 01 Jan 1970 00:00:00 GMT", "Expires=Mon, 01-Jan-01 00:00:00",
    ])
    func serverRemovesACookieByExpiringIt(_ end: String) throws {
        let fixture = CookieTableFixture()
        #expect(try fixture.set("a=1", at: "http://a.example/"))
        #expect(try !fixture.set("b=; \(end)", at: "http://a.example/"))
        #expect(try fixture.set("a=; \(end)", at: "http://a.example/"))
        #expect(try !fixture.set("a=; \(end)", at: "http://a.example/"))
        #expect(try fixture.sent(to: "http://a.example/") == nil)
        #expect(fixture.table.count == 0)
    }

    @Test func listedCookieHasTheAttributesThatWereSet() throws {
        let fixture = CookieTableFixture()
        try fixture.set(
            "a=1; Domain=.Shop.example; Path=/x; Secure; HttpOnly; SameSite=Strict; Max-Age=60",
            at: "https://shop.example/"
        )
        try fixture.set("b=2", at: "https://[::1]/x/y")
        #expect(
            fixture.cookies == [
                Cookie(
                    name: "a",
                    value: "1",
                    domain: "shop.example",
                    path: "/x",
                    includesSubdomains: true,
                    expires: fixture.now.addingTimeInterval(60),
                    isSecure: true,
                    isHTTPOnly: true,
                    sameSite: .strict
                ), Cookie(name: "b", value: "2", domain: "::1", path: "/x"),
            ]
        )
    }

    // MARK: Secure cookies and http

    /// The path of a secure cookie of `a.shop.example`, true if subdomains get it, the URL and field of an http cookie of the
    /// same name, and true if that may be set.
    static let overlays: [(String, Bool, String, String, Bool)] = [
        ("/", false, "http://a.shop.example/", "x=2; Path=/", false),
        ("/", false, "http://a.shop.example/", "x=2; Path=/y", false),
        ("/", false, "http://a.shop.example/", "x=; Path=/; Max-Age=0", false),
        ("/", false, "http://a.shop.example/", "x=2; Domain=shop.example; Path=/", false),
        ("/", false, "http://shop.example/", "x=2; Path=/", false),
        ("/", true, "http://b.a.shop.example/", "x=2; Path=/", false),
        ("/y", false, "http://a.shop.example/", "x=2; Path=/y/z", false),
        ("/y", false, "http://a.shop.example/", "x=2; Path=/", true),
        ("/y", false, "http://a.shop.example/", "x=2; Path=/yz", true),
        ("/", false, "http://a.shop.example/", "X=2; Path=/", true),
        ("/", false, "http://b.shop.example/", "x=2; Path=/", true),
        ("/", false, "https://a.shop.example/", "x=2; Path=/", true),
    ]

    @Test(arguments: overlays)
    func httpCannotReplaceOrShadowSecureCookies(
        _ path: String,
        _ isWide: Bool,
        _ url: String,
        _ field: String,
        _ isAccepted: Bool
    )
        throws
    {
        let fixture = CookieTableFixture()
        let domain = isWide ? "; Domain=a.shop.example" : ""
        try fixture.set("x=1; Path=\(path); Secure\(domain)", at: "https://a.shop.example/")
        #expect(try fixture.set(field, at: url) == isAccepted)
        if !isAccepted { #expect(fixture.cookies.map(\.value) == ["1"]) }
    }

    @Test func httpReplacesExpiredAndRemovedSecureCookies() throws {
        let fixture = CookieTableFixture()
        try fixture.set("x=1; Secure; Max-Age=60", at: "https://a.example/")
        try fixture.set("y=1; Secure", at: "https://a.example/")
        #expect(try !fixture.set("x=2", at: "http://a.example/"))
        fixture.now.addTimeInterval(60)
        #expect(try fixture.set("x=2", at: "http://a.example/"))
        try fixture.set("y=; Max-Age=0", at: "https://a.example/")
        #expect(try fixture.set("y=2", at: "http://a.example/"))
        #expect(try fixture.sent(to: "http://a.example/") == "x=2; y=2")
    }

    // MARK: Hosts

    @Test func hostFieldOfTheRequestDecidesTheSite() throws {
        let fixture = CookieTableFixture()
        try fixture.set("x=1", at: "https://shop.example/")
        try fixture.set("s=1; Secure", at: "https://localhost/")
        #expect(try fixture.sent(to: "http://127.0.0.1:8080/", host: "Shop.example:81") == "x=1")
        #expect(try fixture.sent(to: "http://shop.example/", host: "other.example") == nil)
        #expect(try fixture.sent(to: "http://localhost/") == "s=1")
        // The path to a server that calls itself localhost is not secure.
        #expect(try fixture.sent(to: "http://10.0.0.1/", host: "localhost") == nil)
    }

    @Test(arguments: ["", "a b", "a@b", "[::1", "a/b", "ä.example", ".", String(repeating: "a.", count: 200)])
    func malformedHostHasNoCookieOrigin(_ host: String) {
        #expect(CookieTableFixture.origin("http://a.example/", host: host) == nil)
    }

    // MARK: Cookies set by the program

    @Test func programCanSetCookiesThatServersCannot() throws {
        let fixture = CookieTableFixture()
        let cookies = [
            Cookie(name: "a", value: "1", domain: "Co.uk", includesSubdomains: true),
            Cookie(name: "b", value: "1", domain: ".b.co.uk.", includesSubdomains: true, isSecure: true),
        ]
        fixture.table.apply(.add(cookies.compactMap { CookieLine($0) }), at: fixture.now)
        #expect(try fixture.sent(to: "http://a.b.co.uk/") == "a=1")
        #expect(try fixture.sent(to: "https://a.b.co.uk/") == "a=1; b=1")
        #expect(try !fixture.set("b=2; Domain=b.co.uk", at: "http://b.co.uk/"))
    }

    @Test func changesReplaceAddAndRemove() throws {
        func line(_ name: String, _ value: String, ends: Date? = nil) throws -> CookieLine {
            try #require(CookieLine(Cookie(name: name, value: value, domain: "A.example", expires: ends)))
        }
        let fixture = CookieTableFixture()
        try fixture.set("a=1", at: "http://a.example/")
        fixture.table.apply(.addMissing([try line("a", "2"), try line("b", "2")]), at: fixture.now)
        #expect(try fixture.sent(to: "http://a.example/") == "a=1; b=2")
        fixture.table.apply(.add([try line("a", "3"), try line("c", "3", ends: fixture.now)]), at: fixture.now)
        #expect(try fixture.sent(to: "http://a.example/") == "a=3; b=2")
        let listed = fixture.table.lines(at: fixture.now)
        try fixture.set("b=4", at: "http://a.example/")
        fixture.table.apply(.remove(listed), at: fixture.now)
        #expect(try fixture.sent(to: "http://a.example/") == "b=4")
        let expired = try #require(fixture.table.lines(at: fixture.now).first).expired
        fixture.table.apply(.add([expired]), at: fixture.now)
        #expect(try fixture.sent(to: "http://a.example/") == nil)
        fixture.table.apply(.removeAll, at: fixture.now)
        #expect(fixture.table.lines(at: fixture.now).isEmpty)
        #expect(fixture.table.count == 0)
    }

    @Test(arguments: ["token; Path=/", "a=b\tc; Path=/"])
    func everyCookieOfAServerCanBeRemoved(_ field: String) throws {
        let fixture = CookieTableFixture()
        try fixture.set(field, at: "http://a.example/")
        let expired = fixture.table.lines(at: fixture.now).map(\.expired)
        #expect(expired.count == 1)
        fixture.table.apply(.add(expired), at: fixture.now)
        #expect(fixture.table.count == 0)
    }
}
#endif
