/// The requests in spans of time, compared with those that the limit and its fallback allow.
///
/// In a span of T seconds, the fleet may send `burst + rate × T` requests. A service that uses its fallback may send a share of these instead.
/// If all of them use it, Redis gives no permits.
struct RateCheck {
    /// The requests that arrived in one span.
    struct Span: Equatable {
        let start: Double
        let seconds: Double
        let count: Int
        let allowed: Int

        /// The share of the allowed requests that arrived.
        var share: Double { Double(count) / Double(max(1, allowed)) }
    }

    /// The length of a step in seconds, to which times are rounded.
    private static let step = 0.01

    private let rules: FleetRules
    private let start: Double
    /// The permits of the rate from the start to each step, without bursts.
    private var permits: [Double] = [0]
    /// The number of changes to a fallback before each step.
    private var fallbacks: [Int] = [0]
    /// The number of services that use their fallback in each step.
    private var users: [Int] = [0]
    private let arrivals: [Double]

    init(_ arrivals: [Double], _ events: [FleetEvent], _ rules: FleetRules) {
        self.rules = rules
        self.arrivals = arrivals.sorted()
        let times = self.arrivals + events.map(\.time)
        start = times.min() ?? 0
        let steps = Int(((times.max() ?? 0) - start) / Self.step) + 2
        var changes = events.filter { [.fallbackStarted, .fallbackEnded, .serviceKilled].contains($0.kind) }
            .sorted { $0.time < $1.time }[...]
        var local: Set<Int> = []
        var started = 0
        for index in 0..<steps {
            while let change = changes.first, change.time <= start + Double(index) * Self.step,
                let service = change.service
            {
                changes.removeFirst()
                if change.kind == .fallbackStarted {
                    local.insert(service)
                    started += 1
                } else {
                    local.remove(service)
                }
            }
            let isShared = local.count < rules.services
            let rate = Double(rules.rate) * ((isShared ? 1 : 0) + Double(local.count) * rules.share)
            permits.append((permits.last ?? 0) + rate * Self.step)
            fallbacks.append(started)
            users.append(local.count)
        }
    }

    /// Returns the requests that may arrive in a span.
    func allowed(from time: Double, seconds: Double) -> Int {
        let first = index(time - rules.jitter / 2)
        let last = index(time + seconds + rules.jitter / 2)
        let buckets = Double(users[first] + fallbacks[last] - fallbacks[first]) * rules.share
        return Int((Double(rules.burst) * (1 + buckets) + permits[last] - permits[first]).rounded(.up))
    }

    /// Returns the span of a length in which the share of the allowed requests is highest; nil if the run was shorter.
    func worst(seconds: Double) -> Span? {
        var worst: Span?
        var end = 0
        let latest = (arrivals.last ?? 0) - seconds
        for (index, time) in arrivals.enumerated() where time <= latest {
            while end < arrivals.count, arrivals[end] < time + seconds { end += 1 }
            let span = Span(
                start: time,
                seconds: seconds,
                count: end - index,
                allowed: allowed(from: time, seconds: seconds)
            )
            if let other = worst, other.share >= span.share { continue }
            worst = span
        }
        return worst
    }

    /// Returns the largest number of requests in a span of a length.
    func largest(seconds: Double) -> Int {
        var end = 0
        return arrivals.enumerated().map { index, time in
            while end < arrivals.count, arrivals[end] < time + seconds { end += 1 }
            return end - index
        }
        .max() ?? 0
    }

    private func index(_ time: Double) -> Int {
        min(max(0, Int((time - start) / Self.step)), permits.count - 1)
    }
}
