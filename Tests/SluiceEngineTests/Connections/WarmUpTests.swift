#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceEngine

/// The decisions about connections that no request needs yet.
@Suite struct WarmUpStateTests {
    typealias State = PoolState<PoolItem, PoolItem, PoolItem>

    private var state = State(limit: 100, limitPerHost: 4, maximumWaiting: 100, connectionLimits: ["two.example": 2])
    private let now = MonotonicTime(nanoseconds: 0)
    private static let plain = HTTPOrigin(scheme: "http", authority: "a")
    private static let secure = HTTPOrigin(scheme: "https", authority: "a")

    private mutating func reserve(_ count: Int, _ origin: HTTPOrigin = plain, dialing allowed: Int = 100)
        -> State.Reservation
    {
        state.reserve(count, dialing: allowed, to: origin, by: .standard)
    }

    private mutating func start(_ count: Int, in group: Int) -> [PoolItem] {
        (0..<count).map { number in
            let dial = PoolItem("dial \(number)")
            state.dialStarted(dial, in: group, until: MonotonicTime(nanoseconds: 5_000_000_000), at: now)
            return dial
        }
    }

    @Test mutating func openAndPendingConnectionsCount() {
        let first = reserve(3)
        #expect((first.dials, first.connecting, first.open, first.isComplete) == (3, 3, 0, false))
        let dials = start(3, in: first.group)
        expect(reserve(3).dials, 0)
        expect(reserve(9).dials, 1)
        for dial in dials { expect(state.dialSucceeded(dial, PoolItem("c"), at: now).isWanted, true) }
        #expect(state.idleCount == 3)
        expect(reserve(3).isComplete, true)
    }

    @Test(arguments: [("http", "a", 4), ("http", "two.example", 2)])
    mutating func limitsApply(_ scheme: String, _ host: String, _ dials: Int) {
        expect(reserve(50, HTTPOrigin(scheme: scheme, authority: host)).dials, dials)
    }

    @Test mutating func firstDialDecidesTheVersion() {
        let first = reserve(3, Self.secure)
        #expect(first.dials == 1)
        let dial = start(1, in: first.group)[0]
        expect(reserve(3, Self.secure).dials, 0)
        _ = state.dialSucceeded(dial, PoolItem("c"), at: now)
        // HTTP/1.1: the others follow.
        expect(reserve(3, Self.secure).dials, 2)
    }

    @Test mutating func oneSharedConnectionSuffices() {
        let first = reserve(3, Self.secure)
        let dial = start(1, in: first.group)[0]
        _ = state.dialSucceeded(dial, PoolItem("c"), capacity: 100, at: now)
        let next = reserve(3, Self.secure)
        #expect((next.dials, next.open, next.isComplete) == (0, 1, true))
    }

    /// A request takes the dial over, and gives it back if it leaves first.
    @Test mutating func requestUsesThePendingConnection() {
        let group = reserve(1).group
        let dial = start(1, in: group)[0]
        let call = PoolItem("call")
        let (_, acquisition) = state.acquire(
            call,
            to: Self.plain,
            by: .standard,
            priority: .normal,
            total: .distantFuture,
            connectTimeout: nil,
            at: now
        )
        #expect(acquisition.text == "wait")
        expect(state.remove(call, at: now)?.map(\.text), [])
        expect(state.dialSucceeded(dial, PoolItem("c"), at: now).isWanted, true)
        #expect(state.idleCount == 1)
    }

    @Test mutating func dialEndsAtItsDeadline() {
        let group = reserve(1).group
        _ = start(1, in: group)
        expect(state.expire(at: MonotonicTime(nanoseconds: 5_000_000_000)).map(\.text), ["cancel dial 0"])
        #expect(state.dialCount == 0)
        expect(reserve(0).connecting, 0)
    }

    @Test mutating func nothingIsLeftOfAnOriginWithoutConnections() {
        _ = reserve(0)
        #expect(state.snapshot { _, _, _ in unexpected() }.origins.isEmpty)
        func unexpected() -> ConnectionSnapshot.Connection {
            Issue.record("There is no connection.")
            return .init(version: .http1_1, remoteAddress: "", age: .zero, idleTime: nil, requests: 0)
        }
    }
}

extension EngineTests {
    /// Connections that are opened before the first requests.
    @Suite struct WarmUpTests {
        private let server: LoopbackServer

        init() throws {
            server = try LoopbackServer()
            server.on("/*", .text("ok"))
        }

        private func connect(
            _ transport: SocketTransport,
            _ count: Int,
            _ context: TransferContext = TransferContext()
        ) async throws(SluiceError) -> Int {
            try await transport.connect(to: server.request("/"), count: count, context: context)
        }

        @Test func requestsUseTheOpenConnections() async throws {
            let transport = SocketTransport()
            #expect(try await connect(transport, 3) == 3)
            #expect(transport.connections.idle == 3)
            #expect(try await connect(transport, 2) == 3)
            let response = try await transport.exchange(server.request("/"))
            #expect(response.metrics?.isConnectionReused == true)
            #expect(response.metrics?.connect == .zero)
            #expect(transport.connections.open == 3)
            try await waitUntil("the server has accepted") { server.connections == 3 }
            #expect(server.requests.count == 1)
        }

        @Test func unusedConnectionsCloseAfterTheIdleTimeout() async throws {
            let transport = SocketTransport { $0.idleConnectionTimeout = .seconds(2) }
            let start = ContinuousClock.now
            #expect(try await connect(transport, 2) == 2)
            try await waitUntil("the connections are closed") { transport.connections.open == 0 }
            #expect(ContinuousClock.now - start >= .seconds(2))
        }

        @Test func limitOfTheHostApplies() async throws {
            let transport = SocketTransport { $0.maximumConnectionsByHost["127.0.0.1"] = 2 }
            #expect(try await connect(transport, 10) == 2)
            try await waitUntil("the server has accepted") { server.connections == 2 }
        }

        @Test func concurrentCallersShareTheConnections() async throws {
            let transport = SocketTransport()
            let tasks = (0..<5).map { _ in
                let request = server.request("/")
                return Task { try await transport.connect(to: request, count: 4, context: TransferContext()) }
            }
            for task in tasks { #expect(try await task.value == 4) }
            #expect(transport.connections.open == 4)
        }

        @Test func oneConnectionOfHTTP2IsOpened() async throws {
            let server = try ScriptedHTTP2Server.answering()
            let transport = SocketTransport()
            #expect(try await transport.connect(to: server.request(), count: 5, context: .http2()) == 1)
            #expect(try await transport.exchange(server.request(), .http2()).text == "ok")
            #expect(server.connections == 1)
        }

        @Test func serverThatCannotBeReachedIsReported() async throws {
            let request = server.request("/")
            server.stop()
            let transport = SocketTransport()
            let error = await #expect(throws: SluiceError.self) {
                try await transport.connect(to: request, count: 3, context: TransferContext())
            }
            #expect(error?.code == .cannotConnect)
            #expect(transport.connections.origins.isEmpty)
        }

        @Test func serverThatDoesNotAnswerIsReportedAfterTheConnectTimeout() async throws {
            let port = try SilentPort(1)
            let request = HTTPRequest(scheme: "http", authority: "127.0.0.1:\(port.port)", path: "/")
            let context = TransferContext(timeouts: Timeouts(connect: .milliseconds(100)))
            let transport = SocketTransport()
            let error = await #expect(throws: SluiceError.self) {
                try await transport.connect(to: request, count: 2, context: context)
            }
            #expect(error?.code == .connectTimedOut)
            #expect(transport.connections.origins.isEmpty)
        }

        @Test func cancelledCallerStopsWaiting() async throws {
            let port = try SilentPort(1)
            let request = HTTPRequest(scheme: "http", authority: "127.0.0.1:\(port.port)", path: "/")
            let transport = SocketTransport()
            let task = Task { try await transport.connect(to: request, count: 1, context: TransferContext()) }
            try await waitUntil("the connection is being established") {
                transport.connections.origins.first?.connecting == 1
            }
            task.cancel()
            let error = await #expect(throws: SluiceError.self) { try await task.value }
            #expect(error?.code == .cancelled)
        }

        /// The server may have closed the connection meanwhile, so the request is sent again as on a reused one.
        @Test func requestOnAnOpenConnectionThatTheServerClosesIsSentAgain() async throws {
            let requests = Locked(0)
            let closing = try TestListener { descriptor in
                guard TestListener.readHead(descriptor) != nil else { return }
                let number = requests.withLock { requests in
                    requests += 1
                    return requests
                }
                // The first connection closes without a response.
                if number == 1 { return }
                TestListener.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", to: descriptor)
                TestListener.discardInput(descriptor)
            }
            let request = HTTPRequest(scheme: "http", authority: closing.authority, path: "/")
            let transport = SocketTransport()
            #expect(try await transport.connect(to: request, count: 1, context: TransferContext()) == 1)
            #expect(try await transport.exchange(request).text == "ok")
            #expect(closing.connections == 2)
        }
    }
}
#endif
