import SluiceFoundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A source of the current time and of delays: the system's clocks, or a test's own.
///
/// All waits and time measurements of a client use its clock, ``SystemClock`` by default. A test can replace it to let
/// an hour pass without waiting. The time-outs of a single transfer belong to the engine and always use real time.
public protocol SluiceClock: Sendable {
    /// The current instant of a clock that never goes backwards, for durations.
    var now: ContinuousClock.Instant { get }
    /// The current date, for dates set by others: tokens, `Retry-After`.
    var date: Date { get }

    /// Suspends the calling task.
    ///
    /// - Parameter duration: The time to wait. Returns immediately if it is not positive.
    /// - Throws: `CancellationError` when the calling task is cancelled.
    func sleep(for duration: Duration) async throws
}

/// The system's clocks.
public struct SystemClock: SluiceClock {
    /// Creates the clock. All instances are equal.
    public init() {}

    /// The current instant of the system's continuous clock.
    public var now: ContinuousClock.Instant { .now }
    /// The system's current date.
    public var date: Date { Date() }

    /// Waits in real time.
    public func sleep(for duration: Duration) async throws {
        // The system's clock overflows for very long durations, so they are limited to 68 years.
        try await Task.sleep(for: min(duration, .seconds(Int64(1) << 31)))
    }
}

// MARK: - The monotonic clock of the engine

#if os(Linux)
/// A time of the system's monotonic clock, in nanoseconds.
package struct MonotonicTime: Sendable, Comparable {
    package let nanoseconds: Int64

    package init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    package static var now: MonotonicTime {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    package static let distantFuture = MonotonicTime(nanoseconds: .max)

    package static func < (lhs: Self, rhs: Self) -> Bool { lhs.nanoseconds < rhs.nanoseconds }

    package static func + (time: Self, duration: Duration) -> Self {
        let (sum, overflow) = time.nanoseconds.addingReportingOverflow(duration.nanoseconds)
        return overflow ? .distantFuture : MonotonicTime(nanoseconds: sum)
    }

    /// The time from `earlier` to this moment.
    package func since(_ earlier: MonotonicTime) -> Duration {
        .nanoseconds(nanoseconds - earlier.nanoseconds)
    }

    /// The milliseconds from `now` to this time, rounded up, as a time-out for epoll; -1 for none.
    package func milliseconds(after now: MonotonicTime) -> Int32 {
        if self == .distantFuture { return -1 }
        guard self > now else { return 0 }
        return Int32(clamping: (nanoseconds - now.nanoseconds - 1) / 1_000_000 + 1)
    }
}

extension Duration {
    /// The duration in nanoseconds, clamped to 64 bits (292 years).
    package var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isTooLongInAll) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        return isTooLong || isTooLongInAll ? (seconds < 0 ? .min : .max) : sum
    }
}
#endif
