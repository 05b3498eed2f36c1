#if os(Linux)
import Foundation
import SluiceHTTP

@testable import SluiceEngine

/// Blocks the event loops of an engine, so that a test decides which events have arrived when they continue.
///
/// Use it only in a separate process, since the requests of other tests would stall.
final class LoopGate: Sendable {
    private let count: Int
    private let held = Locked(0)
    private let gate = DispatchSemaphore(value: 0)

    /// Blocks each loop after the work that was posted before.
    init(_ engine: Engine) {
        count = engine.loops.count
        for loop in engine.loops {
            loop.post { [held, gate] _ in
                held.withLock { $0 += 1 }
                gate.wait()
            }
        }
    }

    /// True if all loops are blocked.
    var isClosed: Bool { held.withLock { $0 } == count }

    /// Lets the loops continue.
    func open() {
        for _ in 0..<count { gate.signal() }
    }
}

extension Engine {
    /// Creates the engine with a single loop, in a process that has not used a transport yet.
    static func withOneLoop() throws -> Engine {
        SocketTransport.setLoopCount(1)
        return try available.get()
    }
}

extension EventLoop {
    /// The processor time of the loop's thread, measured after the work that was posted before.
    func processorTime() async -> Duration {
        await withCheckedContinuation { (continuation: CheckedContinuation<Duration, Never>) in
            post { _ in
                var time = timespec()
                clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
                continuation.resume(returning: Duration.seconds(time.tv_sec) + Duration.nanoseconds(time.tv_nsec))
            }
        }
    }
}
#endif
