import SluiceHTTP

/// The moment by which a piece of work must be over, and with it every request that is sent for it.
///
/// A server that has promised an answer within five seconds has no use for what comes later. Its handler says so once, and whatever it
/// calls need not be told:
///
/// ```swift
/// let page = try await Deadline.withDeadline(.seconds(5)) {
///     async let user: User = shop.codable.get("users/1").sender().value
///     async let orders: [Order] = shop.codable.get("users/1/orders").sender().value
///     return try await Page(user: user, orders: orders)
/// }
/// ```
///
/// It goes with the task, and on to its child tasks and to what is sent by ``RequestSender``s, batches, graphs, pages and streams
/// in them: each request has no more time than is left, gates, attempts and the pauses between them included, and one that comes too late is
/// not sent. It fails with ``SluiceError/Code/timedOut`` and the step that it was in. A time-out that is shorter stays as it is. Nothing else
/// is stopped, and what many wait for, as a new token or a transfer that equal requests share, goes on for those who have more time.
public struct Deadline: Sendable, Hashable, Comparable {
    /// The one of the work that the current task does; nil where there is none.
    @TaskLocal public static var current: Deadline?

    /// The moment, by the clock that ``TimeSource/now`` reads.
    public let instant: ContinuousClock.Instant

    /// Makes one of a moment.
    public init(_ instant: ContinuousClock.Instant) {
        self.instant = instant
    }

    /// The moment after some time.
    ///
    /// - Parameters:
    ///   - duration: From now; a negative one is a deadline that has passed.
    ///   - time: What tells what time it is: the client's, where it has one of its own.
    /// - Returns: The deadline.
    public static func after(_ duration: Duration, on time: any TimeSource = SystemTime()) -> Deadline {
        Deadline(time.now + duration)
    }

    /// What is left until then; never negative.
    ///
    /// - Parameter time: What tells what time it is.
    /// - Returns: How long.
    public func timeLeft(on time: any TimeSource = SystemTime()) -> Duration {
        max(.zero, time.now.duration(to: instant))
    }

    /// Does work whose requests must be over after some time. Within the work of an earlier deadline that one holds.
    ///
    /// - Parameters:
    ///   - duration: From now.
    ///   - time: What tells what time it is: the clients' that send the requests, where they have one of their own.
    ///   - isolation: Where the work is done: where it is called.
    ///   - work: What to do. It is not cancelled when the time is up: its requests fail.
    /// - Returns: What comes of it.
    public static func withDeadline<Value>(
        _ duration: Duration,
        on time: any TimeSource = SystemTime(),
        isolation: isolated (any Actor)? = #isolation,
        _ work: () async throws -> Value
    ) async rethrows -> Value {
        let deadline = after(duration, on: time)
        return try await $current.withValue(current.map { min($0, deadline) } ?? deadline) { try await work() }
    }

    /// Whether one is before the other.
    public static func < (lhs: Deadline, rhs: Deadline) -> Bool { lhs.instant < rhs.instant }

    /// The earlier of a request's own and that of the work it belongs to.
    static func earliest(_ own: Deadline?) -> Deadline? {
        guard let current else { return own }
        return own.map { min($0, current) } ?? current
    }
}

extension Timeouts {
    /// With no more time in all than a deadline leaves.
    func within(_ deadline: Deadline?, on time: any TimeSource) -> Timeouts {
        guard let deadline else { return self }
        var timeouts = self
        let left = deadline.timeLeft(on: time)
        timeouts.total = total.map { min($0, left) } ?? left
        return timeouts
    }
}
