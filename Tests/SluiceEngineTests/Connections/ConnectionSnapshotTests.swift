#if os(Linux)
import SluiceHTTP
import Testing

@testable import SluiceEngine

/// The snapshot of a pool, and its texts.
@Suite struct ConnectionSnapshotTests {
    typealias State = PoolState<PoolItem, PoolItem, PoolItem>

    private static let now = MonotonicTime(nanoseconds: 10_000_000_000)
    private var state = State(limit: 8, limitPerHost: 2, maximumWaiting: 8)

    private mutating func acquire(_ call: PoolItem, _ origin: HTTPOrigin, at time: MonotonicTime = now) -> Int {
        state.acquire(
            call,
            to: origin,
            by: .standard,
            priority: .normal,
            total: .distantFuture,
            connectTimeout: nil,
            at: time
        ).0
    }

    private mutating func connect(_ call: PoolItem, _ connection: PoolItem, _ group: Int, capacity: Int? = nil) {
        let dial = PoolItem("dial")
        _ = state.dialStarted(dial, for: call, in: group)
        _ = state.dialSucceeded(dial, connection, capacity: capacity, at: Self.now)
    }

    private func snapshot() -> ConnectionSnapshot {
        state.snapshot { connection, idleSince, requests in
            ConnectionSnapshot.Connection(
                version: .http1_1,
                remoteAddress: connection.description,
                age: .zero,
                idleTime: idleSince.map { Self.now.since($0) },
                requests: requests
            )
        }
    }

    @Test mutating func requestsAndConnectionsOfAnOriginAreCounted() throws {
        let origin = HTTPOrigin(scheme: "http", authority: "a")
        #expect(snapshot().origins.isEmpty)
        let calls = (1...3).map { PoolItem("call \($0)") }
        let group = acquire(calls[0], origin)
        for call in calls.dropFirst() { _ = acquire(call, origin) }
        // Two requests have a slot and dial, and one waits for a slot.
        #expect(snapshot().description == "0 open, 0 idle, 3 waiting: http://a 0 open, 0 idle, 2 connecting, 3 waiting")
        let (first, second) = (PoolItem("first"), PoolItem("second"))
        connect(calls[0], first, group)
        connect(calls[1], second, group)
        _ = state.release(first, of: group, at: MonotonicTime(nanoseconds: 7_000_000_000))
        _ = state.release(second, of: group, at: MonotonicTime(nanoseconds: 8_000_000_000))
        // The first connection now serves the third request.
        let shown = try #require(snapshot()["http://a/path"])
        #expect(Set(shown.connections.map(\.remoteAddress)) == ["first", "second"])
        let idle = shown.connections.first { $0.remoteAddress == "second" }
        #expect(idle?.idleTime == .seconds(2))
        #expect(idle?.requests == 0)
        let busy = shown.connections.first { $0.remoteAddress == "first" }
        #expect(busy?.idleTime == nil)
        #expect(busy?.requests == 1)
        #expect((shown.open, shown.idle, shown.waiting, shown.connecting) == (2, 1, 0, 0))
        _ = state.connectionClosed(first, of: group, at: Self.now)
        _ = state.release(nil, of: group, at: Self.now)
        #expect(snapshot().open == 1)
    }

    @Test mutating func requestsOfASharedConnectionAreCounted() throws {
        let origin = HTTPOrigin(scheme: "https", authority: "b")
        let (one, two, connection) = (PoolItem("one"), PoolItem("two"), PoolItem("c"))
        let group = acquire(one, origin)
        _ = acquire(two, origin)
        connect(one, connection, group, capacity: 100)
        #expect(snapshot()["https://b"]?.connections.map(\.requests) == [2])
        for _ in 0..<2 { _ = state.releaseStream(of: connection, in: group, at: Self.now) }
        #expect(snapshot()["https://b"]?.connections.map(\.requests) == [0])
        #expect(snapshot().idle == 1)
        _ = state.removeConnection(connection, of: group, at: Self.now)
        #expect(snapshot().origins.isEmpty)
    }

    @Test func descriptionIsOneLineInTheOrderOfNames() {
        let connection = { (version: HTTPVersion, idle: Duration?) in
            ConnectionSnapshot.Connection(
                version: version,
                remoteAddress: "192.0.2.1:443",
                age: .seconds(60),
                idleTime: idle,
                requests: idle == nil ? 1 : 0
            )
        }
        let snapshot = ConnectionSnapshot([
            .init(
                origin: HTTPOrigin(scheme: "https", authority: "b.example"),
                connections: [connection(.http2, nil)],
                waiting: 0,
                connecting: 0
            ),
            .init(
                origin: HTTPOrigin(scheme: "http", authority: "a.example:8080"),
                connections: [connection(.http1_1, .seconds(1)), connection(.http1_1, nil)],
                waiting: 3,
                connecting: 1
            ),
        ])
        let text = """
            3 open, 1 idle, 3 waiting: http://a.example:8080 2 open, 1 idle, 1 connecting, 3 waiting; \
            https://b.example 1 open (1 HTTP/2), 0 idle
            """
        #expect(snapshot.description == text)
        #expect(snapshot["https://b.example:443/orders"]?.open == 1)
        #expect(snapshot["https://c.example"] == nil)
        #expect(snapshot["not a URL"] == nil)
        #expect(ConnectionSnapshot().description == "0 open, 0 idle, 0 waiting")
    }
}
#endif
