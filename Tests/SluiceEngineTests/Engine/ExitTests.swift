#if os(Linux)
import CSSL
import Foundation
import SluiceHTTP
import Testing

@testable import SluiceEngine

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
