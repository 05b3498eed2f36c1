#if os(Linux)
import CCurl
import SluiceEngine
import SluiceHTTP
import Testing

@testable import SluiceCurl

/// What libcurl's codes and words, and OpenSSL's numbers, come to.
@Suite struct TLSFailureTests {
    private static let own = CertificateSummary(subject: "CN=own", issuer: "CN=authority", names: ["a.test"])

    @Test(
        arguments: [
            (CURLE_SSL_CONNECT_ERROR, "", .handshake), (CURLE_SSL_CERTPROBLEM, "", .clientCertificateReadable),
            (CURLE_SSL_CIPHER, "", .handshake), (CURLE_PEER_FAILED_VERIFICATION, "", .hostName),
            (CURLE_PEER_FAILED_VERIFICATION, "no alternative certificate subject name matches", .hostName),
            (CURLE_USE_SSL_FAILED, "", .handshake), (CURLE_SSL_CACERT_BADFILE, "", .authoritiesReadable),
            (CURLE_SSL_CRL_BADFILE, "", .authoritiesReadable), (CURLE_SSL_ISSUER_ERROR, "", .handshake),
            (CURLE_SSL_PINNEDPUBKEYNOTMATCH, "", .pin), (CURLE_SSL_INVALIDCERTSTATUS, "", .handshake),
            (CURLE_SSL_CLIENTCERT, "", .clientCertificateRequired),
            (CURLE_RECV_ERROR, "tlsv13 alert certificate required", .clientCertificateRequired),
            (CURLE_SSL_CONNECT_ERROR, "tlsv1 alert protocol version", .version),
            (CURLE_SSL_CONNECT_ERROR, "routines::unsupported protocol", .version),
            (CURLE_RECV_ERROR, "Connection reset by peer", nil), (CURLE_COULDNT_CONNECT, "", nil), (CURLE_OK, "", nil),
        ] as [(CURLcode, String, TLSFailure.Check?)]
    )
    func everyCodeHasItsCheck(_ code: CURLcode, _ message: String, _ check: TLSFailure.Check?) {
        #expect(TLSFailure(code, message, certificate: Self.own)?.check == check)
    }

    @Test(
        arguments: [
            (9, .notYetValid), (10, .expired), (18, .selfSigned), (19, .authority), (2, .authority), (20, .authority),
            (21, .authority), (27, .authority), (23, .revoked), (62, .hostName), (64, .hostName), (7, .certificate),
            (66, .certificate), (9999, .certificate),
        ] as [(Int32, TLSFailure.Check)]
    )
    func everyFindingOfOpenSSLsHasItsCheck(_ finding: Int32, _ check: TLSFailure.Check) {
        let failure = TLSFailure(CURLE_PEER_FAILED_VERIFICATION, "words", finding: (finding, Self.own))
        #expect(failure?.check == check)
        #expect(failure?.certificate == Self.own)
    }

    @Test(
        arguments: [("no alternative certificate subject name matches", .hostName), ("", .certificate)]
            as [(String, TLSFailure.Check)]
    )
    func whereOpenSSLIsNotSeenTheWordsCount(_ message: String, _ check: TLSFailure.Check) {
        #expect(TLSFailure(CURLE_PEER_FAILED_VERIFICATION, message)?.check == check)
    }

    @Test func whoShowsACertificateIsToldThatItIsNotAccepted() {
        let message = "tlsv1 alert unknown ca"
        #expect(TLSFailure(CURLE_RECV_ERROR, message, showsCertificate: true)?.check == .clientCertificateAccepted)
        #expect(TLSFailure(CURLE_RECV_ERROR, message) == nil)
    }

    @Test(arguments: TLSFailure.Check.allCases)
    func everyCheckHasItsWords(_ check: TLSFailure.Check) {
        let failure = TLSFailure(check, on: Self.own, detail: "words")
        let error = SluiceError(failure, host: "a.test:81")
        #expect(error.code == .tlsFailed)
        #expect(error.reason.hasPrefix("No TLS connection to a.test:81: "))
        #expect(error.reason.hasSuffix(".") && !error.reason.hasSuffix(".."))
        #expect(failure.description.contains("words"))
    }
}
#endif
