#if os(Linux)
import Foundation
import SluiceHTTP

@testable import SluiceEngine

/// Holds the loops of an engine, so that a test decides what has come by the time they go on.
///
/// For processes of a test's own, since the requests of all others stand still meanwhile.
final class LoopGate: Sendable {
    private let count: Int
    private let held = Locked(0)
    private let gate = DispatchSemaphore(value: 0)

    /// Holds each loop behind the work that has been posted to it before.
    init(_ engine: Engine) {
        count = engine.loops.count
        for loop in engine.loops {
            loop.post { [held, gate] _ in
                held.withLock { $0 += 1 }
                gate.wait()
            }
        }
    }

    /// True once all loops stand still.
    var isClosed: Bool { held.withLock { $0 } == count }

    /// Lets the loops go on.
    func open() {
        for _ in 0..<count { gate.signal() }
    }
}

extension Engine {
    /// The engine with a single loop, in a process that has used no transport yet.
    static func withOneLoop() throws -> Engine {
        SocketTransport.setLoopCount(1)
        return try available.get()
    }
}

extension EventLoop {
    /// The processor time that the loop's thread has used, asked behind the work that has been posted before.
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
