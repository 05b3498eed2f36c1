#if os(Linux)
import SluiceTesting
import Testing

@testable import SluiceHTTP

@Suite struct SleepQueueTests {
    private static func time(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

    /// Compares the queue with an array through random events.
    @Test(arguments: 0..<20 as Range<UInt64>)
    func elementsEndInTheOrderOfTheirTimes(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var queue = SleepQueue<Int>()
        var model: [(end: Int64, number: Int)] = []
        var now: Int64 = 0
        for number in 0..<2000 {
            switch Int.random(in: 0..<5, using: &random) {
            case 0, 1, 2:
                let end = now + Int64.random(in: 1...500, using: &random)
                queue.insert(number, number: number, until: Self.time(end))
                model.append((end, number))
            case 3:
                let removed = model.randomElement(using: &random)?.number ?? -1
                #expect(queue.remove(removed) == (removed < 0 ? nil : removed))
                #expect(queue.remove(removed) == nil)
                model.removeAll { $0.number == removed }
            default:
                now += Int64.random(in: 0...100, using: &random)
                let ended = queue.removeEnded(at: Self.time(now))
                #expect(Set(ended) == Set(model.filter { $0.end <= now }.map(\.number)))
                let ends = ended.map { number in model.first { $0.number == number }?.end ?? 0 }
                #expect(ends == ends.sorted())
                model.removeAll { $0.end <= now }
            }
            #expect(queue.count == model.count)
            #expect(queue.earliest <= model.map { Self.time($0.end) }.min() ?? .distantFuture)
        }
    }

    /// Each request with a time-out cancels its sleep when it ends.
    @Test func removedElementsLeaveNothing() {
        var queue = SleepQueue<Int>()
        for number in 0..<100_000 {
            queue.insert(number, number: number, until: Self.time(3600 + Int64(number)))
            if number >= 64 { _ = queue.remove(number - 64) }
            #expect(queue.storedTimes <= 200)
        }
        #expect(queue.count == 64)
        // The timer of the system does not ring for them.
        for number in 99_900..<100_000 { _ = queue.remove(number) }
        #expect(queue.earliest == .distantFuture)
    }
}

@Suite struct SystemClockTests {
    private let clock = SystemClock()

    @Test func sleepsLastAtLeastTheirTime() async throws {
        try await withThrowingTaskGroup(of: Duration.self) { group in
            for milliseconds in [300, 100, 1, 200] {
                group.addTask {
                    let start = clock.now
                    try await clock.sleep(for: .milliseconds(milliseconds))
                    return start.duration(to: clock.now) - .milliseconds(milliseconds)
                }
            }
            for try await excess in group { #expect(excess >= .zero) }
        }
    }

    /// While the system is suspended, its timers stand still.
    @Test(.timeLimit(.minutes(1)))
    func sleepsEndAfterTheSystemWasSuspended() async throws {
        let suspended = Locked(Duration.zero)
        let timer = SleepTimer { .now + suspended.withLock { $0 } }
        let start = ContinuousClock.now
        let long = Task { await timer.sleep(for: .seconds(1800)) }
        let endless = Task { await timer.sleep(for: .seconds(Int64.max)) }
        try await waitUntil("both sleeps have begun") { timer.count == 2 }
        suspended.withLock { $0 = .seconds(3600) }
        #expect(await timer.sleep(for: .milliseconds(10)))
        #expect(await long.value)
        endless.cancel()
        #expect(await !endless.value)
        #expect(ContinuousClock.now - start < .seconds(60))
    }

    @Test(arguments: [Duration.seconds(3600), .seconds(Int64.max), Duration(attoseconds: .max)])
    func cancelledSleepEndsAtOnce(_ duration: Duration) async {
        let tasks = (0..<1000).map { _ in Task { try await clock.sleep(for: duration) } }
        for task in tasks { task.cancel() }
        for task in tasks {
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        await #expect(throws: CancellationError.self) {
            try await Task {
                withUnsafeCurrentTask { $0?.cancel() }
                try await clock.sleep(for: .zero)
            }.value
        }
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .seconds(Int64.min), Duration(attoseconds: .min)])
    func sleepForNoTimeReturnsAtOnce(_ duration: Duration) async throws {
        try await clock.sleep(for: duration)
    }
}
#endif
