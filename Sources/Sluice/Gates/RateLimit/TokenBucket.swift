import SluiceHTTP

/// The tokens of one key, stored as the time at which the bucket will be full again. Nothing has to run as time passes,
/// and fractions of tokens are not lost.
struct TokenBucket {
    /// The rate at which tokens are added, and the capacity.
    struct Rate: Sendable, Equatable {
        /// The time between two tokens; zero for no limit.
        let interval: Duration
        /// The capacity of the bucket, at least 1.
        let burst: Int
        /// The time it takes to fill a bucket that holds one token.
        fileprivate let depth: Duration

        /// Creates a rate. Values out of range are clamped.
        init(_ count: Int, every period: Duration, burst: Int? = nil) {
            // Within these bounds, the product of burst and interval does not overflow a duration.
            let count = min(max(1, count), 1 << 31)
            interval = min(max(.zero, period), .seconds(1 << 31)) / count
            self.burst = min(max(1, burst ?? count), 1 << 31)
            depth = interval * (self.burst - 1)
        }
    }

    /// The time at which the bucket is full.
    private(set) var fullAt: ContinuousClock.Instant
    /// The time until which the server accepts no requests.
    private(set) var closedUntil: ContinuousClock.Instant

    /// Creates a full bucket.
    init(now: ContinuousClock.Instant) {
        fullAt = now
        closedUntil = now
    }

    /// True if the bucket is full and open, like a new one.
    func isFresh(now: ContinuousClock.Instant) -> Bool {
        fullAt <= now && closedUntil <= now
    }

    /// The time at which a token is available for a waiter with this number of waiters in front of it.
    func due(behind waiting: Int, _ rate: Rate, now: ContinuousClock.Instant) -> ContinuousClock.Instant {
        let open = max(now, closedUntil)
        return max(open, max(open, fullAt) + rate.interval * waiting - rate.depth)
    }

    /// Takes a token if one is available.
    mutating func take(_ rate: Rate, now: ContinuousClock.Instant) -> Bool {
        guard closedUntil <= now, fullAt - rate.depth <= now else { return false }
        fullAt = max(fullAt, now) + rate.interval
        return true
    }

    /// Puts a token back.
    mutating func putBack(_ rate: Rate) {
        fullAt -= rate.interval
    }

    /// Hands out no tokens before a time.
    mutating func close(until time: ContinuousClock.Instant) {
        closedUntil = max(closedUntil, time)
    }
}
