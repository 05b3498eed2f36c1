import Testing

@testable import fleet

struct UpstreamTests {
    @Test func refreshTokensWorkOnce() {
        var issuer = TokenIssuer(lifetime: 5)
        #expect(issuer.exchange("r0", at: 100) == .issued(1))
        #expect(issuer.exchange("r0", at: 101) == .reused)
        #expect(issuer.exchange("r2", at: 101) == .reused)
        #expect(issuer.exchange("", at: 101) == .reused)
        #expect(issuer.exchange("r1", at: 103) == .issued(2))
    }

    @Test func accessTokensExpire() {
        var issuer = TokenIssuer(lifetime: 5)
        #expect(!issuer.accepts("Bearer a1", at: 100))
        _ = issuer.exchange("r0", at: 100)
        #expect(issuer.accepts("Bearer a1", at: 104.9))
        #expect(!issuer.accepts("Bearer a1", at: 105))
        #expect(!issuer.accepts("a1", at: 101))
    }

    @Test func wrongPagesAreFound() {
        let page = UpstreamText.page(7, version: 12)
        #expect(UpstreamText.isPage(7, page))
        #expect(!UpstreamText.isPage(8, page))
        #expect(!UpstreamText.isPage(7, String(page.dropLast())))
        #expect(!UpstreamText.isPage(7, page.replacing("7 in 12", with: "7 in 13", maxReplacements: 1)))
        #expect(!UpstreamText.isPage(7, ""))
    }
}
