import Testing

@testable import UserService

@Suite struct DeadlineTests {
    @Test(arguments: [("1.5", 1_500), ("1", 1_000), ("0.25", 250), (".5", 500), ("007", 7_000)])
    func aTimeoutIsANumberOfSeconds(_ text: String, _ milliseconds: Int) {
        #expect(RequestTimeout(text)?.duration == .milliseconds(milliseconds))
    }

    @Test(arguments: ["", " ", "0", "0.0", ".", "-1", "+1", "1e3", "0x10", "nan", "inf", "1,5", "1 ", "1.2.3", "١"])
    func whatIsNoneIsRefused(_ text: String) {
        #expect(RequestTimeout(text) == nil)
    }

    @Test func aTimeoutOfAgesDoesNotOverflow() {
        let text = String(repeating: "9", count: 400)
        #expect(RequestTimeout("99999999999999999999999999")?.duration == .seconds(31_536_000))
        #expect(RequestTimeout(text)?.duration == .seconds(31_536_000))
    }

    @Test func theSmallerOfTimeoutAndLimitCounts() {
        let now = ContinuousClock.now
        let limit = Duration.seconds(10)
        #expect(Deadline(RequestTimeout("2"), upTo: limit, now: now).left(at: now) == .seconds(2))
        #expect(Deadline(RequestTimeout("60"), upTo: limit, now: now).left(at: now) == limit)
        #expect(Deadline(nil, upTo: limit, now: now).left(at: now) == limit)
    }

    @Test func whatHasPassedIsNotLeft() {
        let now = ContinuousClock.now
        let deadline = Deadline(RequestTimeout("2"), upTo: .seconds(10), now: now)
        #expect(deadline.left(at: now + .milliseconds(500)) == .milliseconds(1_500))
        #expect(deadline.left(at: now + .seconds(2)) == .zero)
        #expect(deadline.left(at: now + .seconds(3)) == .zero)
    }
}
