#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceEngine

extension EngineTests {
    /// HTTP and https proxies that forward http requests.
    @Suite struct ForwardingProxyTests {
        private let certificates: TestCertificates
        private let transport = SocketTransport()

        init() throws { certificates = try TestCertificates.shared.get() }

        private static func request(
            _ path: String = "/a?b=c",
            host: String = "web.test:8080",
            headers: HTTPHeaders = ["Accept": "x", "Accept-Encoding": "identity"]
        ) -> HTTPRequest {
            HTTPRequest(scheme: "http", authority: host, path: path, headers: headers)
        }

        /// Creates a proxy that answers itself and records the heads.
        private func proxy(
            _ certificate: TestCertificate? = nil,
            _ heads: Locked<[String]>,
            status: String = "200 OK"
        ) throws -> TestProxy {
            try TestProxy(certificate) { client in
                while let head = client.readHead() {
                    heads.withLock { $0.append(head) }
                    client.write("HTTP/1.1 \(status)\r\nContent-Length: 2\r\n\r\nok")
                }
            }
        }

        @Test func requestsInAbsoluteFormReuseOneConnection() async throws {
            let heads = Locked<[String]>([])
            let proxy = try proxy(nil, heads)
            for index in 0..<3 {
                let response = try await transport.exchange(Self.request(), .by(.http(proxy.address)))
                #expect(response.text == "ok")
                #expect(response.metrics?.remoteAddress == proxy.address)
                #expect(response.metrics?.isConnectionReused == (index > 0))
                #expect(response.metrics?.tls == .zero)
            }
            #expect(proxy.connections == 1)
            let head = "GET http://web.test:8080/a?b=c HTTP/1.1\r\nHost: web.test:8080\r\nAccept: x\r\n"
            #expect(heads.withLock { $0 } == Array(repeating: "\(head)Accept-Encoding: identity\r\n\r\n", count: 3))
            #expect(transport.isQuiet)
        }

        @Test func targetOmitsTheDefaultPortAndTheZone() async throws {
            let heads = Locked<[String]>([])
            let proxy = try proxy(nil, heads)
            for host in ["web.test:80", "[::1]:81", "[fe80::1%25eth0]"] {
                _ = try await transport.exchange(Self.request("/", host: host), .by(.http(proxy.address)))
            }
            let lines = heads.withLock { $0.map { $0.split(separator: "\r\n").prefix(2).joined(separator: "|") } }
            #expect(
                lines == [
                    "GET http://web.test/ HTTP/1.1|Host: web.test", "GET http://[::1]:81/ HTTP/1.1|Host: [::1]:81",
                    "GET http://[fe80::1]/ HTTP/1.1|Host: [fe80::1]",
                ]
            )
        }

        @Test func digestIsOfTheTargetAsItIsSent() async throws {
            let heads = Locked<[String]>([])
            let proxy = try TestProxy { client in
                while let head = client.readHead() {
                    heads.withLock { $0.append(head) }
                    let challenge = "407 Who\r\nProxy-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\""
                    let status = head.contains("Proxy-Authorization") ? "200 OK" : challenge
                    client.write("HTTP/1.1 \(status)\r\nContent-Length: 2\r\n\r\nok")
                }
            }
            let context = try TransferContext.by(.http(proxy.address, user: "ada", password: "pw", methods: .digest))
            for host in ["web.test:80", "[fe80::1%25eth0]"] {
                let response = try await transport.exchange(Self.request("/?a", host: host), context)
                #expect(response.text == "ok")
            }
            let answered = heads.withLock { $0 }.filter { $0.contains("Digest ") }
            #expect(answered.count == 2)
            for head in answered {
                let target = head.split(separator: " ")[1]
                #expect(head.contains("uri=\"\(target)\""), "\(head)")
            }
        }

        @Test func proxyCredentialsReplaceTheFieldOfTheRequest() async throws {
            let heads = Locked<[String]>([])
            let proxy = try proxy(nil, heads)
            let request = Self.request(headers: ["Proxy-Authorization": "Own"])
            for (selected, values) in [
                (Proxy.http(proxy.address, user: "ada", password: "pw"), ["Basic YWRhOnB3"]),
                (.http(proxy.address, user: "ada", password: "pw", methods: [.basic, .digest]), ["Own"]),
                (.http(proxy.address), ["Own"]),
            ] {
                heads.withLock { $0 = [] }
                _ = try await transport.exchange(request, .by(selected))
                let fields = heads.withLock { $0 }.first?.components(separatedBy: "\r\n") ?? []
                let found = fields.filter { $0.hasPrefix("Proxy-Authorization: ") }
                #expect(found == values.map { "Proxy-Authorization: \($0)" })
            }
        }

        @Test func proxyAuthorizationIsNotSentToOrigins() async throws {
            let heads = Locked<[String]>([])
            let origin = try proxy(nil, heads)
            let request = Self.request(host: origin.address, headers: ["Proxy-Authorization": "Own", "X": "1"])
            var context = TransferContext()
            context.connection.proxy = .none
            _ = try await transport.exchange(request, context)
            let socks = try TestProxy { client in
                guard client.read(exactly: 3) != nil, client.write([5, 0]), client.read(exactly: 10) != nil,
                    client.write([5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
                else { return }
                client.relay(to: origin.port)
            }
            _ = try await transport.exchange(request, .by(.socks5(socks.address)))
            let all = heads.withLock { $0 }
            #expect(all.count == 2)
            #expect(all.allSatisfy { $0.contains("X: 1") && !$0.lowercased().contains("proxy-authorization") })
        }

        @Test func challengeThatCannotBeAnsweredIsTheResponse() async throws {
            let heads = Locked<[String]>([])
            let proxy = try proxy(nil, heads, status: "407 Who")
            for selected in [Proxy.http(proxy.address), .http(proxy.address, user: "ada", password: "no")] {
                let response = try await transport.exchange(Self.request(), .by(selected))
                #expect(response.status.rawValue == 407)
            }
        }

        // MARK: https

        @Test func httpsProxyIsReachedOverTLS() async throws {
            let heads = Locked<[String]>([])
            let proxy = try proxy(certificates.right, heads)
            let trusting = Proxy.https(proxy.address, trust: .only(certificates.root.source))
            for index in 0..<3 {
                let response = try await transport.exchange(Self.request(), .by(trusting))
                #expect(response.text == "ok")
                #expect((response.metrics?.tls ?? .zero > .zero) == (index == 0))
            }
            #expect(proxy.connections == 1)
            #expect(heads.withLock { $0.allSatisfy { $0.hasPrefix("GET http://web.test:8080/a?b=c ") } })
            #expect(transport.isQuiet)
        }

        @Test func httpsProxyIsVerifiedByItsOwnTrust() async throws {
            for (certificate, host, trust, check) in [
                (certificates.right, "127.0.0.1", .system, .authority),
                (certificates.untrusted, "localhost", .only(certificates.root.source), .authority),
                (certificates.wrongName, "localhost", .only(certificates.root.source), .hostName),
                (certificates.expired, "localhost", .only(certificates.root.source), .expired),
                (certificates.right, "localhost", .only(.file("/no/such/file.pem")), .authoritiesUnreadable),
            ] as [(TestCertificate, String, TLSConfiguration.Trust, TLSFailure.Check)] {
                let heads = Locked<[String]>([])
                let proxy = try proxy(certificate, heads)
                let place = "\(host):\(proxy.port)"
                // The trust in origin servers is configured separately.
                let error = await transport.failure(of: Self.request(), try .by(.https(place, trust: trust)))
                #expect(error?.code == .proxyFailed, "\(error as Any)")
                #expect((error?.underlyingError as? TLSFailure)?.check == check)
                #expect(
                    error?.reason.hasPrefix("The TLS connection to the proxy at \(place) could not be established: ")
                        == true
                )
                #expect(error?.reason.contains("server") == false, "\(error as Any)")
                #expect(heads.withLock { $0 } == [])
            }
            #expect(transport.isQuiet)
        }

        @Test func failedTLSHandshakeIsAProxyFailure() async throws {
            for answer in ["", "HTTP/1.1 400 Bad Request\r\n\r\n"] {
                let proxy = try TestProxy { client in
                    _ = client.read()
                    client.write(answer)
                }
                let error = await transport.failure(of: Self.request(), try .by(.https(proxy.address)))
                #expect(error?.code == .proxyFailed)
                let words =
                    answer.isEmpty
                    ? "the connection was lost during the handshake."
                    : "the proxy does not speak TLS on this port: wrong version number."
                #expect(
                    error?.reason
                        == "The TLS connection to the proxy at \(proxy.address) could not be established: \(words)"
                )
            }
        }

        // MARK: Reaching the proxy

        @Test func unreachableProxyIsAProxyFailure() async throws {
            let gone = try TestProxy { _ in }
            gone.stop()
            try await waitUntil("the proxy refuses connections") {
                let error = await transport.failure(of: Self.request(), try .by(.http(gone.address)))
                return error?.reason
                    == "The connection to the proxy at \(gone.address) could not be established: connection refused."
                    && error?.code == .proxyFailed
                    && (error?.underlyingError as? SystemError)?.number == ECONNREFUSED
            }
            #expect(transport.isQuiet)
        }

        @Test func connectTimeoutAppliesToTheProxy() async throws {
            let silent = try SilentPort(2)
            let place = "127.0.0.2:\(silent.port)"
            let context = try TransferContext.by(.http(place), connect: .milliseconds(300))
            let error = await transport.failure(of: Self.request(), context)
            #expect(error?.code == .connectTimedOut)
            let route = "The connection to web.test:8080 through the proxy at \(place)"
            #expect(error?.reason == "\(route) could not be established within the connect time-out.")
            withExtendedLifetime(silent) {}
        }
    }
}
#endif
