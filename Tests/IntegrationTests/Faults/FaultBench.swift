#if os(Linux)
import Foundation
import Sluice
import SluiceTesting

/// Runs cases one after another against its own server, without connections of other tests.
struct FaultBench {
    /// The idle timeout for exchanges that do not hang, generous enough for a busy machine.
    static let normalTimeout = Duration.seconds(60)
    /// The idle timeout for a server that stops responding.
    static let hangTimeout = Duration.milliseconds(100)

    private let server: LoopbackServer
    private var healthy = 0
    private var count = 0

    /// Returns a path for one case. The server may receive a request after its client has timed out, and it must not count for the next case.
    static func path(_ number: Int) -> String { "fault-\(1_000_000 + number)" }

    init() throws {
        server = try LoopbackServer()
        server.recordsRequests = false
    }

    /// Runs a case. Returns a description of the problem, or nil.
    mutating func run(_ kind: FaultCase) async throws -> String? {
        let warm = Locked(0)
        if kind.exchange.reusesConnection, let problem = await warmUp(kind, warm) { return problem }
        let arrivals = Locked<[Int]>([])
        server.onExpectation { _ in kind.expectation }
        count += 1
        let path = FaultBench.path(count)
        server.on("/" + path) { request in
            let count = arrivals.withLock { arrivals in
                arrivals.append(request.connection)
                return arrivals.count
            }
            return count == 1 ? kind.response : kind.wholeResponse
        }
        if case .cutRequest(let cut, let count) = kind.fault {
            // A request of an earlier case that the server reads only now would be interrupted in place of this one. The health check of
            // that case came later, so its connection has been accepted.
            let kept = kind.exchange.reusesConnection ? 1 : 0
            try await waitUntil("earlier connections are closed", within: .seconds(600)) {
                server.openConnections <= kept
            }
            server.interruptRequests(after: count, by: cut, times: 1)
        }
        let sentBefore = server.bytesSent
        let receivedBefore = server.bytesReceived
        let outcome = await kind.sender.send(
            kind.exchange.method,
            path,
            kind.exchange.upload,
            to: server,
            idle: kind.fault.isHang ? FaultBench.hangTimeout : FaultBench.normalTimeout
        )
        server.interruptRequests(after: 0, times: 0)
        let connections = arrivals.withLock { $0 }
        server.on("/" + path, .status(.gone))
        // The pieces of a stream share a chunk if they are there at the same time, so that a request may be shorter than the cut.
        if case .cutRequest(_, let count) = kind.fault, connections.count == 1,
            server.bytesReceived - receivedBefore <= count
        {
            return await checkHealth(kind.sender)
        }
        let judge = FaultJudge(kind: kind, arrivals: connections.count)
        if let problem = judge.problem(with: outcome) { return problem }
        // No connection if the client timed out before the server had the request.
        if kind.exchange.reusesConnection, kind.usesKeptConnection, let first = connections.first,
            first != warm.withLock({ $0 })
        {
            return "the connection was not reused"
        }
        if case .excess(let bytes, isLate: true) = kind.fault {
            // Waits until the excess bytes are sent, since only then they can mislead the client.
            let all = sentBefore + Int64(kind.exchange.wire.count + bytes.count)
            try await waitUntil("the excess is sent", within: .seconds(600)) {
                server.bytesSent >= all || server.openConnections == 0
            }
        }
        return await checkHealth(kind.sender)
    }

    /// Sends a first exchange on the connection that the case reuses.
    private func warmUp(_ kind: FaultCase, _ connection: Locked<Int>) async -> String? {
        if case .endWhileIdle(let cut) = kind.fault {
            let whole = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nwarm"
            server.on("/warm", .script(.write(whole), cut == .reset ? .reset : .close))
        } else {
            server.on("/warm") { request in
                connection.withLock { $0 = request.connection }
                return .text("warm")
            }
        }
        guard case .response(let response) = await kind.sender.send(.get, "warm", to: server),
            response.body == Data("warm".utf8)
        else { return "the preceding exchange failed" }
        if case .endWhileIdle = kind.fault { await server.waitForOpenConnections { $0 == 0 } }
        return nil
    }

    /// Checks that the next request gets its own response.
    private mutating func checkHealth(_ sender: FaultSender) async -> String? {
        healthy += 1
        let body = "healthy \(healthy)"
        server.on("/healthy", .text(body).closingConnection())
        switch await sender.send(.get, "healthy", to: server) {
        case .response(let response) where response.status == 200 && response.body == Data(body.utf8): return nil
        case .response(let response): return "the next request got a response that is not its own: \(response)"
        case .failure(let error): return "the next request failed: \(error)"
        }
    }
}
#endif
