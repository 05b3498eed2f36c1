#if os(Linux)
import Foundation
import SluiceHTTP
import Testing

@testable import SluiceEngine

@Suite struct TLSTrustTests {
    private let certificates: TestCertificates

    init() throws { certificates = try TestCertificates.shared.get() }

    /// Returns the failure of a handshake, or nil.
    private func failure(
        _ server: TestTLSServer,
        _ tls: TLSConfiguration,
        host: String = "localhost"
    ) throws -> TLSFailure? {
        let context = try TLSContext.context(for: tls, offering: ["http/1.1"])
        let client = try TestTLSClient(context, server.connect(), host: host)
        guard let error = client.handshake() else {
            #expect(client.answer(to: "hello") == "hello")
            return nil
        }
        #expect(error.code == .tlsFailed)
        return try #require(error.underlyingError as? TLSFailure, "\(error)")
    }

    private var root: TLSConfiguration { TLSConfiguration(trust: .only(certificates.root.source)) }

    @Test func everyFormOfTrustIsEnforced() throws {
        let folder = try TestFolder()
        let file = CertificateSource.file(try folder.put(certificates.root.certificate, at: "root.pem"))
        let right = try TestTLSServer(certificates.right)
        for trust: TLSConfiguration.Trust in [
            .only(certificates.root.source), .only(file), .systemAnd(certificates.root.source), .systemAnd(file),
            .insecurelyAnyCertificate,
        ] {
            #expect(try failure(right, TLSConfiguration(trust: trust)) == nil, "\(trust)")
        }
        let system = try #require(try failure(right, TLSConfiguration()))
        #expect(system.check == .authority)
        #expect(system.certificate?.issuer == "CN=Root")
        let untrusted = try TestTLSServer(certificates.untrusted)
        for trust: TLSConfiguration.Trust in [.only(file), .systemAnd(file)] {
            #expect(try failure(untrusted, TLSConfiguration(trust: trust))?.check == .authority)
        }
    }

    @Test func intermediateCertificatesCompleteTheChain() throws {
        var options = TestTLSServer.Options(certificates.chained)
        options.chain = [certificates.middle]
        let whole = try TestTLSServer(options)
        #expect(try failure(whole, root) == nil)
        let bare = try TestTLSServer(certificates.chained)
        #expect(try failure(bare, root)?.check == .authority)
        #expect(try failure(bare, TLSConfiguration(trust: .only(certificates.middle.source))) == nil)
        let own = try TestTLSServer(certificates.selfSigned)
        #expect(try failure(own, TLSConfiguration(trust: .only(certificates.selfSigned.source))) == nil)
    }

    @Test(
        arguments: [
            (\TestCertificates.expired, TLSFailure.Check.expired, "expired on "),
            (\.early, .notYetValid, "is not valid yet; it is valid from "),
            (\.wrongName, .hostName, "not valid for this host; it is valid for other.example, third.example"),
            (\.selfSigned, .selfSigned, "is self-signed"),
            (\.untrusted, .authority, "is not signed by a trusted authority"),
        ] as [(KeyPath<TestCertificates, TestCertificate> & Sendable, TLSFailure.Check, String)]
    )
    func failureNamesTheCheckAndTheCertificate(
        _ path: KeyPath<TestCertificates, TestCertificate> & Sendable,
        _ check: TLSFailure.Check,
        _ words: String
    ) throws {
        let certificate = certificates[keyPath: path]
        let context = try TLSContext.context(for: root, offering: [])
        let client = try TestTLSClient(context, TestTLSServer(certificate).connect(), port: 8443)
        let error = try #require(client.handshake())
        #expect(error.code == .tlsFailed)
        #expect(error.reason.hasPrefix("The TLS connection to localhost:8443 could not be established: "))
        #expect(error.reason.contains(words), "\(error.reason)")
        let failure = try #require(error.underlyingError as? TLSFailure)
        #expect(failure.check == check)
        #expect(failure.certificate?.subject == "CN=\(certificate.name)")
        #expect(failure.certificate?.depth == 0)
        #expect(try failure.certificate?.publicKey == certificate.pin)
        #expect(check != .hostName || failure.detail.contains("subject name"))
        // The connection succeeds if any certificate is accepted.
        let insecure = TLSConfiguration(trust: .insecurelyAnyCertificate)
        #expect(try self.failure(TestTLSServer(certificate), insecure) == nil)
    }

    /// OpenSSL reports the error of the signature before that of the certificate.
    @Test func damagedSignatureIsAFailureOfItsCertificate() throws {
        let damaged = try TestCertificate(damaging: certificates.right)
        let found = try #require(try failure(TestTLSServer(damaged), root))
        #expect(found.check == .certificate)
        #expect(found.certificate?.subject == "CN=right")
        #expect(found.detail == "certificate signature failure")
    }

    @Test(arguments: [
        ("localhost", true), ("LOCALHOST", true), ("localhost.", true), ("127.0.0.1", true), ("[::1]", true),
        ("::1", true), ("[::1%25lo]", true), ("[::ffff:127.0.0.1]", true), ("127.0.0.2", false), ("[::2]", false),
        ("right", false), ("a.localhost", false), ("local", false),
    ])
    func nameOrAddressIsVerified(_ host: String, _ isAccepted: Bool) throws {
        let server = try TestTLSServer(certificates.right)
        #expect(try failure(server, root, host: host)?.check == (isAccepted ? nil : .hostName))
    }

    @Test(arguments: [
        ("a.wild.example", true), ("wild.example", false), ("a.b.wild.example", false), ("xn--a.wild.example", true),
        ("parts.example", false), ("part.example", false),
    ])
    func wildcardMatchesOneWholeLabel(_ host: String, _ isAccepted: Bool) throws {
        let server = try TestTLSServer(certificates.wild)
        #expect(try failure(server, root, host: host)?.check == (isAccepted ? nil : .hostName))
    }

    @Test func ipv4MappedAddressMatches() throws {
        let server = try TestTLSServer(certificates.mapped)
        #expect(try failure(server, root, host: "127.0.0.1") == nil)
        #expect(try failure(server, root, host: "[::ffff:127.0.0.1]") == nil)
        #expect(try failure(server, root, host: "127.0.0.2")?.check == .hostName)
    }

    @Test(arguments: ["", ".", ".localhost", "*.example", "a b", "a\u{0}b", "bücher.example", "[::1", "1::2::3"])
    func hostThatCannotBeVerifiedIsRejected(_ host: String) throws {
        let context = try TLSContext.context(for: root, offering: [])
        let socket = try TestTLSSocket { _ in }
        #expect(throws: TLSFailure.self) { try TestTLSClient(context, socket, host: host) }
    }

    @Test func unreadableAuthoritiesAreReported() throws {
        let folder = try TestFolder()
        let empty = try folder.put(Data(), at: "empty.pem")
        let cut = certificates.root.certificate.dropLast(60)
        for source: CertificateSource in [
            .file("/no/such/file.pem"), .file(empty), .file(folder.path), .pem("nonsense"), .bytes(Data()),
            .bytes(certificates.root.key), .bytes(cut), .bytes(certificates.root.certificate + cut),
        ] {
            for trust: TLSConfiguration.Trust in [.only(source), .systemAnd(source)] {
                for _ in 0..<2 {
                    let failure = #expect(throws: TLSFailure.self) {
                        try TLSContext.context(for: TLSConfiguration(trust: trust), offering: [])
                    }
                    #expect(failure?.check == .authoritiesUnreadable, "\(trust)")
                    #expect(failure?.detail.isEmpty == false)
                }
                #expect(TLSContextCache.shared.cached(TLSPolicy(TLSConfiguration(trust: trust), [])) == nil)
            }
        }
    }

    @Test func newConnectionsUseTheRenewedFile() throws {
        let folder = try TestFolder()
        let path = try folder.put(certificates.otherRoot.certificate, at: "root.pem")
        let tls = TLSConfiguration(trust: .only(.file(path)))
        let server = try TestTLSServer(certificates.right)
        #expect(try failure(server, tls)?.check == .authority)
        let before = try #require(TLSContextCache.shared.cached(TLSPolicy(tls, ["http/1.1"])))
        try folder.put(certificates.root.certificate, at: "root.pem")
        #expect(TLSContextCache.shared.cached(TLSPolicy(tls, ["http/1.1"])) == nil)
        #expect(try failure(server, tls) == nil)
        let after = try #require(TLSContextCache.shared.cached(TLSPolicy(tls, ["http/1.1"])))
        #expect(before !== after)
        #expect(before.isReplaced)
        #expect(!after.isReplaced)
        // A file that cannot be read changes nothing.
        try FileManager.default.removeItem(atPath: path)
        #expect(try failure(server, tls) == nil)
        #expect(TLSContextCache.shared.cached(TLSPolicy(tls, ["http/1.1"])) === after)
        let failure = try #require(throws: TLSFailure.self) { try TLSContext.reload(tls, offering: ["http/1.1"]) }
        #expect(failure.check == .authoritiesUnreadable)
    }

    @Test func equalPoliciesShareAContext() throws {
        let first = try TLSContext.context(for: root, offering: ["h2", "http/1.1"])
        #expect(try TLSContext.context(for: root, offering: ["h2", "http/1.1"]) === first)
        var pinned = root
        pinned.pins = PublicKeyPins(try certificates.root.pin, backups: try certificates.middle.pin)
        #expect(TLSContextCache.shared.cached(TLSPolicy(pinned, ["h2", "http/1.1"])) === first)
        var newer = root
        newer.minimumVersion = .tls13
        var shown = root
        shown.clientCertificate = .pem(
            certificate: certificates.client.source,
            key: .bytes(certificates.client.key)
        )
        for other in [newer, shown, TLSConfiguration(trust: .insecurelyAnyCertificate)] {
            #expect(try TLSContext.context(for: other, offering: ["h2", "http/1.1"]) !== first)
        }
        #expect(try TLSContext.context(for: root, offering: ["http/1.1"]) !== first)
    }

    @Test func numberOfCachedContextsIsLimited() throws {
        let cache = TLSContextCache(limit: 3)
        let policy = { (name: String) in TLSPolicy(TLSConfiguration(trust: .insecurelyAnyCertificate), [name]) }
        let first = try cache.context(for: policy("0"))
        for number in 1...2 { _ = try cache.context(for: policy("\(number)")) }
        #expect(cache.cached(policy("0")) === first)
        _ = try cache.context(for: policy("3"))
        #expect(cache.cached(policy("0")) === first)
        #expect(cache.cached(policy("1")) == nil)
        #expect(cache.cached(policy("3")) != nil)
    }

    @Test func commonVersionIsNegotiated() throws {
        var newer = root
        newer.minimumVersion = .tls13
        for (versions, isRoot, isNewer) in [
            (TLS1_1...TLS1_1, false, false), (TLS1_2...TLS1_2, true, false), (TLS1_2...TLS1_3, true, true),
            (TLS1_3...TLS1_3, true, true),
        ] {
            var options = TestTLSServer.Options(certificates.right)
            options.versions = versions
            let server = try TestTLSServer(options)
            #expect(try failure(server, root)?.check == (isRoot ? nil : .version), "\(versions)")
            #expect(try failure(server, newer)?.check == (isNewer ? nil : .version), "\(versions)")
        }
    }

    @Test func applicationProtocolIsNegotiated() throws {
        let server = try TestTLSServer(certificates.right)
        for (offer, selected) in [
            (["h2", "http/1.1"], "http/1.1"), (["h2"], "h2"), (["http/1.1"], "http/1.1"), ([], nil), (["x"], nil),
        ] {
            let context = try TLSContext.context(for: root, offering: offer)
            let client = try TestTLSClient(context, server.connect())
            #expect(client.handshake() == nil)
            #expect(client.stream.negotiatedProtocol == selected)
        }
    }
}

private let (TLS1_1, TLS1_2, TLS1_3): (Int32, Int32, Int32) = (0x302, 0x303, 0x304)
#endif
