#if os(Linux)
import Foundation
import SluiceEngine
import SluiceHTTP
import Testing

/// Parsing of `Set-Cookie` fields.
@Suite struct SetCookieTests {
    private static func parse(_ text: String) -> SetCookie? { SetCookie(Array(text.utf8)) }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test(arguments: [
        ("a=b", "a", "b"), ("Foo=Bar", "Foo", "Bar"), ("a=", "a", ""), ("=b", "", "b"), ("b", "", "b"),
        (" a = b ; Path=/", "a", "b"), ("\ta\t=\tb\t", "a", "b"), ("a=b=c", "a", "b=c"), ("a==", "a", "="),
        ("a=\"b; c\"", "a", "\"b"), ("a=b, c=d", "a", "b, c=d"), ("a=b;c=d", "a", "b"), ("a=b\tc", "a", "b\tc"),
        ("a\tb=c d", "a\tb", "c d"), ("a=b;", "a", "b"), ("a=b;;;=;Secure=;", "a", "b"), ("ä=ö", "ä", "ö"),
        ("a b=c", "a b", "c"), ("==", "", "="), ("$Version=1", "$Version", "1"), ("a=\" b \"", "a", "\" b \""),
    ])
    func nameAndValueAreParsed(_ field: String, _ name: String, _ value: String) throws {
        let cookie = try #require(Self.parse(field))
        #expect(Self.text(cookie.name) == name)
        #expect(Self.text(cookie.value) == value)
    }

    @Test func bytesThatAreNotUTF8ArePreserved() throws {
        let cookie = try #require(SetCookie([0xFF, 0x3D, 0xFE, 0x80, 0x3B, 0x50]))
        #expect(cookie.name == [0xFF])
        #expect(cookie.value == [0xFE, 0x80])
    }

    @Test(arguments: [
        "", " ", "\t", "=", " = ", ";", "; Path=/", "=; Secure", "a=b\u{0}", "a\u{1}=b", "a=b\u{1F}c", "a=b\u{7F}",
        "a=b; Path=/\u{8}", "a=b\nc", "a=b\r",
    ])
    func rejectsFieldsWithoutACookieOrWithControls(_ field: String) {
        #expect(Self.parse(field) == nil)
    }

    @Test func attributesAreParsedInAnyCase() throws {
        let cookie = try #require(
            Self.parse(
                "a=b; MAX-AGE=60 ;expires=Sun, 06 Nov 1994 08:49:37 GMT; DOMAIN = .A.example;path=/x ; secure; HttpOnly; SameSite=lAx; x=y"
            )
        )
        #expect(cookie.maxAge == 60)
        #expect(cookie.expires == 784_111_777)
        #expect(Self.text(cookie.domain) == "A.example")
        #expect(cookie.path.map(Self.text) == "/x")
        #expect(cookie.hasPath)
        #expect(cookie.isSecure)
        #expect(cookie.isHTTPOnly)
        #expect(cookie.sameSite == .lax)
    }

    @Test func unknownAttributesAreIgnored() throws {
        let cookie = try #require(Self.parse("a=b; Securely; HttpOnlyX; xPath=/; Domains=c"))
        #expect(cookie.maxAge == nil)
        #expect(cookie.expires == nil)
        #expect(cookie.domain.isEmpty)
        #expect(cookie.path == nil)
        #expect(!cookie.hasPath && !cookie.isSecure && !cookie.isHTTPOnly)
        #expect(cookie.sameSite == .unspecified)
    }

    @Test(arguments: ["Secure", "secure=", "SECURE=false", " Secure = 1 ", "Secure=x; HttpOnly"])
    func secureNeedsNoValue(_ attribute: String) {
        #expect(Self.parse("a=b;\(attribute)")?.isSecure == true)
    }

    @Test(
        arguments: [
            ("Max-Age=0", 0), ("Max-Age=-1", 0), ("Max-Age=-99999999999999999999", 0), ("Max-Age=007", 7),
            ("Max-Age=34560001", 34_560_000), ("Max-Age=99999999999999999999", 34_560_000), ("Max-Age=", nil),
            ("Max-Age=+1", nil), ("Max-Age=1.5", nil), ("Max-Age=-", nil), ("Max-Age=1s", nil), ("Max-Age=\"1\"", nil),
            ("Max-Age=5; Max-Age=6", 6), ("Max-Age=5; Max-Age=x", 5),
        ] as [(String, Int64?)]
    )
    func maxAgeIsParsedInSeconds(_ attributes: String, _ age: Int64?) {
        #expect(Self.parse("a=b; \(attributes)")?.maxAge == age)
    }

    @Test(
        arguments: [
            ("Domain=a.example; Domain=b.example", "b.example"), ("Domain=a.example; Domain=", ""), ("Domain", ""),
            ("Domain=.a.example", "a.example"), ("Domain=..a.example", ".a.example"),
        ] as [(String, String)]
    )
    func lastDomainIsUsed(_ attributes: String, _ domain: String) {
        #expect((Self.parse("a=b; \(attributes)")?.domain).map(Self.text) == domain)
    }

    @Test(
        arguments: [
            ("Path=/a; Path=/b", "/b"), ("Path=/a; Path=b", nil), ("Path=/a; Path", nil), ("Path=a", nil),
            ("Path=b; Path=/a", "/a"), ("Path=\"/a\"", nil), ("Path=/a\tb", "/a\tb"),
        ] as [(String, String?)]
    )
    func lastPathIsUsed(_ attributes: String, _ path: String?) {
        let cookie = Self.parse("a=b; \(attributes)")
        #expect((cookie?.path).map(Self.text) == path)
        #expect(cookie?.hasPath == true)
    }

    @Test(
        arguments: [
            ("SameSite=None", .none), ("SameSite=STRICT", .strict), ("SameSite=Lax; SameSite=x", .unspecified),
            ("SameSite", .unspecified), ("SameSite=laxative", .unspecified), ("SameSite=strictest", .unspecified),
        ] as [(String, Cookie.SameSite)]
    )
    func sameSiteIsParsed(_ attributes: String, _ rule: Cookie.SameSite) {
        #expect(Self.parse("a=b; \(attributes)")?.sameSite == rule)
    }

    @Test func maxAgePrecedesExpiresUpToFourHundredDays() throws {
        let now = Date(timeIntervalSince1970: 784_000_000)
        func end(_ attributes: String) -> TimeInterval? {
            Self.parse("a=b; \(attributes)")?.end(at: now)?.timeIntervalSince(now)
        }
        let date = "Expires=Sun, 06 Nov 1994 08:49:37 GMT"
        #expect(end("") == nil)
        #expect(end("Expires=tomorrow") == nil)
        #expect(end(date) == 111_777)
        #expect(end("\(date); Expires=tomorrow") == 111_777)
        #expect(end("\(date); Max-Age=60") == 60)
        #expect(end("Max-Age=60; \(date)") == 60)
        #expect(end("Max-Age=x; \(date)") == 111_777)
        #expect(end("Expires=Fri, 31 Dec 9999 23:59:59 GMT") == 34_560_000)
        #expect(try #require(end("Max-Age=0; Expires=Fri, 31 Dec 9999 23:59:59 GMT")) < 0)
        #expect(try #require(end("Expires=Thu, 01 Jan 1970 00:00:00 GMT")) < 0)
    }

    @Test func cookieAndAttributeLengthsAreLimited() {
        func value(_ count: Int) -> String { String(repeating: "v", count: count) }
        #expect(Self.parse("name=\(value(4092))") != nil)
        #expect(Self.parse("name=\(value(4093))") == nil)
        #expect(Self.parse("name=\(value(4092))  ; Path=/") != nil)
        #expect(Self.parse("\(value(4097))") == nil)
        #expect(Self.parse("a=b; Path=/\(value(1023))")?.path?.count == 1024)
        #expect(Self.parse("a=b; Path=/x; Path=/\(value(1024))")?.path.map(Self.text) == "/x")
        #expect(Self.parse("a=b; Domain=\(value(1025))")?.domain.isEmpty == true)
        #expect(Self.parse("a=b; Secure=\(value(1025))")?.isSecure == false)
    }

    @Test(.timeLimit(.minutes(1)), arguments: ["v", ";", "; a", "=", " ", "\t; Path=/x"])
    func mebibyteOfInputIsParsedInTime(_ piece: String) {
        let long = String(repeating: piece, count: (1 << 20) / piece.utf8.count)
        let cookie = Self.parse("a=b\(long)")
        #expect(cookie == nil || cookie.map { Self.text($0.value) } == "b")
    }
}
#endif
