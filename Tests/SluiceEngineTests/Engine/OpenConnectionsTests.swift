#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceEngine

extension EngineTests {
    /// The connections that a transport reports, and their end.
    @Suite struct OpenConnectionsTests {
        private let server: LoopbackServer

        init() throws {
            server = try LoopbackServer()
            server.on("/*", .text("ok"))
        }

        @Test func connectionsAreReportedUntilTheyClose() async throws {
            let signal = LoopbackSignal()
            server.on("/held", .after(signal, .text("held")))
            let transport = SocketTransport { $0.maximumTransfersPerHost = 2 }
            #expect(transport.connections.origins.isEmpty)
            _ = try await transport.exchange(server.request("/"))
            let tasks = (0..<3).map { _ in
                let request = server.request("/held")
                return Task { await transport.result(of: request) }
            }
            await server.waitForRequests(3)
            try await waitUntil("one request waits") { transport.connections.waiting == 1 }
            let origin = try #require(transport.connections[server.url])
            #expect(origin.open == 2)
            #expect(origin.idle == 0)
            #expect(origin.connections.map(\.requests) == [1, 1])
            #expect(
                origin.connections.allSatisfy { $0.version == .http1_1 && $0.remoteAddress.hasPrefix("127.0.0.1:") }
            )
            #expect(origin.connections.allSatisfy { $0.age > .zero && $0.idleTime == nil })
            #expect(origin.connections[0].age >= origin.connections[1].age)
            signal.fire()
            for task in tasks { #expect(try await task.value.get().text == "held") }
            try await waitUntil("both connections are idle") { transport.connections.idle == 2 }
            server.stop()
            try await waitUntil("both connections are closed") { transport.connections.origins.isEmpty }
        }

        @Test func streamsOfHTTP2AreReported() async throws {
            let server = try ScriptedHTTP2Server()
            let transport = SocketTransport()
            let tasks = (0..<2).map { _ in
                let request = server.request()
                return Task { await transport.result(of: request, .http2()) }
            }
            let peer = try await server.peer()
            try await waitUntil("two requests") { peer.requests.count == 2 }
            let connection = try #require(transport.connections["http://\(server.authority)"]?.connections.first)
            #expect(connection.version == .http2)
            #expect(connection.requests == 2)
            #expect(connection.idleTime == nil)
            for request in peer.requests { peer.answer(request.stream, "ok") }
            for task in tasks { #expect(try await task.value.get().text == "ok") }
            #expect(transport.connections.idle == 1)
            peer.close()
            try await waitUntil("the connection is closed") { transport.connections.open == 0 }
        }

        /// A snapshot neither waits for a request nor delays one.
        @Test func snapshotsDoNotDisturbRequests() async throws {
            let transport = SocketTransport()
            let requests = (0..<200).map { server.request("/\($0)") }
            let isOver = Locked(false)
            let reader = Task {
                while !isOver.withLock(\.self) {
                    let shown = transport.connections
                    #expect(shown.idle <= shown.open)
                    await Task.yield()
                }
            }
            for request in requests { #expect(try await transport.exchange(request).text == "ok") }
            isOver.withLock { $0 = true }
            await reader.value
            #expect(transport.connections.open == server.openConnections)
        }

        /// A connection may become idle at the moment at which it is retired.
        @Test func noRequestSuffersAndNoConnectionIsLeftWhenConnectionsAreRetired() async throws {
            let transport = SocketTransport()
            let isOver = Locked(false)
            let retiring = Task {
                while !isOver.withLock(\.self) {
                    transport.retireConnections()
                    await Task.yield()
                }
            }
            let tasks = (0..<8).map { index in
                let request = server.request("/\(index)")
                return Task {
                    for _ in 0..<50 where await transport.result(of: request).error != nil { return false }
                    return true
                }
            }
            for task in tasks { #expect(await task.value) }
            isOver.withLock { $0 = true }
            await retiring.value
            transport.retireConnections()
            try await waitUntil("all connections are closed") { server.openConnections == 0 }
            try await waitUntil("the pool is empty") { transport.connections.origins.isEmpty && !transport.hasIdle }
        }

        @Test func retiredConnectionsFinishTheirRequests() async throws {
            let signal = LoopbackSignal()
            server.on("/held", .after(signal, .text("held")))
            let transport = SocketTransport()
            let request = server.request("/held")
            let held = Task { await transport.result(of: request) }
            await server.waitForRequests(1)
            _ = try await transport.exchange(server.request("/"))
            #expect(transport.connections.open == 2)
            transport.retireConnections()
            try await waitUntil("the idle connection is closed") { server.openConnections == 1 }
            let next = try await transport.exchange(server.request("/"))
            #expect(next.metrics?.isConnectionReused == false)
            signal.fire()
            #expect(try await held.value.get().text == "held")
            // The connection that was opened later stays.
            try await waitUntil("the retired connection is closed") { server.openConnections == 1 }
            #expect(transport.connections.idle == 1)
        }

        @Test func retiredConnectionOfHTTP2SaysGoodbyeAfterItsLastStream() async throws {
            let server = try ScriptedHTTP2Server()
            let transport = SocketTransport()
            let request = server.request()
            let task = Task { await transport.result(of: request, .http2()) }
            let (peer, head) = try await server.seen()
            transport.retireConnections()
            try await peer.synchronize()
            #expect(peer.frames(.goAway).isEmpty)
            peer.answer(head.stream, "ok")
            #expect(try await task.value.get().text == "ok")
            _ = try await peer.frame(.goAway)
            try await waitUntil("the connection is closed") { server.openConnections == 0 }
            #expect(transport.connections.open == 0)
        }
    }
}
#endif
