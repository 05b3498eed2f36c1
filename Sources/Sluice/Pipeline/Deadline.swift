import SluiceHTTP

/// The moment by which a piece of work and all requests that it sends must end.
///
/// For example, a server that must respond within five seconds cannot use results that arrive later. Its handler sets
/// the deadline once, and the functions that it calls need no parameter for it:
///
/// ```swift
/// let page = try await Deadline.withDeadline(.seconds(5)) {
///     async let user: User = shop.codable.get("users/1").sender().value
///     async let orders: [Order] = shop.codable.get("users/1/orders").sender().value
///     return try await Page(user: user, orders: orders)
/// }
/// ```
///
/// The deadline is a task-local value. Child tasks inherit it, and so do the requests sent in them by
/// ``RequestSender``s, batches, graphs, pages and streams. Each request has no more time than is left, including gates,
/// attempts and the pauses between them. A request that starts after the deadline is not sent. It fails with
/// ``SluiceError/Code/timedOut`` and the step it had reached. A shorter time-out still applies. Other work is not
/// stopped: shared work, such as a token refresh or a transfer joined by equal requests, continues for the callers that
/// have more time.
public struct Deadline: Sendable, Hashable, Comparable {
    /// The deadline of the current task; nil if there is none.
    @TaskLocal public static var current: Deadline?

    /// The moment, on the clock that ``SluiceClock/now`` reads.
    public let instant: ContinuousClock.Instant

    /// Creates a deadline at a moment.
    public init(_ instant: ContinuousClock.Instant) {
        self.instant = instant
    }

    /// Returns the deadline a duration from now.
    ///
    /// - Parameters:
    ///   - duration: The time from now; a negative duration gives a deadline that has passed.
    ///   - clock: The clock to read. Pass the client's if it has its own.
    /// - Returns: The deadline.
    public static func after(_ duration: Duration, on clock: any SluiceClock = SystemClock()) -> Deadline {
        Deadline(clock.now + duration.bounded)
    }

    /// Returns the time left until the deadline; never negative.
    ///
    /// - Parameter clock: The clock to read.
    /// - Returns: The time left.
    public func timeLeft(on clock: any SluiceClock = SystemClock()) -> Duration {
        max(.zero, clock.now.duration(to: instant))
    }

    /// Runs work whose requests must end within a duration. An earlier deadline of the current task still applies.
    ///
    /// - Parameters:
    ///   - duration: The time from now.
    ///   - clock: The clock to read. Pass the clock of the clients that send the requests if they have their own.
    ///   - isolation: The actor on which the work runs; the caller's by default.
    ///   - work: The work to run. It is not cancelled when the time is up; its requests fail.
    /// - Returns: The value that the work returns.
    /// - Throws: The error of the work, with its type if the closure states it: `{ () async throws(APIError) in … }`.
    public static func withDeadline<Value, Failure: Error>(
        _ duration: Duration,
        on clock: any SluiceClock = SystemClock(),
        isolation: isolated (any Actor)? = #isolation,
        _ work: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let deadline = after(duration, on: clock)
        let earliest = current.map { min($0, deadline) } ?? deadline
        let result: Result<Value, Failure> = await $current.withValue(earliest) {
            do throws(Failure) { return .success(try await work()) } catch { return .failure(error) }
        }
        return try result.get()
    }

    /// Returns true if the first deadline is earlier than the second.
    public static func < (lhs: Deadline, rhs: Deadline) -> Bool { lhs.instant < rhs.instant }

    /// Returns the earlier of a request's own deadline and the current task's.
    static func earliest(_ own: Deadline?) -> Deadline? {
        guard let current else { return own }
        return own.map { min($0, current) } ?? current
    }
}

extension Timeouts {
    /// Returns these time-outs with the total limited to the time left until a deadline.
    func within(_ deadline: Deadline?, on clock: any SluiceClock) -> Timeouts {
        guard let deadline else { return self }
        var timeouts = self
        let left = deadline.timeLeft(on: clock)
        timeouts.total = total.map { min($0, left) } ?? left
        return timeouts
    }
}
