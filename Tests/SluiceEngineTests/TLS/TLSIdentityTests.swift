#if os(Linux)
import CSSL
import Foundation
import SluiceHTTP
import Testing

@testable import SluiceEngine

@Suite struct TLSIdentityTests {
    private let certificates: TestCertificates
    private let lost: PublicKeyPin = "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

    init() throws { certificates = try TestCertificates.shared.get() }

    private func client(
        _ server: TestTLSServer,
        trust: TLSConfiguration.Trust? = nil,
        pins: PublicKeyPins? = nil,
        certificate: ClientCertificate? = nil,
        _ script: @escaping TestTLSServer.Script = { $0.echo() }
    ) throws -> TestTLSClient {
        let tls = TLSConfiguration(
            trust: trust ?? .only(certificates.root.source),
            pins: pins,
            clientCertificate: certificate
        )
        return try TestTLSClient(TLSContext.context(for: tls, offering: []), server.connect(script), pins: pins)
    }

    private func failure(of client: TestTLSClient) throws -> TLSFailure {
        let error = try #require(client.handshake(), "The handshake must fail.")
        #expect(error.code == .tlsFailed)
        return try #require(error.underlyingError as? TLSFailure, "\(error)")
    }

    // MARK: Pins

    @Test func pinsMatchKeysOfTheVerifiedChainOnly() throws {
        var options = TestTLSServer.Options(certificates.chained)
        options.chain = [certificates.middle, certificates.otherRoot]
        let server = try TestTLSServer(options)
        for certificate in [certificates.chained, certificates.middle, certificates.root] {
            for pins in [
                PublicKeyPins(try certificate.pin, backups: lost), PublicKeyPins(lost, backups: try certificate.pin),
            ] {
                let client = try client(server, pins: pins)
                #expect(client.handshake() == nil, "\(certificate.name)")
                #expect(client.stream.pinFailure == nil)
            }
        }
        // The server sends this certificate, but it is not part of the verified chain.
        for pin in [try certificates.otherRoot.pin, lost] {
            let failure = try failure(of: client(server, pins: PublicKeyPins(pin, backups: lost)))
            #expect(failure.check == .pin)
            #expect(failure.certificate?.subject == "CN=chained")
            #expect(try failure.certificate?.publicKey == certificates.chained.pin)
        }
    }

    @Test func nothingIsSentAfterAPinMismatch() throws {
        let server = try TestTLSServer(certificates.right)
        let read = Locked<[[UInt8]?]>([])
        let client = try client(server, pins: PublicKeyPins(lost, backups: lost)) { connection in
            let bytes = connection.read()
            read.withLock { $0.append(bytes) }
        }
        #expect(try failure(of: client).check == .pin)
        #expect(client.write("secret") == .failed(errno: 0))
        #expect(client.read().0 == .failed(errno: 0))
        client.stream.close()
        if case .failed = client.stream.handshake() {} else { Issue.record("Expected the failure again.") }
        shutdown(client.socket.descriptor, Int32(SHUT_WR))
        client.socket.waitForServer()
        #expect(read.withLock(\.self) == [nil])
    }

    @Test func reportOnlyPinsAreNotEnforced() throws {
        let server = try TestTLSServer(certificates.right)
        let reporting = client(server, reporting: lost)
        let mismatched = try reporting()
        #expect(mismatched.handshake() == nil)
        #expect(mismatched.stream.pinFailure?.check == .pin)
        #expect(mismatched.stream.pinFailure?.certificate?.subject == "CN=right")
        #expect(mismatched.answer(to: "hello") == "hello")
        let matched = try client(server, reporting: try certificates.right.pin)()
        #expect(matched.handshake() == nil)
        #expect(matched.stream.pinFailure == nil)
    }

    private func client(_ server: TestTLSServer, reporting pin: PublicKeyPin) -> () throws -> TestTLSClient {
        let pins = PublicKeyPins(pin, backups: lost, mode: .report { _ in })
        return { try client(server, pins: pins) }
    }

    @Test func selfSignedServerCanBePinned() throws {
        let pins = PublicKeyPins(try certificates.selfSigned.pin, backups: lost)
        let known = try client(
            TestTLSServer(certificates.selfSigned),
            trust: .insecurelyAnyCertificate,
            pins: pins
        )
        #expect(known.handshake() == nil)
        // In a chain that was not verified, only the server's own key counts.
        var options = TestTLSServer.Options(certificates.untrusted)
        options.chain = [certificates.selfSigned]
        let other = try client(TestTLSServer(options), trust: .insecurelyAnyCertificate, pins: pins)
        #expect(try failure(of: other).check == .pin)
    }

    // MARK: Client certificates

    private func strictServer(_ versions: ClosedRange<Int32> = TLS1_2_VERSION...TLS1_3_VERSION) throws -> TestTLSServer
    {
        var options = TestTLSServer.Options(certificates.right)
        options.clientAuthority = certificates.root
        options.versions = versions
        return try TestTLSServer(options)
    }

    @Test func clientCertificatesOfAllFormsAreSent() throws {
        let folder = try TestFolder()
        let own = certificates.client
        let certificate = try folder.put(own.certificate, at: "client.pem")
        let key = try folder.put(own.key, at: "client.key")
        let both = try folder.put(own.key + own.certificate + certificates.root.certificate, at: "both.pem")
        let locked = try own.lockedKey("pw")
        let bundle = try own.bundle("pw")
        let server = try strictServer()
        for form: ClientCertificate in [
            .pem(certificate: .file(certificate), key: .file(key)),
            .pem(certificate: .file(both), key: .file(both)),
            .pem(certificate: own.source, key: .bytes(own.key)),
            .pem(certificate: own.source, key: .bytes(own.key), password: "not needed"),
            .pem(certificate: .file(certificate), key: .bytes(locked), password: "pw"),
            .pkcs12(.bytes(bundle), password: "pw"),
            .pkcs12(.file(try folder.put(bundle, at: "client.p12")), password: "pw"),
            .pkcs12(.bytes(try own.bundle("")), password: ""),
        ] {
            let subject = Locked("")
            let client = try client(server, certificate: form) { connection in
                guard let certificate = SSL_get1_peer_certificate(connection.ssl) else { return }
                let name = CertificateSummary(certificate, depth: 0).subject
                subject.withLock { $0 = name }
                X509_free(certificate)
                connection.echo()
            }
            #expect(client.handshake() == nil)
            #expect(client.answer(to: "hello") == "hello")
            #expect(subject.withLock(\.self) == "CN=client", "\(form)")
        }
    }

    /// A server may need the certificate only for some paths (RFC 8446 §4.6.2).
    @Test func certificateRequestedAfterTheHandshakeIsSent() throws {
        var options = TestTLSServer.Options(certificates.right)
        options.clientAuthority = certificates.root
        options.requestsCertificateLater = true
        let server = try TestTLSServer(options)
        let own = certificates.client
        for (form, expected) in [
            (ClientCertificate.pem(certificate: own.source, key: .bytes(own.key)), "CN=client"), (nil, "no extension"),
        ] {
            let client = try client(server, certificate: form) { connection in
                guard connection.read() != nil else { return }
                guard SSL_verify_client_post_handshake(connection.ssl) == 1 else {
                    return connection.write("no extension")
                }
                var byte: UInt8 = 0
                SSL_do_handshake(connection.ssl)
                // Otherwise reading goes on until there is other data than the certificate.
                SSL_ctrl(connection.ssl, SSL_CTRL_CLEAR_MODE, Int(SSL_MODE_AUTO_RETRY), nil)
                SSL_peek(connection.ssl, &byte, 0)
                guard let certificate = SSL_get1_peer_certificate(connection.ssl) else { return }
                connection.write(CertificateSummary(certificate, depth: 0).subject)
                X509_free(certificate)
            }
            #expect(client.handshake() == nil)
            #expect(client.answer(to: "hello") == expected)
        }
    }

    @Test func serverThatRefusesTheOnlyProtocolIsReported() throws {
        var options = TestTLSServer.Options(certificates.right)
        options.requiresHTTP1 = true
        let server = try TestTLSServer(options)
        let tls = TLSConfiguration(trust: .only(certificates.root.source))
        let context = try TLSContext.context(for: tls, offering: ["h2"])
        let error = try TestTLSClient(context, server.connect()).handshake()
        #expect(error?.code == .unsupported)
        #expect(error?.reason.hasSuffix("did not negotiate HTTP/2.") == true, "\(error as Any)")
    }

    /// Servers that ask for a certificate later do so in TLS 1.2 by another handshake.
    @Test func refusedRenegotiationIsReported() throws {
        var options = TestTLSServer.Options(certificates.right)
        options.versions = TLS1_2_VERSION...TLS1_2_VERSION
        let client = try client(TestTLSServer(options)) { connection in
            guard connection.read() != nil else { return }
            SSL_renegotiate(connection.ssl)
            SSL_do_handshake(connection.ssl)
            _ = connection.read()
        }
        #expect(client.handshake() == nil)
        #expect(client.answer(to: "hello") == nil)
        #expect(client.stream.failureDetail == "the server requested a TLS renegotiation, which is refused")
    }

    /// A bundle with the ciphers of OpenSSL 1: 40-bit RC2 and 3DES.
    private static let oldBundle = """
        MIIDegIBAzCCA0AGCSqGSIb3DQEHAaCCAzEEggMtMIIDKTCCAh8GCSqGSIb3DQEHBqCCAhAwggIMAgEAMIICBQYJKoZIhvcNAQcB\
        MBwGCiqGSIb3DQEMAQYwDgQIwgLOeuqLedMCAggAgIIB2Ct+zjdqkfYflRZ2PNdQPPyJXRQdGC8CTVV95FVPokk7dMeZcCtq5nwW\
        p1WoIaKRp3r2MJ7l+FfDL/hOQLziFppwHgL08btMlMjOqI/FkRIDWSglXwQAjsLcsB81gQWrgm5ZTpHxrqeTr0EEsxFfvyIC2Iv6\
        sBC3SVMGi+y1yVossO43aQJ1DghbM+p7AryL5cO5pRWVsoKB82By5J4BIj4lNFwQXcKVEDw2Exb11w6aCU3BVOc0FgkJTK2o9TS/\
        /FAQPb0RFLXDPPgYWxKKM7DhLpu4WjE7oGGdKCUNBJ0KapR9nwGShcFAgFMQDZTfQwOnAUC2FOj3k3lC3laAVw1LQLfanjiy2nJz\
        9HplGJy2oGtqJgMPP9ZQpc+jtGfFKlwTeMZrgLZJ6hacxphodjTmitNIFV90YTUSXfsd4q/XKWrM+beTszgqSg09gsWBtOnJx8Sp\
        WkaTwOyUkekvKDE43O62/cCJUR75BDDQYJjIFGNfPJ5FJW6SWnox9BvQtN+p1gjqhDYoXDRWKaL46sjNW9Uun4bbK3cugX30IcJo\
        H613VvlN4waASCiDZUDSDprt45mSJ+mFrSYG2dbyMArwnVhAz5TOvwkHz6RKd8uN/2slMRIw31UwggECBgkqhkiG9w0BBwGggfQE\
        gfEwge4wgesGCyqGSIb3DQEMCgECoIG0MIGxMBwGCiqGSIb3DQEMAQMwDgQIPzzKoPT4TrMCAggABIGQP1VBqZijS6n3EDksj68E\
        82v38iTpEUQTvYnZwIdIAz8H/DhuPdPZc1nhbgSv0r5CqMQS8threwUIBViOrKQ4h8zteXleKyDsYu0CguhkmdAi0LL88fXPw41w\
        sEfKkYrZrBBO6HvXJvhFtnfWGt5a4ibRPRZNYygmLcpbv/UuGncW85LzxDyMbDk5xz1cFyozMSUwIwYJKoZIhvcNAQkVMRYEFN0Z\
        YaZg3sHceqV5MIJ4yeFIiJ/tMDEwITAJBgUrDgMCGgUABBQoYCsrMKKmlyXmNOSHgeTCHSmKxwQInZRI4/64eM8CAggA
        """

    @Test func unusableClientCertificateIsReported() throws {
        let own = certificates.client
        let locked = CertificateSource.bytes(try own.lockedKey("pw"))
        let bundle = CertificateSource.bytes(try own.bundle("pw"))
        let old = try #require(Data(base64Encoded: Self.oldBundle))
        for (form, words) in [
            (ClientCertificate.pem(certificate: own.source, key: locked, password: "no"), ""),
            (.pem(certificate: own.source, key: locked), ""),
            (.pem(certificate: own.source, key: .bytes(certificates.untrustedClient.key)), "mismatch"),
            (.pem(certificate: own.source, key: .file("/no/such.key")), "/no/such.key: no such file"),
            (.pem(certificate: .file("/no/such.pem"), key: .bytes(own.key)), "/no/such.pem: no such file"),
            (.pem(certificate: .bytes(Data()), key: .pem("nonsense")), "PEM"),
            (.pem(certificate: own.source, key: .bytes(Data())), ""),
            (.pem(certificate: .bytes(own.key), key: .bytes(own.key)), "PEM"),
            (.pkcs12(bundle, password: "no"), "mac verify failure"),
            (.pkcs12(.bytes(old), password: "pw"), "unsupported encryption; encrypt the file again with AES-256"),
            (.pkcs12(.file("/no/such.p12"), password: "pw"), "no such"),
            (.pkcs12(.bytes(Data()), password: "pw"), ""), (.pkcs12(own.source, password: "pw"), ""),
        ] {
            let tls = TLSConfiguration(trust: .only(certificates.root.source), clientCertificate: form)
            let failure = #expect(throws: TLSFailure.self) { try TLSContext.context(for: tls, offering: []) }
            #expect(failure?.check == .clientCertificateUnreadable, "\(form)")
            #expect(words.isEmpty || failure?.detail.contains(words) == true, "\(failure as Any)")
            #expect(failure?.detail.isEmpty == false)
        }
    }

    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func refusedAndMissingClientCertificatesDiffer(_ version: Int32) throws {
        let server = try strictServer(version...version)
        let untrusted = ClientCertificate.pem(
            certificate: certificates.untrustedClient.source,
            key: .bytes(certificates.untrustedClient.key)
        )
        for (certificate, check) in [
            (nil, TLSFailure.Check.clientCertificateRequired), (untrusted, .clientCertificateRejected),
        ] {
            let client = try client(server, certificate: certificate)
            guard version == TLS1_3_VERSION else {
                let failure = try failure(of: client)
                #expect(failure.check == check, "\(failure)")
                continue
            }
            // The client finishes its handshake before the server verifies its certificate.
            #expect(client.handshake() == nil)
            #expect(client.read().0 == .failed(errno: 0))
            #expect(client.stream.failure?.check == check)
            #expect(client.stream.failureDetail?.contains("alert") == true)
            client.stream.close()
        }
    }

    @Test func newConnectionsUseTheRenewedCertificate() throws {
        let folder = try TestFolder()
        let paths = try (
            folder.put(certificates.untrustedClient.certificate, at: "own.pem"),
            folder.put(certificates.untrustedClient.key, at: "own.key")
        )
        let form = ClientCertificate.pem(certificate: .file(paths.0), key: .file(paths.1))
        let server = try strictServer(TLS1_2_VERSION...TLS1_2_VERSION)
        #expect(try failure(of: client(server, certificate: form)).check == .clientCertificateRejected)
        try folder.put(certificates.client.certificate, at: "own.pem")
        try folder.put(certificates.client.key, at: "own.key")
        #expect(try client(server, certificate: form).handshake() == nil)
    }
}
#endif
