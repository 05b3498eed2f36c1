#if os(Linux)
import CSSL
import Foundation
import SluiceHTTP
import Synchronization
import Testing

@testable import SluiceEngine

private let jobHasEnded = Atomic(false)

extension EngineTests {
    /// The end of the process while requests are in flight.
    @Suite struct ExitTests {
        /// A program may have initialized OpenSSL with its exit handler, after which threads that use it crash.
        @Test func loopsStopBeforeOpenSSL() async {
            await #expect(processExitsWith: .exitCode(7)) {
                OPENSSL_init_ssl(0, nil)
                _ = try Engine.withOneLoop()
                OPENSSL_atexit {
                    let hasRun = DispatchSemaphore(value: 0)
                    Engine.shared?.loops.first?.post { _ in hasRun.signal() }
                    _exit(hasRun.wait(timeout: .now() + 1) == .timedOut ? 7 : 8)
                }
                exit(0)
            }
        }

        /// Another library of the program may initialize OpenSSL with its exit handler after the engine has started.
        @Test func loopsStopBeforeOpenSSLThatIsLoadedLater() async {
            await #expect(processExitsWith: .exitCode(7)) {
                _ = try Engine.withOneLoop()
                OPENSSL_init_ssl(0, nil)
                OPENSSL_atexit {
                    let hasRun = DispatchSemaphore(value: 0)
                    Engine.shared?.loops.first?.post { _ in hasRun.signal() }
                    _exit(hasRun.wait(timeout: .now() + 1) == .timedOut ? 7 : 8)
                }
                _ = openSSL
                exit(0)
            }
        }

        /// The exit waits until the job of a loop has ended, also if a signal arrives and no descriptor is free.
        @Test func exitWaitsForTheLoopsWithoutDescriptors() async {
            await #expect(processExitsWith: .exitCode(7)) {
                let engine = try Engine.withOneLoop()
                signal(SIGUSR1) { _ in }
                atexit { _exit(jobHasEnded.load(ordering: .sequentiallyConsistent) ? 7 : 8) }
                LoopShutdown.registerHandler()
                var limit = rlimit()
                getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                limit.rlim_cur = min(limit.rlim_cur, 256)
                setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                while dup(0) >= 0 {}
                let isRunning = Locked(false)
                let exiting = pthread_self()
                engine.loops[0].post { _ in
                    isRunning.withLock { $0 = true }
                    for _ in 0..<20 {
                        usleep(10_000)
                        pthread_kill(exiting, SIGUSR1)
                    }
                    jobHasEnded.store(true, ordering: .sequentiallyConsistent)
                }
                while !isRunning.withLock({ $0 }) { sched_yield() }
                exit(0)
            }
        }

        /// Threads of the program and of its background work go on until the process is gone.
        @Test(arguments: 1...4) func threadsMayHashWhileTheProcessExits(_ round: Int) async {
            await #expect(processExitsWith: .exitCode(0)) {
                _ = SystemSHA256.digest(of: [1])
                _ = try Engine.withOneLoop()
                let begun = DispatchSemaphore(value: 0)
                for _ in 0..<6 {
                    Thread.detachNewThread {
                        for round in 0... {
                            guard SystemSHA256.digest(of: [1, 2, 3]) != nil else { abort() }
                            if round == 1000 { begun.signal() }
                        }
                    }
                }
                for _ in 0..<6 { begun.wait() }
                exit(0)
            }
        }
    }
}
#endif
