#if os(Linux)
import Sluice
import SluiceHTTP

/// The numbers of a rate limit that machines share, and the sizes of the batches in which they take permits.
///
/// A machine holds permits for at most ``hold``, so that it need not ask for each one. Permits that are handed out in a span may so be used
/// in a span that is shorter by that time. The bucket on the server therefore holds fewer permits than the burst, by those of that time. In
/// any span, the number of requests of all machines is at most the burst plus the number that the rate allows.
struct BatchRules: Sendable, Equatable {
    /// The number of permits per period.
    let count: Int
    let period: Duration
    let burst: Int
    /// The time between two permits.
    let interval: Duration
    /// The time for which a machine holds permits; zero if it takes only those that it needs at once.
    let hold: Duration
    /// The number of permits in a full bucket on the server.
    let capacity: Int
    /// The number of permits that a machine takes ahead at most.
    let maximumAhead: Int
    /// The unit of time on the server in microseconds, in which the numbers of the script are exact.
    let tick: Int
    /// The period in that unit, rounded up.
    let periodTicks: Int

    private static let longestHold = Duration.milliseconds(100)

    /// Creates rules. Values out of range are clamped.
    init(_ count: Int, every period: Duration, burst: Int? = nil) {
        let period = min(max(.microseconds(1), period), .seconds(366 * 86_400))
        let count = min(max(1, count), 1_000_000_000)
        let burst = min(max(1, burst ?? count), 1_000_000_000)
        (self.count, self.period, self.burst) = (count, period, burst)
        interval = period / count
        let hold = burst < 5 ? .zero : min(Self.longestHold, interval * burst / 5)
        let reserve = Int((hold / interval).rounded(.up))
        self.hold = hold
        capacity = burst - reserve
        maximumAhead = min(reserve, capacity / 10)
        // Products of a capacity or a count and a period stay below 2^53.
        let microseconds = (period / .microseconds(1)).rounded(.up)
        let product = microseconds * Double(max(capacity, count))
        let tick = max(1, (product / 0x1p52).rounded(.up))
        self.tick = Int(tick)
        periodTicks = max(1, Int((microseconds / tick).rounded(.up)))
    }

    /// The number of permits to take ahead: those of half the time for which they are held.
    func ahead(_ rate: Double) -> Int {
        Int(min(Double(maximumAhead), max(0, rate * (hold / .seconds(1)) / 2)))
    }
}

/// The rate at which requests arrive at one machine.
struct DemandMeter: Sendable {
    private var arrivals = 0
    private var start: ContinuousClock.Instant
    /// The arrivals per second, with half the weight for the last span.
    private(set) var rate = 0.0

    init(now: ContinuousClock.Instant) {
        start = now
    }

    mutating func count() {
        arrivals += 1
    }

    /// Ends a span, unless it is too short to tell a rate.
    mutating func measure(now: ContinuousClock.Instant) {
        let span = now - start
        guard span >= .milliseconds(10) else { return }
        rate = (rate + Double(arrivals) / (span / .seconds(1))) / 2
        (arrivals, start) = (0, now)
    }
}
#endif
