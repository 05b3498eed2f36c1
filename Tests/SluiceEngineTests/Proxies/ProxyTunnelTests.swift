#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceEngine

extension EngineTests {
    /// TLS to the origin through HTTP and https proxies.
    @Suite struct ProxyTunnelTests {
        private let certificates: TestCertificates
        private let transport = SocketTransport()
        private static let challenge = "HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm=\"x\"\r\n"
        private static let opened = "HTTP/1.1 200 OK\r\n\r\n"

        init() throws { certificates = try TestCertificates.shared.get() }

        private func https(_ proxy: TestProxy) -> Proxy {
            .https(proxy.address, user: "ada", password: "pw", trust: .only(certificates.root.source))
        }

        @Test(arguments: [false, true])
        func requestFieldsAreNotSentToTheProxy(_ isSecured: Bool) async throws {
            let origin = try TestHTTPSServer(certificates.right)
            let heads = Locked<[String]>([])
            let proxy = try TestProxy(isSecured ? certificates.right : nil, tunnelingTo: origin.port) { head in
                heads.withLock { $0.append(head) }
            }
            let selected = isSecured ? https(proxy) : .http(proxy.address, user: "ada", password: "pw")
            var request = origin.request("/a", host: "localhost")
            request.headers = ["Authorization": "Bearer secret", "Cookie": "secret", "User-Agent": "secret"]
            for index in 0..<4 {
                let response = try await transport.exchange(request, .by(selected))
                #expect(response.text == "GET /a 0")
                #expect(response.metrics?.remoteAddress == proxy.address)
                #expect(response.metrics?.isConnectionReused == (index > 0))
            }
            let target = "localhost:\(origin.port)"
            let head = "CONNECT \(target) HTTP/1.1\r\nHost: \(target)\r\n"
            #expect(heads.withLock { $0 } == ["\(head)Proxy-Authorization: Basic YWRhOnB3\r\n\r\n"])
            #expect(proxy.connections == 1)
            #expect(transport.isQuiet)
        }

        @Test(arguments: [false, true])
        func mebibyteIsSentAndReceived(_ isSecured: Bool) async throws {
            let origin = try TestHTTPSServer(certificates.right)
            let proxy = try TestProxy(isSecured ? certificates.right : nil, tunnelingTo: origin.port)
            let selected = isSecured ? https(proxy) : .http(proxy.address)
            let content = Data((0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
            for _ in 0..<2 {
                let request = origin.request("/echo", method: .put, body: .data(content))
                let response = try await transport.exchange(request, .by(selected))
                #expect(response.body == content)
            }
            #expect(proxy.connections == 1)
        }

        @Test(arguments: [false, true])
        func concurrentRequestsAreAllAnswered(_ isSecured: Bool) async throws {
            let origin = try TestHTTPSServer(certificates.right)
            let proxy = try TestProxy(isSecured ? certificates.right : nil, tunnelingTo: origin.port)
            let context = try TransferContext.by(isSecured ? https(proxy) : .http(proxy.address))
            let tasks = (0..<32).map { index in
                let request = origin.request("/\(index)")
                return Task { [transport] in await transport.result(of: request, context) }
            }
            for (index, task) in tasks.enumerated() { #expect(try await task.value.get().text == "GET /\(index) 0") }
            #expect(transport.isQuiet)
        }

        @Test(arguments: [false, true])
        func endOfTheTunnelledConnectionIsDetected(_ isSecured: Bool) async throws {
            let origin = try TestHTTPSServer(certificates.right)
            let proxy = try TestProxy(isSecured ? certificates.right : nil, tunnelingTo: origin.port)
            let context = try TransferContext.by(isSecured ? https(proxy) : .http(proxy.address))
            for path in ["/close", "/leave", "/notified", "/a"] {
                let response = try await transport.exchange(origin.request(path), context)
                #expect(response.text == (path == "/notified" ? "until the end" : "GET \(path) 0"))
            }
            let cut = await transport.failure(of: origin.request("/cut"), context)
            #expect(cut?.code == .truncatedBody)
            try await waitUntil("the connections of the proxy are closed") { proxy.openConnections == 0 }
        }

        @Test(arguments: [false, true])
        func tlsFailureOfTheOriginIsNotAProxyFailure(_ isSecured: Bool) async throws {
            for (certificate, check) in [
                (certificates.wrongName, TLSFailure.Check.hostName), (certificates.untrusted, .authority),
            ] {
                let origin = try TestHTTPSServer(certificate)
                let proxy = try TestProxy(isSecured ? certificates.right : nil, tunnelingTo: origin.port)
                let context = try TransferContext.by(isSecured ? https(proxy) : .http(proxy.address))
                let error = await transport.failure(of: origin.request("/", host: "localhost"), context)
                #expect(error?.code == .tlsFailed, "\(error as Any)")
                #expect((error?.underlyingError as? TLSFailure)?.check == check)
                #expect(origin.requests == [])
            }
            let plain = try TestListener { descriptor in
                var bytes = [UInt8](repeating: 0, count: 4096)
                _ = recv(descriptor, &bytes, bytes.count, 0)
                TestListener.write("HTTP/1.1 400 Bad Request\r\n\r\n", to: descriptor)
            }
            let proxy = try TestProxy(isSecured ? certificates.right : nil, tunnelingTo: plain.port)
            let context = try TransferContext.by(isSecured ? https(proxy) : .http(proxy.address))
            #expect(await transport.failure(of: plain.request(scheme: "https"), context)?.code == .tlsFailed)
        }

        @Test func pinsApplyToTheOriginOnly() async throws {
            let origin = try TestHTTPSServer(certificates.right)
            let own = try TestCertificate("proxy", names: "IP:127.0.0.1", issuer: certificates.root)
            let proxy = try TestProxy(own, tunnelingTo: origin.port)
            for (pin, isMet) in [(try certificates.right.pin, true), (try own.pin, false)] {
                var context = try TransferContext.by(https(proxy))
                context.connection.tls.pins = PublicKeyPins(pin, backups: PublicKeyPin(sha256: Data(count: 32)))
                let error = await transport.failure(of: origin.request("/"), context)
                #expect(error?.code == (isMet ? nil : .tlsFailed), "\(error as Any)")
            }
        }

        // MARK: Credentials

        /// The proxy's response to the first request of a connection without credentials, and the number of connections used.
        @Test(
            arguments: [
                ("Content-Length: 3\r\n\r\nwho", true, 1), ("Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", true, 1),
                ("Connection: close\r\nContent-Length: 3\r\n\r\nwho", false, 2), ("\r\n", false, 2),
                ("Content-Length: 0\r\n\r\n", false, 2),
            ]
        )
        func challengeIsAnswered(_ rest: String, _ staysOpen: Bool, _ connections: Int) async throws {
            let origin = try TestHTTPSServer(certificates.right)
            let answers = Locked<[Bool]>([])
            for certificate in [nil, certificates.right] {
                answers.withLock { $0 = [] }
                let proxy = try TestProxy(certificate) { client in
                    while let head = client.readHead() {
                        let isKnown = head.contains("\r\nProxy-Authorization: Basic YWRhOnB3\r\n")
                        answers.withLock { $0.append(isKnown) }
                        if isKnown {
                            client.write(Self.opened)
                            return client.relay(to: origin.port)
                        }
                        client.write(Self.challenge + rest)
                        if !staysOpen { return }
                    }
                }
                let methods: ChallengeCredentials.Methods = [.basic, .digest]
                let root = TLSConfiguration.Trust.only(certificates.root.source)
                let selected: Proxy =
                    certificate == nil
                    ? .http(proxy.address, user: "ada", password: "pw", methods: methods)
                    : .https(proxy.address, user: "ada", password: "pw", methods: methods, trust: root)
                let response = try await transport.exchange(origin.request("/a"), .by(selected))
                #expect(response.text == "GET /a 0")
                #expect(proxy.connections == connections)
                #expect(answers.withLock { $0 } == [false, true])
            }
            #expect(transport.isQuiet)
        }

        @Test func differentProxyCredentialsDoNotShareTunnels() async throws {
            let origin = try TestHTTPSServer(certificates.right)
            let heads = Locked<[String]>([])
            let proxy = try TestProxy(tunnelingTo: origin.port) { head in heads.withLock { $0.append(head) } }
            for _ in 0..<2 {
                for selected in [
                    Proxy.http(proxy.address), .http(proxy.address, user: "ada", password: "pw"),
                    .http(proxy.address, user: "eve", password: "x"),
                ] {
                    _ = try await transport.exchange(origin.request("/a"), .by(selected))
                }
            }
            #expect(heads.withLock { Set($0).count } == 3)
            #expect(proxy.connections == 3)
        }
    }
}
#endif
