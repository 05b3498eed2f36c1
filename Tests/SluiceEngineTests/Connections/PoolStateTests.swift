#if os(Linux)
import SluiceHTTP
import Testing

@testable import SluiceEngine

/// A call, dial or connection, which the pool distinguishes by identity only.
final class PoolItem: CustomStringConvertible, Identifiable, Sendable {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

@Suite struct PoolStateTests {
    typealias State = PoolState<PoolItem, PoolItem, PoolItem>

    private var state = State(limit: 4, limitPerHost: 2, maximumWaiting: 2)
    private let now = MonotonicTime(nanoseconds: 0)

    private static let a = HTTPOrigin(scheme: "http", authority: "a")
    private static let b = HTTPOrigin(scheme: "http", authority: "b")
    private static let c = HTTPOrigin(scheme: "http", authority: "c")

    private static func time(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

    private mutating func acquire(
        _ call: PoolItem,
        _ origin: HTTPOrigin = PoolStateTests.a,
        total: MonotonicTime = .distantFuture,
        connect: Duration? = .seconds(10)
    ) -> (group: State.GroupID, outcome: String) {
        let (group, acquisition) = state.acquire(
            call,
            to: origin,
            by: .standard,
            priority: .normal,
            total: total,
            connectTimeout: connect,
            at: now
        )
        return (group, acquisition.text)
    }

    @Test mutating func mostRecentlyUsedConnectionIsReused() {
        let (one, two) = (PoolItem("one"), PoolItem("two"))
        let (first, second, third) = (PoolItem("c1"), PoolItem("c2"), PoolItem("c3"))
        let group = acquire(one).group
        _ = acquire(two)
        _ = connect(one, first, group)
        _ = connect(two, second, group)
        expect(state.release(first, of: group, at: now).isEmpty, true)
        expect(state.release(second, of: group, at: now).isEmpty, true)
        expect(acquire(third).outcome, "use c2")
        #expect(state.idleCount == 1)
    }

    /// Starts a dial for a request, and gives the request its connection.
    private mutating func connect(_ call: PoolItem, _ connection: PoolItem, _ group: State.GroupID) -> [String] {
        let dial = PoolItem("dial of \(call)")
        expect(state.dialStarted(dial, for: call, in: group), true)
        return state.dialSucceeded(dial, connection, at: now).actions.map(\.text)
    }

    @Test mutating func requestsBeyondTheLimitsWaitOrAreRefused() {
        let calls = (1...5).map { PoolItem("call \($0)") }
        let outcomes = calls.map { acquire($0).outcome }
        #expect(outcomes == ["dial", "dial", "wait", "wait", "refused"])
        // Another origin is not blocked.
        expect(acquire(PoolItem("other"), Self.b).outcome, "dial")
    }

    @Test mutating func freedConnectionServesTheOldestRequestAndKeepsItsDial() {
        let (one, two, three) = (PoolItem("one"), PoolItem("two"), PoolItem("three"))
        let group = acquire(one).group
        expect(connect(one, PoolItem("c1"), group), ["start one by c1"])
        _ = acquire(two)
        let dial = PoolItem("dial of two")
        expect(state.dialStarted(dial, for: two, in: group), true)
        _ = acquire(three)
        let connection = PoolItem("c1")
        expect(state.release(connection, of: group, at: now).map(\.text), ["start two by c1"])
        // The remaining dial of “two” serves “three”, which starts no dial.
        expect(state.dialSucceeded(dial, PoolItem("c2"), at: now).actions.map(\.text), ["start three by c2"])
        #expect(state.dialCount == 0)
    }

    /// A server that closes idle connections may have closed the others too.
    @Test mutating func resentRequestWaitsForItsDialWhileUsedConnectionsBecomeFree() {
        let (one, two) = (PoolItem("one"), PoolItem("two"))
        let (first, second) = (PoolItem("c1"), PoolItem("c2"))
        let group = acquire(one).group
        _ = acquire(two)
        _ = connect(one, first, group)
        _ = connect(two, second, group)
        let again = state.reacquire(one, in: group, fresh: true, total: .distantFuture, connectTimeout: nil, at: now)
        #expect(again.text == "dial")
        expect(state.release(second, of: group, at: now).isEmpty, true)
        #expect(state.idleCount == 1)
        expect(connect(one, PoolItem("c3"), group), ["start one by c3"])
        expect(acquire(PoolItem("three")).outcome, "use c2")
    }

    @Test mutating func longDialIsNotReusedForAnotherRequest() {
        let (one, two, three) = (PoolItem("one"), PoolItem("two"), PoolItem("three"))
        let group = acquire(one).group
        expect(connect(one, PoolItem("c1"), group), ["start one by c1"])
        _ = acquire(two)
        let dial = PoolItem("dial of two")
        expect(state.dialStarted(dial, for: two, in: group), true)
        _ = acquire(three)
        expect(
            state.release(PoolItem("c1"), of: group, at: Self.time(3600)).map(\.text),
            ["start two by c1", "dial three"]
        )
        // Whichever connects first serves “three”.
        expect(state.dialSucceeded(dial, PoolItem("c2"), at: now).actions.map(\.text), ["start three by c2"])
        expect(state.dialStarted(PoolItem("late"), for: three, in: group), false)
    }

    @Test mutating func firstDialToConnectServesTheOldestRequest() {
        let (one, two) = (PoolItem("one"), PoolItem("two"))
        let group = acquire(one).group
        _ = acquire(two)
        let (first, second) = (PoolItem("d1"), PoolItem("d2"))
        _ = state.dialStarted(first, for: one, in: group)
        _ = state.dialStarted(second, for: two, in: group)
        expect(state.dialSucceeded(second, PoolItem("c"), at: now).actions.map(\.text), ["start one by c"])
        // The remaining dial now belongs to “two”.
        let error = SluiceError(.cannotConnect, "refused")
        expect(state.dialFailed(first, with: error, at: now).map(\.text), ["fail two: cannotConnect"])
    }

    @Test mutating func failedDialFailsItsRequestAndStartsTheNextDial() {
        let calls = (1...3).map { PoolItem("call \($0)") }
        let group = acquire(calls[0]).group
        _ = acquire(calls[1])
        _ = acquire(calls[2])
        let dial = PoolItem("dial")
        _ = state.dialStarted(dial, for: calls[0], in: group)
        let actions = state.dialFailed(dial, with: SluiceError(.cannotConnect, ""), at: now)
        #expect(actions.map(\.text) == ["fail call 1: cannotConnect", "dial call 3"])
    }

    @Test mutating func removedRequestCancelsItsDial() {
        let call = PoolItem("call")
        let group = acquire(call).group
        let dial = PoolItem("dial")
        _ = state.dialStarted(dial, for: call, in: group)
        expect(state.remove(call, at: now)?.map(\.text), ["cancel dial"])
        expect(state.remove(call, at: now)?.count, nil)
        expect(state.dialSucceeded(dial, PoolItem("c"), at: now).isWanted, false)
        #expect(state.active == 0)
    }

    @Test mutating func connectTimeoutStartsWithTheSlot() {
        let calls = (1...3).map { PoolItem("call \($0)") }
        let group = acquire(calls[0], connect: .seconds(5)).group
        _ = acquire(calls[1], connect: .seconds(100))
        expect(acquire(calls[2], connect: .seconds(1)).outcome, "wait")
        #expect(state.nextDeadline == Self.time(5))
        expect(state.expire(at: Self.time(4)).isEmpty, true)
        let actions = state.expire(at: Self.time(5)).map(\.text)
        #expect(actions == ["dial call 3", "fail call 1: connectTimedOut"])
        #expect(state.nextDeadline == Self.time(6))
        _ = group
    }

    @Test mutating func totalTimeoutIncludesTheWait() {
        let calls = (1...3).map { PoolItem("call \($0)") }
        _ = acquire(calls[0])
        _ = acquire(calls[1])
        _ = acquire(calls[2], total: Self.time(3))
        expect(state.expire(at: Self.time(3)).map(\.text), ["fail call 3: timedOut"])
        #expect(state.waiting == 0)
    }

    @Test mutating func lateDialIsNotUsedForAnotherOrigin() {
        let call = PoolItem("call")
        let group = acquire(call).group
        // The request ends before its dial has started, and a request to another origin arrives.
        expect(state.remove(call, at: now)?.count, 0)
        let other = PoolItem("other")
        expect(acquire(other, Self.b).outcome, "dial")
        expect(state.dialStarted(PoolItem("late"), for: call, in: group), false)
        // Its group is now free.
        let third = HTTPOrigin(scheme: "http", authority: "c")
        expect(acquire(PoolItem("next"), third).group, group)
    }

    @Test mutating func unusedDialEndsAtTheTimeoutOfItsRequest() {
        let (one, two) = (PoolItem("one"), PoolItem("two"))
        let group = acquire(one).group
        _ = connect(one, PoolItem("c1"), group)
        _ = acquire(two, connect: .seconds(5))
        let dial = PoolItem("dial")
        expect(state.dialStarted(dial, for: two, in: group), true)
        expect(state.release(PoolItem("c1"), of: group, at: now).map(\.text), ["start two by c1"])
        #expect(state.nextDeadline == Self.time(5))
        expect(state.expire(at: Self.time(5)).map(\.text), ["cancel dial"])
        #expect(state.nextDeadline == .distantFuture)
        #expect(state.dialCount == 0)
        expect(state.dialSucceeded(dial, PoolItem("c2"), at: now).isWanted, false)
    }

    @Test mutating func leastRecentlyUsedIdleConnectionIsRemovedFirst() {
        let (one, two) = (PoolItem("one"), PoolItem("two"))
        let first = acquire(one).group
        let second = acquire(two, Self.b).group
        _ = connect(one, PoolItem("c1"), first)
        _ = connect(two, PoolItem("c2"), second)
        let (older, newer) = (PoolItem("older"), PoolItem("newer"))
        _ = state.release(older, of: second, at: Self.time(1))
        _ = state.release(newer, of: first, at: Self.time(2))
        let oldest = state.oldestIdleTime()
        #expect(oldest == Self.time(1))
        expect(state.popOldestIdle()?.description, "older")
        expect(state.popOldestIdle()?.description, "newer")
        expect(state.popOldestIdle()?.description, nil)
    }

    /// The first search finds all three. Then one of them is used again.
    @Test mutating func connectionThatIsUsedAgainIsNotTheOldest() {
        let connections = (0..<3).map { PoolItem("c\($0)") }
        for (index, origin) in [Self.a, Self.b, Self.c].enumerated() {
            let call = PoolItem("\(index)")
            let group = acquire(call, origin).group
            _ = connect(call, connections[index], group)
            _ = state.release(connections[index], of: group, at: Self.time(Int64(index)))
        }
        let oldest = state.oldestIdleTime()
        #expect(oldest == Self.time(0))
        let (group, outcome) = acquire(PoolItem("3"), Self.a)
        expect(outcome, "use c0")
        expect(state.popOldestIdle()?.description, "c1")
        _ = state.release(connections[0], of: group, at: Self.time(3))
        expect(state.popOldestIdle()?.description, "c2")
        expect(state.popOldestIdle()?.description, "c0")
    }

    @Test mutating func connectionsThatHaveBeenIdleSinceATimeAreRemoved() {
        var groups: [State.GroupID] = []
        for (index, origin) in [Self.a, Self.a, Self.b].enumerated() {
            groups.append(acquire(PoolItem("\(index)"), origin).group)
            _ = connect(PoolItem("\(index)"), PoolItem("c\(index)"), groups[index])
        }
        for index in [0, 2, 1] {
            _ = state.release(PoolItem("c\(index)"), of: groups[index], at: Self.time(Int64(index)))
        }
        #expect(state.removeIdle(of: groups[0], since: Self.time(0)).map(\.description) == ["c0"])
        #expect(state.removeIdle(of: groups[0], since: Self.time(0)).isEmpty)
        #expect(state.removeIdle(of: groups[0], since: Self.time(9)).map(\.description) == ["c1"])
        #expect(state.removeIdle(of: groups[0], since: Self.time(9)).isEmpty)
        expect(state.popOldestIdle()?.description, "c2")
    }

    /// If each removal searched all groups, this would take minutes.
    @Test(.timeLimit(.minutes(1))) mutating func idleConnectionsOfManyOriginsAreRemovedInOrder() {
        state = State(limit: .max, limitPerHost: 6, maximumWaiting: 0)
        let count = 20_000
        for index in 0..<count {
            let call = PoolItem("\(index)")
            let group = acquire(call, HTTPOrigin(scheme: "http", authority: "h\(index)")).group
            _ = connect(call, PoolItem("c"), group)
            _ = state.release(PoolItem("\(index)"), of: group, at: Self.time(Int64(index)))
        }
        for index in 0..<count / 2 { expect(state.popOldestIdle()?.description, "\(index)") }
        #expect(state.removeAllIdle().map(\.description) == (count / 2..<count).map { "\($0)" })
    }

    @Test mutating func unusedOriginsAreRemoved() {
        for number in 0..<100 {
            let call = PoolItem("call")
            let group = acquire(call, HTTPOrigin(scheme: "http", authority: "host\(number)")).group
            _ = connect(call, PoolItem("c"), group)
            expect(state.release(nil, of: group, at: now).isEmpty, true)
            #expect(group == 0, "The group was not removed.")
        }
    }

    @Test mutating func connectionIsDiscardedIfIdleOnesAreNotKept() {
        let call = PoolItem("call")
        let group = acquire(call).group
        _ = connect(call, PoolItem("c"), group)
        state.keepsIdle = false
        expect(state.release(PoolItem("c"), of: group, at: now).map(\.text), ["discard c"])
    }
}

extension PoolState.Acquisition where Connection == PoolItem {
    var text: String {
        switch self {
        case .connection(let connection): "use \(connection)"
        case .dial: "dial"
        case .waiting: "wait"
        case .refused: "refused"
        }
    }
}

extension PoolState.Action where Call == PoolItem, Connection == PoolItem, Dial == PoolItem {
    var text: String {
        switch self {
        case .start(let call, let connection): "start \(call) by \(connection)"
        case .dial(let call, _): "dial \(call)"
        case .cancel(let dial): "cancel \(dial)"
        case .discard(let connection): "discard \(connection)"
        case .fail(let call, .timedOut): "fail \(call): timedOut"
        case .fail(let call, .connectTimedOut): "fail \(call): connectTimedOut"
        case .fail(let call, .failed(let error)): "fail \(call): \(error.code)"
        }
    }
}
#endif
