import Testing

@testable import SluiceHTTP

@Suite struct HostPatternTests {
    @Test(
        arguments: [
            ("api.example", "api.example", true), ("api.example", "API.Example", true),
            ("API.example", "api.example.", true), ("api.example.", "api.example", true),
            ("api.example", "www.api.example", false), ("api.example", "xapi.example", false),
            ("api.example", "api.example.org", false), ("api.example", "", false),
            ("*.example", "api.example", true), ("*.example", "a.b.example", true),
            ("*.example", "A.Example.", true), ("*.example", "example", false), ("*.example", ".example", false),
            ("*.example", "badexample", false), ("*.example", "example.org", false),
            ("*", "api.example", true), ("*", "::1", true), ("*", "", true),
            ("api.*", "api.example", false), ("a*.example", "ab.example", false),
            ("127.0.0.1", "127.0.0.1", true), ("127.0.0.1", "127.0.0.10", false),
            ("*.0.0.1", "127.0.0.1", true), ("::1", "[::1]", true), ("::1", "0:0:0:0:0:0:0:1", true),
            ("[::1]", "::1", true), ("::ffff:127.0.0.1", "::ffff:7f00:1", true), ("::1", "127.0.0.1", false),
            ("2001:DB8::1", "[2001:db8:0::1]", true), ("fe80::1", "fe80::1%25eth0", true),
            ("fe80::1", "[fe80::1%25eth0]", true), ("fe80::1", "fe80::2%25eth0", false),
        ] as [(String, String, Bool)]
    )
    func patternsMatchHosts(pattern: String, host: String, matches: Bool) {
        #expect(HostPattern(pattern).matches(host) == matches)
    }

    /// RFC 6761 §6.3.
    @Test(
        arguments: [
            ("localhost", true), ("LocalHost.", true), ("a.b.localhost", true), ("127.0.0.1", true),
            ("127.255.0.9", true), ("::1", true), ("[::1]", true), ("::ffff:127.0.0.1", true), ("::ffff:7f01:2", true),
            ("", false), ("localhost.example", false), ("xlocalhost", false), ("127.0.0.1.example", false),
            ("127.1", false), ("127.0.0.01", false), ("128.0.0.1", false), ("::2", false), ("::", false),
            ("::ffff:128.0.0.1", false), ("64:ff9b::127.0.0.1", false), ("1::1", false), ("::127.0.0.1", false),
        ] as [(String, Bool)]
    )
    func loopbackHostsAreRecognised(host: String, isLoopback: Bool) {
        #expect(HostPattern.isLoopback(normalized: HostPattern.normalized(host)) == isLoopback)
    }

    @Test func patternsAreComparedInCanonicalForm() {
        #expect(HostPattern("API.Example.") == "api.example")
        #expect(HostPattern("[0:0::1]") == "::1")
        #expect(HostPattern("*.Example") == "*.example")
        #expect(HostPattern("*.example") != "example")
    }

    @Test(
        arguments: [
            ("*", "*"), ("*.EXAMPLE.", "*.example"), ("Api.Example", "api.example"), ("[2001:DB8:0::1]", "2001:db8::1"),
        ] as [(String, String)]
    )
    func descriptionIsTheCanonicalForm(text: String, description: String) {
        #expect("\(HostPattern(text))" == description)
    }

    @Test func narrowerPatternsAreMorePrecise() {
        let patterns: [HostPattern] = [
            "*", "*.example", "*.api.example", "api.example", "a.very.long.host.api.example",
        ]
        #expect(patterns.map(\.precision) == patterns.map(\.precision).sorted())
        #expect(
            HostPattern("a.example").precision
                > HostPattern("*.\(String(repeating: "x.", count: 100))example").precision
        )
    }
}
