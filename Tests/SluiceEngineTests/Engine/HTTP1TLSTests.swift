#if os(Linux)
import CSSL
import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceEngine

extension EngineTests {
    /// HTTP/1.1 over TLS, from the call to the wire.
    @Suite struct HTTP1TLSTests {
        private let certificates: TestCertificates
        private let transport = SocketTransport()
        private let lost: PublicKeyPin = "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

        init() throws { certificates = try TestCertificates.shared.get() }

        private func trusting(_ pins: PublicKeyPins? = nil) -> TransferContext {
            .http1(TLSConfiguration(trust: .only(certificates.root.source), pins: pins))
        }

        @Test(arguments: ["127.0.0.1", "localhost"])
        func oneConnectionServesManyRequests(_ host: String) async throws {
            let server = try TestHTTPSServer(certificates.right)
            for index in 0..<5 {
                let response = try await transport.exchange(server.request("/\(index)", host: host), trusting())
                #expect(response.status == .ok)
                #expect(response.text == "GET /\(index) 0")
                let metrics = try #require(response.metrics)
                #expect(metrics.isConnectionReused == (index > 0))
                #expect((metrics.tls > .zero) == (index == 0))
                #expect(metrics.version == .http1_1)
            }
            #expect(server.connections == 1)
            #expect(transport.isQuiet)
        }

        @Test func concurrentRequestsAreAllAnswered() async throws {
            let server = try TestHTTPSServer(certificates.right)
            let tasks = (0..<64).map { index in
                let (request, context) = (server.request("/\(index)"), trusting())
                return Task { [transport] in await transport.result(of: request, context) }
            }
            for (index, task) in tasks.enumerated() { #expect(try await task.value.get().text == "GET /\(index) 0") }
            #expect(transport.isQuiet)
        }

        /// The files of certificates are read on queues of their own.
        @Test func otherWorkThatBlocksDoesNotDelayConnections() async {
            await #expect(processExitsWith: .exitCode(7)) {
                let certificates = try TestCertificates.shared.get()
                let path = NSTemporaryDirectory() + "/sluice-\(UUID().uuidString).pem"
                try certificates.root.certificate.write(to: URL(filePath: path))
                defer { try? FileManager.default.removeItem(atPath: path) }
                let gate = DispatchSemaphore(value: 0)
                for _ in 0..<16 { BlockingQueues.next.async { gate.wait() } }
                let server = try TestHTTPSServer(certificates.right)
                let context = TransferContext.http1(TLSConfiguration(trust: .only(.file(path))))
                let response = try await SocketTransport().exchange(server.request("/x"), context)
                try #require(response.text == "GET /x 0")
                try FileManager.default.removeItem(atPath: path)
                exit(7)
            }
        }

        @Test func laterConnectionResumesTheSession() async throws {
            let server = try TestHTTPSServer(certificates.right)
            for _ in 0..<3 {
                let response = try await transport.exchange(server.request("/close"), trusting())
                #expect(response.text == "GET /close 0")
                try await waitUntil("the connection is closed") { server.openConnections == 0 }
            }
            #expect(server.resumptions == [false, true, true])
        }

        /// One segment contains the response and close_notify. The server leaves the TCP connection open.
        @Test func closeNotifyAfterAResponseClosesTheConnection() async throws {
            let tls = try TestTLSServer(certificates.right)
            let server = try TestListener { descriptor in
                tls.serve(descriptor) { connection in
                    guard connection.isOpen, connection.read() != nil else { return }
                    var on: Int32 = 1
                    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_CORK, &on, socklen_t(MemoryLayout<Int32>.size))
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                    connection.shutdown()
                    on = 0
                    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_CORK, &on, socklen_t(MemoryLayout<Int32>.size))
                    TestListener.discardInput(descriptor)
                }
            }
            let request = HTTPRequest(scheme: "https", authority: "127.0.0.1:\(server.port)", path: "/")
            #expect(try await transport.exchange(request, trusting()).text == "ok")
            try await waitUntil("the connection is closed") { server.openConnections == 0 }
            #expect(!transport.hasIdle)
        }

        @Test func mebibyteIsSentAndReceived() async throws {
            let server = try TestHTTPSServer(certificates.right)
            let content = Data((0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
            for _ in 0..<2 {
                let request = server.request("/echo", method: .put, body: .data(content))
                let response = try await transport.exchange(request, trusting())
                #expect(response.body == content)
                #expect(response.metrics?.bytesSent == 1 << 20)
                #expect(response.metrics?.bytesReceived == 1 << 20)
            }
            #expect(server.connections == 1)
        }

        // MARK: Trust

        @Test func untrustedServerReceivesNoRequest() async throws {
            for (certificate, check) in [
                (certificates.wrongName, TLSFailure.Check.hostName), (certificates.expired, .expired),
                (certificates.untrusted, .authority), (certificates.selfSigned, .selfSigned),
            ] {
                let server = try TestHTTPSServer(certificate)
                let error = await transport.failure(of: server.request("/", host: "localhost"), trusting())
                #expect(error?.code == .tlsFailed)
                #expect((error?.underlyingError as? TLSFailure)?.check == check)
                try await waitUntil("the connection is closed") { server.openConnections == 0 }
                #expect(server.requests.isEmpty)
                #expect(transport.isQuiet)
            }
        }

        @Test func pinsAreEnforced() async throws {
            let server = try TestHTTPSServer(certificates.right)
            let right = PublicKeyPins(try certificates.right.pin, backups: lost)
            let wrong = PublicKeyPins(lost, backups: lost)
            for _ in 0..<3 {
                #expect(try await transport.exchange(server.request("/right"), trusting(right)).status == .ok)
                let error = await transport.failure(of: server.request("/wrong"), trusting(wrong))
                #expect((error?.underlyingError as? TLSFailure)?.check == .pin)
            }
            #expect(Set(server.requests) == ["GET /right"])
        }

        @Test func reportOnlyPinsAreReportedOncePerRequest() async throws {
            let server = try TestHTTPSServer(certificates.right)
            let reports = Locked<[TLSFailure]>([])
            let mode = PublicKeyPins.Mode.report { failure in reports.withLock { $0.append(failure) } }
            let wrong = PublicKeyPins(lost, backups: lost, mode: mode)
            for count in 1...3 {
                #expect(try await transport.exchange(server.request("/"), trusting(wrong)).status == .ok)
                #expect(reports.withLock { $0.count } == count)
            }
            #expect(reports.withLock { $0.allSatisfy { $0.check == .pin } })
            // A resumed session is checked and reported as well.
            #expect(try await transport.exchange(server.request("/close"), trusting(wrong)).status == .ok)
            #expect(try await transport.exchange(server.request("/"), trusting(wrong)).status == .ok)
            #expect(reports.withLock { $0.count } == 5)
            let right = PublicKeyPins(try certificates.right.pin, backups: lost, mode: mode)
            #expect(try await transport.exchange(server.request("/"), trusting(right)).status == .ok)
            #expect(reports.withLock { $0.count } == 5)
        }

        @Test func differentPoliciesDoNotShareConnections() async throws {
            let server = try TestHTTPSServer(certificates.right)
            let policies: [TLSConfiguration] = [
                TLSConfiguration(trust: .only(certificates.root.source)),
                TLSConfiguration(trust: .insecurelyAnyCertificate),
                TLSConfiguration(trust: .only(certificates.root.source), minimumVersion: .tls13),
                TLSConfiguration(
                    trust: .only(certificates.root.source),
                    pins: PublicKeyPins(try certificates.right.pin, backups: lost)
                ),
            ]
            for isReused in [false, true, true] {
                for policy in policies {
                    let response = try await transport.exchange(server.request("/"), .http1(policy))
                    #expect(response.metrics?.isConnectionReused == isReused)
                }
                // This client trusts no server here, and must not use the connections of other clients.
                let untrusting = TLSConfiguration(trust: .only(certificates.otherRoot.source))
                let error = await transport.failure(of: server.request("/untrusted"), .http1(untrusting))
                #expect((error?.underlyingError as? TLSFailure)?.check == .authority)
            }
            #expect(server.requests.count == 12)
            #expect(!server.requests.contains("GET /untrusted"))
        }

        /// Creates a server that requires a client certificate and answers with the names in it.
        private func strictServer() throws -> TestListener {
            var options = TestTLSServer.Options(certificates.right)
            options.clientAuthority = certificates.root
            let tls = try TestTLSServer(options)
            return try TestListener { descriptor in
                tls.serve(descriptor) { connection in
                    guard connection.isOpen, let certificate = SSL_get1_peer_certificate(connection.ssl) else { return }
                    let name = CertificateSummary(certificate, depth: 0).subject
                    X509_free(certificate)
                    while connection.read() != nil {
                        connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(name.utf8.count)\r\n\r\n\(name)")
                    }
                }
            }
        }

        @Test func differentClientCertificatesDoNotShareConnections() async throws {
            let server = try strictServer()
            let request = server.request(scheme: "https")
            let first = certificates.client
            let second = try TestCertificate("second", issuer: certificates.root)
            let presenting = { [certificates] (certificate: TestCertificate, key: TestCertificate) -> TransferContext in
                .http1(
                    TLSConfiguration(
                        trust: .only(certificates.root.source),
                        clientCertificate: .pem(certificate: certificate.source, key: .bytes(key.key))
                    )
                )
            }
            for isReused in [false, true, true] {
                for certificate in [first, second] {
                    let response = try await transport.exchange(request, presenting(certificate, certificate))
                    #expect(response.text == "CN=\(certificate.name)")
                    #expect(response.metrics?.isConnectionReused == isReused)
                }
                // The same certificate with a key that does not match.
                let mixed = await transport.failure(of: request, presenting(first, second))
                #expect((mixed?.underlyingError as? TLSFailure)?.check == .clientCertificateUnreadable)
            }
            #expect(server.connections == 2)
            let nameless = await transport.result(of: request, trusting())
            #expect(nameless.error != nil)
            #expect(server.connections == 3)
        }

        // MARK: Names

        @Test func trailingDotIsSentInHostButNotInSNI() async throws {
            let tls = try TestTLSServer(certificates.right)
            let seen = Locked<[String?]>([])
            let listener = try TestListener { descriptor in
                tls.serve(descriptor) { connection in
                    guard connection.isOpen, let bytes = connection.read() else { return }
                    let name = SSL_get_servername(connection.ssl, TLSEXT_NAMETYPE_host_name).map { String(cString: $0) }
                    let lines = String(decoding: bytes, as: UTF8.self).components(separatedBy: "\r\n")
                    let host = lines.first { $0.hasPrefix("Host: ") }
                    seen.withLock { $0 += [name, host] }
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                }
            }
            var request = listener.request(scheme: "https")
            request.authority = "localhost.:\(listener.port)"
            #expect(try await transport.exchange(request, trusting()).text == "ok")
            #expect(seen.withLock { $0 } == ["localhost", "Host: localhost.:\(listener.port)"])
        }

        // MARK: Connection close

        @Test func bodyEndedByTheConnectionNeedsCloseNotify() async throws {
            let server = try TestHTTPSServer(certificates.right)
            let whole = try await transport.exchange(server.request("/notified"), trusting())
            #expect(whole.text == "until the end")
            let cut = await transport.failure(of: server.request("/cut"), trusting())
            #expect(cut?.code == .truncatedBody)
            #expect(cut?.reason.contains("without the TLS message that confirms the end") == true)
            #expect(transport.isQuiet)
            #expect(try await transport.exchange(server.request("/"), trusting()).status == .ok)
        }

        @Test func idleConnectionClosesWhenTheServerClosesIt() async throws {
            let server = try TestHTTPSServer(certificates.right)
            #expect(try await transport.exchange(server.request("/leave"), trusting()).status == .ok)
            try await waitUntil("the connection is closed") { server.openConnections == 0 }
            try await waitUntil("the pool has no idle connection") { !transport.hasIdle }
            let next = try await transport.exchange(server.request("/"), trusting())
            #expect(next.metrics?.isConnectionReused == false)
        }
    }
}
#endif
