#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceEngine

/// The maximum number of connections to single hosts.
@Suite struct ConnectionLimitTests {
    typealias State = PoolState<PoolItem, PoolItem, PoolItem>

    private var state = State(
        limit: 100,
        limitPerHost: 100,
        maximumWaiting: 100,
        connectionLimits: ["slow.example": 2, "*.example": 1, "none.example": 0]
    )
    private let now = MonotonicTime(nanoseconds: 0)

    private static func time(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

    private mutating func acquire(
        _ call: PoolItem,
        host: String = "slow.example",
        scheme: String = "http",
        total: MonotonicTime = .distantFuture
    ) -> (group: Int, outcome: String) {
        let (group, acquisition) = state.acquire(
            call,
            to: HTTPOrigin(scheme: scheme, authority: host),
            by: .standard,
            priority: .normal,
            total: total,
            connectTimeout: .seconds(10),
            at: now
        )
        return (group, acquisition.text)
    }

    private mutating func connect(
        _ call: PoolItem,
        _ connection: PoolItem,
        _ group: Int,
        capacity: Int? = nil
    ) -> [String] {
        let dial = PoolItem("dial of \(call)")
        expect(state.dialStarted(dial, for: call, in: group), true)
        return state.dialSucceeded(dial, connection, capacity: capacity, at: now).actions.map(\.text)
    }

    @Test(arguments: [
        ("slow.example", 2), ("other.example", 1), ("none.example", 1), ("SLOW.example:8080", 2), ("elsewhere.test", 5),
    ])
    mutating func mostSpecificPatternApplies(_ host: String, _ dials: Int) {
        let outcomes = (1...5).map { acquire(PoolItem("\($0)"), host: host).outcome }
        #expect(outcomes == Array(repeating: "dial", count: dials) + Array(repeating: "wait", count: 5 - dials))
    }

    @Test mutating func requestBeyondTheLimitTakesTheNextFreeConnection() {
        let calls = (1...3).map { PoolItem("call \($0)") }
        let group = acquire(calls[0]).group
        _ = acquire(calls[1])
        expect(acquire(calls[2]).outcome, "wait")
        let (first, second) = (PoolItem("c1"), PoolItem("c2"))
        expect(connect(calls[0], first, group), ["start call 1 by c1"])
        expect(connect(calls[1], second, group), ["start call 2 by c2"])
        expect(state.release(second, of: group, at: now).map(\.text), ["start call 3 by c2"])
    }

    @Test mutating func closedConnectionMakesRoomForADial() {
        let calls = (1...3).map { PoolItem("call \($0)") }
        let group = acquire(calls[0]).group
        for call in calls.dropFirst() { _ = acquire(call) }
        let (first, second) = (PoolItem("c1"), PoolItem("c2"))
        _ = connect(calls[0], first, group)
        _ = connect(calls[1], second, group)
        // All are in use, so the request waits for longer than the connect time-out.
        expect(state.expire(at: Self.time(10)).isEmpty, true)
        expect(state.connectionClosed(first, of: group, at: Self.time(100)).map(\.text), ["dial call 3"])
        expect(state.release(nil, of: group, at: Self.time(100)).isEmpty, true)
        // The connect time-out begins with the dial.
        #expect(state.nextDeadline == Self.time(110))
        expect(state.expire(at: Self.time(110)).map(\.text), ["fail call 3: connectTimedOut"])
    }

    @Test mutating func dialGoesToTheRequestThatExpectsIt() {
        let calls = (1...4).map { PoolItem("call \($0)") }
        let group = acquire(calls[0]).group
        for call in calls.dropFirst() { _ = acquire(call) }
        let (first, second, dial) = (PoolItem("c1"), PoolItem("c2"), PoolItem("dial"))
        _ = connect(calls[0], first, group)
        expect(state.dialStarted(dial, for: calls[1], in: group), true)
        expect(state.release(first, of: group, at: now).map(\.text), ["start call 2 by c1"])
        // The next request takes over the dial, and the first connection closes.
        expect(acquire(PoolItem("call 5")).outcome, "wait")
        expect(state.connectionClosed(first, of: group, at: now).map(\.text), ["dial call 3"])
        expect(state.dialSucceeded(dial, second, at: now).actions.map(\.text), ["start call 3 by c2"])
        // The dial for the third request is for the fifth one now, which has lost its own.
        let next = PoolItem("next")
        expect(state.dialStarted(next, for: calls[2], in: group), true)
        let error = SluiceError(.cannotConnect, "")
        expect(state.dialFailed(next, with: error, at: now).map(\.text).first, "fail call 5: cannotConnect")
    }

    @Test mutating func totalTimeoutIncludesTheWaitForAConnection() {
        let calls = (1...3).map { PoolItem("call \($0)") }
        let group = acquire(calls[0]).group
        _ = acquire(calls[1])
        _ = acquire(calls[2], total: Self.time(30))
        _ = connect(calls[0], PoolItem("c1"), group)
        _ = connect(calls[1], PoolItem("c2"), group)
        expect(state.expire(at: Self.time(29)).isEmpty, true)
        expect(state.expire(at: Self.time(30)).map(\.text), ["fail call 3: timedOut"])
    }

    /// A server that does not answer does not keep the place of the only connection.
    @Test mutating func stuckDialIsReplaced() {
        let calls = (1...2).map { PoolItem("call \($0)") }
        let group = acquire(calls[0], host: "other.example").group
        expect(acquire(calls[1], host: "other.example").outcome, "wait")
        expect(state.dialStarted(PoolItem("dial"), for: calls[0], in: group), true)
        let actions = state.expire(at: Self.time(10)).map(\.text)
        #expect(actions == ["cancel dial", "dial call 2", "fail call 1: connectTimedOut"])
        #expect(state.dialCount == 0)
        expect(state.dialStarted(PoolItem("next"), for: calls[1], in: group), true)
        #expect(state.nextDeadline == Self.time(20))
    }

    /// A long wait at the limit does not make the dial that follows an old one.
    @Test mutating func dialAfterALongWaitIsNotStuck() {
        let calls = (1...3).map { PoolItem("call \($0)") }
        let group = acquire(calls[0], host: "other.example").group
        let connection = PoolItem("c")
        expect(connect(calls[0], connection, group), ["start call 1 by c"])
        _ = acquire(calls[1], host: "other.example", total: Self.time(101))
        _ = acquire(calls[2], host: "other.example")
        expect(state.expire(at: Self.time(10)).isEmpty, true)
        expect(state.connectionClosed(connection, of: group, at: Self.time(100)).map(\.text), ["dial call 2"])
        expect(state.release(nil, of: group, at: Self.time(100)).isEmpty, true)
        expect(state.dialStarted(PoolItem("dial"), for: calls[1], in: group), true)
        expect(state.expire(at: Self.time(101)).map(\.text), ["fail call 2: timedOut"])
        #expect(state.dialCount == 1)
    }

    /// A dial that a request leaves before the connect time-out serves the next one, whose time-out begins then.
    @Test mutating func dialOfALeavingRequestIsTakenOver() {
        let calls = (1...2).map { PoolItem("call \($0)") }
        let group = acquire(calls[0], host: "other.example", total: Self.time(5)).group
        _ = acquire(calls[1], host: "other.example")
        expect(state.dialStarted(PoolItem("dial"), for: calls[0], in: group), true)
        expect(state.expire(at: Self.time(5)).map(\.text), ["fail call 1: timedOut"])
        #expect(state.dialCount == 1)
        #expect(state.nextDeadline == Self.time(15))
        expect(state.expire(at: Self.time(15)).map(\.text), ["cancel dial", "fail call 2: connectTimedOut"])
    }

    /// A host that cannot be reached fails the waiting requests one after the other, and not after their time-outs.
    @Test mutating func failedDialStartsThatOfAWaitingRequest() {
        let calls = (1...3).map { PoolItem("call \($0)") }
        let group = acquire(calls[0]).group
        for call in calls.dropFirst() { _ = acquire(call) }
        let dial = PoolItem("dial")
        expect(state.dialStarted(dial, for: calls[0], in: group), true)
        let actions = state.dialFailed(dial, with: SluiceError(.cannotConnect, ""), at: now).map(\.text)
        #expect(actions == ["fail call 1: cannotConnect", "dial call 3"])
    }

    @Test mutating func limitOfASharedConnectionDoesNotLimitItsRequests() {
        let calls = (1...4).map { PoolItem("\($0)") }
        let group = acquire(calls[0], host: "one.example", scheme: "https").group
        for call in calls.dropFirst() { _ = acquire(call, host: "one.example", scheme: "https") }
        let connection = PoolItem("c")
        expect(
            connect(calls[0], connection, group, capacity: 3),
            ["start 1 by c", "start 2 by c", "start 3 by c"]
        )
        expect(state.releaseStream(of: connection, in: group, at: now).map(\.text), ["start 4 by c"])
        // A connection that the server closes does not count, although it still carries requests.
        let next = PoolItem("next")
        _ = acquire(next, host: "one.example", scheme: "https")
        expect(state.removeConnection(connection, of: group, at: now).map(\.text), ["dial next"])
    }
}

extension EngineTests {
    @Suite struct ConnectionLimitTransferTests {
        @Test func hostNeverHasMoreConnectionsThanAllowed() async throws {
            let server = try LoopbackServer()
            server.on("/*", .text("ok"))
            server.on("/close/*", .text("ok", headers: ["Connection": "close"]))
            let transport = SocketTransport { $0.maximumConnectionsByHost["127.0.0.1"] = 2 }
            let most = Locked(0)
            let tasks = (0..<100).map { index in
                let request = server.request(index % 5 == 0 ? "/close/\(index)" : "/\(index)")
                return Task {
                    let result = await transport.result(of: request)
                    most.withLock { $0 = max($0, transport.connections.open) }
                    return result
                }
            }
            for task in tasks { #expect(try await task.value.get().text == "ok") }
            #expect(most.withLock(\.self) <= 2)
            #expect(transport.isQuiet)
        }
    }
}
#endif
