import SluiceHTTP
import Testing

@testable import SluiceURLSession

@Suite struct ResponseHeaderTests {
    @Test(arguments: [
        ("a=1", ["a=1"]),
        ("a=1, b=2", ["a=1", "b=2"]),
        ("a=1,b=2,c", ["a=1", "b=2,c"]),
        (
            "a=1; Expires=Wed, 01 Jan 2100 00:00:00 GMT, b=2; Path=/",
            ["a=1; Expires=Wed, 01 Jan 2100 00:00:00 GMT", "b=2; Path=/"]
        ),
        ("a=1; Expires=Wed, 01 Jan 2100 00:00:00 GMT; Secure", ["a=1; Expires=Wed, 01 Jan 2100 00:00:00 GMT; Secure"]),
        ("a=\"x, y\"", ["a=\"x, y\""]),
        ("", [""]), (",", [","]), (",b=2", ["", "b=2"]), (" a=1 ,b=2", ["a=1 ", "b=2"]),
    ])
    func splitsJoinedCookies(_ joined: String, _ cookies: [String]) {
        #expect(HTTPHeaders(joined: [("Set-Cookie", joined)]).values(for: .setCookie) == cookies)
    }

    /// The time is linear: each comma would otherwise copy the cookie before it.
    @Test func manyCommasBelongToOneCookie() {
        let joined = "a=1" + String(repeating: ",", count: 300_000)
        let headers = HTTPHeaders(joined: [("Set-Cookie", joined + " b=2")])
        #expect(headers.values(for: .setCookie) == [String(joined.dropLast()), "b=2"])
    }

    /// The comparison of such characters takes quadratic time.
    @Test(.timeLimit(.minutes(1))) func combiningCharactersAreSplitAtOnce() {
        let marks = String(repeating: "\u{301}\u{323}", count: 200_000)
        let headers = HTTPHeaders(joined: [("Set-Cookie", "a\(marks)=1,\(marks),b=2")])
        #expect(headers.values(for: .setCookie).map(\.utf8.count) == [1_600_004, 3])
    }

    @Test func keepsOtherFieldsJoinedAndSortsByName() {
        let headers = HTTPHeaders(joined: [("X-B", "1, c=2"), ("X-A", "2")])
        #expect(headers == ["X-A": "2", "X-B": "1, c=2"])
    }
}
