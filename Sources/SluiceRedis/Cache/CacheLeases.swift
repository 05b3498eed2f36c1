#if os(Linux)
import SluiceCache
import SluiceFoundation
import SluiceHTTP

/// The leases with which one process of many fetches an entry, as keys on the server that expire.
///
/// A lease only saves work: two processes that have it at the same time, as after a failover, both fetch the entry.
struct CacheLeases: Sendable {
    /// The interval at which a process that waits for a lease asks for it again.
    private static let interval = Duration.milliseconds(100)

    private let redis: RedisClient
    private let feed: ChangeFeed
    private let duration: Duration
    private let clock: any SluiceClock

    init(_ redis: RedisClient, _ feed: ChangeFeed, duration: Duration, clock: any SluiceClock) {
        self.redis = redis
        self.feed = feed
        self.duration = duration.bounded
        self.clock = clock
    }

    /// The lifetime of a key in milliseconds.
    private var lifetime: Int { Int(duration.nanoseconds / 1_000_000) }

    /// Asks for a lease.
    ///
    /// - Parameters:
    ///   - name: The name of its key, with a hash tag.
    ///   - waits: True to wait while another process has the lease, at most for its duration.
    /// - Returns: The lease; nil if another process has it, or has released it in the meantime.
    /// - Throws: The error of the server.
    func lease(_ name: String, waits: Bool) async throws(RedisError) -> CacheLease? {
        let owner = HexText.text(length: 32) { text in
            for _ in 0..<2 { text.append(UInt64.random(in: .min ... .max), digits: 16) }
        }
        let deadline = clock.now + duration
        if waits { feed.begin() }
        while true {
            let reply: RedisValue
            do {
                reply = try await redis.run(
                    CacheScripts.lease,
                    keys: [name, abandonment(of: name, by: owner)],
                    arguments: [owner, lifetime]
                )
            } catch {
                // The server may have executed the command. Without a release, other processes would wait for the lease to expire.
                if !error.isUnsent { release(name, of: owner, isAbandoned: true) }
                throw error
            }
            guard let isGiven = reply.int else { throw .unexpectedReply }
            if isGiven == 1 { return lease(name, of: owner) }
            guard waits, clock.now < deadline, !Task.isCancelled else { return nil }
            let jitter = Duration.milliseconds(Int.random(in: 0...20))
            if await feed.waitForRelease(of: name, within: Self.interval + jitter) { return nil }
        }
    }

    /// Returns a lease that is renewed until it is released.
    private func lease(_ name: String, of owner: String) -> CacheLease {
        let renewal = Task.detached { [redis, clock, duration, lifetime] in
            while true {
                do { try await clock.sleep(for: duration / 3) } catch { return }
                _ = try? await redis.run(CacheScripts.renew, keys: [name], arguments: [owner, lifetime])
            }
        }
        return CacheLease { [self] in
            renewal.cancel()
            release(name, of: owner)
        }
    }

    /// The name of the key that keeps an owner from getting a lease that it has abandoned.
    private func abandonment(of name: String, by owner: String) -> String { "\(name):\(owner)" }

    /// Releases a lease in a separate task, and notifies the processes that wait for it.
    ///
    /// - Parameters:
    ///   - name: The name of its key.
    ///   - owner: The owner.
    ///   - isAbandoned: True for a lease that the server may give later.
    private func release(_ name: String, of owner: String, isAbandoned: Bool = false) {
        let keys = isAbandoned ? [name, abandonment(of: name, by: owner)] : [name]
        Task.detached { [redis, feed, lifetime] in
            let reply = try? await redis.run(CacheScripts.release, keys: keys, arguments: [owner, lifetime])
            if reply?.int == 1 { try? await feed.publish([.released(name)]) }
        }
    }
}
#endif
