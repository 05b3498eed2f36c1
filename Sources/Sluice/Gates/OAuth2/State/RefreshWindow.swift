/// When tokens were asked for lately, and whether they may be asked for again.
struct RefreshWindow: Sendable {
    let limit: OAuth2.RefreshLimit
    private var times: [ContinuousClock.Instant] = []

    init(_ limit: OAuth2.RefreshLimit) {
        self.limit = limit
    }

    /// Whether the limit allows one more.
    func isOpen(at now: ContinuousClock.Instant) -> Bool {
        times.count { isWithin($0, now) } < max(1, limit.count)
    }

    mutating func add(_ now: ContinuousClock.Instant) {
        times = times.filter { isWithin($0, now) } + [now]
    }

    /// Takes back the last one, of which nothing came.
    mutating func removeLast() {
        _ = times.popLast()
    }

    mutating func removeAll() {
        times = []
    }

    private func isWithin(_ time: ContinuousClock.Instant, _ now: ContinuousClock.Instant) -> Bool {
        time.duration(to: now) < limit.interval
    }
}
