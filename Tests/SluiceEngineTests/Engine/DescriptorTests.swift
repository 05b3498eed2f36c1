#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceEngine

extension EngineTests {
    /// Processes that run out of descriptors, use very many, or share them with a forked process.
    @Suite struct DescriptorTests {
        /// libdispatch ends a process in which work waits while no descriptor is free, and the timers of tasks do not fire. While there are
        /// no descriptors, this test therefore blocks its thread.
        @Test func exhaustedDescriptorsCloseIdleConnectionsOrDelayRequests() async {
            await #expect(processExitsWith: .exitCode(7)) {
                try Exhaustion().run()
                exit(7)
            }
        }

        /// The process inherits descriptors that other tests have open. The limit is well above their numbers.
        @Test(.enabled(if: maximumDescriptors() >= 4096, "The hard limit on descriptors is below 4,096."))
        func lastDescriptorsAreLeftToTheProgram() async {
            await #expect(processExitsWith: .exitCode(7)) {
                // The runtime opens its own descriptors for the first timer.
                try await Task.sleep(for: .nanoseconds(1))
                try #require(setDescriptorLimit(4096))
                let budget = DescriptorBudget()
                var sockets: [Int32] = []
                var socket = budget.socket(AF_INET)
                while socket >= 0 {
                    sockets.append(socket)
                    socket = budget.socket(AF_INET)
                }
                try #require(errno == EMFILE && budget.count == sockets.count && sockets.count > 2048)
                for _ in 0..<16 { try #require(open("/dev/null", O_RDONLY) >= 0) }
                exit(7)
            }
        }

        private struct Exhaustion {
            let engine: Engine
            let loop: EventLoop
            let server: LoopbackServer
            let transport = SocketTransport()

            init() throws {
                engine = try Engine.withOneLoop()
                loop = try #require(engine.loops.first)
                server = try LoopbackServer()
                server.on("/*", .text("ok"))
                try #require(setDescriptorLimit(256))
            }

            func run() throws {
                let before = openSockets()
                for index in 0..<4 { try #require(try send(to: "h\(index).test").get() == "ok") }
                try #require(engine.descriptors.count == 4)
                var taken = takeDescriptors()
                try #require(!taken.isEmpty)

                // Each connection replaces one to another host.
                for index in 4..<12 {
                    try #require(try send(to: "h\(index).test").get() == "ok")
                    try #require(engine.descriptors.count == 4)
                }

                // If no connection is idle, the engine retries at intervals, without a busy loop.
                try closeConnections()
                taken += takeDescriptors()
                let start = processorTime()
                let error = send(to: "early.test", Timeouts(connect: .seconds(1))).error
                let used = processorTime() - start
                try #require(error?.code == .connectTimedOut)
                try #require(used < .milliseconds(200), "\(used)")

                let late = Pending<Result<String, SluiceError>>()
                begin("late.test", Timeouts(), late)
                // This call is queued after the first attempt.
                _ = processorTime()
                try #require(!late.hasEnded)
                for descriptor in taken { close(descriptor) }
                try #require(try late.wait().get() == "ok")
                try closeConnections()
                try #require(engine.descriptors.count == 0)
                try block("all sockets are closed") { openSockets() == before }
            }

            private func send(to host: String, _ timeouts: Timeouts = Timeouts()) -> Result<String, SluiceError> {
                let answer = Pending<Result<String, SluiceError>>()
                begin(host, timeouts, answer)
                return answer.wait()
            }

            private func begin(_ host: String, _ timeouts: Timeouts, _ answer: Pending<Result<String, SluiceError>>) {
                var context = TransferContext.anyHost
                context.timeouts = timeouts
                _ = transport.begin(server.request("/", host: host), context: context) { result in
                    answer.end(result.map { String(decoding: $0.body.whole?.data ?? Data(), as: UTF8.self) })
                }
            }

            /// Closes all connections, and waits until both sides have closed them. A connection is idle a little after its answer.
            private func closeConnections() throws {
                try block("the slots are free") { transport.isQuiet }
                while transport.pool?.closeOldestIdle() == true {}
                try block("the connections are closed") { server.openConnections == 0 }
            }

            /// Blocks the thread until a condition is true.
            private func block(_ description: Comment, until condition: () -> Bool) throws {
                let end = ContinuousClock.now + .seconds(30)
                while !condition() {
                    try #require(ContinuousClock.now < end, description)
                    usleep(1000)
                }
            }

            /// The processor time of the loop's thread.
            private func processorTime() -> Duration {
                let time = Pending<Duration>()
                loop.post { _ in
                    var now = timespec()
                    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now)
                    time.end(.seconds(now.tv_sec) + .nanoseconds(now.tv_nsec))
                }
                return time.wait()
            }
        }

        /// A value that another thread provides. A thread that waits for it blocks.
        private final class Pending<Value: Sendable>: Sendable {
            private let value = Locked<Value?>(nil)
            private let signal = DispatchSemaphore(value: 0)

            var hasEnded: Bool { value.withLock { $0 != nil } }

            func end(_ value: Value) {
                self.value.withLock { $0 = value }
                signal.signal()
            }

            func wait() -> Value {
                while true {
                    signal.wait()
                    if let value = value.withLock({ $0 }) { return value }
                }
            }
        }

        /// While there are no descriptors, nothing waits, because libdispatch would end the process.
        @Test func engineStartsOnceThereAreDescriptors() async {
            await #expect(processExitsWith: .exitCode(7)) {
                let server = try LoopbackServer()
                server.on("/*", .text("ok"))
                let request = server.request("/")
                try #require(setDescriptorLimit(256))
                let taken = takeDescriptors()
                let transport = SocketTransport()
                let codes = Locked<[SluiceError.Code?]>([])
                _ = transport.begin(request, context: TransferContext()) { result in
                    codes.withLock { $0.append(result.error?.code) }
                }
                for descriptor in taken { close(descriptor) }
                try #require(codes.withLock { $0 } == [.internalFailure])
                for transport in [transport, SocketTransport()] {
                    let response = try await transport.exchange(request)
                    try #require(response.text == "ok")
                }
                exit(7)
            }
        }

        @Test(.enabled(if: maximumDescriptors() >= 2048, "The hard limit on descriptors is below 2,048."))
        func descriptorsOver1024Work() async {
            await #expect(processExitsWith: .exitCode(7)) {
                try #require(setDescriptorLimit(2048))
                let taken = takeDescriptors(upTo: 1100)
                try #require(taken.last.map { $0 >= 1100 } == true)
                let certificates = try TestCertificates.shared.get()
                let plain = try LoopbackServer()
                plain.on("/*", .text("ok"))
                let secure = try TestHTTPSServer(certificates.right)
                let context = TransferContext.http1(TLSConfiguration(trust: .only(certificates.root.source)))
                let transport = SocketTransport()
                for host in ["127.0.0.1", "localhost"] {
                    for isReused in [false, true] {
                        let answers: [ReadResponse] = [
                            try await transport.exchange(plain.request("/", host: host)),
                            try await transport.exchange(secure.request("/", host: host), context),
                        ]
                        try #require(answers.map(\.text) == ["ok", "GET / 0"])
                        try #require(answers.allSatisfy { $0.metrics?.isConnectionReused == isReused })
                    }
                }
                try #require(transport.isQuiet)
                exit(7)
            }
        }

        /// A program can create its clients before it forks.
        @Test func engineStartsWithTheFirstRequest() async {
            await #expect(processExitsWith: .exitCode(7)) {
                let server = try LoopbackServer()
                server.on("/*", .text("ok"))
                let before = eventQueues()
                let transport = SocketTransport()
                try #require(transport.connections == ConnectionSnapshot())
                try #require(eventQueues() == before)
                let response = try await transport.exchange(server.request("/"))
                try #require(response.text == "ok")
                try #require(eventQueues() > before)
                exit(7)
            }
        }

        @Test func forkedProcessDoesNotUseTheConnectionsOfItsParent() async {
            await #expect(processExitsWith: .exitCode(7)) {
                guard let symbol = dlsym(nil, "fork") else { exit(1) }
                let fork = unsafeBitCast(symbol, to: Fork.self)
                let server = try LoopbackServer()
                server.on("/*", .text("ok"))
                let transport = SocketTransport()
                let first = try await transport.exchange(server.request("/parent"))
                try #require(first.text == "ok")
                let certificates = try TestCertificates.shared.get()
                let secure = try TestHTTPSServer(certificates.right)
                let context = TransferContext.http1(TLSConfiguration(trust: .only(certificates.root.source)))
                _ = try await transport.exchange(secure.request("/"), context)
                let request = server.request("/child")
                let codes = Locked<[SluiceError.Code?]>([])
                let child = fork()
                if child == 0 {
                    // This is the only thread of the process, and it blocks on nothing.
                    for transport in [transport, SocketTransport()] {
                        _ = transport.begin(request, context: TransferContext()) { result in
                            codes.withLock { $0.append(result.error?.code) }
                        }
                    }
                    // The end of a TLS connection would be written to the socket.
                    transport.retireConnections()
                    transport.pool?.close()
                    let isRefused = codes.withLock { $0 == [.internalFailure, .internalFailure] }
                    _exit(isRefused ? 9 : 1)
                }
                let end = ContinuousClock.now + .seconds(30)
                var status: Int32 = 0
                var ended: pid_t = 0
                while ended == 0, ContinuousClock.now < end {
                    await Task.yield()
                    ended = waitpid(child, &status, WNOHANG)
                }
                if ended == 0 { kill(child, SIGKILL) }
                try #require(ended == child)
                // The exit code of the child.
                try #require(status == 9 << 8)
                let next = try await transport.exchange(server.request("/parent"))
                try #require(next.text == "ok")
                try #require(next.metrics?.isConnectionReused == true)
                try #require(server.requests.map(\.path) == ["/parent", "/parent"])
                let secured = try await transport.exchange(secure.request("/"), context)
                try #require(secured.metrics?.isConnectionReused == true)
                exit(7)
            }
        }
    }
}

/// fork(2), which Swift does not import on every system.
private typealias Fork = @convention(c) () -> pid_t

/// Returns the number of the process's epoll descriptors.
private func eventQueues() -> Int {
    let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return descriptors.count { descriptor in
        let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
        return target == "anon_inode:[eventpoll]"
    }
}

/// Returns the soft and hard RLIMIT_NOFILE.
private func descriptorLimits() -> rlimit {
    var limits = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
    return limits
}

private func maximumDescriptors() -> Int { Int(clamping: descriptorLimits().rlim_max) }

/// Sets the soft limit; false if the system refuses.
private func setDescriptorLimit(_ count: Int) -> Bool {
    var limits = descriptorLimits()
    limits.rlim_cur = rlim_t(count)
    return setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits) == 0
}

/// Opens descriptors up to a number, or until the system gives no more.
private func takeDescriptors(upTo number: Int32 = .max) -> [Int32] {
    var taken: [Int32] = []
    while (taken.last ?? -1) < number {
        let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
        if descriptor < 0 { break }
        taken.append(descriptor)
    }
    return taken
}

/// The number of sockets with descriptors below 256. Other descriptors come and go with libdispatch.
private func openSockets() -> Int {
    let all: Range<Int32> = 0..<256
    return all.count { descriptor in
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }
}
#endif
