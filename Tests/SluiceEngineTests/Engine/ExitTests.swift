#if os(Linux)
import CSSL
import Foundation
import Testing

@testable import SluiceEngine

extension EngineTests {
    /// The end of the process while requests are in flight.
    @Suite struct ExitTests {
        /// Threads that use OpenSSL after its exit handler crash.
        @Test func loopsStopBeforeOpenSSL() async {
            await #expect(processExitsWith: .exitCode(7)) {
                _ = try Engine.withOneLoop()
                // The first TLS policy does the same.
                OPENSSL_init_ssl(0, nil)
                OPENSSL_atexit {
                    let hasRun = DispatchSemaphore(value: 0)
                    Engine.shared?.loops.first?.post { _ in hasRun.signal() }
                    _exit(hasRun.wait(timeout: .now() + 1) == .timedOut ? 7 : 8)
                }
                exit(0)
            }
        }
    }
}
#endif
