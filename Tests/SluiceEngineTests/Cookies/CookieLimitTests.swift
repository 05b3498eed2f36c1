#if os(Linux)
import Foundation
import SluiceEngine
import SluiceHTTP
import Testing

/// Tables that exceed their limits, from servers or files.
@Suite struct CookieLimitTests {
    private static func limits(_ change: (inout CookieTable.Limits) -> Void) -> CookieTable.Limits {
        var limits = CookieTable.Limits()
        change(&limits)
        return limits
    }

    @Test func defaultLimitsMeetTheMinimumsOfTheStandard() {
        let limits = CookieTable.Limits()
        #expect(limits.domain >= 50)
        #expect(limits.total >= 3000)
        #expect(limits.response >= 50)
    }

    @Test(arguments: [(1023, 1), (1024, 0)])
    func defaultPathIsLimited(length: Int, count: Int) throws {
        let fixture = CookieTableFixture(limits: CookieTable.Limits())
        try fixture.set("a=1", at: "http://a.example/\(String(repeating: "p", count: length))/x")
        #expect(fixture.cookies.count == count)
    }

    @Test func leastRecentlyUsedCookieOfADomainIsRemovedFirst() throws {
        let fixture = CookieTableFixture(limits: Self.limits { $0.domain = 3 })
        for name in ["a", "b", "c"] { try fixture.set("\(name)=1; Path=/\(name)", at: "http://a.example/") }
        #expect(try fixture.sent(to: "http://a.example/a") == "a=1")
        try fixture.set("d=1; Path=/d", at: "http://a.example/")
        #expect(fixture.cookies.map(\.name) == ["a", "c", "d"])
        // Setting a cookie counts as a use.
        try fixture.set("c=2; Path=/c", at: "http://a.example/")
        try fixture.set("e=1; Path=/e", at: "http://a.example/")
        #expect(fixture.cookies.map(\.name) == ["c", "d", "e"])
        // Each domain has its own limit.
        try fixture.set("f=1", at: "http://b.example/")
        #expect(fixture.table.count == 4)
    }

    @Test func expiredCookiesAreRemovedFirst() throws {
        let fixture = CookieTableFixture(limits: Self.limits { $0.domain = 3 })
        try fixture.set("a=1", at: "http://a.example/")
        try fixture.set("b=1; Max-Age=60", at: "http://a.example/")
        try fixture.set("c=1", at: "http://a.example/")
        fixture.now.addTimeInterval(60)
        try fixture.set("d=1", at: "http://a.example/")
        #expect(fixture.cookies.map(\.name) == ["a", "c", "d"])
    }

    @Test func insecureCookiesDoNotDisplaceSecureOnes() throws {
        let fixture = CookieTableFixture(limits: Self.limits { $0.domain = 3 })
        for name in ["a", "b", "c"] { try fixture.set("\(name)=1; Secure", at: "https://a.example/") }
        for number in 0..<20 { try fixture.set("n\(number)=1", at: "http://a.example/") }
        #expect(fixture.cookies.map(\.name) == ["a", "b", "c"])
        try fixture.set("d=1; Secure", at: "https://a.example/")
        #expect(fixture.cookies.map(\.name) == ["b", "c", "d"])
    }

    @Test func totalNumberOfCookiesIsLimited() throws {
        let fixture = CookieTableFixture()
        for number in 0..<10_000 {
            try fixture.set("n=\(number); Domain=d\(number).example", at: "http://d\(number).example/")
        }
        let limits = CookieTable.Limits()
        #expect((limits.total...limits.total + limits.slack).contains(fixture.table.count))
        #expect(try fixture.sent(to: "http://d9999.example/") == "n=9999")
        #expect(try fixture.sent(to: "http://d0.example/") == nil)
        #expect(fixture.cookies.count == fixture.table.count)
    }

    @Test func usedCookieOutlivesTenThousandOthers() throws {
        let fixture = CookieTableFixture()
        try fixture.set("a=1", at: "http://a.example/")
        for number in 0..<10_000 {
            try fixture.set("n=\(number)", at: "http://d\(number).example/")
            if number % 1000 == 0 { #expect(try fixture.sent(to: "http://a.example/") == "a=1") }
        }
        #expect(try fixture.sent(to: "http://a.example/") == "a=1")
    }

    @Test func cookiesOfOneHostAreLimitedToTheNewest() throws {
        let fixture = CookieTableFixture()
        for number in 0..<10_000 { try fixture.set("n\(number)=1", at: "http://a.example/") }
        #expect(fixture.table.count == CookieTable.Limits().domain)
        #expect(fixture.cookies.last?.name == "n9999")
    }

    @Test func cookiesOfALargeFileAreLimited() throws {
        let lines = (0..<20_000).map { number in
            CookieLine(Array("d\(number / 4).example\tFALSE\t/\tFALSE\t0\tn\(number % 4)\t1".utf8))
        }
        let fixture = CookieTableFixture(lines.compactMap { $0 })
        #expect(fixture.table.count == CookieTable.Limits().total)
        #expect(try fixture.sent(to: "http://d4999.example/") == "n0=1; n1=1; n2=1; n3=1")
    }

    @Test func responseSetsAtMostFiftyCookies() throws {
        let fixture = CookieTableFixture()
        let origin = try #require(CookieTableFixture.origin("http://a.example/"))
        let fields = (0..<200).map { FieldValue("n\($0)=1") }
        let hasChanged = fixture.table.store(fields, from: origin, at: fixture.now)
        #expect(hasChanged)
        #expect(fixture.table.count == 50)
        let hasChangedAgain = fixture.table.store([FieldValue("=")], from: origin, at: fixture.now)
        #expect(!hasChangedAgain)
    }

    @Test func cookieFieldOmitsCookiesBeyondItsLimit() throws {
        let fixture = CookieTableFixture(limits: Self.limits { $0.fieldLine = 8 + 20 })
        try fixture.set("a=12345678", at: "http://a.example/")
        try fixture.set("b=1234567", at: "http://a.example/")
        try fixture.set("c=1", at: "http://a.example/")
        // 10 and 2 + 9 bytes would be one byte too many.
        #expect(try fixture.sent(to: "http://a.example/") == "a=12345678; c=1")
        try fixture.set("b=123456", at: "http://a.example/")
        #expect(try fixture.sent(to: "http://a.example/") == "a=12345678; b=123456")
        try fixture.set("a=\(String(repeating: "1", count: 100))", at: "http://a.example/")
        #expect(try fixture.sent(to: "http://a.example/") == "b=123456; c=1")
    }

    @Test func cookieFieldOfASiblingHostStaysWithinItsLimit() throws {
        let fixture = CookieTableFixture()
        let value = String(repeating: "v", count: 4000)
        for number in 0..<50 {
            try fixture.set("n\(number)=\(value); Domain=shop.example", at: "http://evil.shop.example/")
        }
        // This one fills the rest of the field.
        let rest = String(repeating: "v", count: 160)
        try fixture.set("rest=\(rest); Domain=shop.example", at: "http://evil.shop.example/")
        try fixture.set("session=1", at: "http://good.shop.example/")
        try fixture.set("parent=1", at: "http://shop.example/")
        let sent = try #require(try fixture.sent(to: "http://good.shop.example/"))
        #expect(sent.utf8.count + 8 <= 8190)
        #expect(sent.hasSuffix("; session=1"))
        #expect(try fixture.sent(to: "http://shop.example/")?.hasSuffix("; parent=1") == true)
    }

    @Test func cookieOfOneHostIsFoundAmongThousands() throws {
        let fixture = CookieTableFixture()
        for number in 0..<3000 { try fixture.set("n=\(number)", at: "http://d\(number).shop.example/") }
        for number in stride(from: 0, to: 3000, by: 7) {
            #expect(try fixture.sent(to: "http://d\(number).shop.example/") == "n=\(number)")
        }
    }
}
#endif
