#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceEngine

extension EngineTests {
    /// Requests that wait for a slot.
    @Suite struct WaitingRequestsTests {
        private let server: LoopbackServer
        private let signal = LoopbackSignal()

        init() throws {
            server = try LoopbackServer()
            server.on("/held*", .after(signal, .text("held")))
            server.on("/*", .text("ok"))
        }

        /// Returns a transport with one slot, and the request that occupies it.
        private func occupied(
            waiting: Int = 100
        ) async -> (SocketTransport, Task<Result<ReadResponse, SluiceError>, Never>) {
            let transport = SocketTransport {
                $0.maximumTransfers = 1
                $0.maximumWaitingTransfers = waiting
            }
            let request = server.request("/held")
            let task = Task { await transport.result(of: request) }
            await server.waitForRequests(1)
            return (transport, task)
        }

        @Test func thousandsOfFailuresAreAllReported() async throws {
            let transport = SocketTransport()
            let context = TransferContext.http1(TLSConfiguration(trust: .only(.file("/nonexistent"))))
            let request = HTTPRequest(scheme: "https", authority: server.authority, path: "/")
            let failed = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<16_000 {
                    group.addTask {
                        let error = await transport.failure(of: request, context)
                        let check = (error?.underlyingError as? TLSFailure)?.check
                        return error?.code == .tlsFailed && check == .authoritiesUnreadable
                    }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(failed == 16_000)
            #expect(server.connections == 0)
            #expect(try await transport.exchange(server.request("/good")).text == "ok")
            #expect(transport.isQuiet)
        }

        @Test func concurrentRequestsAreLimited() async throws {
            let transport = SocketTransport { $0.maximumTransfers = 3 }
            let tasks = (0..<12).map { index in
                // Four origins, none of which has reached its own limit.
                let request = server.request("/held/\(index)", host: "h\(index % 4).test")
                return Task { await transport.result(of: request, .anyHost) }
            }
            await server.waitForRequests(3)
            try await waitUntil("the other requests wait") { transport.queued == 9 }
            #expect(server.requestCount == 3)
            #expect(server.connections == 3)
            signal.fire()
            for task in tasks { #expect(try await task.value.get().text == "held") }
            #expect(server.requestCount == 12)
            #expect(transport.isQuiet)
        }

        @Test func waitingRequestsStartByPriority() async throws {
            let (transport, first) = await occupied()
            let priorities: [RequestPriority] = [.low, .normal, .high, .low, .normal, .high]
            var tasks: [Task<Result<ReadResponse, SluiceError>, Never>] = []
            for (index, priority) in priorities.enumerated() {
                let request = server.request("/\(index)")
                tasks.append(Task { await transport.result(of: request, TransferContext(priority: priority)) })
                try await waitUntil("the request waits") { transport.queued == index + 1 }
            }
            signal.fire()
            for task in [first] + tasks { _ = try await task.value.get() }
            #expect(server.requests.map(\.path) == ["/held", "/2", "/5", "/1", "/4", "/0", "/3"])
            #expect(server.connections == 1)
        }

        @Test func requestThatTimesOutWhileWaitingIsNotSent() async throws {
            let (transport, first) = await occupied()
            let start = ContinuousClock.now
            let timeouts = Timeouts(total: .milliseconds(200))
            let late = await transport.failure(of: server.request("/late"), TransferContext(timeouts: timeouts))
            #expect(late?.code == .timedOut)
            #expect(ContinuousClock.now - start >= .milliseconds(200))
            #expect(transport.queued == 0)
            signal.fire()
            _ = try await first.value.get()
            #expect(try await transport.exchange(server.request("/next")).text == "ok")
            #expect(server.requests.map(\.path) == ["/held", "/next"])
        }

        @Test func largestLimitsReserveNothing() async throws {
            let longest = Duration.seconds(Int64.max)
            let transport = SocketTransport {
                $0.maximumTransfers = .max
                $0.maximumTransfersPerHost = .max
                $0.maximumWaitingTransfers = .max
                $0.responseBufferSize = .max
                $0.idleConnectionTimeout = longest
                $0.connectionLifetime = longest
            }
            let context = TransferContext(
                timeouts: Timeouts(connect: longest, idle: longest, total: longest, continueWait: longest),
                limits: ResponseLimits(headers: .max, body: .max, decompressionRatio: .max),
                connection: TransferContext.anyHost.connection
            )
            let tasks = (0..<32).map { index in
                let request = server.request("/\(index)", host: "h\(index % 2).test")
                return Task { await transport.result(of: request, context) }
            }
            for task in tasks { #expect(try await task.value.get().text == "ok") }
            #expect(server.requestCount == 32)
            #expect(transport.hasIdle)
            #expect(transport.isQuiet)
        }

        @Test(arguments: [0, 2])
        func requestsBeyondTheQueueLimitFailAtOnce(_ limit: Int) async throws {
            let (transport, first) = await occupied(waiting: limit)
            let waiting = (0..<limit).map { index in
                let request = server.request("/waiting/\(index)")
                return Task { await transport.result(of: request) }
            }
            try await waitUntil("the requests wait") { transport.queued == limit }
            for _ in 0..<5 {
                let refused = await transport.failure(of: server.request("/refused"))
                #expect(refused?.code == .queueFull)
                #expect(refused?.request?.path == "/refused")
            }
            #expect(transport.queued == limit)
            signal.fire()
            for task in [first] + waiting { _ = try await task.value.get() }
            #expect(server.requests(to: "/refused").isEmpty)
            #expect(try await transport.exchange(server.request("/next")).text == "ok")
            #expect(transport.isQuiet)
        }
    }
}
#endif
