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
}

/// The contexts of the process by policy. Above the limit, the least recently used context is removed.
final class TLSContextCache: Sendable {
    static let shared = TLSContextCache(limit: 64)

    private struct Entry {
        let context: TLSContext
        var lastUse: UInt64
    }

    private struct State {
        var entries: [TLSPolicy: Entry] = [:]
        var uses: UInt64 = 0

        mutating func context(for policy: TLSPolicy) -> TLSContext? {
            guard let context = entries[policy]?.context else { return nil }
            uses += 1
            entries[policy]?.lastUse = uses
            return context
        }
    }

    private let limit: Int
    private let state = Locked(State())

    init(limit: Int) {
        self.limit = limit
    }

    func cached(_ policy: TLSPolicy) -> TLSContext? {
        guard let context = state.withLock({ $0.context(for: policy) }) else { return nil }
        return context.files.allSatisfy(\.isCurrent) ? context : nil
    }

    func context(for policy: TLSPolicy) throws(TLSFailure) -> TLSContext {
        if let context = cached(policy) { return context }
        let made = try TLSContext(policy)
        let (context, replaced) = state.withLock { state -> (TLSContext, [TLSContext]) in
            // Another thread may have created an equal context meanwhile.
            if let other = state.context(for: policy), other.files == made.files { return (other, []) }
            var replaced = [state.entries[policy]?.context].compactMap(\.self)
            state.uses += 1
            state.entries[policy] = Entry(context: made, lastUse: state.uses)
            while state.entries.count > limit,
                let oldest = state.entries.min(by: { $0.value.lastUse < $1.value.lastUse })
            {
                state.entries[oldest.key] = nil
                replaced.append(oldest.value.context)
            }
            return (made, replaced)
        }
        // Replaced contexts are freed outside the lock.
        withExtendedLifetime(replaced) {}
        return context
    }
}
#endif
