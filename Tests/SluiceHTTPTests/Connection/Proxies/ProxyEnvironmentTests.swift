import Testing

@testable import SluiceHTTP

@Suite struct ProxyEnvironmentTests {
    private static let all = ["http_proxy": "h.example:1", "https_proxy": "s.example:2", "all_proxy": "a.example:3"]

    @Test(
        arguments: [
            (all, "http://api.example", "http://h.example:1"), (all, "https://api.example", "http://s.example:2"),
            (["all_proxy": "socks5h://a.example"], "http://api.example", "socks5h://a.example:1080"),
            (["ALL_PROXY": "a.example:3"], "https://api.example", "http://a.example:3"),
            (["HTTPS_PROXY": "s.example:2"], "https://api.example", "http://s.example:2"),
            (["HTTPS_PROXY": "s.example:2"], "http://api.example", nil),
            (
                ["https_proxy": "s.example:2", "HTTPS_PROXY": "S.example:9"], "https://api.example",
                "http://s.example:2"
            ),
            (["https_proxy": "", "HTTPS_PROXY": "s.example:9"], "https://api.example", "http://s.example:9"),
            (["https_proxy": "", "all_proxy": "a.example:3"], "https://api.example", "http://a.example:3"),
            // A CGI server sets this variable from the request field `Proxy`.
            (["HTTP_PROXY": "evil.example:1"], "http://api.example", nil), ([:], "https://api.example", nil),
            (all, "http://localhost:8080", nil), (all, "http://127.0.0.1", nil), (all, "https://127.255.0.9:1", nil),
            (all, "http://[::1]:8080", nil), (all, "http://[::ffff:127.0.0.1]", nil),
            (all, "http://LocalHost.", nil), (all, "http://app.localhost", nil),
            (all, "http://128.0.0.1", "http://h.example:1"),
            (all, "http://[::2]", "http://h.example:1"), (all, "http://localhost.example", "http://h.example:1"),
        ] as [([String: String], String, String?)]
    )
    func proxyIsReadFromTheEnvironment(variables: [String: String], url: String, proxy: String?) throws {
        #expect(try ProxyEnvironment(variables).proxy(for: origin(url))?.description == proxy)
    }

    @Test(
        arguments: [
            ("no_proxy", "api.example", true), ("NO_PROXY", "api.example", true), ("No_Proxy", "api.example", false),
            ("no_proxy", "other.example", false),
        ] as [(String, String, Bool)]
    )
    func noProxyListsExceptions(name: String, list: String, isException: Bool) throws {
        let environment = ProxyEnvironment(["all_proxy": "a.example:3", name: list])
        #expect(try (environment.proxy(for: origin("https://api.example")) == nil) == isException)
    }

    @Test(arguments: ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"])
    func errorNamesTheMalformedVariableWithoutItsValue(name: String) throws {
        let environment = ProxyEnvironment([name: "http://ada:s3cret@proxy:x", "no_proxy": "inside.example"])
        let error = #expect(throws: SluiceError.self) { try environment.proxy(for: origin("https://api.example")) }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.reason.contains(" \(name) ") == true)
        #expect(error?.expandedDescription.contains("s3cret") == false)
        // Only requests that would use the proxy fail.
        #expect(try environment.proxy(for: origin("https://inside.example")) == nil)
        #expect(try environment.proxy(for: origin("https://localhost")) == nil)
    }

    @Test func environmentWithoutAProxyIsEmpty() {
        #expect(ProxyEnvironment([:]).isEmpty)
        #expect(ProxyEnvironment(["HTTP_PROXY": "h.example", "no_proxy": "*", "https_proxy": ""]).isEmpty)
        #expect(!ProxyEnvironment(["http_proxy": "h.example"]).isEmpty)
        #expect(!ProxyEnvironment(["https_proxy": "::::"]).isEmpty)
    }

    private func origin(_ url: String) -> HTTPOrigin {
        let parts = url.split(separator: "://", maxSplits: 1)
        return HTTPOrigin(scheme: String(parts[0]), authority: String(parts[1]))
    }
}
