#if os(Linux)
import CSSL
import SluiceHTTP
import SluiceLibc

/// A resumable session and the result of verifying its certificates.
final class StoredSession: Sendable {
    /// The owned SSL_SESSION as a bit pattern, because pointers are not Sendable. It is a copy that no connection uses, because OpenSSL
    /// modifies the session of a failed connection.
    private let address: UInt
    /// False if no pin matched in the report-only mode.
    let meetsPins: Bool
    /// The time, in seconds since 1970, until which the verification is valid, also for sessions derived from this one.
    let verifiedUntil: Int64
    /// The time, in seconds since 1970, until which the session can be offered.
    let expiry: Int64
    /// True for TLS 1.3, where a ticket is used only once (RFC 8446 §C.4).
    let isSingleUse: Bool

    /// Copies a session. Returns nil if it cannot be resumed.
    init?(_ session: OpaquePointer, meetsPins: Bool, verifiedUntil: Int64) {
        guard openSSL.SSL_SESSION_is_resumable(session) == 1, let copy = openSSL.SSL_SESSION_dup(session) else {
            return nil
        }
        address = UInt(bitPattern: copy)
        self.meetsPins = meetsPins
        self.verifiedUntil = verifiedUntil
        isSingleUse = openSSL.SSL_SESSION_get_protocol_version(session) == TLS1_3_VERSION
        // The lifetime of a TLS 1.3 ticket is the server's hint. For other sessions, the shorter of hint and time-out applies.
        let hint = Int64(clamping: openSSL.SSL_SESSION_get_ticket_lifetime_hint(session))
        let timeout = Int64(clamping: openSSL.SSL_SESSION_get_timeout(session))
        let lifetime = hint > 0 ? (isSingleUse ? hint : min(hint, timeout)) : timeout
        expiry = min(verifiedUntil, Int64(clamping: openSSL.SSL_SESSION_get_time(session)) + min(lifetime, 7 * 86_400))
    }

    deinit {
        openSSL.SSL_SESSION_free(OpaquePointer(bitPattern: address))
    }

    /// Offers the session on a connection that has not started its handshake.
    func offer(on connection: OpaquePointer) -> Bool {
        guard let session = openSSL.SSL_SESSION_dup(OpaquePointer(bitPattern: address)) else { return false }
        defer { openSSL.SSL_SESSION_free(session) }
        return openSSL.SSL_set_session(connection, session) == 1
    }
}

/// The sessions of the process. A session is only used with the context, host, port and pins that it was created with.
final class TLSSessionCache: Sendable {
    static let shared = TLSSessionCache(limit: 256, limitPerKey: 8)

    struct Key: Sendable, Hashable {
        let context: UInt64
        let host: String
        let port: Int
        let pins: [PublicKeyPin]
        let enforcesPins: Bool
    }

    private struct Entry {
        let session: StoredSession
        let key: Key
    }

    private let limit: Int
    private let limitPerKey: Int
    /// The sessions, in the order in which they were stored or last used.
    private let entries = Locked<[Entry]>([])

    init(limit: Int, limitPerKey: Int) {
        self.limit = limit
        self.limitPerKey = limitPerKey
    }

    var count: Int { entries.withLock { $0.count } }

    /// Returns the latest session for a key, and removes it if it can be used only once. `now` is in seconds since 1970.
    func take(_ key: Key, at now: Int64 = Int64(time(nil))) -> StoredSession? {
        // Expired sessions are freed outside the lock.
        let (session, expired) = entries.withLock { entries -> (StoredSession?, [Entry]) in
            let expired = entries.filter { $0.session.expiry <= now }
            if !expired.isEmpty { entries.removeAll { $0.session.expiry <= now } }
            guard let position = entries.lastIndex(where: { $0.key == key }) else { return (nil, expired) }
            let entry = entries.remove(at: position)
            if !entry.session.isSingleUse { entries.append(entry) }
            return (entry.session, expired)
        }
        withExtendedLifetime(expired) {}
        return session
    }

    /// Stores a session. Above a limit, the oldest sessions are removed.
    func store(_ session: StoredSession, under key: Key) {
        // Removed sessions are freed outside the lock.
        entries.withLockReleasing { entries -> [Entry] in
            var removed: [Entry] = []
            // A reusable session replaces the previous one.
            let room = session.isSingleUse ? limitPerKey : 1
            while entries.count(where: { $0.key == key }) >= room,
                let oldest = entries.firstIndex(where: { $0.key == key })
            {
                removed.append(entries.remove(at: oldest))
            }
            if entries.count >= limit { removed.append(entries.removeFirst()) }
            entries.append(Entry(session: session, key: key))
            return removed
        }
    }

    /// Removes all sessions for a key, after a server did not accept one of them.
    func remove(_ key: Key) {
        removeAll { $0 == key }
    }

    /// Removes the sessions of a context that is being released.
    func removeAll(of context: UInt64) {
        removeAll { $0.context == context }
    }

    private func removeAll(where isMatch: (Key) -> Bool) {
        entries.withLockReleasing { entries -> [Entry] in
            let removed = entries.filter { isMatch($0.key) }
            if !removed.isEmpty { entries.removeAll { isMatch($0.key) } }
            return removed
        }
    }
}
#endif
