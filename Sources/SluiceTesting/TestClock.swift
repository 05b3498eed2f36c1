import SluiceFoundation
import SluiceHTTP

/// A clock that advances only when a test calls ``advance(by:)``.
///
/// ```swift
/// let clock = TestClock()
/// let client = APIClient(baseURL: server.url) { $0.clock = clock }
/// async let value = request.sender().value
/// await clock.waitForSleepers(1)       // the retry waits
/// clock.advance(by: .seconds(3600))    // the retry is sent
/// ```
///
/// Pauses of retries, gates, event streams and stubs sleep on the clock, and so do time-outs: a request with a total time-out has a sleeper
/// until it ends. To wait for a pause of such a request, count only the sleeps that end soon:
///
/// ```swift
/// await clock.waitForSleepers(1, within: .seconds(1))
/// clock.advance(by: .seconds(1))
/// ```
public final class TestClock: SluiceClock {
    private struct Sleeper {
        let end: ContinuousClock.Instant
        let duration: Duration
        /// Resumed with true at the end, and with false if the task is cancelled.
        let waiter: Waiter<Bool>
    }

    /// A caller that waits for a number of sleeps.
    private struct Watcher {
        let count: Int
        /// The time within which the sleeps end; nil for any time.
        let duration: Duration?
        let waiter: Waiter<Void>
    }

    private struct State {
        var elapsed = Duration.zero
        var sleepers: [Int: Sleeper] = [:]
        var watchers: [Watcher] = []
        let start = ContinuousClock.now

        var now: ContinuousClock.Instant { start + elapsed }

        /// Returns the instant after a duration, at most 292 years from the start.
        func instant(after duration: Duration) -> ContinuousClock.Instant {
            start + (elapsed + duration.bounded).bounded
        }

        /// Returns true if as many sleeps are pending as a watcher waits for.
        func satisfies(_ watcher: Watcher) -> Bool {
            sleepers.values.count { sleeper in
                watcher.duration.map { sleeper.end <= instant(after: $0) } ?? true
            } >= watcher.count
        }

        /// Removes and returns the watchers that need not wait any longer.
        mutating func satisfiedWatchers() -> [Waiter<Void>] {
            let satisfied = watchers.filter(satisfies)
            if !satisfied.isEmpty { watchers.removeAll(where: satisfies) }
            return satisfied.map(\.waiter)
        }
    }

    private let startDate: Date
    private let state = Locked(State())

    /// Creates a stopped clock.
    ///
    /// - Parameter date: The initial date. 2026-01-01 00:00 UTC by default.
    public init(date: Date = Date(timeIntervalSince1970: 1_767_225_600)) {
        startDate = date
    }

    /// The total time by which the clock has been advanced.
    public var elapsed: Duration { state.withLock { $0.elapsed } }
    /// The current instant of the monotonic clock.
    public var now: ContinuousClock.Instant { state.withLock { $0.now } }
    /// The current date.
    public var date: Date { startDate + elapsed / .seconds(1) }
    /// The durations of the current sleeps, each measured from its start, in ascending order.
    public var pendingSleeps: [Duration] { state.withLock { $0.sleepers.values.map(\.duration).sorted() } }

    /// Advances the clock and resumes the sleeps that are due, in the order of their ends.
    public func advance(by duration: Duration) {
        let (woken, watchers) = state.withLock { state in
            state.elapsed = (state.elapsed + duration.bounded).bounded
            let due = state.sleepers.filter { $0.value.end <= state.now }.sorted { $0.value.end < $1.value.end }
            for (id, _) in due { state.sleepers[id] = nil }
            return (due.map(\.value.waiter), state.satisfiedWatchers())
        }
        for waiter in woken { waiter.resume(returning: true) }
        for watcher in watchers { watcher.resume() }
    }

    /// Suspends until the clock has been advanced by the duration. Throws `CancellationError` if the task is cancelled.
    public func sleep(for duration: Duration) async throws {
        try Task.checkCancellation()
        guard duration > .zero else { return }
        let hasElapsed = await state.wait(cancelled: false) { waiter in
            let (isCancelled, watchers) = state.withLock { state in
                if Task.isCancelled { return (true, [Waiter<Void>]()) }
                state.sleepers[waiter.id] = Sleeper(
                    end: state.instant(after: duration),
                    duration: duration,
                    waiter: waiter
                )
                return (false, state.satisfiedWatchers())
            }
            if isCancelled { waiter.resume(returning: false) }
            for watcher in watchers { watcher.resume() }
        } leave: { id in
            state.withLock { $0.sleepers.removeValue(forKey: id) }?.waiter
        }
        if !hasElapsed { throw CancellationError() }
    }

    /// Waits until a number of sleeps are pending, without a time limit. Also returns if the task is cancelled.
    ///
    /// - Parameters:
    ///   - count: The minimum number of sleeps.
    ///   - duration: Counts only the sleeps that ``advance(by:)`` with this duration would end. Nil, the default, counts all, including
    ///     those of time-outs.
    public func waitForSleepers(_ count: Int, within duration: Duration? = nil) async {
        await state.wait(cancelled: ()) { waiter in
            let isOver = state.withLock { state in
                let watcher = Watcher(count: count, duration: duration, waiter: waiter)
                if state.satisfies(watcher) || Task.isCancelled { return true }
                state.watchers.append(watcher)
                return false
            }
            if isOver { waiter.resume() }
        } leave: { id in
            state.withLock { state in
                state.watchers.firstIndex { $0.waiter.id == id }.map { state.watchers.remove(at: $0).waiter }
            }
        }
    }
}

// MARK: - Seeded generator

/// A random number generator (SplitMix64) that returns the same sequence for the same seed, so a test is reproducible.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Creates a generator with a seed.
    public init(seed: UInt64) {
        state = seed
    }

    /// Returns the next random number.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
