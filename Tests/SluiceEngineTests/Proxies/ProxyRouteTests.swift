#if os(Linux)
import Glibc
import SluiceHTTP
import Testing

@testable import SluiceEngine

@Suite struct ProxyRouteTests {
    private static func route(_ proxy: Proxy, _ scheme: String, _ authority: String = "a.test") throws -> ProxyRoute {
        var options = ConnectionOptions()
        options.proxy = .always(proxy)
        let origin = HTTPOrigin(scheme: scheme, authority: authority)
        return try #require(ProxyRoute(try options.plan(for: origin), to: origin))
    }

    private static func first(_ route: ProxyRoute, _ addresses: [SocketAddress] = []) throws -> [UInt8]? {
        var handshake = try route.handshake(for: addresses)
        return handshake?.begin()
    }

    @Test(
        arguments: [
            (.http("P.test"), "p.test", 80), (.https("p.test"), "p.test", 443), (.http("[::1]:3128"), "::1", 3128),
            (.socks5("p.test"), "p.test", 1080), (.socks4("127.0.0.1:9"), "127.0.0.1", 9),
        ] as [(Proxy, String, UInt16)]
    )
    func connectsToTheProxy(_ proxy: Proxy, _ host: String, _ port: UInt16) throws {
        let route = try Self.route(proxy, "https")
        #expect(route.host == host)
        #expect(route.port == port)
        #expect(route.tls?.trust == (proxy.scheme == .https ? .system : nil))
        #expect(route.name == "the proxy at \(proxy.address ?? "")")
    }

    @Test(
        arguments: [
            (.http("p"), "http", .absoluteForm), (.http("p"), "https", .tunnel), (.https("p"), "http", .absoluteForm),
            (.https("p"), "https", .tunnel), (.socks5("p"), "http", .socks), (.socks4("p"), "https", .socks),
        ] as [(Proxy, String, ProxyRoute.Mode)]
    )
    func theSchemesDetermineTheMode(_ proxy: Proxy, _ scheme: String, _ mode: ProxyRoute.Mode) throws {
        let route = try Self.route(proxy, scheme)
        #expect(route.mode == mode)
        #expect(try (route.handshake(for: []) == nil) == (mode == .absoluteForm))
    }

    @Test(
        arguments: [
            ("A.test", "a.test:443"), ("a.test:8443", "a.test:8443"), ("a.test:443", "a.test:443"),
            ("[::1]", "[::1]:443"), ("[fe80::1%25eth0]:8", "[fe80::1]:8"), ("192.0.2.1", "192.0.2.1:443"),
        ]
    )
    func connectTargetIncludesThePort(_ authority: String, _ target: String) throws {
        let message = try #require(try Self.first(Self.route(.http("p"), "https", authority)))
        let text = String(decoding: message, as: UTF8.self)
        #expect(text == "CONNECT \(target) HTTP/1.1\r\nHost: \(target)\r\n\r\n")
    }

    @Test func namesAreResolvedByTheSelectedSide() throws {
        let address = SocketAddress(address: IPAddress(192, 0, 2, 7), port: 80)
        for (proxy, isResolved) in [
            (.socks4("p"), false), (.socks5("p"), false), (.socks4("p", resolvesNames: false), true),
            (.socks5("p", resolvesNames: false), true), (.http("p"), false), (.https("p"), false),
        ] as [(Proxy, Bool)] {
            let route = try Self.route(proxy, "http")
            #expect(route.resolvesOrigin == isResolved)
            guard route.mode == .socks, proxy.scheme.rawValue.hasPrefix("socks4") else { continue }
            let message = try #require(try Self.first(route, [address]))
            let named: [UInt8] = [4, 1, 0, 80, 0, 0, 0, 1, 0] + Array("a.test\0".utf8)
            #expect(message == (isResolved ? [4, 1, 0, 80, 192, 0, 2, 7, 0] : named))
        }
        #expect(throws: ProxyError.socks(.unreachableAddress)) {
            _ = try Self.route(.socks4("p"), "http", "[::1]").handshake(for: [])
        }
    }

    @Test func basicAloneIsSentWithoutAChallenge() throws {
        for (methods, value) in [(.basic, "Basic YWRhOnB3"), ([.basic, .digest], nil)]
            as [(ChallengeCredentials.Methods, String?)]
        {
            let proxy = Proxy.http("p", user: "ada", password: "pw", methods: methods)
            var authenticator = try #require(TunnelAuthenticator(proxy, in: Locked(ProtectionSpaces())))
            #expect(authenticator.authorization(method: "CONNECT", uri: "a.test:443") == value)
        }
    }

    @Test func errorsNameTheProxy() throws {
        let route = try Self.route(.https("p.test", user: "ada", password: "s3cret"), "https")
        let failure = TLSFailure(.handshake, detail: "no")
        let lost = SluiceError(.connectionLost, "The connection to p.test was lost.")
        for (error, reason) in [
            (
                route.resolutionError(.notFound),
                "The name of the proxy at p.test:443 could not be resolved. Check its spelling and your DNS settings."
            ),
            (
                route.resolutionError(.temporary("Temporary failure in name resolution")),
                "The name of the proxy at p.test:443 could not be resolved now: Temporary failure in name resolution. Check your network and DNS settings."
            ),
            (
                route.resolutionError(.noThread),
                "The name of the proxy at p.test:443 could not be resolved, because the system could not start a thread."
            ),
            (
                route.connectionError(SystemError(number: ECONNREFUSED)),
                "The connection to the proxy at p.test:443 could not be established: connection refused."
            ),
            (route.error(of: failure), "The TLS connection to the proxy at p.test:443 could not be established: no."),
            (
                route.error(ofHandshake: failure.error(host: "p.test")),
                "The TLS connection to the proxy at p.test:443 could not be established: no."
            ),
            (
                route.error(ofHandshake: lost),
                "The TLS connection to the proxy at p.test:443 could not be established: the connection was lost during the handshake."
            ),
        ] {
            #expect(error.code == .proxyFailed)
            #expect(error.reason == reason)
        }
    }
}
#endif
