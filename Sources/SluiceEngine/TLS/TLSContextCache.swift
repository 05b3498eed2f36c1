#if os(Linux)
import SluiceHTTP

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

/// The contexts of the process by policy. Above the limit, the least recently used context is removed.
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

    private struct State {
        var entries: [TLSPolicy: Entry] = [:]
        var uses: UInt64 = 0

        mutating func entry(for policy: TLSPolicy) -> Entry? {
            guard let entry = entries[policy] else { return nil }
            uses += 1
            entries[policy]?.lastUse = uses
            return entry
        }

        /// Keeps the context of a policy in place of files that cannot be used. Returns nil if there is none.
        mutating func refuse(_ refusal: Refusal, _ policy: TLSPolicy) -> (context: TLSContext, isNew: Bool)? {
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
            let previous = state.entry(for: policy)?.context
            // Another thread may have created an equal context meanwhile.
            if let previous, previous.files == created.files { return (previous, nil, []) }
            state.uses += 1
            state.entries[policy] = Entry(context: created, lastUse: state.uses)
            var removed: [TLSContext] = []
            while state.entries.count > limit,
                let oldest = state.entries.min(by: { $0.value.lastUse < $1.value.lastUse })
            {
                state.entries[oldest.key] = nil
                removed.append(oldest.value.context)
            }
            return (created, previous, removed)
        }
        // Contexts are freed outside the lock.
        withExtendedLifetime(removed) {}
        return (context, replaced)
    }
}
#endif
