#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceTesting
import Synchronization
import Testing

@testable import SluiceEngine

/// The progress of a signal's handler, which must not use a lock.
private enum SignalHandler {
    static let hasBegun = Atomic(false)
    static let mayEnd = Atomic(false)
}

extension EngineTests {
    /// Requests that end before their deadline, and requests that do not.
    @Suite struct DeadlineTests {
        private let transport = SocketTransport()

        @Test func informationalResponsesDoNotExtendTheTotalTime() async throws {
            let server = try LoopbackServer()
            typealias Step = LoopbackResponse.Step
            let hint: [Step] = [.write("HTTP/1.1 103 Early Hints\r\n\r\n"), .pause(.milliseconds(200))]
            let hints: [Step] = (0..<90).flatMap { _ in hint }
            let end: [Step] = [.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")]
            server.on("/hints", .script(hints + end))
            let seen = Locked(0)
            var context = TransferContext(timeouts: Timeouts(total: .seconds(3)))
            context.onInformational = { _ in seen.withLock { $0 += 1 } }
            let start = ContinuousClock.now
            let error = await transport.failure(of: server.request("/hints"), context)
            let time = ContinuousClock.now - start
            #expect(error?.code == .timedOut)
            #expect(time >= .seconds(3))
            #expect(time < .seconds(7), "\(time)")
            #expect(seen.withLock { $0 } > 0)
            try await waitUntil("the connection is closed") { server.openConnections == 0 }
            #expect(transport.isQuiet)
        }

        @Test(arguments: [false, true])
        func stalledUploadEndsAtTheIdleTimeout(_ isStream: Bool) async throws {
            let resumes = DispatchSemaphore(value: 0)
            defer { resumes.signal() }
            let listener = try TestListener { descriptor in
                guard TestListener.readHead(descriptor) != nil else { return }
                resumes.wait()
                TestListener.discardInput(descriptor)
            }
            let endless = AsyncStream<Data>(unfolding: { Data(count: 64 << 10) })
            let body: RequestBody = isStream ? .stream(endless) : .data(Data(count: 32 << 20))
            let context = TransferContext(timeouts: Timeouts(idle: .milliseconds(300), total: .seconds(60)))
            let start = ContinuousClock.now
            let error = await transport.failure(of: listener.request(method: .put, body: body), context)
            let time = ContinuousClock.now - start
            #expect(error?.code == .idleTimedOut)
            #expect(time >= .milliseconds(300))
            resumes.signal()
            try await waitUntil("the connection is closed") {
                listener.connections == 1 && listener.openConnections == 0
            }
            #expect(transport.isQuiet)
        }

        @Test func dataThatArrivesDuringALongTurnPrecedesTimeouts() async {
            await #expect(processExitsWith: .exitCode(7)) {
                let hint = "HTTP/1.1 103 Early Hints\r\n\r\n"
                let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
                let count = Int64(hint.utf8.count + answer.utf8.count)
                let signal = LoopbackSignal()
                let server = try LoopbackServer()
                server.on("/", .script(.write(hint), .wait(for: signal), .write(answer)))
                var context = TransferContext(timeouts: Timeouts(idle: .seconds(3)))
                context.onInformational = { _ in
                    // Blocks the loop's thread until the idle timeout has passed and the response has arrived.
                    signal.fire()
                    let start = ContinuousClock.now
                    let end = start + .milliseconds(3300)
                    let limit = start + .seconds(20)
                    while ContinuousClock.now < end || (server.bytesSent < count && ContinuousClock.now < limit) {
                        usleep(1000)
                    }
                }
                let transport = SocketTransport()
                let response = try await transport.exchange(server.request("/"), context)
                try #require(response.text == "ok")
                exit(7)
            }
        }

        /// A signal interrupts the wait of the loop, as the end of a stop does.
        @Test func dataThatArrivesDuringASignalPrecedesTimeouts() async {
            await #expect(processExitsWith: .exitCode(7)) {
                let loop = try #require(try Engine.withOneLoop().loops.first)
                let thread = await withCheckedContinuation { (continuation: CheckedContinuation<pthread_t, Never>) in
                    loop.post { _ in
                        var signals = sigset_t()
                        sigaddset(&signals, SIGUSR1)
                        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
                        continuation.resume(returning: pthread_self())
                    }
                }
                // The first use initializes the value, which a handler must not do.
                SignalHandler.hasBegun.store(false, ordering: .sequentiallyConsistent)
                SignalHandler.mayEnd.store(false, ordering: .sequentiallyConsistent)
                signal(SIGUSR1) { _ in
                    SignalHandler.hasBegun.store(true, ordering: .sequentiallyConsistent)
                    while !SignalHandler.mayEnd.load(ordering: .sequentiallyConsistent) { poll(nil, 0, 1) }
                }
                let answers = LoopbackSignal()
                let server = try LoopbackServer()
                let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
                server.on("/", .script(.wait(for: answers), .write(answer)))
                let transport = SocketTransport()
                let task = Task {
                    try await transport.exchange(
                        server.request("/"),
                        TransferContext(timeouts: Timeouts(idle: .seconds(3)))
                    )
                }
                await server.waitForRequests(1)
                pthread_kill(thread, SIGUSR1)
                try await waitUntil("the handler has begun") {
                    SignalHandler.hasBegun.load(ordering: .sequentiallyConsistent)
                }
                answers.fire()
                let end = ContinuousClock.now + .seconds(3)
                try await waitUntil("the idle timeout has passed and the response has arrived") {
                    ContinuousClock.now > end && server.bytesSent >= answer.utf8.count
                }
                SignalHandler.mayEnd.store(true, ordering: .sequentiallyConsistent)
                try #require(try await task.value.text == "ok")
                exit(7)
            }
        }
    }
}
#endif
