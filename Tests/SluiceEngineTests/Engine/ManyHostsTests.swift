#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceTesting
import Synchronization
import Testing

@testable import SluiceEngine

extension EngineTests {
    /// Requests to more hosts than the socket limit of the process.
    @Suite struct ManyHostsTests {
        private let engine: Engine
        private let server: LoopbackServer

        init() throws {
            engine = try Engine.available.get()
            server = try LoopbackServer()
            server.on("/*", .text("ok"))
        }

        @Test func idleConnectionsAreClosedAtTheDescriptorLimit() async throws {
            let budget = 50
            engine.descriptors.limitOverride.store(budget, ordering: .relaxed)
            defer { engine.descriptors.limitOverride.store(0, ordering: .relaxed) }
            let transport = SocketTransport { $0.maximumTransfers = 20 }
            for part in 0..<5 {
                let answers = await withTaskGroup(of: String?.self) { group in
                    for index in 0..<100 {
                        let request = server.request("/\(index)", host: "h\(part * 100 + index).test")
                        group.addTask { try? await transport.result(of: request, .anyHost).get().text }
                    }
                    return await group.reduce(into: [String?]()) { $0.append($1) }
                }
                #expect(answers == Array(repeating: "ok", count: 100))
                // Each loop may have opened one connection concurrently. The server sees the end of a connection a little later.
                let limit = budget + engine.loops.count
                try await waitUntil("the connections are closed") { server.openConnections <= limit }
            }
            #expect(server.connections == 500)
            #expect(transport.hasIdle)
            #expect(transport.isQuiet)
        }

        /// No connection is refused while all are in use: the limit is a share of the system's limit.
        @Test func connectionsInUseStayOpen() async throws {
            engine.descriptors.limitOverride.store(5, ordering: .relaxed)
            defer { engine.descriptors.limitOverride.store(0, ordering: .relaxed) }
            let signal = LoopbackSignal()
            server.on("/held/*", .after(signal, .text("held")))
            let transport = SocketTransport()
            let tasks = (0..<30).map { index in
                let request = server.request("/held/\(index)", host: "h\(index).test")
                return Task { await transport.result(of: request, .anyHost) }
            }
            await server.waitForRequests(30)
            #expect(server.openConnections == 30)
            signal.fire()
            for task in tasks { #expect(try await task.value.get().text == "held") }
            #expect(try await transport.exchange(server.request("/"), .anyHost).text == "ok")
        }

        @Test func idleConnectionsAboveTheLimitCloseSoon() async throws {
            engine.descriptors.limitOverride.store(5, ordering: .relaxed)
            defer { engine.descriptors.limitOverride.store(0, ordering: .relaxed) }
            let signal = LoopbackSignal()
            server.on("/held/*", .after(signal, .text("held")))
            let transport = SocketTransport()
            let tasks = (0..<30).map { index in
                Task { await transport.result(of: server.request("/held/\(index)"), .anyHost) }
            }
            await server.waitForRequests(30)
            signal.fire()
            for task in tasks { #expect(try await task.value.get().text == "held") }
            await server.waitForOpenConnections { $0 <= 5 }
            // The others stay.
            #expect(transport.hasIdle)
        }

        @Test func socketsAreCounted() {
            let budget = DescriptorBudget()
            budget.limitOverride.store(2, ordering: .relaxed)
            let sockets = (0..<3).map { _ in budget.socket(AF_INET) }
            #expect(sockets.allSatisfy { $0 >= 0 })
            #expect(Set(sockets).count == 3)
            #expect(budget.statistics.connections == 3)
            for socket in sockets {
                #expect(fcntl(socket, F_GETFL) & O_NONBLOCK != 0)
                #expect(fcntl(socket, F_GETFD) & FD_CLOEXEC != 0)
                budget.close(socket)
            }
            #expect(budget.count == 0)
            // A socket of an unsupported address family does not count.
            #expect(budget.socket(-1) < 0)
            #expect(budget.count == 0)
        }
    }
}
#endif
