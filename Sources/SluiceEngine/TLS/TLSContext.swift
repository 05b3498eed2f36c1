#if os(Linux)
import CSSL
import SluiceHTTP

/// One TLS policy (trust, client certificate, minimum version, protocols to offer) ready for use; equal policies share one.
///
/// Pins belong to connections and not to the context. A context keeps what it read of files: it is found again only as long as the
/// files are the same.
package final class TLSContext: Sendable {
    /// The SSL_CTX, which this object owns, as a bit pattern since pointers are not Sendable. OpenSSL counts its references by atomic
    /// operations and changes nothing else in it once it has been set up here, so that threads can make connections at once.
    private let address: UInt
    /// A number that no other context of the process has.
    let serial: UInt64
    /// False if any certificate is accepted.
    let verifies: Bool
    /// True if there is a client certificate to show.
    let showsCertificate: Bool
    let protocols: [String]
    /// The files that the context was made of.
    let files: [FileIdentity]

    private static let lastSerial = Locked<UInt64>(0)

    /// Returns the context of a policy, making it first where there is none.
    ///
    /// Reads files and parses certificates, so it must not be called on a loop or on a thread of the cooperative pool.
    package static func context(
        for configuration: TLSConfiguration,
        offering protocols: [String]
    ) throws(TLSFailure) -> TLSContext {
        try TLSContextCache.shared.context(for: TLSPolicy(configuration, protocols))
    }

    /// The context if it exists and nothing has to be read: for the loop.
    ///
    /// Looks at the identity of the files that the context was made of, by one stat(2) each.
    package static func cached(for configuration: TLSConfiguration, offering protocols: [String]) -> TLSContext? {
        TLSContextCache.shared.cached(TLSPolicy(configuration, protocols))
    }

    init(_ policy: TLSPolicy) throws(TLSFailure) {
        ERR_clear_error()
        guard let context = SSL_CTX_new(TLS_client_method()) else { throw TLSContext.unprepared() }
        address = UInt(bitPattern: context)
        serial = TLSContext.lastSerial.withLock {
            $0 += 1
            return $0
        }
        verifies = policy.trust != .insecurelyAnyCertificate
        showsCertificate = policy.clientCertificate != nil
        protocols = policy.protocols
        do throws(TLSFailure) {
            try TLSContext.prepare(context, policy)
            let trusted = try TLSContext.setTrust(policy.trust, of: context)
            var shown: [FileIdentity] = []
            if let certificate = policy.clientCertificate {
                let identity = try ClientIdentity(certificate)
                shown = identity.files
                try identity.install(in: context)
            }
            files = trusted + shown
        } catch {
            SSL_CTX_free(context)
            throw error
        }
    }

    deinit {
        TLSSessionCache.shared.removeAll(of: serial)
        SSL_CTX_free(OpaquePointer(bitPattern: address))
    }

    /// Creates a connection of this policy, which the caller owns; nil if there is no memory.
    func makeConnection() -> OpaquePointer? { SSL_new(OpaquePointer(bitPattern: address)) }

    private static func unprepared() -> TLSFailure {
        TLSFailure(.handshake, detail: OpenSSLError.takeWords(or: "OpenSSL cannot be set up"))
    }

    private static func prepare(_ context: OpaquePointer, _ policy: TLSPolicy) throws(TLSFailure) {
        let version = policy.minimumVersion == .tls13 ? TLS1_3_VERSION : TLS1_2_VERSION
        guard sluice_tls_prepare(context, version) == 1 else { throw unprepared() }
        var offer: [UInt8] = []
        for name in policy.protocols where (1...255).contains(name.utf8.count) {
            offer.append(UInt8(name.utf8.count))
            offer += name.utf8
        }
        if !offer.isEmpty, SSL_CTX_set_alpn_protos(context, offer, UInt32(offer.count)) != 0 { throw unprepared() }
        SSL_CTX_sess_set_new_cb(context) { ssl, session in
            TLSStream.of(ssl)?.receivedSession(session)
            // The reference stays OpenSSL's.
            return 0
        }
    }

    /// Sets the authorities of a context and gives the files they were read from.
    private static func setTrust(
        _ trust: TLSConfiguration.Trust,
        of context: OpaquePointer
    ) throws(TLSFailure) -> [FileIdentity] {
        var files: [FileIdentity] = []
        let store: OpaquePointer?
        switch trust.form {
        case .anyCertificate:
            SSL_CTX_set_verify(context, SSL_VERIFY_NONE, nil)
            // Without it OpenSSL would verify and ignore the result.
            SSL_CTX_set_cert_verify_callback(context, { _, _ in 1 }, nil)
            return []
        case .system:
            store = try SystemCertificates.shared().store()
        case .only(let source):
            store = X509_STORE_new()
            if let store { files = try add(source, to: store) }
        case .systemAnd(let source):
            store = try SystemCertificates.shared().makeStore()
            if let store { files = try add(source, to: store) }
        }
        guard let store else { throw unprepared() }
        SSL_CTX_set_cert_store(context, store)
        // An authority that is trusted need not be a root.
        guard X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context), UInt(X509_V_FLAG_PARTIAL_CHAIN)) == 1 else {
            throw unprepared()
        }
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, CertificateVerification.callback)
        return files
    }

    /// Adds certificates to a store, which is freed where that fails.
    private static func add(
        _ source: CertificateSource,
        to store: OpaquePointer
    ) throws(TLSFailure) -> [FileIdentity] {
        do throws(CertificateFile.Unreadable) {
            let file = try CertificateFile(source)
            let certificates = try file.certificates()
            defer { CertificateFile.free(certificates) }
            guard certificates.allSatisfy({ X509_STORE_add_cert(store, $0) == 1 }) else {
                throw CertificateFile.Unreadable(reason: OpenSSLError.takeWords(or: "out of memory"))
            }
            return file.identity.map { [$0] } ?? []
        } catch {
            X509_STORE_free(store)
            throw TLSFailure(.authoritiesReadable, detail: error.reason)
        }
    }
}
#endif
