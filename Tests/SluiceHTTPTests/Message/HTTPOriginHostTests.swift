import SluiceHTTP
import Testing

@Suite struct HTTPOriginHostTests {
    @Test(
        arguments: [
            ("http", "a.example", "a.example", 80), ("https", "a.example", "a.example", 443),
            ("HTTPS", "A.Example", "a.example", 443), ("http", "a.example:80", "a.example", 80),
            ("https", "a.example:80", "a.example", 80), ("https", "a.example:8443", "a.example", 8443),
            ("http", "[::1]", "::1", 80), ("https", "[::1]:8443", "::1", 8443), ("http", "127.0.0.1:1", "127.0.0.1", 1),
            ("http", "[fe80::1%25eth0]:8080", "fe80::1%25eth0", 8080),
        ] as [(String, String, String, Int)]
    )
    func authorityIsSplitIntoHostAndPort(scheme: String, authority: String, host: String, port: Int) {
        let origin = HTTPOrigin(scheme: scheme, authority: authority)
        #expect(origin.host == host)
        #expect(origin.port == port)
    }

    @Test func defaultPortAndLetterCaseAreIgnored() {
        #expect(
            HTTPOrigin(scheme: "HTTPS", authority: "A.example:443")
                == HTTPOrigin(scheme: "https", authority: "a.example")
        )
        #expect(
            HTTPOrigin(scheme: "http", authority: "a.example") != HTTPOrigin(scheme: "https", authority: "a.example")
        )
        #expect(HTTPOrigin(scheme: "http", authority: "a.example:8080").description == "http://a.example:8080")
    }
}
