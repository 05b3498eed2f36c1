#if os(Linux)
import CSSL
import SluiceHTTP
import Synchronization

/// The OpenSSL context of one TLS policy: trust, client certificate, minimum version and offered protocols. Equal policies share a context.
///
/// Pins belong to connections and not to the context. A context keeps the contents of the files it was created from. When these files
/// change, another context replaces it.
package final class TLSContext: Sendable {
    /// The owned SSL_CTX as a bit pattern, because pointers are not Sendable. After setup, OpenSSL only changes its atomic reference
    /// count, so several threads can create connections at the same time.
    private let address: UInt
    /// A number that is unique in the process.
    let serial: UInt64
    /// False if the policy accepts any certificate.
    let verifies: Bool
    /// True if there is a client certificate.
    let hasClientCertificate: Bool
    let protocols: [String]
    /// The files that the context was created from.
    let files: [FileIdentity]
    private let replaced = Atomic(false)

    private static let lastSerial = Locked<UInt64>(0)

    /// Returns the context of a policy, and creates it if there is none.
    ///
    /// Reads files and parses certificates, so it must not be called on a loop or on a thread of the cooperative pool.
    package static func context(
        for configuration: TLSConfiguration,
        offering protocols: [String]
    ) throws(TLSFailure) -> TLSContext {
        try TLSContextCache.shared.context(for: TLSPolicy(configuration, protocols), onReload: configuration.onReload)
    }

    /// Reads the files of a policy again if they have changed, and creates its context if there is none.
    ///
    /// It blocks as ``context(for:offering:)`` does.
    ///
    /// - Throws: The failure if the files cannot be used. An earlier context stays in use.
    static func reload(_ configuration: TLSConfiguration, offering protocols: [String]) throws(TLSFailure) {
        try TLSContextCache.shared.reload(TLSPolicy(configuration, protocols), onReload: configuration.onReload)
    }

    /// Returns true if there is a cached context of a policy.
    static func isUsed(for configuration: TLSConfiguration, offering protocols: [String]) -> Bool {
        TLSContextCache.shared.latest(TLSPolicy(configuration, protocols)) != nil
    }

    /// Returns the cached context of a policy without files. It can be called on a loop.
    static func withoutFiles(for configuration: TLSConfiguration, offering protocols: [String]) -> TLSContext? {
        TLSContextCache.shared.latest(TLSPolicy(configuration, protocols)).flatMap { $0.files.isEmpty ? $0 : nil }
    }

    init(_ policy: TLSPolicy) throws(TLSFailure) {
        openSSL.ERR_clear_error()
        guard let context = openSSL.SSL_CTX_new(openSSL.TLS_client_method()) else { throw TLSFailure.initialization() }
        address = UInt(bitPattern: context)
        serial = TLSContext.lastSerial.withLock {
            $0 += 1
            return $0
        }
        verifies = policy.trust != .insecurelyAnyCertificate
        hasClientCertificate = policy.clientCertificate != nil
        protocols = policy.protocols
        do throws(TLSFailure) {
            try TLSContext.prepare(context, policy)
            var files = try TLSContext.setTrust(policy.trust, of: context)
            if let certificate = policy.clientCertificate {
                let identity = try ClientIdentity(certificate)
                files += identity.files
                try identity.install(in: context)
                // RFC 8446 §4.6.2. A server must not ask for it over HTTP/2 (RFC 8740 §2).
                openSSL.SSL_CTX_set_post_handshake_auth(context, 1)
            }
            self.files = files
        } catch {
            openSSL.SSL_CTX_free(context)
            throw error
        }
    }

    deinit {
        TLSSessionCache.shared.removeAll(of: serial)
        openSSL.SSL_CTX_free(OpaquePointer(bitPattern: address))
    }

    /// True once a context with newer files is in use.
    var isReplaced: Bool { replaced.load(ordering: .relaxed) }

    func markReplaced() { replaced.store(true, ordering: .relaxed) }

    /// Creates an SSL object of this policy, which the caller owns. Returns nil if memory is short.
    func makeConnection() -> OpaquePointer? { openSSL.SSL_new(OpaquePointer(bitPattern: address)) }

    private static func prepare(_ context: OpaquePointer, _ policy: TLSPolicy) throws(TLSFailure) {
        let version = policy.minimumVersion == .tls13 ? TLS1_3_VERSION : TLS1_2_VERSION
        guard sluice_tls_prepare(context, version) == 1 else { throw TLSFailure.initialization() }
        var offer: [UInt8] = []
        for name in policy.protocols where (1...255).contains(name.utf8.count) {
            offer.append(UInt8(name.utf8.count))
            offer += name.utf8
        }
        if !offer.isEmpty, openSSL.SSL_CTX_set_alpn_protos(context, offer, UInt32(offer.count)) != 0 {
            throw TLSFailure.initialization()
        }
        openSSL.SSL_CTX_sess_set_new_cb(context) { ssl, session in
            TLSStream.of(ssl)?.receivedSession(session)
            // Returning 0 leaves the reference with OpenSSL.
            return 0
        }
    }

    /// Sets the trusted authorities of a context and returns the files they were read from.
    private static func setTrust(
        _ trust: TLSConfiguration.Trust,
        of context: OpaquePointer
    ) throws(TLSFailure) -> [FileIdentity] {
        var files: [FileIdentity] = []
        let store: OpaquePointer?
        switch trust.form {
        case .anyCertificate:
            openSSL.SSL_CTX_set_verify(context, SSL_VERIFY_NONE, nil)
            // Otherwise OpenSSL would verify the certificate and ignore the result.
            openSSL.SSL_CTX_set_cert_verify_callback(context, { _, _ in 1 }, nil)
            return []
        case .system:
            store = try SystemCertificates.shared().store()
        case .only(let source):
            store = openSSL.X509_STORE_new()
            if let store { files = try add(source, to: store) }
        case .systemAnd(let source):
            store = try SystemCertificates.shared().makeStore()
            if let store { files = try add(source, to: store) }
        }
        guard let store else { throw TLSFailure.initialization() }
        openSSL.SSL_CTX_set_cert_store(context, store)
        // A trusted authority does not have to be a root.
        guard
            openSSL.X509_VERIFY_PARAM_set_flags(openSSL.SSL_CTX_get0_param(context), UInt(X509_V_FLAG_PARTIAL_CHAIN))
                == 1
        else {
            throw TLSFailure.initialization()
        }
        openSSL.SSL_CTX_set_verify(context, SSL_VERIFY_PEER, CertificateVerification.callback)
        return files
    }

    /// Adds certificates to a store. Frees the store on failure.
    private static func add(
        _ source: CertificateSource,
        to store: OpaquePointer
    ) throws(TLSFailure) -> [FileIdentity] {
        do throws(CertificateFile.Unreadable) {
            let file = try CertificateFile(source)
            let certificates = try file.certificates()
            defer { CertificateFile.free(certificates) }
            guard certificates.allSatisfy({ openSSL.X509_STORE_add_cert(store, $0) == 1 }) else {
                throw CertificateFile.Unreadable(reason: OpenSSLError.takeMessage(or: "out of memory"))
            }
            return file.identity.map { [$0] } ?? []
        } catch {
            openSSL.X509_STORE_free(store)
            throw TLSFailure(.authoritiesUnreadable, detail: error.reason)
        }
    }
}

// MARK: - TLS context cache

/// The part of a TLS configuration that determines the context.
struct TLSPolicy: Sendable, Hashable {
    let trust: TLSConfiguration.Trust
    let clientCertificate: ClientCertificate?
    let minimumVersion: TLSVersion
    let protocols: [String]

    init(_ configuration: TLSConfiguration, _ protocols: [String]) {
        trust = configuration.trust
        clientCertificate = configuration.clientCertificate
        minimumVersion = configuration.minimumVersion
        self.protocols = protocols
    }

    /// The current identities of the files, nil for each one that does not exist.
    var files: [FileIdentity?] {
        var sources: [CertificateSource] = []
        switch trust.form {
        case .system, .anyCertificate: break
        case .only(let source), .systemAnd(let source): sources.append(source)
        }
        switch clientCertificate?.form {
        case nil: break
        case .pem(let certificate, let key): sources += [certificate, key]
        case .pkcs12(let bundle): sources.append(bundle)
        }
        return sources.compactMap { source in
            if case .file(let path) = source { .some(FileIdentity(at: path)) } else { nil }
        }
    }
}

/// The contexts of the process by policy. Above the limit, the least recently used context is removed. If connections still use it, the
/// next one of its policy uses it too, or replaces it if the files have changed.
///
/// ```
/// none ──▶ current ──files change──▶ reading ──▶ current, with a new context
///             ▲                         │
///             │                         ▼
///             └──────files change─── refused: the old context stays
/// ```
final class TLSContextCache: Sendable {
    typealias Report = @Sendable (Result<Void, TLSFailure>) -> Void

    static let shared = TLSContextCache(limit: 64)

    /// Changed files that cannot be used.
    private struct Refusal {
        /// The time after which the same files are read again. A failure may be of the system, such as a lack of descriptors.
        static let lifetime = Duration.seconds(10)

        let files: [FileIdentity?]
        let failure: TLSFailure
        /// The time at which the files are read again.
        var end = MonotonicTime.now + lifetime
    }

    private struct Entry {
        let context: TLSContext
        /// The files that the context serves in place of, or nil if its own files are current.
        var refusal: Refusal?
        var lastUse: UInt64
    }

    private struct RemovedContext: Sendable {
        weak var context: TLSContext?
    }

    private struct State {
        var entries: [TLSPolicy: Entry] = [:]
        /// Contexts above the limit. Their connections must end when the files change.
        var removed: [TLSPolicy: RemovedContext] = [:]
        var uses: UInt64 = 0

        mutating func entry(for policy: TLSPolicy) -> Entry? {
            guard let entry = entries[policy] else { return nil }
            uses += 1
            entries[policy]?.lastUse = uses
            return entry
        }

        /// Keeps the context of a policy in place of files that cannot be used. Returns nil if there is none.
        mutating func refuse(_ refusal: Refusal, _ policy: TLSPolicy) -> (context: TLSContext, isNew: Bool)? {
            if entries[policy] == nil, let context = removed.removeValue(forKey: policy)?.context {
                uses += 1
                entries[policy] = Entry(context: context, lastUse: uses)
            }
            guard let entry = entries[policy] else { return nil }
            entries[policy]?.refusal = refusal
            return (entry.context, entry.refusal?.files != refusal.files)
        }
    }

    private let limit: Int
    private let state = Locked(State())

    init(limit: Int) {
        self.limit = limit
    }

    func latest(_ policy: TLSPolicy) -> TLSContext? { state.withLock { $0.entry(for: policy)?.context } }

    /// Returns the cached context if its files are unchanged, or if the changed files cannot be used.
    ///
    /// The check costs one stat(2) for each file, and two while changed files cannot be used. It blocks if the file system does.
    func cached(_ policy: TLSPolicy) -> TLSContext? {
        guard let entry = state.withLock({ $0.entry(for: policy) }) else { return nil }
        if entry.context.files.allSatisfy(\.isCurrent) { return entry.context }
        // Files that cannot be used are not read again for each connection.
        if let refusal = entry.refusal, .now < refusal.end, refusal.files == policy.files { return entry.context }
        return nil
    }

    func context(for policy: TLSPolicy, onReload report: Report? = nil) throws(TLSFailure) -> TLSContext {
        if let context = cached(policy) { return context }
        // Before the files are read, so that a later change is noticed.
        let files = policy.files
        let created: TLSContext
        do {
            created = try TLSContext(policy)
        } catch {
            let refusal = Refusal(files: files, failure: error)
            guard let (context, isNew) = state.withLock({ $0.refuse(refusal, policy) }) else { throw error }
            if isNew { report?(.failure(error)) }
            return context
        }
        let (context, replaced) = insert(created, for: policy)
        replaced?.markReplaced()
        if replaced != nil { report?(.success(())) }
        return context
    }

    /// Reads the files of a policy again if they have changed, also those that could not be used before.
    func reload(_ policy: TLSPolicy, onReload report: Report? = nil) throws(TLSFailure) {
        state.withLock { $0.entries[policy]?.refusal?.end = .now }
        let context = try context(for: policy, onReload: report)
        let refusal = state.withLock { $0.entry(for: policy)?.refusal }
        if let refusal, !context.files.allSatisfy(\.isCurrent) { throw refusal.failure }
    }

    /// Stores a new context. Returns the context to use, and the one of the same policy that it replaces.
    private func insert(_ created: TLSContext, for policy: TLSPolicy) -> (TLSContext, replaced: TLSContext?) {
        let (context, replaced, removed) = state.withLock { state -> (TLSContext, TLSContext?, [TLSContext]) in
            var previous = state.entry(for: policy)?.context
            if previous == nil { previous = state.removed.removeValue(forKey: policy)?.context }
            // Another thread may have created an equal context meanwhile, or connections use a removed one.
            let equal = previous?.files == created.files ? previous : nil
            let context = equal ?? created
            state.uses += 1
            state.entries[policy] = Entry(context: context, lastUse: state.uses)
            var removed: [TLSContext] = []
            while state.entries.count > limit,
                let oldest = state.entries.min(by: { $0.value.lastUse < $1.value.lastUse })
            {
                state.entries[oldest.key] = nil
                state.removed = state.removed.filter { $0.value.context != nil }
                state.removed[oldest.key] = RemovedContext(context: oldest.value.context)
                removed.append(oldest.value.context)
            }
            return (context, equal == nil ? previous : nil, removed)
        }
        // Contexts are freed outside the lock.
        withExtendedLifetime(removed) {}
        return (context, replaced)
    }
}
#endif
