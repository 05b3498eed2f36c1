import SluiceHTTP

/// How many retries a client may send, measured by its requests.
///
/// When a server is down every request fails, and every one that is sent again adds to what keeps it down. So retries, and second
/// attempts of hedged requests, may be no more than a share of the requests of the last ten seconds, and a few more, so that a client
/// with little to do can retry at all. Once they are used up a request ends with what it failed with.
public struct RetryBudget: Sendable, Hashable {
    /// Retries to a request; 0.2 by default.
    public var ratio: Double
    /// Retries a second that are always allowed; 10 by default.
    public var reserve: Double

    /// Makes a budget.
    public init(ratio: Double = 0.2, reserve: Double = 10) {
        self.ratio = ratio
        self.reserve = reserve
    }

    /// Any number of retries.
    public static let unlimited = RetryBudget(ratio: .infinity, reserve: .infinity)
}

/// What is left of a budget.
struct RetryBalance {
    /// Seconds that count.
    static let window = 10

    private struct Second {
        var number = Int64.min
        var requests = 0
        var retries = 0
    }

    private let budget: RetryBudget
    private var seconds = [Second](repeating: Second(), count: RetryBalance.window)

    init(_ budget: RetryBudget) {
        self.budget = budget
    }

    mutating func deposit(at now: ContinuousClock.Instant) {
        count(now) { $0.requests += 1 }
    }

    /// Takes a retry out; false where there is none left.
    mutating func withdraw(at now: ContinuousClock.Instant) -> Bool {
        let first = Self.number(of: now) - Int64(Self.window)
        let recent = seconds.filter { $0.number > first }
        let requests = recent.reduce(0) { $0 + $1.requests }
        let retries = recent.reduce(0) { $0 + $1.retries }
        let allowed = Double(requests) * max(0, budget.ratio) + Double(Self.window) * max(0, budget.reserve)
        guard !(Double(retries) + 1 > allowed) else { return false }
        count(now) { $0.retries += 1 }
        return true
    }

    private mutating func count(_ now: ContinuousClock.Instant, _ change: (inout Second) -> Void) {
        let number = Self.number(of: now)
        let index = Int(number % Int64(Self.window) + Int64(Self.window)) % Self.window
        if seconds[index].number != number { seconds[index] = Second(number: number) }
        change(&seconds[index])
    }

    /// Seconds since a moment that is the same for all.
    private static func number(of instant: ContinuousClock.Instant) -> Int64 {
        epoch.duration(to: instant).components.seconds
    }

    private static let epoch = ContinuousClock.now
}
