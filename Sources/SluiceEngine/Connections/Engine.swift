#if os(Linux)
import CSSL
import Glibc
import SluiceHTTP
import Synchronization

/// The process's engine: its loops, and the descriptors that they may use.
///
/// It starts with the first request and ends with the process; there is nothing to shut down.
package final class Engine: Sendable {
    /// The engine; nil where the system gives no thread or descriptor.
    package static let shared: Engine? = Engine(loops: requestedLoops.load(ordering: .relaxed))

    /// The number of loops that the engine starts with; 0 for one for two processors, eight at most.
    package static let requestedLoops = Atomic(0)

    /// True in a process that was forked off one whose engine had started: its sockets belong to the parent.
    static var isForked: Bool { hasForked.load(ordering: .relaxed) }
    private static let hasForked = Atomic(false)

    package static let unavailable = SluiceError(
        .internalFailure,
        "The network engine could not start: the system gave no thread, descriptor or memory."
    )

    static let forked = SluiceError(
        .internalFailure,
        "The process was forked from one that had sent requests; start another program with exec, or fork before the first request."
    )

    /// The loops.
    package let loops: [EventLoop]
    /// The descriptors in use and those that may be.
    let descriptors = DescriptorBudget()
    private let nextLoop = Atomic(0)

    private init?(loops requested: Int) {
        let count = requested > 0 ? requested : max(1, min(8, sysconf(Int32(_SC_NPROCESSORS_ONLN)) / 2))
        // OpenSSL tears itself down in an exit handler that it registers here; the one below, registered later, runs before it.
        OPENSSL_init_ssl(0, nil)
        var loops: [EventLoop] = []
        for index in 0..<count {
            guard let loop = EventLoop(index: index) else { break }
            loops.append(loop)
        }
        guard !loops.isEmpty else { return nil }
        self.loops = loops
        atexit { Engine.shared?.halt() }
        pthread_atfork(nil, nil) { Engine.hasForked.store(true, ordering: .relaxed) }
    }

    /// The engine for a new client; a failure where there is none, and in a forked process.
    static var available: Result<Engine, SluiceError> {
        if isForked { return .failure(forked) }
        return shared.map { .success($0) } ?? .failure(unavailable)
    }

    /// The loop for the next connection; they take turns.
    package func chooseLoop() -> EventLoop {
        loops[Int(UInt(bitPattern: nextLoop.wrappingAdd(1, ordering: .relaxed).oldValue) % UInt(loops.count))]
    }

    /// Stops every loop, so that nothing is in use that the process is about to take down.
    private func halt() {
        if Engine.isForked { return }
        let latches = loops.map { loop in
            let latch = ExitLatch()
            loop.halt(latch)
            return latch
        }
        for latch in latches { latch.wait(milliseconds: 1000) }
    }
}
#endif
