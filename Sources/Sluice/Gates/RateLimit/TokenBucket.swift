import SluiceHTTP

/// The tokens of one key, kept as the time at which the bucket will be full again, so that nothing is to be done while
/// time passes and no fraction of a token gets lost.
struct TokenBucket {
    /// How fast tokens come, and how many there is room for.
    struct Rate: Sendable, Equatable {
        /// The time a token takes to come; zero if there are always enough.
        let interval: Duration
        /// The room in the bucket, at least 1.
        let burst: Int
        /// How long the bucket takes to be full when it has but one token.
        fileprivate let depth: Duration

        /// Makes a rate; what makes no sense is taken as the nearest that does.
        init(_ count: Int, every period: Duration, burst: Int? = nil) {
            // Within these bounds the products of burst and interval are durations.
            let count = min(max(1, count), 1 << 31)
            interval = min(max(.zero, period), .seconds(1 << 31)) / count
            self.burst = min(max(1, burst ?? count), 1 << 31)
            depth = interval * (self.burst - 1)
        }
    }

    /// When there will be as many tokens as there is room for.
    private(set) var fullAt: ContinuousClock.Instant
    /// Until when the server wants no requests.
    private(set) var closedUntil: ContinuousClock.Instant

    /// Makes a bucket that is full.
    init(now: ContinuousClock.Instant) {
        fullAt = now
        closedUntil = now
    }

    /// Whether it is as good as a new one.
    func isFresh(now: ContinuousClock.Instant) -> Bool {
        fullAt <= now && closedUntil <= now
    }

    /// When there is a token for whom so many wait in front of.
    func due(behind waiting: Int, _ rate: Rate, now: ContinuousClock.Instant) -> ContinuousClock.Instant {
        let open = max(now, closedUntil)
        return max(open, max(open, fullAt) + rate.interval * waiting - rate.depth)
    }

    /// Takes a token if there is one.
    mutating func take(_ rate: Rate, now: ContinuousClock.Instant) -> Bool {
        guard closedUntil <= now, fullAt - rate.depth <= now else { return false }
        fullAt = max(fullAt, now) + rate.interval
        return true
    }

    /// Puts a token back.
    mutating func putBack(_ rate: Rate) {
        fullAt -= rate.interval
    }

    /// Gives no tokens before a time.
    mutating func close(until time: ContinuousClock.Instant) {
        closedUntil = max(closedUntil, time)
    }
}
