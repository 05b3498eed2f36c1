import SluiceHTTP

/// The number of retries that a client may send, in proportion to its requests.
///
/// When a server is overloaded, every retry adds to the overload. Retries, and extra attempts of hedged requests, are
/// therefore limited to a share of the requests of the last ten seconds, plus a reserve, so that a client with few
/// requests can retry at all. When the budget is used up, a request ends with the outcome of its last attempt.
public struct RetryBudget: Sendable, Hashable {
    /// The number of retries per request; 0.2 by default.
    public var ratio: Double
    /// The number of retries per second that are always allowed; 10 by default.
    public var reserve: Double

    /// Creates a budget.
    public init(ratio: Double = 0.2, reserve: Double = 10) {
        self.ratio = ratio
        self.reserve = reserve
    }

    /// A budget without a limit.
    public static let unlimited = RetryBudget(ratio: .infinity, reserve: .infinity)
}

/// The use of a budget in the last seconds.
struct RetryBalance {
    /// The length of the measured period, in seconds.
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

    /// Counts a retry. Returns false if the budget is used up.
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

    /// Returns the number of seconds since a fixed instant in the process.
    private static func number(of instant: ContinuousClock.Instant) -> Int64 {
        epoch.duration(to: instant).components.seconds
    }

    private static let epoch = ContinuousClock.now
}
