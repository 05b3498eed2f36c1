#if os(Linux)
import CSSL
import Foundation
import SluiceHTTP
import Testing

@testable import SluiceEngine

/// The server name indication, and the certificate names that are accepted.
@Suite struct TLSNameTests {
    private let certificates: TestCertificates

    init() throws { certificates = try TestCertificates.shared.get() }

    /// Creates a context that shares no sessions with other tests.
    private func context() throws -> TLSContext {
        let tls = TLSConfiguration(trust: .only(certificates.root.source))
        return try TLSContext.context(for: tls, offering: [UUID().uuidString])
    }

    @Test(
        arguments: [
            ("localhost", "localhost"), ("LocalHost", "localhost"), ("localhost.", "localhost"), ("127.0.0.1", nil),
            ("127.0.0.1.", nil), ("[::1]", nil), ("::1", nil), ("[::1%25lo]", nil), ("[::ffff:127.0.0.1]", nil),
        ] as [(String, String?)]
    )
    func namesAreSentAsSNIAndAddressesAreNot(_ host: String, _ announced: String?) throws {
        for version in [TLS1_2_VERSION, TLS1_3_VERSION] {
            var options = TestTLSServer.Options(certificates.right)
            options.versions = version...version
            let names = Locked<[String?]>([])
            let socket = try TestTLSServer(options).connect { connection in
                let name = SSL_get_servername(connection.ssl, TLSEXT_NAMETYPE_host_name).map { String(cString: $0) }
                names.withLock { $0.append(name) }
                connection.echo()
            }
            let client = try TestTLSClient(context(), socket, host: host)
            #expect(client.handshake() == nil)
            #expect(client.answer(to: "hello") == "hello")
            #expect(names.withLock { $0 } == [announced])
        }
    }

    @Test(arguments: [("localhost", "DNS"), ("127.0.0.1", "IP")])
    func namesOfOtherKindsAreIgnored(_ host: String, _ kind: String) throws {
        let others = "URI:https://\(host)/,URI:\(host),email:user@\(host),DNS:other.example"
        for (names, isAccepted) in [(others, false), ("\(others),\(kind):\(host)", true)] {
            let certificate = try TestCertificate(host, names: names, issuer: certificates.root)
            let client = try TestTLSClient(context(), TestTLSServer(certificate).connect(), host: host)
            let failure = client.handshake()?.underlyingError as? TLSFailure
            #expect(failure?.check == (isAccepted ? nil : .hostName), "\(names)")
            if isAccepted { #expect(client.answer(to: "hello") == "hello") }
        }
    }
}
#endif
