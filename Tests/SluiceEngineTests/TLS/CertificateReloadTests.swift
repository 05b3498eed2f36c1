#if os(Linux)
import CSSL
import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceEngine

/// A server that requires client certificates, and answers each request with the serial number of the client's.
private final class SerialServer: Sendable {
    private let listener: TestListener
    /// Answers to `/held` wait for it.
    let signal = DispatchSemaphore(value: 0)

    init(_ certificates: TestCertificates, _ certificate: TestCertificate? = nil) throws {
        var options = TestTLSServer.Options(certificate ?? certificates.right)
        options.clientAuthority = certificates.root
        let tls = try TestTLSServer(options)
        listener = try TestListener { [signal] descriptor in
            tls.serve(descriptor) { connection in
                let certificate = SSL_get1_peer_certificate(connection.ssl)
                defer { X509_free(certificate) }
                guard let certificate else { return }
                let serial = "\(ASN1_INTEGER_get(X509_get0_serialNumber(certificate)))"
                while let input = connection.read() {
                    let request = String(decoding: input, as: UTF8.self)
                    if request.contains(" /held ") { signal.wait() }
                    let closes = request.contains(" /close ") ? "Connection: close\r\n" : ""
                    connection.write(
                        "HTTP/1.1 200 OK\r\nContent-Length: \(serial.utf8.count)\r\n\(closes)\r\n\(serial)"
                    )
                    if !closes.isEmpty { return connection.shutdown() }
                }
            }
        }
    }

    var connections: Int { listener.connections }
    var openConnections: Int { listener.openConnections }

    func request(_ path: String) -> HTTPRequest {
        HTTPRequest(scheme: "https", authority: listener.authority, path: path)
    }
}

extension TestCertificate {
    fileprivate var serial: String {
        get throws {
            let certificate = try parsed()
            defer { X509_free(certificate) }
            return "\(ASN1_INTEGER_get(X509_get0_serialNumber(certificate)))"
        }
    }
}

extension EngineTests {
    /// Certificates whose files change while they are in use.
    @Suite struct CertificateReloadTests {
        private let certificates: TestCertificates
        private let folder: TestFolder
        private let old: TestCertificate
        private let new: TestCertificate
        private let server: SerialServer
        private let transport = SocketTransport()
        /// The reports of changed files: nil for success.
        private let reports = Locked<[TLSFailure?]>([])

        init() throws {
            certificates = try TestCertificates.shared.get()
            folder = try TestFolder()
            old = try TestCertificate("old", issuer: certificates.root)
            new = try TestCertificate("new", issuer: certificates.root)
            server = try SerialServer(certificates)
            try install(old)
            try folder.put(certificates.root.certificate, at: "ca.pem")
        }

        private func install(_ certificate: TestCertificate) throws {
            try folder.put(certificate.certificate, at: "client.pem")
            try folder.put(certificate.key, at: "client.key")
        }

        private var context: TransferContext {
            var tls = TLSConfiguration(
                trust: .only(.file("\(folder.path)/ca.pem")),
                clientCertificate: .pem(
                    certificate: .file("\(folder.path)/client.pem"),
                    key: .file("\(folder.path)/client.key")
                )
            )
            tls.onReload = { [reports] result in
                reports.withLock { reports in
                    switch result {
                    case .success: reports.append(nil)
                    case .failure(let failure): reports.append(failure)
                    }
                }
            }
            return .http1(tls)
        }

        private func serial(_ path: String = "/") async throws -> String {
            try await transport.exchange(server.request(path), context).text
        }

        @Test func renewedCertificateIsUsedByTheNextConnection() async throws {
            #expect(try await serial("/close") == old.serial)
            #expect(try await serial("/close") == old.serial)
            #expect(reports.withLock(\.self).isEmpty)
            try install(new)
            #expect(try await serial("/close") == new.serial)
            #expect(reports.withLock(\.self) == [nil])
            #expect(try await serial("/close") == new.serial)
            #expect(reports.withLock(\.self).count == 1)
        }

        @Test func reloadReplacesIdleConnectionsAtOnce() async throws {
            #expect(try await serial() == old.serial)
            // Nothing has changed, so the connection stays.
            try await transport.reloadCertificates(of: context.connection)
            #expect(transport.connections.idle == 1)
            try install(new)
            #expect(try await serial() == old.serial)
            try await transport.reloadCertificates(of: context.connection)
            #expect(transport.connections.open == 0)
            try await waitUntil("the old connection is closed") { server.openConnections == 0 }
            #expect(try await serial() == new.serial)
            #expect(server.connections == 2)
        }

        @Test func requestInProgressEndsOnTheOldConnection() async throws {
            let request = server.request("/held")
            let held = Task { [transport, context] in await transport.result(of: request, context) }
            try await waitUntil("the request is in progress") { transport.connections.origins.first?.open == 1 }
            try install(new)
            try await transport.reloadCertificates(of: context.connection)
            #expect(try await serial() == new.serial)
            server.signal.signal()
            #expect(try await held.value.get().text == old.serial)
            try await waitUntil("the old connection is closed") { server.openConnections == 1 }
            #expect(try await serial() == new.serial)
            #expect(server.connections == 2)
        }

        /// The next connection of any client finds the change, and ends the use of the others.
        @Test func olderConnectionsAreNotReusedOnceTheChangeIsFound() async throws {
            #expect(try await serial() == old.serial)
            try install(new)
            let other = SocketTransport()
            #expect(try await other.exchange(server.request("/"), context).text == new.serial)
            #expect(try await serial() == new.serial)
            #expect(server.connections == 3)
        }

        /// More policies are in use than the cache has room for.
        @Test func removedContextIsReplacedOnceItsFilesChange() throws {
            let cache = TLSContextCache(limit: 1)
            let policy = TLSPolicy(context.connection.tls, [])
            let other = TLSPolicy(TLSConfiguration(trust: .insecurelyAnyCertificate), [])
            let first = try cache.context(for: policy)
            _ = try cache.context(for: other)
            // Connections use the context.
            #expect(try cache.context(for: policy) === first)
            _ = try cache.context(for: other)
            #expect(!first.isReplaced)
            try install(new)
            #expect(try cache.context(for: policy) !== first)
            #expect(first.isReplaced)
        }

        @Test(arguments: ["client.key", "client.pem", "ca.pem"])
        func halfWrittenFileChangesNothing(_ name: String) async throws {
            #expect(try await serial("/close") == old.serial)
            let path = "\(folder.path)/\(name)"
            let whole = try Data(contentsOf: URL(filePath: path))
            try whole.prefix(whole.count / 2).write(to: URL(filePath: path))
            for _ in 0..<3 { #expect(try await serial("/close") == old.serial) }
            let failures = reports.withLock(\.self)
            #expect(failures.count == 1)
            #expect(
                failures.first??.check == (name == "ca.pem" ? .authoritiesUnreadable : .clientCertificateUnreadable)
            )
            #expect(failures.first??.reason.contains(path) == true)
            // The rest of the file arrives.
            try whole.write(to: URL(filePath: path))
            #expect(try await serial("/close") == old.serial)
            #expect(reports.withLock(\.self).count == 2)
            #expect(reports.withLock(\.self).last == .some(nil))
        }

        @Test func keyOfAnotherCertificateChangesNothing() async throws {
            #expect(try await serial("/close") == old.serial)
            try folder.put(new.certificate, at: "client.pem")
            #expect(try await serial("/close") == old.serial)
            #expect(reports.withLock(\.self).map(\.?.check) == [.clientCertificateUnreadable])
            try folder.put(new.key, at: "client.key")
            #expect(try await serial("/close") == new.serial)
            #expect(reports.withLock(\.self).map(\.?.check) == [.clientCertificateUnreadable, nil])
        }

        @Test func reloadOfUnreadableFilesThrowsAndNoRequestSuffers() async throws {
            #expect(try await serial() == old.serial)
            try FileManager.default.removeItem(atPath: "\(folder.path)/client.key")
            for _ in 0..<2 {
                let error = await #expect(throws: SluiceError.self) {
                    try await transport.reloadCertificates(of: context.connection)
                }
                #expect(error?.code == .tlsFailed)
                #expect((error?.underlyingError as? TLSFailure)?.check == .clientCertificateUnreadable)
                #expect(error?.description.contains("client.key") == true)
            }
            #expect(try await serial() == old.serial)
            #expect(try await serial("/close") == old.serial)
            #expect(try await serial("/close") == old.serial)
            #expect(reports.withLock(\.self).count == 1)
            try install(new)
            try await transport.reloadCertificates(of: context.connection)
            #expect(try await serial() == new.serial)
        }

        @Test func authoritiesOfAProxyAreReadAgain() async throws {
            let path = "\(folder.path)/proxy.pem"
            let whole = certificates.root.certificate
            var options = context.connection
            options.proxy = .always(.https("proxy.example:443", trust: .only(.file(path))))
            try whole.write(to: URL(filePath: path))
            try await transport.reloadCertificates(of: options)
            try whole.prefix(whole.count / 2).write(to: URL(filePath: path))
            let error = await #expect(throws: SluiceError.self) {
                try await transport.reloadCertificates(of: options)
            }
            #expect((error?.underlyingError as? TLSFailure)?.check == .authoritiesUnreadable)
            #expect(error?.description.contains(path) == true)
            try whole.write(to: URL(filePath: path))
            try await transport.reloadCertificates(of: options)
        }

        @Test func firstUseOfUnreadableFilesFailsAsBefore() async throws {
            try FileManager.default.removeItem(atPath: "\(folder.path)/client.key")
            let error = await transport.failure(of: server.request("/"), context)
            #expect((error?.underlyingError as? TLSFailure)?.check == .clientCertificateUnreadable)
            #expect(reports.withLock(\.self).isEmpty)
            await #expect(throws: SluiceError.self) {
                try await transport.reloadCertificates(of: context.connection)
            }
        }

        @Test func newAuthorityIsTrustedWithoutARestart() async throws {
            #expect(try await serial("/close") == old.serial)
            let authority = try TestCertificate("Next root", isAuthority: true)
            let moved = try SerialServer(
                certificates,
                TestCertificate("moved", names: "IP:127.0.0.1", issuer: authority)
            )
            let refused = await transport.failure(of: moved.request("/"), context)
            #expect(refused?.code == .tlsFailed)
            try folder.put(certificates.root.certificate + authority.certificate, at: "ca.pem")
            #expect(try await transport.exchange(moved.request("/"), context).text == old.serial)
            #expect(reports.withLock(\.self) == [nil])
        }

        /// Many connections are made while the files change again and again. Each one gets a certificate with its own key.
        @Test func requestsDuringRenewalsAllSucceed() async throws {
            let known = Set([try old.serial, try new.serial])
            #expect(try await serial("/close") == old.serial)
            let isOver = Locked(false)
            let renewals = Task { [folder, old, new] in
                var number = 0
                while !isOver.withLock(\.self) {
                    number += 1
                    let next = number % 2 == 0 ? old : new
                    try next.certificate.write(to: URL(filePath: "\(folder.path)/client.pem"))
                    await Task.yield()
                    try folder.put(next.key, at: "client.key")
                    await Task.yield()
                }
            }
            for _ in 0..<100 { #expect(known.contains(try await serial("/close"))) }
            isOver.withLock { $0 = true }
            try await renewals.value
            try install(new)
            #expect(try await serial("/close") == new.serial)
        }
    }
}
#endif
