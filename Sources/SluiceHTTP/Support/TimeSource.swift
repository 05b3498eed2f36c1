#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What time it is, and how to wait: the system's clocks, or a test's own.
///
/// All that waits or measures asks the client's, ``SystemTime`` unless it is replaced, so that a test can let an hour pass
/// without waiting for it. Time-outs of a single transfer are the engine's and always real.
public protocol TimeSource: Sendable {
    /// The time that never goes back, for durations.
    var now: ContinuousClock.Instant { get }
    /// The time of day, for what others date: tokens, `Retry-After`.
    var date: Date { get }

    /// Waits, without holding a thread.
    ///
    /// - Parameter duration: How long; at once if it is not positive.
    /// - Throws: `CancellationError` when the calling task is cancelled.
    func sleep(for duration: Duration) async throws
}

/// The system's clocks.
public struct SystemTime: TimeSource {
    /// Makes a source; all of them are alike.
    public init() {}

    /// The time since the system started.
    public var now: ContinuousClock.Instant { .now }
    /// The system's time of day.
    public var date: Date { Date() }

    /// Waits in real time.
    public func sleep(for duration: Duration) async throws {
        // A clock cannot count to the longest of durations; nobody will miss these 68 years.
        try await Task.sleep(for: min(duration, .seconds(1 << 31)))
    }
}
