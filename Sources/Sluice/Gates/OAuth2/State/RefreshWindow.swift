/// The times of recent requests for tokens, and the limit on them.
struct RefreshWindow: Sendable {
    let limit: OAuth2.RefreshLimit
    private var times: [ContinuousClock.Instant] = []

    init(_ limit: OAuth2.RefreshLimit) {
        self.limit = limit
    }

    /// True if the limit allows another request.
    func isOpen(at now: ContinuousClock.Instant) -> Bool {
        times.count { isWithin($0, now) } < max(1, limit.count)
    }

    mutating func add(_ now: ContinuousClock.Instant) {
        times = times.filter { isWithin($0, now) } + [now]
    }

    /// Removes the last request, which was cancelled.
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
