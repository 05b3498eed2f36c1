import SluiceTesting
import XCTest

@testable import SluiceHTTP

final class TransferMeterTests: XCTestCase {
    private let clock = TestClock()

    private func meter() -> (TransferMeter, TransferProgressSequence) {
        let meter = TransferMeter(clock: clock)
        return (meter, TransferProgressSequence(meter, .download, clock: clock))
    }

    func testListenerGetsTheCurrentStateFirstAndTheFinalStateLast() async {
        let (meter, progress) = meter()
        let reporter = meter.begin(uploading: 0)
        reporter.expected(100)
        reporter.received(40)
        var listener = progress.makeAsyncIterator()
        let first = await listener.next()
        XCTAssertEqual(first?.completed, 40)
        XCTAssertEqual(first?.total, 100)
        XCTAssertEqual(first?.attempt, 1)
        reporter.received(100)
        meter.end()
        let last = await listener.next()
        XCTAssertEqual(last?.completed, 100)
        let end = await listener.next()
        XCTAssertNil(end)
        var late = progress.makeAsyncIterator()
        let final = await late.next()
        XCTAssertEqual(final?.completed, 100)
        let lateEnd = await late.next()
        XCTAssertNil(lateEnd)
    }

    func testSlowListenerGetsOnlyTheNewestValue() async {
        let (meter, progress) = meter()
        let reporter = meter.begin(uploading: 0)
        var listener = progress.makeAsyncIterator()
        _ = await listener.next()
        for count in 1...1000 { reporter.received(Int64(count)) }
        clock.advance(by: .seconds(1))
        let value = await listener.next()
        XCTAssertEqual(value?.completed, 1000)
    }

    /// A transport may report while it holds a lock that the listener's next request needs.
    func testListenerDoesNotRunOnTheReportingThread() async {
        let (meter, progress) = meter()
        let reporter = meter.begin(uploading: 0)
        let (values, count) = AsyncStream.makeStream(of: Bool.self)
        let reporting = Locked(pthread_t?.none)
        let listener = Task(executorPreference: InlineExecutor()) {
            var iterator = progress.makeAsyncIterator()
            while await iterator.next() != nil {
                count.yield(reporting.withLock { $0.map { pthread_equal($0, pthread_self()) != 0 } ?? false })
            }
        }
        var isOnReportingThread = values.makeAsyncIterator()
        let first = await isOnReportingThread.next()
        XCTAssertEqual(first, false)
        clock.advance(by: .seconds(1))
        let end = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            reporting.withLock { $0 = pthread_self() }
            // The listener may not wait yet.
            while end.wait(timeout: .now() + .milliseconds(1)) == .timedOut { reporter.received(1) }
        }
        let second = await isOnReportingThread.next()
        XCTAssertEqual(second, false)
        end.signal()
        meter.end()
        await listener.value
    }

    func testAtMostTwentyValuesPerSecond() async {
        let (meter, progress) = meter()
        let reporter = meter.begin(uploading: 0)
        let seen = Locked(0)
        let values = Task {
            for await _ in progress { seen.withLock { $0 += 1 } }
        }
        for step in 0..<20 {
            while seen.withLock({ $0 }) <= step { await Task.yield() }
            // The reader has just received a value, and sleeps although newer values exist.
            reporter.received(Int64(step * 10 + 1))
            await clock.waitForSleepers(1)
            reporter.received(Int64(step * 10 + 2))
            XCTAssertEqual(clock.pendingSleeps, [.milliseconds(50)])
            clock.advance(by: .milliseconds(50))
        }
        while seen.withLock({ $0 }) <= 20 { await Task.yield() }
        // The last value does not wait for the rest of the pause.
        meter.end()
        await values.value
        XCTAssertEqual(seen.withLock { $0 }, 22)
    }

    func testReplacedTransferIsIgnored() async {
        let (meter, progress) = meter()
        let old = meter.begin(uploading: 10)
        old.received(7)
        let new = meter.begin(uploading: 10)
        old.received(9)
        new.received(2)
        var listener = progress.makeAsyncIterator()
        let value = await listener.next()
        XCTAssertEqual(value?.completed, 2)
        XCTAssertEqual(value?.attempt, 2)
    }

    func testCancelledListenerEndsWithoutBlockingTheTransfer() async {
        let (meter, progress) = meter()
        let task = Task {
            var count = 0
            for await _ in progress { count += 1 }
            return count
        }
        task.cancel()
        _ = await task.value
        let reporter = meter.begin(uploading: 0)
        reporter.received(1)
        meter.end()
    }

    func testManyListenersAllSeeTheEnd() async {
        let (meter, progress) = meter()
        let listeners = (0..<100).map { _ in
            Task { await progress.reduce(into: nil as TransferProgress?) { $0 = $1 } }
        }
        let reporter = meter.begin(uploading: 0)
        for count in 1...50 {
            reporter.received(Int64(count))
            await Task.yield()
        }
        meter.end()
        for listener in listeners {
            let last = await listener.value
            XCTAssertEqual(last?.completed, 50)
        }
    }

    func testBytesPresentAtTheStartDoNotCountTowardsTheSpeed() async {
        let (meter, progress) = meter()
        var listener = progress.makeAsyncIterator()
        _ = await listener.next()
        clock.advance(by: .seconds(1))
        meter.set(.download, completed: 1_000_000, total: 2_000_000, isStart: true)
        let start = await listener.next()
        XCTAssertNil(start?.bytesPerSecond)
        clock.advance(by: .seconds(1))
        meter.set(.download, completed: 1_000_500, total: 2_000_000)
        let next = await listener.next()
        XCTAssertEqual(next?.bytesPerSecond, 500)
    }

    func testNothingIsCountedAfterTheEnd() async {
        let (meter, progress) = meter()
        meter.begin(uploading: 0).received(5)
        meter.end()
        meter.begin(uploading: 0).received(1)
        var listener = progress.makeAsyncIterator()
        let final = await listener.next()
        XCTAssertEqual(final?.completed, 5)
        XCTAssertEqual(final?.attempt, 1)
    }

    func testSpeedIsMeasuredFromTheFirstListener() async {
        let (meter, progress) = meter()
        let reporter = meter.begin(uploading: 0)
        reporter.expected(1000)
        var listener = progress.makeAsyncIterator()
        let first = await listener.next()
        XCTAssertNil(first?.bytesPerSecond)
        clock.advance(by: .milliseconds(500))
        reporter.received(250)
        let second = await listener.next()
        XCTAssertEqual(second?.bytesPerSecond, 500)
        XCTAssertEqual(second?.timeLeft, .milliseconds(1500))
    }
}

/// Runs each job on the thread that makes it ready.
private final class InlineExecutor: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
    }
}
