#if os(Linux)
import CSSL
import Glibc
import SluiceHTTP
import Synchronization

/// The engine of the process: its event loops and its descriptors.
///
/// It starts with the first transport and runs until the process ends. It needs no shutdown.
package final class Engine: Sendable {
    /// The shared engine, or nil if the system provides no thread or descriptor.
    package static let shared: Engine? = Engine(loops: requestedLoops.load(ordering: .relaxed))

    /// The number of loops to start. 0 selects one loop per two processors, and at most eight.
    package static let requestedLoops = Atomic(0)

    /// True in a process that was forked after its parent started the engine. The sockets belong to the parent.
    static var isForked: Bool { hasForked.load(ordering: .relaxed) }
    private static let hasForked = Atomic(false)

    package static let unavailable = SluiceError(
        .internalFailure,
        "The network engine could not start: the system could not provide a thread, a file descriptor or memory."
    )

    static let forked = SluiceError(
        .internalFailure,
        "This process was forked after the first request, so it cannot send requests. Start another program with exec, or fork before the first request."
    )

    /// The event loops.
    package let loops: [EventLoop]
    /// The open sockets and their limit.
    package let descriptors = DescriptorBudget()
    private let nextLoop = Atomic(0)

    private init?(loops requested: Int) {
        let count = requested > 0 ? requested : max(1, min(8, sysconf(Int32(_SC_NPROCESSORS_ONLN)) / 2))
        // OpenSSL registers no exit handler, which would destroy what threads of others still use. If the program has initialized it before
        // with one, the handler below is registered later, so it runs first. The first TLS policy or hash loads the rest of OpenSSL, such
        // as its configuration file.
        OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
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

    /// The engine for a new client, or an error if it could not start or the process was forked.
    package static var available: Result<Engine, SluiceError> {
        if isForked { return .failure(forked) }
        return shared.map { .success($0) } ?? .failure(unavailable)
    }

    /// Returns the loop for the next connection, in rotation.
    package func chooseLoop() -> EventLoop {
        loops[Int(UInt(bitPattern: nextLoop.wrappingAdd(1, ordering: .relaxed).oldValue) % UInt(loops.count))]
    }

    /// Stops all loops, so that they use nothing that the exiting process destroys.
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
