#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A source of the current time and of delays: the system's clocks, or a test's own.
///
/// Everything in a client that waits or measures time uses its source, ``SystemTime`` by default. A test can replace it
/// to let an hour pass without waiting. The time-outs of a single transfer belong to the engine and always use real
/// time.
public protocol TimeSource: Sendable {
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
public struct SystemTime: TimeSource {
    /// Creates a source. All instances are equal.
    public init() {}

    /// The current instant of the system's continuous clock.
    public var now: ContinuousClock.Instant { .now }
    /// The system's current date.
    public var date: Date { Date() }

    /// Waits in real time.
    public func sleep(for duration: Duration) async throws {
        // The system's clock overflows for very long durations, so they are limited to 68 years.
        try await Task.sleep(for: min(duration, .seconds(1 << 31)))
    }
}
