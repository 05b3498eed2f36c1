import SluiceHTTP
import Testing

@Suite struct ProxySelectionTests {
    private let origin = HTTPOrigin(scheme: "https", authority: "api.example")

    private func proxy(_ selection: ProxySelection, _ authority: String = "api.example") throws -> Proxy? {
        try selection.proxy(for: HTTPOrigin(scheme: "https", authority: authority))
    }

    @Test func noneSelectsNoProxy() throws {
        #expect(try proxy(.none) == nil)
    }

    @Test func alwaysAppliesToAllHostsButTheExceptions() throws {
        let one = Proxy.http("proxy.example:3128")
        #expect(try proxy(.always(one)) == one)
        #expect(try proxy(.always(one), "127.0.0.1:8080") == one)
        let selection = ProxySelection.always(one, except: ["*.internal.example", "::1"])
        #expect(try proxy(selection) == one)
        #expect(try proxy(selection, "a.internal.example:8443") == nil)
        #expect(try proxy(selection, "[::1]:8080") == nil)
    }

    @Test func shortFormsApplyToAllHosts() throws {
        #expect(
            try proxy(.http("proxy.example", user: "ada", password: "pw"))
                == .http("proxy.example", user: "ada", password: "pw")
        )
        #expect(try proxy(.socks5("proxy.example")) == .socks5("proxy.example"))
    }

    @Test func closureSelectsTheProxyByHost() throws {
        let selection = ProxySelection.choosing { $0.host.hasSuffix(".onion") ? .socks5("127.0.0.1:9050") : nil }
        #expect(try proxy(selection, "a.onion") == .socks5("127.0.0.1:9050"))
        #expect(try proxy(selection) == nil)
    }

    @Test func environmentIsTheDefaultAndCanBeReplaced() throws {
        #expect(ConnectionOptions().proxy.isProcessEnvironment)
        let given = ProxySelection.environment(["https_proxy": "proxy.example:3128"])
        #expect(!given.isProcessEnvironment)
        #expect(try proxy(given) == .http("proxy.example:3128"))
        var options = ConnectionOptions()
        options.proxy = given
        #expect(try options.plan(for: origin).proxy == .http("proxy.example:3128"))
        #expect(try options.plan(for: HTTPOrigin(scheme: "https", authority: "localhost:1")).proxy == nil)
    }
}
