#if os(Linux)
import CCurl
import CSSL
import SluiceHTTP

extension TLSFailure {
    /// What libcurl's code and words, and what OpenSSL found, come to; nil where it was not about TLS.
    ///
    /// - Parameters:
    ///   - code: libcurl's code.
    ///   - message: libcurl's words.
    ///   - finding: The first check of OpenSSL's that failed, and the certificate.
    ///   - certificate: The server's own certificate.
    ///   - showsCertificate: Whether the client has one to show.
    init?(
        _ code: CURLcode,
        _ message: String,
        finding: (code: Int32, certificate: CertificateSummary)? = nil,
        certificate: CertificateSummary? = nil,
        showsCertificate: Bool = false
    ) {
        switch code {
        case CURLE_PEER_FAILED_VERIFICATION:
            if let finding {
                self.init(Check(finding: finding.code), on: finding.certificate, detail: message)
            } else {
                // Of what OpenSSL has accepted libcurl looks at the names alone.
                let isOfName = certificate != nil || message.contains("subject name")
                self.init(isOfName ? .hostName : .certificate, on: certificate, detail: message)
            }
        case CURLE_SSL_CERTPROBLEM: self.init(.clientCertificateReadable, detail: message)
        case CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CRL_BADFILE: self.init(.authoritiesReadable, detail: message)
        case CURLE_SSL_CLIENTCERT: self.init(.clientCertificateRequired, detail: message)
        case CURLE_SSL_PINNEDPUBKEYNOTMATCH: self.init(.pin, on: certificate, detail: message)
        case CURLE_SSL_CONNECT_ERROR, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR,
            CURLE_SSL_INVALIDCERTSTATUS, CURLE_USE_SSL_FAILED:
            if let check = Check(alert: message, showsCertificate: showsCertificate) {
                self.init(check, detail: message)
            } else if code != CURLE_RECV_ERROR, code != CURLE_SEND_ERROR {
                self.init(.handshake, on: certificate, detail: message)
            } else {
                return nil
            }
        default: return nil
        }
    }
}

extension TLSFailure.Check {
    /// What one of OpenSSL's numbers says.
    init(finding code: Int32) {
        switch code {
        case X509_V_ERR_CERT_HAS_EXPIRED: self = .expired
        case X509_V_ERR_CERT_NOT_YET_VALID: self = .notYetValid
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT: self = .selfSigned
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT,
            X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE,
            X509_V_ERR_CERT_UNTRUSTED:
            self = .authority
        case X509_V_ERR_CERT_REVOKED: self = .revoked
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH: self = .hostName
        default: self = .certificate
        }
    }

    /// What the other side's alert says (RFC 8446 §6.2), or OpenSSL's words for what it was given; nil for anything else.
    init?(alert message: String, showsCertificate: Bool) {
        let says = { (words: String) in message.contains(words) }
        if says("alert certificate required") {
            self = .clientCertificateRequired
        } else if says("alert protocol version") || says("unsupported protocol") || says("no protocols available") {
            self = .version
        } else if showsCertificate,
            [
                "unknown ca", "bad certificate", "certificate expired", "certificate revoked",
                "unsupported certificate",
                "certificate unknown", "access denied", "decrypt error",
            ]
            .contains(where: { says("alert \($0)") })
        {
            self = .clientCertificateAccepted
        } else {
            return nil
        }
    }
}
#endif
