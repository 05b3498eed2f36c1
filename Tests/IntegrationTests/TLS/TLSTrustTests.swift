#if os(Linux)
import Foundation
import Sluice
import Testing

@Suite(
    .enabled(if: Nginx.canRun, "nginx or openssl is not installed (Debian: nginx-light, openssl)"),
    .serialized,
    .everyHTTPVersion
)
final class TLSTrustTests {
    let server: TLSServer

    init() throws {
        server = try TLSServer()
    }

    private func client(
        _ site: TLSServer.Site,
        host: String = "localhost",
        _ tls: TLSConfiguration? = nil
    ) -> APIClient {
        APIClient(baseURL: server.url(site, host: host)) {
            $0.connection.httpVersion = EveryHTTPVersion.current
            $0.connection.tls = tls ?? TLSConfiguration(trust: .only(.file(self.server.authority.certificate)))
        }
    }

    private func text(_ client: APIClient) async throws -> String { try await client.string.get("/").sender().value }

    /// Returns the TLS failure of a client and its description.
    private func failure(of client: APIClient) async throws -> (TLSFailure, String) {
        let error = await client.string.get("/").sender().response.failure
        let cause = try #require(error, "The certificate was accepted.")
        #expect(cause.code == .tlsFailed)
        let failure = try #require(cause.underlyingError as? TLSFailure, "\(cause.expandedDescription)")
        return (failure, cause.description)
    }

    @Test func acceptsCertificateOfTrustedAuthority() async throws {
        #expect(try await text(client(.right)) == "TLSv1.3 ")
        #expect(try await text(client(.right, host: "127.0.0.1")) == "TLSv1.3 ")
        #expect(try await text(client(.chained)) == "TLSv1.3 ")
        let bytes = try Data(contentsOf: URL(filePath: server.authority.certificate))
        #expect(try await text(client(.right, TLSConfiguration(trust: .only(.bytes(bytes))))) == "TLSv1.3 ")
        #expect(try await text(client(.right, TLSConfiguration(trust: .systemAnd(.bytes(bytes))))) == "TLSv1.3 ")
        let additional = TLSConfiguration(trust: .systemAnd(.file(server.authority.certificate)))
        #expect(try await text(client(.right, additional)) == "TLSv1.3 ")
    }

    @Test(arguments: [
        (TLSServer.Site.expired, TLSFailure.Check.expired, "expired", "expired on 2020-02-01"),
        (.early, .notYetValid, "early", "not valid yet; it is valid from 2048-01-01"),
        (.wrongName, .hostName, "wrongName", "not valid for this host; it is valid for other.example, third.example"),
        (.selfSigned, .selfSigned, "selfSigned", "is self-signed"),
        (.untrusted, .authority, "untrusted", "is not signed by a trusted authority"),
    ])
    func reportsFailedCheckAndCertificate(
        _ site: TLSServer.Site,
        _ check: TLSFailure.Check,
        _ subject: String,
        _ reason: String
    ) async throws {
        let (failure, sentence) = try await failure(of: client(site))
        #expect(failure.check == check)
        #expect(failure.certificate?.subject == "CN=\(subject)")
        #expect(failure.certificate?.depth == 0)
        #expect(failure.certificate?.publicKey?.description == (try server.pin(site.rawValue)))
        #expect(sentence.contains(reason), "\(sentence)")
    }

    @Test func systemAuthoritiesDoNotTrustOwnAuthority() async throws {
        let (failure, _) = try await failure(of: client(.right, TLSConfiguration()))
        #expect(failure.check == .authority)
        #expect(failure.certificate?.issuer == "CN=Root")
    }

    @Test func clientsDoNotShareTrust() async throws {
        // The connections of one client must not be shared with the other.
        let trusting = client(.right)
        for _ in 0..<3 {
            #expect(try await text(trusting) == "TLSv1.3 ")
            #expect(try await failure(of: client(.right, TLSConfiguration())).0.check == .authority)
        }
    }

    @Test func acceptsAnyCertificateOnlyIfInsecure() async throws {
        let insecure = TLSConfiguration(trust: .insecurelyAnyCertificate)
        for site in [TLSServer.Site.expired, .wrongName, .selfSigned, .untrusted] {
            #expect(try await text(client(site, insecure)) == "TLSv1.3 ")
            _ = try await failure(of: client(site))
        }
    }

    @Test func reportsUnreadableAuthorities() async throws {
        let missing = TLSConfiguration(trust: .only(.file("/no/such/file.pem")))
        #expect(try await failure(of: client(.right, missing)).0.check == .authoritiesUnreadable)
        let additional = TLSConfiguration(trust: .systemAnd(.file("/no/such/file.pem")))
        for _ in 0..<2 { #expect(try await failure(of: client(.right, additional)).0.check == .authoritiesUnreadable) }
        // A pipe without a writer would hold the thread.
        let pipe = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)").path
        #expect(mkfifo(pipe, 0o600) == 0)
        defer { unlink(pipe) }
        for path in [pipe, "/dev/zero", "\(server.authority.certificate)\0.other"] {
            let trust = TLSConfiguration(trust: .only(.file(path)))
            #expect(try await failure(of: client(.right, trust)).0.check == .authoritiesUnreadable, "\(path)")
        }
        let invalid = TLSConfiguration(trust: .only(.pem("nonsense")))
        #expect(try await failure(of: client(.right, invalid)).0.check == .authoritiesUnreadable)
    }

    @Test func rejectsOldVersions() async throws {
        let (failure, sentence) = try await failure(of: client(.old))
        #expect(failure.check == .version, "\(sentence)")
        #expect(sentence.contains("no allowed TLS version in common"))
    }

    @Test func minimumVersionCanBeRaised() async throws {
        #expect(try await text(client(.new)) == "TLSv1.2 ")
        var tls = TLSConfiguration(trust: .only(.file(server.authority.certificate)), minimumVersion: .tls13)
        #expect(try await failure(of: client(.new, tls)).0.check == .version)
        tls.minimumVersion = .tls12
        #expect(try await text(client(.new, tls)) == "TLSv1.2 ")
    }

    @Test func appliesConfigurationByHost() async throws {
        let client = APIClient(baseURL: server.url(.right)) {
            $0.connection.httpVersion = EveryHTTPVersion.current
            $0.connection.tlsByHost = [
                "localhost": TLSConfiguration(trust: .only(.file(self.server.authority.certificate)))
            ]
        }
        #expect(try await text(client) == "TLSv1.3 ")
        let other = server.url(.right, host: "127.0.0.1")
        let error = await client.string.get(other).sender().response.failure
        #expect(error?.code == .tlsFailed)
        let unmatchedPin = PublicKeyPin(sha256: Data(repeating: 1, count: 32))
        let trust = TLSConfiguration.Trust.only(.file(server.authority.certificate))
        for (pin, isMet) in [(PublicKeyPin(try server.pin("right")), true), (unmatchedPin, false)] {
            let pinning = APIClient(baseURL: server.url(.right)) {
                $0.connection.httpVersion = EveryHTTPVersion.current
                $0.connection.tls.trust = trust
                $0.connection.tlsByHost["localhost"] = TLSConfiguration(
                    trust: trust,
                    pins: PublicKeyPins(pin, backups: unmatchedPin)
                )
            }
            let check = (await pinning.string.get("/").sender().response.failure?.underlyingError as? TLSFailure)?.check
            #expect(check == (isMet ? nil : .pin))
            // The pins do not apply to another host of that client.
            #expect(try await pinning.string.get(other).sender().value == "TLSv1.3 ")
        }
    }
}
#endif
