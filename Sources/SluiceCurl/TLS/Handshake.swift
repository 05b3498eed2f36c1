#if os(Linux)
import CCurl
import CSSL
import SluiceEngine
import SluiceHTTP

/// What OpenSSL found as it verified the certificates of one connection.
///
/// libcurl tells only that something was wrong; which certificate it was with, OpenSSL knows alone. Belongs to the connection's TLS
/// context, and to the exchange for which the connection is made. Lives on the engine's thread only.
final class Handshake {
    /// The first check that failed: OpenSSL's number for it, and the certificate.
    private(set) var failure: (code: Int32, certificate: CertificateSummary)?
    /// The server's own certificate.
    private(set) var certificate: CertificateSummary?
    /// Whether it was the server's, and the request that made the connection has found it done.
    var hasMadeConnection = false
    /// OpenSSL's words for what ended the connection, which are lost to libcurl if it could not send at that moment either.
    private(set) var end: String?

    /// Whether libcurl does TLS with the OpenSSL that this is linked with.
    static let isObservable: Bool = {
        guard let library = sluice_tls_library(), let own = OpenSSL_version(OPENSSL_VERSION) else { return false }
        // “OpenSSL/3.0.19”, and “OpenSSL 3.0.19 27 Jan 2026”.
        return String(cString: own).split(separator: " ").prefix(2).joined(separator: "/") == String(cString: library)
    }()

    private static let index = sluice_tls_new_index { _, object, _, _, _, _ in
        if let object { Unmanaged<Handshake>.fromOpaque(object).release() }
    }

    /// Watches the handshakes of a context that is being set up.
    init?(of context: UnsafeMutableRawPointer?) {
        guard let context = context.map(OpaquePointer.init), Handshake.index >= 0 else { return nil }
        guard SSL_CTX_set_ex_data(context, Handshake.index, Unmanaged.passUnretained(self).toOpaque()) == 1 else {
            return nil
        }
        // Given back when the context is freed.
        _ = Unmanaged.passRetained(self)
        // Certificates are verified once, while the exchange is there to be told.
        sluice_tls_forbid_renegotiation(context)
        SSL_CTX_set_info_callback(context) { ssl, place, value in
            guard let words = sluice_tls_end(place, value) else { return }
            Handshake.of(SSL_get_SSL_CTX(ssl))?.end = String(cString: words)
        }
        SSL_CTX_set_verify(context, SSL_CTX_get_verify_mode(context)) { isAccepted, verification in
            guard let verification else { return isAccepted }
            Handshake.of(sluice_tls_context(verification))?.verified(isAccepted == 1, verification)
            return isAccepted
        }
    }

    static func of(_ context: OpaquePointer?) -> Handshake? {
        guard let context, let object = SSL_CTX_get_ex_data(context, Handshake.index) else { return nil }
        return Unmanaged<Handshake>.fromOpaque(object).takeUnretainedValue()
    }

    private func verified(_ isAccepted: Bool, _ verification: OpaquePointer) {
        let position = Int(X509_STORE_CTX_get_error_depth(verification))
        guard let certificate = X509_STORE_CTX_get_current_cert(verification) else { return }
        if !isAccepted, failure == nil {
            failure = (X509_STORE_CTX_get_error(verification), CertificateSummary(certificate, at: position))
        }
        if position == 0, self.certificate == nil { self.certificate = CertificateSummary(certificate, at: 0) }
    }
}

extension Exchange {
    /// Has libcurl tell of each TLS connection that it begins to make.
    func observeHandshakes() {
        guard Handshake.isObservable else { return }
        handle.set(CURLOPT_SSL_CTX_DATA, pointer: Unmanaged.passUnretained(self).toOpaque())
        handle.note(
            sluice_easy_set_tls_callback(handle.raw) { _, tls, context in
                Exchange.from(context)?.handshake = Handshake(of: tls)
                return CURLE_OK
            }
        )
    }
}
#endif
