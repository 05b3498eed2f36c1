import SluiceHTTP
import Testing

@Suite struct HTTPHeaderNameTests {
    @Test(arguments: [
        ("ETag", "etag", true), ("content-type", "CONTENT-TYPE", true), ("", "", true), ("A", "AA", false),
        ("AA", "A", false), ("A-B", "A_B", false),
        // Bytes that differ by the case bit but are not letters.
        ("@", "`", false), ("[", "{", false), ("^", "~", false),
        // Letters that Unicode case folding maps to k, i and s.
        ("\u{212A}", "k", false), ("İ", "i", false), ("ſ", "s", false),
    ])
    func namesAreComparedWithoutASCIICase(one: String, other: String, areEqual: Bool) {
        let (one, other) = (HTTPHeaderName(one), HTTPHeaderName(other))
        #expect((one == other) == areEqual)
        #expect((one.hashValue == other.hashValue) == areEqual)
    }

    @Test func nameKeepsItsSpelling() {
        #expect(HTTPHeaderName("x-WEIRD").rawValue == "x-WEIRD")
        #expect("\(HTTPHeaderName("x-WEIRD"))" == "x-WEIRD")
    }

    @Test(arguments: 0...UInt8.max)
    func onlyASCIIUppercaseLettersAreLowercased(byte: UInt8) {
        let isCapital = (65...90).contains(byte)
        #expect(byte.asciiLowercased == (isCapital ? byte + 32 : byte))
    }

    @Test(
        arguments: [
            (.accept, "Accept"), (.acceptEncoding, "Accept-Encoding"), (.authorization, "Authorization"),
            (.connection, "Connection"), (.contentEncoding, "Content-Encoding"), (.contentLength, "Content-Length"),
            (.contentType, "Content-Type"), (.cookie, "Cookie"), (.date, "Date"), (.eTag, "ETag"), (.expect, "Expect"),
            (.host, "Host"), (.location, "Location"), (.origin, "Origin"), (.proxyAuthorization, "Proxy-Authorization"),
            (.referer, "Referer"), (.setCookie, "Set-Cookie"), (.transferEncoding, "Transfer-Encoding"),
            (.userAgent, "User-Agent"),
        ] as [(HTTPHeaderName, String)]
    )
    func namedMembersAreSpeltAsRegistered(name: HTTPHeaderName, text: String) {
        #expect(name.rawValue == text)
    }

    @Test func namesCanBeInterpolated() {
        let headers: HTTPHeaders = ["X-\(7)": "a"]
        #expect(headers["x-7"] == "a")
    }
}
