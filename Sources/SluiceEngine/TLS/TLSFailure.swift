#if os(Linux)
import CSSL
import SluiceHTTP

extension TLSFailure {
    /// Returns the error of a request to a host. `host` includes the port if it is not the default port of the scheme.
    package func error(host: String) -> SluiceError {
        SluiceError(.tlsFailed, "No TLS connection to \(host): \(reason).", underlyingError: self)
    }
}

extension TLSFailure.Check {
    /// Creates the check for a verification error code of OpenSSL.
    package init(finding code: Int32) {
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

    /// Creates the check for an alert of the peer (RFC 8446 §6.2) or a message of OpenSSL. Returns nil for any other message.
    package init?(alert message: String, showsCertificate: Bool) {
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
