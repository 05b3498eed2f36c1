import Foundation
import SluiceHTTP
import Testing

@testable import SluiceHTTP

@Suite struct RetryAfterTests {
    /// 2026-01-01 00:00:00 UTC
    private static let now = Date(timeIntervalSince1970: 1_767_225_600)

    @Test(
        arguments: [
            ("0", .zero), ("1", .seconds(1)), ("120", .seconds(120)), (" 120 ", .seconds(120)), ("007", .seconds(7)),
            ("Thu, 01 Jan 2026 00:02:00 GMT", .seconds(120)), ("Thursday, 01-Jan-26 00:02:00 GMT", .seconds(120)),
            ("Thu Jan  1 00:02:00 2026", .seconds(120)),
            ("Thu, 01 Jan 2026 00:00:00 GMT", .zero), ("Sun, 06 Nov 1994 08:49:37 GMT", .zero),
            ("2147483648", RetryAfter.longest), ("9223372036854775808", RetryAfter.longest),
            (String(repeating: "9", count: 10_000), RetryAfter.longest),
            ("Fri, 31 Dec 9999 23:59:59 GMT", RetryAfter.longest),
        ] as [(String, Duration)]
    )
    func secondsAndDatesAreParsed(_ text: String, _ delay: Duration) {
        #expect(RetryAfter.delay(in: ["Retry-After": text], now: Self.now) == delay)
    }

    @Test(arguments: [
        "", " ", "-1", "+1", "1.5", "1s", "1, 2", "0x10", "1e3", "soon", "NaN", "١", "1\0", "Thu, 01 Jan 2026",
    ])
    func rejectsMalformedValues(_ text: String) {
        #expect(RetryAfter.delay(in: ["Retry-After": text], now: Self.now) == nil)
    }

    @Test func dateIsComparedWithClockOfServer() {
        let headers: HTTPHeaders = [
            "Retry-After": "Thu, 01 Jan 2026 12:01:00 GMT", "Date": "Thu, 01 Jan 2026 12:00:00 GMT",
        ]
        for minutes in [-60.0, 5, 60] {
            let now = Date(timeIntervalSince1970: 1_767_268_800 + minutes * 60)
            #expect(RetryAfter.delay(in: headers, now: now) == .seconds(60))
        }
    }

    @Test func missingFieldGivesNoDelay() {
        #expect(RetryAfter.delay(in: ["Date": "120"], now: Self.now) == nil)
    }

    @Test func longestDelayOfSeveralFieldsIsUsed() {
        let headers: HTTPHeaders = ["Retry-After": "5", "retry-after": "soon", "RETRY-AFTER": "60"]
        #expect(RetryAfter.delay(in: headers, now: Self.now) == .seconds(60))
    }

    @Test(arguments: [-Double.infinity, -1e300, .infinity, 1e300, .nan])
    func extremeClockValuesDoNotTrap(_ seconds: Double) {
        let now = Date(timeIntervalSince1970: seconds)
        let delay = RetryAfter.delay(in: ["Retry-After": "Fri, 31 Dec 9999 23:59:59 GMT"], now: now)
        #expect(delay == (seconds < 0 ? RetryAfter.longest : .zero))
    }
}
