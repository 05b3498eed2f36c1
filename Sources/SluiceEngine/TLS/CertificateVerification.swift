#if os(Linux)
import CSSL
import Glibc
import SluiceHTTP

/// The result of verifying the certificates of one connection.
struct CertificateVerification {
    /// The maximum time for which a verification is valid for resumed sessions.
    private static let maximumAge: Int64 = 86_400

    /// The first failed check: its OpenSSL error code and the certificate.
    private(set) var finding: (code: Int32, certificate: CertificateSummary)?

    /// Called by OpenSSL for each certificate in a chain, and for each failed check.
    ///
    /// The stream is found through the SSL object, because connections share the context.
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
            let depth = Int(X509_STORE_CTX_get_error_depth(verification))
            stream.verification.record(code, CertificateSummary(certificate, depth: depth))
        }
        return 0
    }

    private mutating func record(_ code: Int32, _ certificate: CertificateSummary) {
        if finding == nil { finding = (code, certificate) }
    }

    /// Returns the failure for the first failed check, or nil if there is none.
    func failure(for identity: ServerIdentity?) -> TLSFailure? {
        guard let finding else { return nil }
        let check = TLSFailure.Check(finding: finding.code)
        let message = X509_verify_cert_error_string(Int(finding.code)).map { String(cString: $0) } ?? ""
        let detail =
            check == .hostName
            ? "no alternative certificate subject name matches “\(identity.map(\.description) ?? "")”" : message
        return TLSFailure(check, on: finding.certificate, detail: detail)
    }

    /// Returns the server's certificate, also for a resumed session.
    static func ownCertificate(of connection: OpaquePointer) -> CertificateSummary? {
        guard let certificate = SSL_get1_peer_certificate(connection) else { return nil }
        defer { X509_free(certificate) }
        return CertificateSummary(certificate, depth: 0)
    }

    /// Returns true if a key in the verified chain is pinned. If any certificate is accepted, only the server's own key is checked.
    static func satisfies(_ pins: PublicKeyPins, _ connection: OpaquePointer, hasVerified: Bool) -> Bool {
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

    /// Returns the time, in seconds since 1970, until which a chain verified now is valid for resumed sessions: the earliest expiration of
    /// its certificates, and at most one day.
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
