#if os(Linux)
import CSSL
import Glibc
import SluiceHTTP

/// The results of verifying one connection's certificates.
struct CertificateVerification {
    /// The longest that a verification stands for sessions which are resumed again and again.
    private static let maximumAge: Int64 = 86_400

    /// The first check that failed: OpenSSL's number for it, and the certificate.
    private(set) var finding: (code: Int32, certificate: CertificateSummary)?

    /// Is told by OpenSSL of each certificate in a chain, and of each check that fails.
    ///
    /// The stream is reached by the SSL and not by the context, which many connections share.
    static let callback: @convention(c) (Int32, OpaquePointer?) -> Int32 = { isAccepted, verification in
        guard isAccepted != 1, let verification else { return isAccepted }
        guard let stream = TLSStream.of(sluice_tls_connection(verification)) else { return 0 }
        let code = X509_STORE_CTX_get_error(verification)
        let certificate = X509_STORE_CTX_get_current_cert(verification)
        if code == X509_V_ERR_IP_ADDRESS_MISMATCH, let certificate,
            stream.identity?.isNamedByMappedAddress(in: certificate) == true
        {
            X509_STORE_CTX_set_error(verification, X509_V_OK)
            return 1
        }
        if let certificate {
            let position = Int(X509_STORE_CTX_get_error_depth(verification))
            stream.verification.record(code, CertificateSummary(certificate, at: position))
        }
        return 0
    }

    private mutating func record(_ code: Int32, _ certificate: CertificateSummary) {
        if finding == nil { finding = (code, certificate) }
    }

    /// The failure that the first failed check is; nil where all were met.
    func failure(for identity: ServerIdentity?) -> TLSFailure? {
        guard let finding else { return nil }
        let check = TLSFailure.Check(finding: finding.code)
        let words = X509_verify_cert_error_string(Int(finding.code)).map { String(cString: $0) } ?? ""
        let detail =
            check == .hostName
            ? "no alternative certificate subject name matches “\(identity.map(\.description) ?? "")”" : words
        return TLSFailure(check, on: finding.certificate, detail: detail)
    }

    /// The server's own certificate, also that of a session that was resumed.
    static func ownCertificate(of connection: OpaquePointer) -> CertificateSummary? {
        guard let certificate = SSL_get1_peer_certificate(connection) else { return nil }
        defer { X509_free(certificate) }
        return CertificateSummary(certificate, at: 0)
    }

    /// True if a key in the chain that was verified is pinned; where none was, since any certificate is accepted, the server's own key.
    static func meets(_ pins: PublicKeyPins, _ connection: OpaquePointer, hasVerified: Bool) -> Bool {
        if hasVerified {
            return (0..<sluice_tls_chain_count(connection)).contains { position in
                guard let certificate = sluice_tls_chain_certificate(connection, position),
                    let pin = PublicKeyPin(of: certificate)
                else { return false }
                return pins.pins.contains(pin)
            }
        }
        guard let certificate = SSL_get1_peer_certificate(connection) else { return false }
        defer { X509_free(certificate) }
        return PublicKeyPin(of: certificate).map(pins.pins.contains) ?? false
    }

    /// Seconds since 1970 until which a chain that has been verified now is good for sessions that are resumed: until a certificate in
    /// it expires, and a day at most.
    static func end(for connection: OpaquePointer, hasVerified: Bool) -> Int64 {
        let limit = Int64(time(nil)) + maximumAge
        guard hasVerified else { return limit }
        return (0..<sluice_tls_chain_count(connection)).reduce(limit) { limit, position in
            var seconds: Int64 = 0
            guard let certificate = sluice_tls_chain_certificate(connection, position),
                sluice_tls_seconds(X509_get0_notAfter(certificate), &seconds) == 1
            else { return 0 }
            return min(limit, seconds)
        }
    }
}
#endif
