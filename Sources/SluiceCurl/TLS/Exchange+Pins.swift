#if os(Linux)
import CCurl
import CSSL
import SluiceEngine
import SluiceHTTP

extension Exchange {
    /// Whether the connection that the request is about to go by has one of the keys it must have, or need not.
    ///
    /// Asked for every request, since others, who pin nothing, may have made the connection.
    func meetsPins(_ transfer: Transfer) -> Bool {
        guard let pins = transfer.plan.tls.pins, transfer.origin.scheme == "https" else { return true }
        guard Handshake.isObservable, let ssl = sluice_easy_openssl(handle.raw).map(OpaquePointer.init) else {
            return fail(.pinsUnseen)
        }
        if Exchange.keys(of: ssl).contains(where: pins.pins.contains) { return true }
        let certificate = SSL_get1_peer_certificate(ssl)
        defer { X509_free(certificate) }
        let summary = certificate.map { CertificateSummary($0, at: 0) }
        let failure = TLSFailure(.pin, on: summary)
        switch pins.mode {
        case .report(let report):
            if !hasReportedPins { report(failure) }
            hasReportedPins = true
            return true
        case .enforce:
            return fail(SluiceError(failure, host: transfer.request.authority))
        }
    }

    /// The keys of the chain that was verified; where none was, since anybody is trusted, the server's own.
    private static func keys(of ssl: OpaquePointer) -> [PublicKeyPin] {
        let count = SSL_get_verify_result(ssl) == Int(X509_V_OK) ? sluice_tls_chain_count(ssl) : 0
        if count > 0 {
            return (0..<count).compactMap { sluice_tls_chain_certificate(ssl, $0).flatMap(PublicKeyPin.init(of:)) }
        }
        guard let certificate = SSL_get1_peer_certificate(ssl) else { return [] }
        defer { X509_free(certificate) }
        return PublicKeyPin(of: certificate).map { [$0] } ?? []
    }
}

extension SluiceError {
    fileprivate static var pinsUnseen: SluiceError {
        SluiceError(
            .unsupported,
            "Public keys cannot be pinned here: libcurl does TLS with another library than the OpenSSL that the SDK knows."
        )
    }

    /// What a failure of TLS means for a request to a host.
    init(_ failure: TLSFailure, host: String) {
        self.init(.tlsFailed, "No TLS connection to \(host): \(failure.reason).", underlyingError: failure)
    }
}
#endif
