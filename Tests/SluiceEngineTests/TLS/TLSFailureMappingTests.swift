#if os(Linux)
import CSSL
import Foundation
import SluiceHTTP
import Testing

@testable import SluiceEngine

@Suite struct TLSFailureMappingTests {
    @Test(arguments: [
        (X509_V_ERR_CERT_HAS_EXPIRED, TLSFailure.Check.expired), (X509_V_ERR_CERT_NOT_YET_VALID, .notYetValid),
        (X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, .selfSigned), (X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, .authority),
        (X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, .authority), (X509_V_ERR_CERT_REVOKED, .revoked),
        (X509_V_ERR_HOSTNAME_MISMATCH, .hostName), (X509_V_ERR_IP_ADDRESS_MISMATCH, .hostName),
        (X509_V_ERR_CERT_SIGNATURE_FAILURE, .certificate), (X509_V_ERR_EE_KEY_TOO_SMALL, .certificate),
    ])
    func verificationErrorsAreMappedToChecks(_ code: Int32, _ check: TLSFailure.Check) {
        #expect(TLSFailure.Check(finding: code) == check)
    }

    @Test(
        arguments: [
            (SSL_AD_CERTIFICATE_REQUIRED, TLSFailure.Check.clientCertificateRequired, .clientCertificateRequired),
            (SSL_AD_PROTOCOL_VERSION, .version, .version), (SSL_AD_UNKNOWN_CA, nil, .clientCertificateRejected),
            (SSL_AD_BAD_CERTIFICATE, nil, .clientCertificateRejected),
            (SSL_AD_CERTIFICATE_EXPIRED, nil, .clientCertificateRejected),
            (SSL_AD_CERTIFICATE_REVOKED, nil, .clientCertificateRejected),
            (SSL_AD_UNSUPPORTED_CERTIFICATE, nil, .clientCertificateRejected),
            (SSL_AD_CERTIFICATE_UNKNOWN, nil, .clientCertificateRejected),
            (SSL_AD_ACCESS_DENIED, nil, .clientCertificateRejected),
            (SSL_AD_DECRYPT_ERROR, nil, .clientCertificateRejected),
            (SSL_AD_HANDSHAKE_FAILURE, nil, nil), (SSL_AD_INTERNAL_ERROR, nil, nil),
            (SSL_AD_UNRECOGNIZED_NAME, nil, nil),
        ] as [(Int32, TLSFailure.Check?, TLSFailure.Check?)]
    )
    func alertsAreMappedToChecks(_ alert: Int32, _ check: TLSFailure.Check?, _ withCertificate: TLSFailure.Check?)
        throws
    {
        ERR_clear_error()
        OPENSSL_init_ssl(UInt64(OPENSSL_INIT_LOAD_SSL_STRINGS | OPENSSL_INIT_LOAD_CRYPTO_STRINGS), nil)
        OpenSSLError.leave(SSL_AD_REASON_OFFSET + alert)
        let words = try #require(OpenSSLError.take()).message
        #expect(TLSFailure.Check(alert: words, hasClientCertificate: false) == check, "\(words)")
        #expect(TLSFailure.Check(alert: words, hasClientCertificate: true) == withCertificate, "\(words)")
        #expect(OpenSSLError.take() == nil)
    }

    @Test func requestErrorNamesTheHostAndReason() {
        let failure = TLSFailure(.clientCertificateRequired, detail: "words")
        let error = failure.error(host: "a.example:1")
        #expect(error.code == .tlsFailed)
        #expect(
            error.reason
                == "The TLS connection to a.example:1 could not be established: the server requires a client certificate."
        )
        #expect(error.underlyingError as? TLSFailure == failure)
    }
}
#endif
