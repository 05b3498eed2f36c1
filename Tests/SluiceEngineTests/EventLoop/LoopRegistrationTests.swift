#if os(Linux)
import SluiceHTTP
import Testing

@testable import SluiceEngine

@Suite("The timer of a connection")
struct LoopRegistrationTests {
    private final class Handler: LoopHandler {
        private let fired: AsyncStream<Void>.Continuation

        init(_ fired: AsyncStream<Void>.Continuation) {
            self.fired = fired
        }

        func ready(_ events: UInt32, on thread: LoopThread) {}

        func deadlinePassed(on thread: LoopThread) {
            fired.yield()
        }
    }

    /// A connection that has no socket.
    private final class Timed: Sendable {
        let lock = ConnectionLock<Void>(())
        let registration: LoopRegistration

        init(_ registration: LoopRegistration) {
            self.registration = registration
        }

        func moveDeadline(to delay: Duration) {
            let now = MonotonicTime.now
            lock.withLock { _ in _ = lock.moveDeadline(to: now + delay, at: now) }
        }
    }

    @Test("A posted timer does not replace an earlier deadline that was set in the meantime", .timeLimit(.minutes(1)))
    func earlierDeadlineRemains() async throws {
        let loop = try #require(try Engine.available.get().loops.first)
        let (times, fired) = AsyncStream<Void>.makeStream()
        let handler = Handler(fired)
        let timed = await withCheckedContinuation { continuation in
            loop.post { thread in
                let timed = Timed(LoopRegistration(loop: loop, registration: thread.register(handler)))
                timed.moveDeadline(to: .seconds(3600))
                // The timer is set by a later job of the loop.
                timed.registration.setTimer(at: timed.lock.deadline, on: nil)
                timed.moveDeadline(to: .milliseconds(1))
                continuation.resume(returning: timed)
            }
        }
        var iterator = times.makeAsyncIterator()
        _ = await iterator.next()
        timed.registration.unregister(on: nil)
    }

    @Test("A deadline moves forward only, until its timer fires")
    func deadlinesMoveForward() {
        let lock = ConnectionLock<Void>(())
        let start = MonotonicTime.now
        func move(to seconds: Int, at now: Int = 0) -> Bool {
            lock.withLock { _ in lock.moveDeadline(to: start + .seconds(seconds), at: start + .seconds(now)) }
        }
        func deadline() -> MonotonicTime { lock.deadline }
        #expect(move(to: 2))
        #expect(!move(to: 3))
        #expect(deadline() == start + .seconds(2))
        #expect(move(to: 1))
        #expect(deadline() == start + .seconds(1))
        // A timer that is due is set again, since it may have fired while the lock was held.
        #expect(move(to: 3, at: 1))
        #expect(deadline() == start + .seconds(1))
        lock.removeDeadline()
        #expect(deadline() == .distantFuture)
        #expect(move(to: 3, at: 1))
        #expect(deadline() == start + .seconds(3))
    }
}
#endif
