#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceEngine

extension EngineTests {
    /// Proxies that close, do not respond, or send invalid or unexpected bytes.
    @Suite struct HostileProxyTests {
        private let certificates: TestCertificates
        private let transport = SocketTransport()

        init() throws { certificates = try TestCertificates.shared.get() }

        /// The proxy's response to CONNECT, true if it then closes, and the end of the error's text.
        private static let answers: [(answer: String, closes: Bool, words: String)] = [
            ("", true, "closed the connection before the tunnel was established."),
            ("HTTP/1.1 200", true, "closed the connection before the tunnel was established."),
            ("HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno", false, "refused it with status 403."),
            ("HTTP/1.1 502 No\r\n\r\n", true, "refused it with status 502."),
            (
                "HTTP/1.1 302 Found\r\nLocation: https://elsewhere.test/\r\n\r\n", false,
                "refused it with status 302."
            ),
            (
                "HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n\r\n", false,
                "requires credentials (407)."
            ),
            ("HTTP/1.1 200 OK\r\nX: \(String(repeating: "y", count: 20_000))", false, "limit of 16384 bytes."),
            ("SSH-2.0-OpenSSH_9.2\r\n", false, "sent a response that is not valid HTTP."),
            ("\u{5}\u{0}", false, "sent a response that is not valid HTTP."),
            (
                "HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", false,
                "sent data after its response."
            ),
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", false, "sent data after its response."),
        ]

        @Test(arguments: answers.indices, [false, true])
        func failedTunnelIsAProxyFailure(_ index: Int, _ isSecured: Bool) async throws {
            let (answer, closes, words) = Self.answers[index]
            let proxy = try TestProxy(isSecured ? certificates.right : nil) { client in
                guard client.readHead() != nil else { return }
                client.write(answer)
                if !closes { client.waitForEnd() }
            }
            let trust = TLSConfiguration.Trust.only(certificates.root.source)
            let selected: Proxy = isSecured ? .https(proxy.address, trust: trust) : .http(proxy.address)
            let request = HTTPRequest(scheme: "https", authority: "web.test", path: "/")
            let error = await transport.failure(of: request, try .by(selected))
            #expect(error?.code == .proxyFailed, "\(error as Any)")
            #expect(
                error?.reason.hasPrefix(
                    "The connection to web.test could not be established: the proxy at \(proxy.address) "
                ) == true
            )
            #expect(error?.reason.hasSuffix(words) == true, "\(error as Any)")
            #expect(error?.response == nil)
            #expect(transport.isQuiet)
            try await waitUntil("the connection is closed") { proxy.openConnections == 0 }
        }

        /// The bytes that the proxy sends in a SOCKS 5 handshake, and the end of the error's text.
        @Test(
            arguments: [
                ([], "the proxy closed the connection."), ([5], "the proxy closed the connection."),
                (
                    [5, 0xFF],
                    "requires an authentication method that is not supported, or credentials that are not configured."
                ),
                ([4, 0], "the proxy's reply is not valid in the requested SOCKS version."),
                (Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8), "is not valid in the requested SOCKS version."),
                ([5, 0, 5, 2, 0, 1, 0, 0, 0, 0, 0, 0], "the proxy's rules do not allow the connection."),
                ([5, 0, 5, 0, 0, 1, 0, 0], "the proxy closed the connection."),
                ([5, 0, 5, 0, 0, 1, 0, 0, 0, 0, 0, 0, 22, 3, 3], "the proxy sent data after its reply."),
            ] as [([UInt8], String)]
        )
        func failedSOCKSHandshakeIsAProxyFailure(_ answer: [UInt8], _ words: String) async throws {
            let proxy = try TestProxy { client in
                _ = client.read(exactly: 3)
                client.write(answer)
                // The client reads all bytes before it sees the end.
                shutdown(client.descriptor, Int32(SHUT_WR))
                client.waitForEnd()
            }
            let request = HTTPRequest(scheme: "https", authority: "web.test", path: "/")
            let error = await transport.failure(of: request, try .by(.socks5(proxy.address)))
            #expect(error?.code == .proxyFailed, "\(error as Any)")
            #expect(error?.reason.hasSuffix(words) == true, "\(error as Any)")
            #expect(transport.isQuiet)
        }

        /// The number of bytes that a proxy sends before it stops responding.
        @Test(arguments: [0, 5, 14])
        func silentProxyEndsAtTheConnectTimeout(_ count: Int) async throws {
            let text = "HTTP/1.1 200 OK\r\n\r\n"
            let http = try TestProxy { client in
                _ = client.readHead()
                client.write(Array(text.utf8.prefix(count)))
                client.waitForEnd()
            }
            let socks = try TestProxy { client in
                _ = client.read(exactly: 3)
                client.write(Array([5, 0, 5, 0, 0, 1].prefix(count)))
                client.waitForEnd()
            }
            let tls = try TestProxy { $0.waitForEnd() }
            let request = HTTPRequest(scheme: "https", authority: "web.test", path: "/")
            for selected in [Proxy.http(http.address), .socks5(socks.address), .https(tls.address)] {
                let context = try TransferContext.by(selected, connect: .milliseconds(200))
                let error = await transport.failure(of: request, context)
                #expect(error?.code == .connectTimedOut)
                let words =
                    "The connection to web.test through \(selected.displayName) could not be established within the connect time-out."
                #expect(error?.reason == words)
            }
            #expect(transport.isQuiet)
            for proxy in [http, socks, tls] {
                try await waitUntil("the connection is closed") { proxy.openConnections == 0 }
            }
        }

        @Test func repeatedChallengesFailTheRequest() async throws {
            let challenge = "HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm=\"x\"\r\n\r\n"
            let proxy = try TestProxy { client in
                _ = client.readHead()
                client.write(challenge)
            }
            let selected = Proxy.http(proxy.address, user: "ada", password: "no", methods: [.basic, .digest])
            let request = HTTPRequest(scheme: "https", authority: "web.test", path: "/")
            let error = await transport.failure(of: request, try .by(selected))
            #expect(error?.code == .proxyFailed)
            #expect(error?.reason.hasSuffix("did not accept the credentials (407).") == true)
            #expect(proxy.connections == 2)
        }

        @Test func cancellationEndsAHandshake() async throws {
            let begun = Locked(0)
            let proxy = try TestProxy { client in
                _ = client.readHead()
                begun.withLock { $0 += 1 }
                client.waitForEnd()
            }
            let request = HTTPRequest(scheme: "https", authority: "web.test", path: "/")
            let context = try TransferContext.by(.http(proxy.address))
            let task = Task { [transport] in await transport.result(of: request, context) }
            try await waitUntil("the proxy has the request") { begun.withLock { $0 } == 1 }
            task.cancel()
            #expect(await task.value.error?.code == .cancelled)
            try await waitUntil("the connection is closed") { proxy.openConnections == 0 }
            #expect(transport.isQuiet)
        }

        @Test func hangingProxyDoesNotDelayOtherRequests() async throws {
            let origin = try TestHTTPSServer(certificates.right)
            let good = try TestProxy(tunnelingTo: origin.port)
            let bad = try TestProxy { client in
                _ = client.readHead()
                client.write("HTTP/1.1 103 Early\r\n\r\n")
                client.waitForEnd()
            }
            let request = HTTPRequest(scheme: "https", authority: "web.test", path: "/")
            let hanging = try TransferContext.by(.http(bad.address))
            let held = (0..<8).map { _ in Task { [transport] in await transport.result(of: request, hanging) } }
            try await waitUntil("the hanging proxy has all connections") { bad.connections == 8 }
            for index in 0..<8 {
                let response = try await transport.exchange(origin.request("/\(index)"), .by(.http(good.address)))
                #expect(response.text == "GET /\(index) 0")
            }
            for task in held { task.cancel() }
            for task in held { #expect(await task.value.error?.code == .cancelled) }
        }
    }
}
#endif
