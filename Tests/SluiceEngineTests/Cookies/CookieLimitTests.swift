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

    @Test func leastRecentlyUsedCookieOfADomainIsRemovedFirst() throws {
        let book = CookieBook(limits: Self.limits { $0.domain = 3 })
        for name in ["a", "b", "c"] { try book.set("\(name)=1; Path=/\(name)", at: "http://a.example/") }
        #expect(try book.sent(to: "http://a.example/a") == "a=1")
        try book.set("d=1; Path=/d", at: "http://a.example/")
        #expect(book.cookies.map(\.name) == ["a", "c", "d"])
        // Setting a cookie counts as a use.
        try book.set("c=2; Path=/c", at: "http://a.example/")
        try book.set("e=1; Path=/e", at: "http://a.example/")
        #expect(book.cookies.map(\.name) == ["c", "d", "e"])
        // Each domain has its own limit.
        try book.set("f=1", at: "http://b.example/")
        #expect(book.table.count == 4)
    }

    @Test func expiredCookiesAreRemovedFirst() throws {
        let book = CookieBook(limits: Self.limits { $0.domain = 3 })
        try book.set("a=1", at: "http://a.example/")
        try book.set("b=1; Max-Age=60", at: "http://a.example/")
        try book.set("c=1", at: "http://a.example/")
        book.now.addTimeInterval(60)
        try book.set("d=1", at: "http://a.example/")
        #expect(book.cookies.map(\.name) == ["a", "c", "d"])
    }

    @Test func insecureCookiesDoNotDisplaceSecureOnes() throws {
        let book = CookieBook(limits: Self.limits { $0.domain = 3 })
        for name in ["a", "b", "c"] { try book.set("\(name)=1; Secure", at: "https://a.example/") }
        for number in 0..<20 { try book.set("n\(number)=1", at: "http://a.example/") }
        #expect(book.cookies.map(\.name) == ["a", "b", "c"])
        try book.set("d=1; Secure", at: "https://a.example/")
        #expect(book.cookies.map(\.name) == ["b", "c", "d"])
    }

    @Test func totalNumberOfCookiesIsLimited() throws {
        let book = CookieBook()
        for number in 0..<10_000 {
            try book.set("n=\(number); Domain=d\(number).example", at: "http://d\(number).example/")
        }
        let limits = CookieTable.Limits()
        #expect((limits.total...limits.total + limits.slack).contains(book.table.count))
        #expect(try book.sent(to: "http://d9999.example/") == "n=9999")
        #expect(try book.sent(to: "http://d0.example/") == nil)
        #expect(book.cookies.count == book.table.count)
    }

    @Test func usedCookieOutlivesTenThousandOthers() throws {
        let book = CookieBook()
        try book.set("a=1", at: "http://a.example/")
        for number in 0..<10_000 {
            try book.set("n=\(number)", at: "http://d\(number).example/")
            if number % 1000 == 0 { #expect(try book.sent(to: "http://a.example/") == "a=1") }
        }
        #expect(try book.sent(to: "http://a.example/") == "a=1")
    }

    @Test func cookiesOfOneHostAreLimitedToTheNewest() throws {
        let book = CookieBook()
        for number in 0..<10_000 { try book.set("n\(number)=1", at: "http://a.example/") }
        #expect(book.table.count == CookieTable.Limits().domain)
        #expect(book.cookies.last?.name == "n9999")
    }

    @Test func cookiesOfALargeFileAreLimited() throws {
        let lines = (0..<20_000).map { number in
            CookieLine(Array("d\(number / 4).example\tFALSE\t/\tFALSE\t0\tn\(number % 4)\t1".utf8))
        }
        let book = CookieBook(lines.compactMap { $0 })
        #expect(book.table.count == CookieTable.Limits().total)
        #expect(try book.sent(to: "http://d4999.example/") == "n0=1; n1=1; n2=1; n3=1")
    }

    @Test func responseSetsAtMostFiftyCookies() throws {
        let book = CookieBook()
        let origin = try #require(CookieBook.origin("http://a.example/"))
        let fields = (0..<200).map { FieldValue("n\($0)=1") }
        let hasChanged = book.table.store(fields, from: origin, at: book.now)
        #expect(hasChanged)
        #expect(book.table.count == 50)
        let hasChangedAgain = book.table.store([FieldValue("=")], from: origin, at: book.now)
        #expect(!hasChangedAgain)
    }

    @Test func cookieFieldOmitsCookiesBeyondItsLimit() throws {
        let book = CookieBook(limits: Self.limits { $0.fieldLine = 8 + 20 })
        try book.set("a=12345678", at: "http://a.example/")
        try book.set("b=1234567", at: "http://a.example/")
        try book.set("c=1", at: "http://a.example/")
        // 10 and 2 + 9 bytes would be one byte too many.
        #expect(try book.sent(to: "http://a.example/") == "a=12345678; c=1")
        try book.set("b=123456", at: "http://a.example/")
        #expect(try book.sent(to: "http://a.example/") == "a=12345678; b=123456")
        try book.set("a=\(String(repeating: "1", count: 100))", at: "http://a.example/")
        #expect(try book.sent(to: "http://a.example/") == "b=123456; c=1")
    }

    @Test func cookieFieldOfASiblingHostStaysWithinItsLimit() throws {
        let book = CookieBook()
        let value = String(repeating: "v", count: 4000)
        for number in 0..<50 {
            try book.set("n\(number)=\(value); Domain=shop.example", at: "http://evil.shop.example/")
        }
        try book.set("session=1", at: "http://good.shop.example/")
        let sent = try #require(try book.sent(to: "http://good.shop.example/"))
        #expect(sent.utf8.count + 8 <= 8190)
        #expect(sent.hasSuffix("; session=1"))
    }

    @Test func cookieOfOneHostIsFoundAmongThousands() throws {
        let book = CookieBook()
        for number in 0..<3000 { try book.set("n=\(number)", at: "http://d\(number).shop.example/") }
        for number in stride(from: 0, to: 3000, by: 7) {
            #expect(try book.sent(to: "http://d\(number).shop.example/") == "n=\(number)")
        }
    }
}
#endif
