import Testing

@testable import UserService

@Suite struct RequestTimeoutTests {
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
}
