#if os(Linux)
import CCurl
import SluiceEngine
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
#endif
