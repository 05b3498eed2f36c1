#if os(Linux)
import Foundation
import Sluice
import SluiceHTTP
import SluiceTesting
import Testing

@Suite(
    .enabled(if: Nginx.canRun, "nginx or openssl is not installed (Debian: nginx-light, openssl)"),
    .serialized,
    .everyHTTPVersion
)
final class TLSIdentityTests {
    let server: TLSServer

    init() throws {
        server = try TLSServer()
    }

    private func client(
        _ site: TLSServer.Site,
        pins: PublicKeyPins? = nil,
        certificate: ClientCertificate? = nil
    ) -> APIClient {
        APIClient(baseURL: server.url(site)) {
            $0.connection.httpVersion = EveryHTTPVersion.current
            $0.connection.tls.trust = .only(.file(self.server.authority.certificate))
            $0.connection.tls.pins = pins
            $0.connection.tls.clientCertificate = certificate
        }
    }

    private func text(_ client: APIClient) async throws -> String { try await client.string.get("/").sender().value }

    private func failure(of client: APIClient) async throws -> TLSFailure {
        let error = try #require(
            await client.string.get("/").sender().response.failure,
            "The certificate was accepted."
        )
        #expect(error.code == .tlsFailed)
        return try #require(error.underlyingError as? TLSFailure, "\(error.expandedDescription)")
    }

    // MARK: Pins

    private let lost: PublicKeyPin = "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

    @Test func acceptsPinnedOrBackupKey() async throws {
        let own = PublicKeyPin(try server.pin("right"))
        #expect(try await text(client(.right, pins: PublicKeyPins(own, backups: lost))) == "TLSv1.3 ")
        #expect(try await text(client(.right, pins: PublicKeyPins(lost, backups: own))) == "TLSv1.3 ")
    }

    @Test func rejectsKeyThatIsNotPinned() async throws {
        let other: PublicKeyPin = "sha256//BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBA="
        let failure = try await failure(of: client(.right, pins: PublicKeyPins(lost, backups: other)))
        #expect(failure.check == .pin)
        #expect(failure.certificate?.subject == "CN=right")
        #expect(failure.certificate?.publicKey?.description == (try server.pin("right")))
    }

    @Test func acceptsPinnedAuthorityKey() async throws {
        for name in ["Middle", "Root"] {
            let pins = PublicKeyPins(PublicKeyPin(try server.pin(name)), backups: lost)
            #expect(try await text(client(.chained, pins: pins)) == "TLSv1.3 ")
        }
        let pins = PublicKeyPins(PublicKeyPin(try server.pin("Stranger")), backups: lost)
        #expect(try await failure(of: client(.chained, pins: pins)).check == .pin)
    }

    @Test func checksPinsOfOtherClientsConnections() async throws {
        let free = client(.right)
        let pinning = client(.right, pins: PublicKeyPins(lost, backups: lost))
        for _ in 0..<3 {
            #expect(try await text(free) == "TLSv1.3 ")
            #expect(try await failure(of: pinning).check == .pin)
        }
    }

    @Test func reportModeDoesNotEnforcePins() async throws {
        let reports = Locked<[TLSFailure]>([])
        let watched = PublicKeyPins(
            lost,
            backups: lost,
            mode: .report { failure in reports.withLock { $0.append(failure) } }
        )
        #expect(try await text(client(.right, pins: watched)) == "TLSv1.3 ")
        #expect(reports.withLock(\.self).map(\.check) == [.pin])
        #expect(reports.withLock(\.self).first?.certificate?.subject == "CN=right")
        let met = PublicKeyPins(
            PublicKeyPin(try server.pin("right")),
            backups: lost,
            mode: .report { failure in reports.withLock { $0.append(failure) } }
        )
        #expect(try await text(client(.right, pins: met)) == "TLSv1.3 ")
        #expect(reports.withLock(\.self).count == 1)
    }

    @Test func acceptsSelfSignedCertificateByPin() async throws {
        let pins = PublicKeyPins(PublicKeyPin(try server.pin("selfSigned")), backups: lost)
        let known = APIClient(baseURL: server.url(.selfSigned)) {
            $0.connection.httpVersion = EveryHTTPVersion.current
            $0.connection.tls = TLSConfiguration(trust: .insecurelyAnyCertificate, pins: pins)
        }
        #expect(try await text(known) == "TLSv1.3 ")
        let other = APIClient(baseURL: server.url(.untrusted)) {
            $0.connection.httpVersion = EveryHTTPVersion.current
            $0.connection.tls = TLSConfiguration(trust: .insecurelyAnyCertificate, pins: pins)
        }
        #expect(try await failure(of: other).check == .pin)
    }

    @Test func rejectsInvalidPinBeforeSending() async throws {
        let pins = PublicKeyPins("sha256/short", backups: lost)
        let error = await client(.right, pins: pins).string.get("/").sender().response.failure
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.description.contains("sha256/short") == true)
    }

    // MARK: Client certificates

    @Test func sendsClientCertificateOfAnyForm() async throws {
        let key = server.path("client.key")
        let certificate = server.path("client.pem")
        let bundle = server.path("client.p12")
        let locked = server.path("locked.key")
        try RealServer.run(
            "openssl",
            "pkcs12",
            "-export",
            "-in",
            certificate,
            "-inkey",
            key,
            "-out",
            bundle,
            "-passout",
            "pass:pw"
        )
        try RealServer.run("openssl", "ec", "-in", key, "-aes256", "-out", locked, "-passout", "pass:pw")
        let bytes = { (path: String) in CertificateSource.bytes(try Data(contentsOf: URL(filePath: path))) }
        let forms: [ClientCertificate] = [
            .pem(certificate: .file(certificate), key: .file(key)),
            .pem(certificate: try bytes(certificate), key: try bytes(key)),
            .pem(certificate: .file(certificate), key: .file(locked), password: "pw"),
            .pem(certificate: try bytes(certificate), key: try bytes(locked), password: "pw"),
            .pkcs12(.file(bundle), password: "pw"), .pkcs12(try bytes(bundle), password: "pw"),
        ]
        for form in forms {
            #expect(try await text(client(.strict, certificate: form)) == "TLSv1.3 CN=client", "\(form)")
        }
        // Uses another server, since a connection with the same certificate would be reused.
        let other = try TLSServer()
        for wrong in [
            ClientCertificate.pem(certificate: .file(certificate), key: .file(locked), password: "no"),
            .pkcs12(.file(bundle), password: "no"), .pkcs12(.file("/no/such.p12"), password: "pw"),
            .pem(certificate: .file(certificate), key: .file(server.path("foreign.key"))),
            .pem(certificate: .bytes(Data()), key: .pem("nonsense")),
        ] {
            let client = APIClient(baseURL: other.url(.strict)) {
                $0.connection.httpVersion = EveryHTTPVersion.current
                $0.connection.tls.trust = .only(.file(other.authority.certificate))
                $0.connection.tls.clientCertificate = wrong
            }
            let failure = try? await failure(of: client)
            #expect(failure?.check == .clientCertificateUnreadable, "\(wrong)")
        }
    }

    @Test func serverRejectsMissingOrForeignCertificate() async throws {
        #expect(await client(.strict).string.get("/").sender().response.status == 400)
        let foreign = ClientCertificate.pem(
            certificate: .file(server.path("foreign.pem")),
            key: .file(server.path("foreign.key"))
        )
        #expect(await client(.strict, certificate: foreign).string.get("/").sender().response.status == 400)
    }

    @Test func doesNotShareConnectionOfClientCertificate() async throws {
        let own = ClientCertificate.pem(
            certificate: .file(server.path("client.pem")),
            key: .file(server.path("client.key"))
        )
        for _ in 0..<3 {
            #expect(try await text(client(.strict, certificate: own)) == "TLSv1.3 CN=client")
            #expect(await client(.strict).string.get("/").sender().response.status == 400)
        }
    }

    @Test func reportsRequiredAndRefusedClientCertificate() async throws {
        let port = try RealServer.freePort()
        let process = try RealServer.start(
            "openssl",
            [
                "s_server", "-accept", "127.0.0.1:\(port)", "-www", "-Verify", "1", "-verify_return_error",
                "-CAfile", server.authority.certificate, "-cert", server.path("right.pem"),
                "-key", server.path("right.key"),
            ],
            until: "ACCEPT"
        )
        // The child inherits a signal mask that blocks all signals but SIGKILL.
        defer { kill(process.processIdentifier, SIGKILL) }
        let client = { (certificate: ClientCertificate?) in
            APIClient(baseURL: "https://localhost:\(port)") {
                $0.connection.httpVersion = EveryHTTPVersion.current
                $0.connection.tls.trust = .only(.file(self.server.authority.certificate))
                $0.connection.tls.clientCertificate = certificate
            }
        }
        #expect(try await failure(of: client(nil)).check == .clientCertificateRequired)
        let foreign = ClientCertificate.pem(
            certificate: .file(server.path("foreign.pem")),
            key: .file(server.path("foreign.key"))
        )
        #expect(try await failure(of: client(foreign)).check == .clientCertificateRejected)
    }
}
#endif
