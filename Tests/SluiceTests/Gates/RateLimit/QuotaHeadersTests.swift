import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import Sluice

@Suite struct QuotaHeadersTests {
    /// 2026-01-01 00:00:00 UTC
    private static let now = Date(timeIntervalSince1970: 1_767_225_600)

    private func pause(_ status: HTTPStatus, _ headers: HTTPHeaders) -> Duration? {
        QuotaHeaders.pause(in: HTTPResponse(status: status, headers: headers), now: Self.now)
    }

    @Test(
        arguments: [
            // Retry-After applies only to 403, 429 and 503.
            (403, ["Retry-After": "30"], 30), (403, [:], nil), (404, ["Retry-After": "30"], nil),
            (429, ["Retry-After": "30"], 30), (503, ["Retry-After": "30"], 30), (200, ["Retry-After": "30"], nil),
            (301, ["Retry-After": "30"], nil), (500, ["Retry-After": "30"], nil), (429, [:], nil),
            (429, ["Retry-After": "Thu, 01 Jan 2026 00:01:00 GMT"], 60), (429, ["Retry-After": "0"], nil),
            (429, ["Retry-After": "-30"], nil), (503, ["Retry-After": "soon"], nil),
            // The three separate fields. The reset is in seconds from now.
            (200, ["RateLimit-Remaining": "0", "RateLimit-Reset": "30"], 30),
            (200, ["RateLimit-Limit": "100, 100;w=60", "RateLimit-Remaining": " 0 ", "RateLimit-Reset": "30"], 30),
            (200, ["RateLimit-Remaining": "1", "RateLimit-Reset": "30"], nil),
            (200, ["RateLimit-Remaining": "0"], nil), (200, ["RateLimit-Reset": "30"], nil),
            (200, ["RateLimit-Remaining": "-1", "RateLimit-Reset": "30"], nil),
            (200, ["RateLimit-Remaining": "none", "RateLimit-Reset": "30"], nil),
            (200, ["RateLimit-Remaining": "0", "RateLimit-Reset": "-30"], nil),
            (200, ["RateLimit-Remaining": "0", "RateLimit-Reset": "later"], nil),
            (200, ["RateLimit-Remaining": "", "RateLimit-Reset": ""], nil),
            // `X-RateLimit-Reset` in one of four units.
            (200, ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "30"], 30),
            (403, ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1767225630"], 30),
            (200, ["X-Rate-Limit-Remaining": "0", "X-Rate-Limit-Reset": "1767225630.5"], 30.5),
            (200, ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1767225630000"], 30),
            (200, ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "Thu, 01 Jan 2026 00:00:30 GMT"], 30),
            (200, ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1767225599"], nil),
            // The server's clock is a minute ahead.
            (
                200,
                [
                    "Date": "Thu, 01 Jan 2026 00:01:00 GMT", "X-RateLimit-Remaining": "0",
                    "X-RateLimit-Reset": "1767225690",
                ], 30
            ),
            // The longest pause applies.
            (429, ["Retry-After": "5", "RateLimit-Remaining": "0", "RateLimit-Reset": "30"], 30),
            (429, ["Retry-After": "30", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "5"], 30),
        ] as [(HTTPStatus, HTTPHeaders, Double?)]
    )
    func readsPauseFromQuotaFields(_ status: HTTPStatus, _ headers: HTTPHeaders, _ seconds: Double?) {
        #expect(pause(status, headers) == seconds.map { .seconds($0) })
    }

    @Test(
        arguments: [
            (#""default";r=0;t=30"#, 30), (#""default";r=50;t=30"#, nil), (#""default"; r=0 ; t=30"#, 30),
            (#""default";t=30;r=0;pk=:YWJj:"#, 30), (#"default;r=0;t=30"#, 30),
            (#""burst";r=0;t=5, "daily";r=0;t=3600"#, 3600), (#""burst";r=0;t=5,"daily";r=9;t=3600"#, 5),
            (#""a;r=0;t=30""#, nil), (#""a,b";r=0;t=30"#, 30), (#""a\";r=9";r=0;t=30"#, 30), (#""a;r=0;t=30"#, nil),
            (#""default";r=0"#, nil), (#""default";t=30"#, nil), (#""default""#, nil), ("", nil), (";;,,;", nil),
            ("=", nil),
            (#""d";r=-0;t=30"#, nil), (#""d";r=0;t=-30"#, nil), (#""d";r="0";t=30"#, nil), (#""d";r=0;t=x"#, nil),
            (#""d";R=0;T=30"#, nil), (#""d";r=0;t=1767225630"#, 1_767_225_630),
            ("limit=100, remaining=0, reset=30", 30), ("limit=100, remaining=5, reset=30", nil),
            ("limit=100,remaining=0", nil), ("remaining=0;reset=30", nil), ("reset=30, remaining=0", 30),
        ] as [(String, Double?)]
    )
    func readsStructuredRateLimitField(_ text: String, _ seconds: Double?) {
        #expect(pause(200, ["RateLimit": text]) == seconds.map { .seconds($0) })
    }

    @Test(arguments: ["99999999999999999999", String(repeating: "9", count: 1000), "253402300799000", "9999999999"])
    func limitsHugeTimesWithoutTrap(_ text: String) {
        let pause = pause(200, ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": text]) ?? .zero
        #expect(pause > .seconds(3600))
        #expect(pause <= RetryAfter.longest)
        #expect((self.pause(200, ["RateLimit": "d;r=0;t=\(text)"]) ?? .zero) <= RetryAfter.longest)
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, 1e300, -1e300])
    func invalidClockDoesNotTrap(_ seconds: Double) {
        let headers: HTTPHeaders = ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1767225630"]
        let head = HTTPResponse(status: 429, headers: headers)
        let pause = QuotaHeaders.pause(in: head, now: Date(timeIntervalSince1970: seconds))
        #expect(pause == (seconds < 0 ? RetryAfter.longest : nil))
    }

    @Test func randomTextDoesNotTrap() {
        var random = SeededGenerator(seed: 429)
        let pieces = [
            "\"", "\\", ";", ",", "=", "r", "t", "0", "30", " ", "remaining", "reset", "ü", "\0", ".", "1e9", "-",
        ]
        for _ in 0..<10_000 {
            let count = Int.random(in: 0..<14, using: &random)
            let text = (0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
            let headers: HTTPHeaders = [
                "RateLimit": text, "RateLimit-Remaining": "0", "RateLimit-Reset": text, "Retry-After": text,
            ]
            #expect(pause(429, headers) ?? .seconds(1) > .zero, "\(text)")
        }
    }
}
