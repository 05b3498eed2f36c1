import Foundation
import SluiceHTTP
import Testing

@Suite struct CookieLineTests {
    private static func line(_ text: String) -> CookieLine? { CookieLine(text.utf8) }

    private static func text(_ line: CookieLine?) -> String? { line.map { String(decoding: $0.bytes, as: UTF8.self) } }

    private static let plain = Cookie(name: "id", value: "17", domain: "a.example")

    @Test(arguments: [
        ("a.example\tFALSE\t/\tFALSE\t0\tid\t17", Cookie(name: "id", value: "17", domain: "a.example")),
        ("a.example\tFALSE\t/\tFALSE\t\tid\t17", Cookie(name: "id", value: "17", domain: "a.example")),
        (
            ".a.example\tTRUE\t/x\tTRUE\t1800000000\tid\t17\r",
            Cookie(
                name: "id",
                value: "17",
                domain: "a.example",
                path: "/x",
                includesSubdomains: true,
                expires: Date(timeIntervalSince1970: 1_800_000_000),
                isSecure: true
            )
        ),
        (
            "#HttpOnly_a.example\tfalse\t/\ttrue\t0\tid\ta=b c",
            Cookie(name: "id", value: "a=b c", domain: "a.example", isSecure: true, isHTTPOnly: true)
        ),
        ("a.example\tFALSE\t/\tFALSE\t0\tid\t", Cookie(name: "id", value: "", domain: "a.example")),
        ("a.example\tFALSE\t/\tFALSE\t0\tid", Cookie(name: "id", value: "", domain: "a.example")),
        (
            "a.example\tFALSE\t/\tFALSE\t9223372036854775807\tid\t",
            Cookie(name: "id", value: "", domain: "a.example", expires: Date(timeIntervalSince1970: 253_402_300_799))
        ),
    ])
    func linesOfOtherProgramsAreParsed(_ text: String, _ cookie: Cookie) throws {
        let line = try #require(Self.line(text))
        #expect(line.cookie == cookie)
        // The written line reads back the same.
        #expect(CookieLine(line.bytes) == line)
        #expect(CookieLine(cookie) == line)
    }

    /// Browsers store such cookies in this form, and Python writes it.
    @Test func cookieWithoutANameIsParsed() throws {
        let text = "a.example\tFALSE\t/\tFALSE\t0\t\tid"
        let line = try #require(Self.line(text))
        #expect(line.cookie == Cookie(name: "", value: "id", domain: "a.example"))
        #expect(Self.text(line) == text)
        #expect(Self.text(line.expired) == "a.example\tFALSE\t/\tFALSE\t1\t\t")
    }

    @Test(arguments: [
        ("a.example\tFALSE\t/\tTRUE\t0\t__Host-id\t17", true), ("a.example\tFALSE\t/\tFALSE\t0\t__Host-id\t17", false),
        ("a.example\tFALSE\t/x\tTRUE\t0\t__host-id\t17", false), (".a.example\tTRUE\t/\tTRUE\t0\t__Host-id\t17", false),
        (".a.example\tTRUE\t/x\tTRUE\t0\t__Secure-id\t17", true),
        ("a.example\tFALSE\t/\tFALSE\t0\t__SECURE-id\t17", false),
        ("a.example\tFALSE\t/\tTRUE\t0\t\t__Host-id=17", false), ("a.example\tFALSE\t/\tFALSE\t0\t__Hos\t17", true),
    ])
    func lineMustMeetThePrefixOfItsCookieName(_ text: String, _ isOne: Bool) {
        #expect((Self.line(text) != nil) == isOne)
    }

    @Test func cookieSetInCodeMustMeetItsPrefix() {
        var cookie = Cookie(name: "__Host-id", value: "17", domain: "a.example")
        #expect(CookieLine(cookie) == nil)
        cookie.isSecure = true
        #expect(CookieLine(cookie) != nil)
        cookie.includesSubdomains = true
        #expect(CookieLine(cookie) == nil)
    }

    @Test(arguments: [("1\t7", "/", false), ("17", "/\t", false), ("17", "/", true)])
    func cookieWithATabDoesNotFitTheFileFormat(_ value: String, _ path: String, _ fits: Bool) {
        let cookie = Cookie(name: "id", value: value, domain: "a.example", path: path)
        let line = CookieLine(cookie, name: Array("id".utf8), value: Array(value.utf8), path: Array(path.utf8))
        #expect(line.fitsFile == fits)
    }

    @Test func keysDifferByTheBytesOfNames() throws {
        func line(_ name: [UInt8], _ flag: String = "FALSE") throws -> CookieLine {
            let bytes = Array("a.example\t\(flag)\t/\tFALSE\t0\t".utf8) + name + Array("\t1".utf8)
            return try #require(CookieLine(bytes))
        }
        let keys = [
            try line([0xFF]), try line([0xFE]), try line(Array("e\u{301}".utf8)), try line(Array("\u{E9}".utf8)),
            try line([0xFF], "TRUE"), try line(Array("a".utf8)), try line(Array("A".utf8)),
        ].map(\.key)
        #expect(Set(keys).count == keys.count)
    }

    @Test(arguments: [
        "", "# Netscape HTTP Cookie File", "#a.example\tFALSE\t/\tFALSE\t0\tid\t17", "ALL", "SESS", "FLUSH", "RELOAD",
        "Set-Cookie: id=17; Domain=a.example", "a.example FALSE / FALSE 0 id 17", "a.example\tFALSE\t/\tFALSE\t0",
        "a.example\tFALSE\t/\tFALSE\t0\tid\t17\t18", "a.example\tNO\t/\tFALSE\t0\tid\t17",
        "a.example\tFALSE\t/\t\t0\tid\t17", "a.example\tFALSE\t/\tFALSE\t-1\tid\t17",
        "a.example\tFALSE\t/\tFALSE\t1.5\tid\t17", "a.example\tFALSE\t/\tFALSE\t99999999999999999999\tid\t17",
        "\tFALSE\t/\tFALSE\t0\tid\t17", ".\tTRUE\t/\tFALSE\t0\tid\t17", "a b\tFALSE\t/\tFALSE\t0\tid\t17",
        "a.example\tFALSE\tx\tFALSE\t0\tid\t17", "a.example\tFALSE\t\tFALSE\t0\tid\t17",
        "a.example\tFALSE\t/\tFALSE\t0\t\t", "a.example\tFALSE\t/\tFALSE\t0\tid\t1\u{0}7",
        "a.example\tFALSE\t/\tFALSE\t0\tid\t1\u{7f}7", "\u{0}\u{1}\u{2}",
        "#HttpOnly_#HttpOnly_x\tFALSE\t/\tFALSE\t0\tid\t1",
    ])
    func rejectsMalformedLines(_ text: String) {
        #expect(Self.line(text) == nil)
    }

    @Test func bytesThatAreNotUTF8ArePreserved() throws {
        let bytes = Array("a.example\tFALSE\t/\tFALSE\t0\tid\t".utf8) + [0xFF, 0xFE]
        #expect(try #require(CookieLine(bytes)).bytes == bytes)
    }

    @Test(arguments: [
        Cookie(name: "", value: "1", domain: "a.example"), Cookie(name: "a", value: "1", domain: ""),
        Cookie(name: "a", value: "1", domain: "."), Cookie(name: "a", value: "1", domain: "a.example", path: "x"),
        Cookie(name: "a", value: "1; b=2", domain: "a.example"), Cookie(name: "a=b", value: "1", domain: "a.example"),
        Cookie(name: "a", value: "1\t2", domain: "a.example"),
        Cookie(name: "a", value: "1\r\nB: 2", domain: "a.example"),
        Cookie(name: "a\u{0}", value: "1", domain: "a.example"), Cookie(name: "a", value: "1", domain: "#a.example"),
    ])
    func rejectsInvalidCookies(_ cookie: Cookie) {
        #expect(CookieLine(cookie) == nil)
    }

    @Test(
        arguments: [
            (Date(timeIntervalSince1970: 0), "1"), (Date.distantPast, "1"), (Date(timeIntervalSince1970: 1.9), "1"),
            (Date(timeIntervalSince1970: 1_800_000_000.7), "1800000000"), (Date.distantFuture, "64092211200"),
            (Date(timeIntervalSince1970: 1e18), "253402300799"), (nil, "0"),
        ] as [(Date?, String)]
    )
    func expiryIsWrittenInWholeSecondsAndNeverAsZero(_ expires: Date?, _ seconds: String) {
        var cookie = Self.plain
        cookie.expires = expires
        #expect(Self.text(CookieLine(cookie)) == "a.example\tFALSE\t/\tFALSE\t\(seconds)\tid\t17")
    }

    @Test func expiredLineHasTheKeyOfItsCookie() throws {
        let line = try #require(Self.line("#HttpOnly_.a.example\tTRUE\t/x\tTRUE\t0\tid\ts3cret"))
        #expect(line.expired.key == line.key)
        #expect(Self.text(line.expired) == "#HttpOnly_.a.example\tTRUE\t/x\tTRUE\t1\tid\t")
    }

    @Test func descriptionsContainNoValue() {
        let cookie = Cookie(name: "id", value: "s3cret", domain: "a.example", path: "/x")
        var dumped = ""
        dump(cookie, to: &dumped)
        for text in [
            "\(cookie)", String(reflecting: cookie), "\([cookie])", dumped, String(describing: Optional(cookie)),
        ] {
            #expect(text.contains("id"))
            #expect(!text.contains("s3cret"))
        }
    }

    @Test func listHasEachCookieOnceAndNoExpiredOne() throws {
        func line(_ name: String, _ value: String, _ end: TimeInterval? = nil) throws -> CookieLine {
            let expires = end.map(Date.init(timeIntervalSince1970:))
            return try #require(
                CookieLine(Cookie(name: name, value: value, domain: "A.example", expires: expires))
            )
        }
        let now = Date(timeIntervalSince1970: 100)
        var list = CookieList()
        list.apply(
            .add([try line("a", "1"), try line("b", "1", 200), try line("a", "2"), try line("c", "1", 100)]),
            now: now
        )
        #expect(list.lines.map(\.cookie.value) == ["2", "1"])
        list.apply(.addMissing([try line("a", "3"), try line("d", "1")]), now: now)
        #expect(list.lines.map(\.cookie.name) == ["a", "b", "d"])
        #expect(list.lines.map(\.cookie.value) == ["2", "1", "1"])
        list.apply(.add([try line("d", "9", 1)]), now: now)
        list.apply(.none, now: Date(timeIntervalSince1970: 200))
        #expect(list.lines.map(\.cookie.name) == ["a"])
        // A cookie with another value has replaced the removed one.
        list.apply(.remove([try line("a", "1")]), now: now)
        #expect(list.lines.map(\.cookie.value) == ["2"])
        list.apply(.remove([try line("a", "2")]), now: now)
        #expect(list.lines.isEmpty)
        list.apply(.add([try line("a", "1")]), now: now)
        list.apply(.removeAll, now: now)
        #expect(list.lines.isEmpty)
    }
}
