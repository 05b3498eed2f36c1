#if os(Linux)
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceEngine

extension EngineTests {
    @Suite(.timeLimit(.minutes(10))) struct TransferLimitTests {
        private static func transport(perHost: Int, inAll: Int, waiting: Int = 16_384) -> SocketTransport {
            var configuration = SocketTransport.Configuration()
            configuration.maximumWaitingTransfers = waiting
            configuration.maximumTransfersPerHost = perHost
            configuration.maximumTransfers = inAll
            return SocketTransport(configuration: configuration)
        }

        private static func request(_ server: LoopbackServer, _ path: String) -> HTTPRequest {
            HTTPRequest(scheme: "http", authority: server.authority, path: path)
        }

        private static func status(
            _ transport: SocketTransport,
            _ request: HTTPRequest,
            timeouts: Timeouts = Timeouts()
        ) async -> Result<HTTPStatus, SluiceError> {
            do throws(SluiceError) {
                let response = try await transport.send(request, context: TransferContext(timeouts: timeouts))
                _ = try await response.body.collect()
                return .success(response.head.status)
            } catch {
                return .failure(error)
            }
        }

        @Test func transfersOverTheHostLimitWaitAndSucceed() async throws {
            let server = try LoopbackServer()
            let signal = LoopbackSignal()
            server.on("/*", .after(signal, .text("ok")))
            let transport = Self.transport(perHost: 2, inAll: 10)
            let tasks = (0..<20).map { index in Task { await Self.status(transport, Self.request(server, "/\(index)")) }
            }
            await server.waitForRequests(2)
            while transport.queued < 18 { await Task.yield() }
            #expect(server.requestCount == 2)
            #expect(server.connections == 2)
            signal.fire()
            for task in tasks { #expect(try await task.value.get() == .ok) }
            #expect(server.connections == 2)
        }

        @Test func hangingHostDoesNotDelayOtherHosts() async throws {
            let stuck = try LoopbackServer()
            let quick = try LoopbackServer()
            stuck.on("/", .hang)
            quick.on("/", .text("ok"))
            let transport = Self.transport(perHost: 2, inAll: 3)
            let tasks = (0..<50).map { _ in Task { await Self.status(transport, Self.request(stuck, "/")) } }
            await stuck.waitForRequests(2)
            for _ in 0..<10 { #expect(try await Self.status(transport, Self.request(quick, "/")).get() == .ok) }
            for task in tasks { task.cancel() }
            for task in tasks { _ = await task.value }
        }

        @Test func waitingTransferTimesOutOrIsCancelled() async throws {
            let server = try LoopbackServer()
            server.on("/", .hang)
            let transport = Self.transport(perHost: 1, inAll: 1)
            let first = Task { await Self.status(transport, Self.request(server, "/")) }
            await server.waitForRequests(1)
            let late = await Self.status(
                transport,
                Self.request(server, "/"),
                timeouts: Timeouts(total: .milliseconds(50))
            )
            #expect(late.error?.code == .timedOut)
            let waiting = Task { await Self.status(transport, Self.request(server, "/")) }
            while transport.queued < 1 { await Task.yield() }
            waiting.cancel()
            #expect(await waiting.value.error?.code == .cancelled)
            #expect(transport.queued == 0)
            #expect(server.requestCount == 1)
            first.cancel()
            _ = await first.value
            server.on("/", .text("ok"))
            #expect(try await Self.status(transport, Self.request(server, "/")).get() == .ok)
        }

        @Test func thousandsOfConcurrentTransfersSucceed() async throws {
            let server = try LoopbackServer()
            server.recordsRequests = false
            server.on("/", .text("ok"))
            let transport = SocketTransport()
            let served = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<5000 {
                    group.addTask { (try? await Self.status(transport, Self.request(server, "/")).get()) == .ok }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(served == 5000)
            // A request that gets another's connection leaves the one that it was opening to later requests.
            #expect(server.connections <= 2 * SocketTransport.Configuration().maximumTransfersPerHost)
        }

        @Test func overloadFailsTransfersBeyondTheQueueAtOnce() async throws {
            let server = try LoopbackServer()
            let signal = LoopbackSignal()
            server.on("/*", .after(signal, .text("ok")))
            let transport = Self.transport(perHost: 8, inAll: 8, waiting: 20)
            let refused = Locked(0)
            let tasks = (0..<80).map { index in
                Task {
                    let result = await Self.status(transport, Self.request(server, "/\(index)"))
                    if case .failure(let error) = result, error.code == .queueFull, error.request?.path == "/\(index)" {
                        refused.withLock { $0 += 1 }
                    }
                    return result
                }
            }
            // No held request has been answered yet.
            while refused.withLock({ $0 }) < 52 { await Task.yield() }
            await server.waitForRequests(8)
            #expect(transport.pool?.load.active == 8)
            #expect(transport.queued == 20)
            #expect(server.requestCount == 8)
            signal.fire()
            var served = 0
            for task in tasks { if case .success(.ok) = await task.value { served += 1 } }
            #expect(served == 28)
            #expect(refused.withLock { $0 } == 52)
            #expect(server.requestCount == 28)
            #expect(try await Self.status(transport, Self.request(server, "/after")).get() == .ok)
            #expect(server.connections == 8)
        }

        @Test func cancelledOverloadLeavesTheQueueEmpty() async throws {
            let server = try LoopbackServer()
            server.on("/hang", .hang)
            server.on("/", .text("ok"))
            let transport = Self.transport(perHost: 2, inAll: 2, waiting: 10)
            let hanging = (0..<2).map { _ in Task { await Self.status(transport, Self.request(server, "/hang")) } }
            await server.waitForRequests(2)
            for _ in 0..<20 {
                let refused = Locked(0)
                let tasks = (0..<20).map { _ in
                    Task {
                        let result = await Self.status(transport, Self.request(server, "/hang"))
                        if case .failure(let error) = result, error.code == .queueFull { refused.withLock { $0 += 1 } }
                    }
                }
                while refused.withLock({ $0 }) < 10 { await Task.yield() }
                for task in tasks { task.cancel() }
                for task in tasks { await task.value }
                #expect(transport.queued == 0)
            }
            #expect(server.requestCount == 2)
            for task in hanging { task.cancel() }
            for task in hanging { _ = await task.value }
            #expect(try await Self.status(transport, Self.request(server, "/")).get() == .ok)
        }
    }
}
#endif
