#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceEngine

extension EngineTests {
    /// Idle connections.
    @Suite struct IdleTests {
        private static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        private let server: LoopbackServer

        init() throws {
            server = try LoopbackServer()
            server.on("/*", .text("ok"))
        }

        @Test func idleConnectionClosesWhenTheServerClosesIt() async throws {
            let closes = DispatchSemaphore(value: 0)
            let listener = try TestListener { descriptor in
                guard TestListener.readHead(descriptor) != nil else { return }
                TestListener.write(IdleTests.answer, to: descriptor)
                closes.wait()
                // Closes only the sending side. The service ends when the client has closed the other side.
                shutdown(descriptor, Int32(SHUT_WR))
                TestListener.discardInput(descriptor)
            }
            let transport = SocketTransport()
            let request = HTTPRequest(scheme: "http", authority: listener.authority, path: "/")
            #expect(try await transport.exchange(request).text == "ok")
            #expect(transport.hasIdle)
            #expect(listener.openConnections == 1)
            closes.signal()
            try await waitUntil("the client has closed") { listener.openConnections == 0 }
            try await waitUntil("the pool has no idle connection") { !transport.hasIdle }
            #expect(listener.connections == 1)
        }

        @Test func idleConnectionClosesAfterTheIdleTimeout() async throws {
            let transport = SocketTransport { $0.idleConnectionTimeout = .milliseconds(100) }
            var start = ContinuousClock.now
            for _ in 0..<3 {
                start = ContinuousClock.now
                _ = try await transport.exchange(server.request("/"))
            }
            try await waitUntil("the connection is closed") { server.openConnections == 0 }
            #expect(ContinuousClock.now - start >= .milliseconds(100))
            // More than one, if a delay between two requests was longer than the time-out.
            let before = server.connections
            try await waitUntil("the pool has no idle connection") { !transport.hasIdle }
            let next = try await transport.exchange(server.request("/"))
            #expect(next.metrics?.isConnectionReused == false)
            #expect(server.connections == before + 1)
        }

        /// A POST would fail if the server closed the connection just when it is sent.
        @Test func idleConnectionClosesBeforeTheServerClosesIt() async throws {
            server.on("/brief", .text("ok", headers: ["Keep-Alive": "timeout=1"]))
            let transport = SocketTransport { $0.idleConnectionTimeout = .seconds(600) }
            let start = ContinuousClock.now
            _ = try await transport.exchange(server.request("/brief"))
            try await waitUntil("the connection is closed") { server.openConnections == 0 }
            #expect(ContinuousClock.now - start >= .milliseconds(500))
        }

        @Test func connectionInUseIsNotClosedByTheIdleTimeout() async throws {
            let signal = LoopbackSignal()
            server.on("/held", .after(signal, .text("held")))
            let transport = SocketTransport { $0.idleConnectionTimeout = .milliseconds(50) }
            _ = try await transport.exchange(server.request("/"))
            let request = server.request("/held")
            let task = Task { await transport.result(of: request) }
            await server.waitForRequests(2)
            let end = ContinuousClock.now + .milliseconds(200)
            try await waitUntil("the idle time is over") { ContinuousClock.now >= end }
            #expect(server.openConnections == 1)
            signal.fire()
            let held = try await task.value.get()
            #expect(held.text == "held")
        }

        @Test func idleConnectionsCloseWithTheirTransport() async throws {
            weak var pool: ConnectionPool?
            do {
                let transport = SocketTransport()
                pool = transport.pool
                let tasks = (0..<8).map { index in
                    let request = server.request("/\(index)")
                    return Task { await transport.result(of: request) }
                }
                for task in tasks { _ = try await task.value.get() }
                #expect(server.openConnections > 0)
                #expect(pool != nil)
            }
            try await waitUntil("the connections are closed") { server.openConnections == 0 }
            try await waitUntil("the pool is released") { pool == nil }
        }

        @Test func requestThatOutlivesItsTransportCompletes() async throws {
            let signal = LoopbackSignal()
            server.on("/held", .after(signal, .text("held")))
            let request = server.request("/held")
            let answers = Locked<[String]>([])
            do {
                let transport = SocketTransport()
                _ = transport.begin(request, context: TransferContext()) { result in
                    guard case .success(let response) = result, let data = response.body.whole?.data else { return }
                    answers.withLock { $0.append(String(decoding: data, as: UTF8.self)) }
                }
            }
            await server.waitForRequests(1)
            signal.fire()
            try await waitUntil("the response has arrived") { answers.withLock { $0 } == ["held"] }
            try await waitUntil("the connection is closed") { server.openConnections == 0 }
        }

        @Test func connectionBeyondItsLifetimeIsNotReused() async throws {
            let young = SocketTransport { $0.connectionLifetime = .seconds(3600) }
            for isReused in [false, true, true] {
                let response = try await young.exchange(server.request("/"))
                #expect(response.metrics?.isConnectionReused == isReused)
            }
            let signal = LoopbackSignal()
            server.on("/held", .after(signal, .text("held")))
            let transport = SocketTransport { $0.connectionLifetime = .milliseconds(100) }
            let request = server.request("/held")
            let task = Task { await transport.result(of: request) }
            await server.waitForRequests(4)
            let end = ContinuousClock.now + .milliseconds(150)
            try await waitUntil("the connection is too old") { ContinuousClock.now >= end }
            signal.fire()
            // The request in progress continues.
            let held = try await task.value.get()
            #expect(held.text == "held")
            let next = try await transport.exchange(server.request("/"))
            #expect(next.metrics?.isConnectionReused == false)
            #expect(server.connections == 3)
            // The connection closes although no request follows. The other transport keeps its own.
            try await waitUntil("the old connection is closed") { server.openConnections == 1 }
            #expect(young.hasIdle)
        }

        @Test(arguments: ["HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison", "x"])
        func unsolicitedDataClosesTheIdleConnection(_ unsolicited: String) async throws {
            let transport = SocketTransport()
            for round in 1...10 {
                let answered = LoopbackSignal()
                server.on("/poisoned", .script(.write(IdleTests.answer), .wait(for: answered), .write(unsolicited)))
                #expect(try await transport.exchange(server.request("/poisoned")).text == "ok")
                answered.fire()
                try await waitUntil("the connection is closed") { server.openConnections == 0 }
                let next = try await transport.exchange(
                    server.request("/next", method: .post, body: .data(Data("x".utf8)))
                )
                #expect(next.text == "ok", "\(round)")
                #expect(next.metrics?.isConnectionReused == false)
            }
        }

        /// After the response, before the connection is idle.
        @Test func dataAfterAResponseClosesTheConnection() async throws {
            let transport = SocketTransport()
            server.on("/overlong", .overlong(Data("ok".utf8) + Data("HTTP/1.1 200 OK".utf8), announced: 2))
            for _ in 1...10 {
                #expect(try await transport.exchange(server.request("/overlong")).text == "ok")
                try await waitUntil("the connection is closed") { server.openConnections == 0 }
                #expect(!transport.hasIdle)
            }
            #expect(server.connections == 10)
        }
    }
}
#endif
