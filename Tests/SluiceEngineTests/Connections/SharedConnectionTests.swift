#if os(Linux)
import SluiceHTTP
import Testing

@testable import SluiceEngine

/// The pool's decisions for connections that carry several requests at a time.
@Suite struct SharedConnectionTests {
    typealias State = PoolState<PoolItem, PoolItem, PoolItem>

    private var state = State(limit: 300, limitPerHost: 200, maximumWaiting: 10)
    private let now = MonotonicTime(nanoseconds: 0)
    private let error = SluiceError(.cannotConnect, "")

    private static func time(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

    /// Requests a connection to an origin whose HTTP version is unknown.
    private mutating func acquire(
        _ call: PoolItem,
        total: MonotonicTime = .distantFuture,
        connect: Duration? = nil,
        at time: MonotonicTime? = nil
    ) -> (group: State.GroupID, outcome: String) {
        let (group, acquisition) = state.acquire(
            call,
            to: HTTPOrigin(scheme: "https", authority: "a"),
            by: .standard,
            priority: .normal,
            total: total,
            connectTimeout: connect,
            at: time ?? now
        )
        return (group, acquisition.text)
    }

    private static func calls(_ count: Int) -> [PoolItem] { (1...count).map { PoolItem("\($0)") } }

    /// Lets requests wait for one dial.
    private mutating func dial(for calls: [PoolItem]) -> (group: State.GroupID, dial: PoolItem) {
        var group = 0
        for (index, call) in calls.enumerated() {
            let (id, outcome) = acquire(call)
            #expect(outcome == (index == 0 ? "dial" : "wait"))
            group = id
        }
        let dial = PoolItem("dial")
        expect(state.dialStarted(dial, for: calls[0], in: group), true)
        return (group, dial)
    }

    private mutating func succeed(_ dial: PoolItem, _ connection: PoolItem, capacity: Int?) -> [String] {
        state.dialSucceeded(dial, connection, capacity: capacity, at: now).actions.map(\.text)
    }

    @Test mutating func oneDialServesAllRequestsUntilTheVersionIsKnown() {
        let (group, dial) = dial(for: Self.calls(3))
        let connection = PoolItem("c")
        expect(succeed(dial, connection, capacity: 100), ["start 1 by c", "start 2 by c", "start 3 by c"])
        expect(acquire(PoolItem("4")).outcome, "use c")
        #expect(state.active == 4)
        for _ in 0..<4 { expect(state.releaseStream(of: connection, in: group, at: now).isEmpty, true) }
        #expect(state.idleCount == 1)
        #expect(state.active == 0)
    }

    @Test mutating func http1ConnectionStartsDialsForTheOthers() {
        let (group, dial) = dial(for: Self.calls(3))
        expect(succeed(dial, PoolItem("c"), capacity: nil), ["start 1 by c", "dial 2", "dial 3"])
        // From now on, each request dials.
        expect(acquire(PoolItem("4")).outcome, "dial")
        #expect(group == 0)
    }

    @Test mutating func connectionCarriesRequestsUpToItsCapacity() {
        let (group, dial) = dial(for: Self.calls(3))
        let connection = PoolItem("c")
        expect(succeed(dial, connection, capacity: 2), ["start 1 by c", "start 2 by c", "dial 3"])
        expect(acquire(PoolItem("4")).outcome, "wait")
        expect(state.releaseStream(of: connection, in: group, at: now).map(\.text), ["start 3 by c"])
        // The dial that was to start for 3 is now for 4.
        let other = PoolItem("other")
        expect(state.dialStarted(other, for: PoolItem("3"), in: group), true)
        expect(succeed(other, PoolItem("d"), capacity: 2), ["start 4 by d"])
    }

    @Test mutating func raisedCapacityStartsWaitingRequests() {
        let (group, dial) = dial(for: Self.calls(4))
        let connection = PoolItem("c")
        expect(succeed(dial, connection, capacity: 1), ["start 1 by c", "dial 2"])
        expect(state.setCapacity(3, of: connection, in: group, at: now).map(\.text), ["start 2 by c", "start 3 by c"])
        expect(state.setCapacity(0, of: connection, in: group, at: now).isEmpty, true)
        expect(state.releaseStream(of: connection, in: group, at: now).isEmpty, true)
        expect(state.setCapacity(9, of: connection, in: group, at: now).map(\.text), ["start 4 by c"])
    }

    @Test mutating func capacityOfZeroDialsAnotherConnection() {
        let (group, dial) = dial(for: Self.calls(1))
        let connection = PoolItem("c")
        _ = succeed(dial, connection, capacity: 100)
        expect(state.setCapacity(0, of: connection, in: group, at: now).isEmpty, true)
        expect(acquire(PoolItem("2")).outcome, "dial")
        expect(acquire(PoolItem("3")).outcome, "wait")
        expect(state.setCapacity(1, of: connection, in: group, at: now).map(\.text), ["dial 3"])
        expect(state.setCapacity(2, of: connection, in: group, at: now).map(\.text), ["start 2 by c"])
    }

    /// A server that takes no requests now would otherwise get a connection for each request.
    @Test(arguments: [false, true])
    mutating func secondCapacityOfZeroDelaysFurtherDials(_ isSuspect: Bool) {
        let (group, dial) = dial(for: Self.calls(1))
        let connections = [PoolItem("c"), PoolItem("d")]
        _ = succeed(dial, connections[0], capacity: 100)
        expect(state.setCapacity(0, of: connections[0], in: group, isSuspect: isSuspect, at: now).isEmpty, true)
        let second = (call: PoolItem("2"), dial: PoolItem("second"))
        expect(acquire(second.call).outcome, "dial")
        expect(state.dialStarted(second.dial, for: second.call, in: group), true)
        expect(succeed(second.dial, connections[1], capacity: 100), ["start 2 by d"])
        expect(state.setCapacity(0, of: connections[1], in: group, isSuspect: isSuspect, at: now).isEmpty, true)
        expect(acquire(PoolItem("3")).outcome, isSuspect ? "dial" : "wait")
        guard !isSuspect else { return }
        let again = state.reacquire(
            second.call,
            in: group,
            fresh: false,
            leaving: connections[1],
            total: .distantFuture,
            connectTimeout: nil,
            at: now
        )
        #expect(again.text == "wait")
        // After the pause, another connection is tried. It replaces one of the others.
        #expect(state.nextDeadline == Self.time(1))
        expect(state.expire(at: Self.time(1)).map(\.text), ["dial 3"])
        let third = (dial: PoolItem("third"), connection: PoolItem("e"))
        expect(state.dialStarted(third.dial, for: PoolItem("3"), in: group), true)
        expect(succeed(third.dial, third.connection, capacity: 100), ["start 3 by e", "start 2 by e"])
        expect(
            state.setCapacity(0, of: third.connection, in: group, at: Self.time(1)).map(\.text),
            ["discard d"]
        )
        expect(acquire(PoolItem("4"), at: Self.time(1)).outcome, "wait")
        expect(
            state.setCapacity(3, of: connections[0], in: group, at: Self.time(1)).map(\.text),
            ["start 4 by c"]
        )
        #expect(state.nextDeadline == Self.time(2))
    }

    /// The last connection that another request could end is closed before the pause is over.
    @Test mutating func requestDialsAgainAfterThePauseWithoutATimeout() {
        let (group, dial) = dial(for: Self.calls(1))
        let connection = PoolItem("c")
        _ = succeed(dial, connection, capacity: 1)
        expect(acquire(PoolItem("2")).outcome, "dial")
        let other = PoolItem("other")
        expect(state.dialStarted(other, for: PoolItem("2"), in: group), true)
        expect(state.dialFailed(other, with: error, at: now).isEmpty, true)
        expect(state.expire(at: Self.time(1)).map(\.text), ["dial 2"])
    }

    @Test mutating func suspectConnectionDoesNotCountAsOneWithoutStreams() {
        let (group, dial) = dial(for: Self.calls(1))
        let connections = [PoolItem("c"), PoolItem("d")]
        _ = succeed(dial, connections[0], capacity: 100)
        _ = state.setCapacity(0, of: connections[0], in: group, isSuspect: true, at: now)
        let second = (call: PoolItem("2"), dial: PoolItem("second"))
        expect(acquire(second.call).outcome, "dial")
        expect(state.dialStarted(second.dial, for: second.call, in: group), true)
        _ = succeed(second.dial, connections[1], capacity: 100)
        _ = state.setCapacity(0, of: connections[1], in: group, at: now)
        expect(acquire(PoolItem("3")).outcome, "dial")
    }

    /// A request does not wait for the streams of a connection that may be dead.
    @Test mutating func connectTimeoutAppliesBesideASuspectConnection() {
        let (group, dial) = dial(for: Self.calls(1))
        let connection = PoolItem("c")
        _ = succeed(dial, connection, capacity: 100)
        _ = state.setCapacity(0, of: connection, in: group, isSuspect: true, at: now)
        expect(acquire(PoolItem("2"), connect: .seconds(2)).outcome, "dial")
        expect(state.dialStarted(PoolItem("other"), for: PoolItem("2"), in: group), true)
        expect(state.expire(at: now + .seconds(1)).isEmpty, true)
        let actions = state.expire(at: now + .seconds(2)).map(\.text)
        #expect(actions.contains("fail 2: connectTimedOut"), "\(actions)")
    }

    @Test mutating func refusedRequestDialsOrWaitsForAStreamToEnd() {
        let calls = Self.calls(3)
        let (group, dial) = dial(for: calls)
        let connection = PoolItem("c")
        _ = succeed(dial, connection, capacity: 100)
        let again = state.reacquire(
            calls[2],
            in: group,
            fresh: false,
            refusing: connection,
            total: .distantFuture,
            connectTimeout: nil,
            at: now
        )
        #expect(again.text == "dial")
        expect(acquire(PoolItem("4")).outcome, "wait")
        expect(
            state.releaseStream(of: connection, in: group, at: now).map(\.text),
            ["start 3 by c", "start 4 by c"]
        )
    }

    /// The request that filled the connection ends before the refusal is recorded.
    @Test mutating func refusalByAConnectionThatIsIdleMeanwhileIsTriedAgainOnce() {
        let calls = Self.calls(2)
        let (group, dial) = dial(for: calls)
        let connection = PoolItem("c")
        _ = succeed(dial, connection, capacity: 100)
        _ = state.setCapacity(1, of: connection, in: group, at: now)
        _ = state.releaseStream(of: connection, in: group, at: now)
        for expected in ["use c", "dial"] {
            let again = state.reacquire(
                calls[1],
                in: group,
                fresh: false,
                refusing: connection,
                total: .distantFuture,
                connectTimeout: nil,
                at: now
            )
            #expect(again.text == expected)
        }
    }

    @Test mutating func requestCanReacquireItsConnection() {
        let calls = Self.calls(1)
        let (group, dial) = dial(for: calls)
        let connection = PoolItem("c")
        _ = succeed(dial, connection, capacity: 1)
        let again = state.reacquire(
            calls[0],
            in: group,
            fresh: false,
            leaving: connection,
            total: .distantFuture,
            connectTimeout: nil,
            at: now
        )
        #expect(again.text == "use c")
        #expect(state.active == 1)
    }

    @Test mutating func failedDialFailsAllRequestsWithoutAConnection() {
        let (_, dial) = dial(for: Self.calls(3))
        expect(
            state.dialFailed(dial, with: error, at: now).map(\.text),
            ["fail 1: cannotConnect", "fail 2: cannotConnect", "fail 3: cannotConnect"]
        )
        #expect(state.active == 0)
        // The next request dials again.
        expect(acquire(PoolItem("4")).outcome, "dial")
    }

    @Test mutating func failedDialKeepsRequestsThatCanShareAConnection() {
        let (group, dial) = dial(for: Self.calls(3))
        let connection = PoolItem("c")
        expect(succeed(dial, connection, capacity: 1), ["start 1 by c", "dial 2"])
        let other = PoolItem("other")
        expect(state.dialStarted(other, for: PoolItem("2"), in: group), true)
        expect(state.dialFailed(other, with: error, at: now).isEmpty, true)
        // No other dial starts while there is a connection.
        expect(acquire(PoolItem("4")).outcome, "wait")
        expect(state.releaseStream(of: connection, in: group, at: now).map(\.text), ["start 2 by c"])
        expect(state.removeConnection(connection, of: group, at: now).map(\.text), ["dial 3"])
    }

    @Test mutating func dialOfACancelledRequestServesTheNext() {
        let calls = Self.calls(3)
        let (_, dial) = dial(for: calls)
        expect(state.remove(calls[0], at: now)?.map(\.text), [])
        expect(succeed(dial, PoolItem("c"), capacity: 100), ["start 2 by c", "start 3 by c"])
        #expect(state.active == 2)
    }

    @Test mutating func dialOfTheLastRequestIsCancelled() {
        let calls = Self.calls(2)
        let (_, dial) = dial(for: calls)
        expect(state.remove(calls[1], at: now)?.map(\.text), [])
        expect(state.remove(calls[0], at: now)?.map(\.text), ["cancel dial"])
        expect(state.dialSucceeded(dial, PoolItem("c"), capacity: 100, at: now).isWanted, false)
        #expect(state.dialCount == 0)
    }

    @Test mutating func connectTimeoutBeginsWithTheEndOfTheSharedConnection() {
        let (group, dial) = dial(for: Self.calls(1))
        let connection = PoolItem("c")
        _ = succeed(dial, connection, capacity: 1)
        // The request waits for a stream, and nobody is left to end it.
        expect(acquire(PoolItem("2"), total: Self.time(60), connect: .seconds(10)).outcome, "dial")
        let other = PoolItem("other")
        expect(state.dialStarted(other, for: PoolItem("2"), in: group), true)
        expect(state.dialFailed(other, with: error, at: now).isEmpty, true)
        // Another dial may succeed meanwhile.
        expect(state.expire(at: Self.time(11)).map(\.text), ["dial 2"])
        let third = PoolItem("third")
        expect(state.dialStarted(third, for: PoolItem("2"), in: group), true)
        expect(state.dialFailed(third, with: error, at: Self.time(12)).isEmpty, true)
        expect(state.removeConnection(connection, of: group, at: Self.time(20)).map(\.text), ["dial 2"])
        #expect(state.expire(at: Self.time(29)).isEmpty)
        #expect(!state.expire(at: Self.time(30)).isEmpty)
    }

    @Test mutating func removedConnectionGetsNoNewRequests() {
        let (group, dial) = dial(for: Self.calls(2))
        let connection = PoolItem("c")
        _ = succeed(dial, connection, capacity: 2)
        expect(acquire(PoolItem("3")).outcome, "dial")
        let other = PoolItem("other")
        expect(state.dialStarted(other, for: PoolItem("3"), in: group), true)
        expect(state.removeConnection(connection, of: group, at: now).isEmpty, true)
        expect(state.releaseStream(of: connection, in: group, at: now).isEmpty, true)
        #expect(state.active == 2)
        expect(succeed(other, PoolItem("d"), capacity: 2), ["start 3 by d"])
        expect(acquire(PoolItem("4")).outcome, "use d")
    }

    @Test mutating func connectTimeoutDoesNotApplyToAWaitForAStream() {
        let (group, dial) = dial(for: Self.calls(1))
        let connection = PoolItem("c")
        _ = succeed(dial, connection, capacity: 1)
        expect(acquire(PoolItem("2"), total: Self.time(50), connect: .seconds(5)).outcome, "dial")
        expect(state.expire(at: Self.time(5)).isEmpty, true)
        #expect(state.nextDeadline == Self.time(10))
        expect(state.expire(at: Self.time(50)).map(\.text), ["fail 2: timedOut"])
        #expect(state.active == 1)
        #expect(group == 0)
    }

    @Test mutating func stuckDialIsCancelledAndTriedAgain() {
        let (group, dial) = dial(for: Self.calls(1))
        let connection = PoolItem("c")
        _ = succeed(dial, connection, capacity: 1)
        expect(acquire(PoolItem("2"), total: Self.time(50), connect: .seconds(5)).outcome, "dial")
        let silent = PoolItem("silent")
        expect(state.dialStarted(silent, for: PoolItem("2"), in: group), true)
        // The request waits for a stream, but the dial has had its time.
        expect(state.expire(at: Self.time(5)).map(\.text), ["cancel silent"])
        #expect(state.dialCount == 0)
        expect(state.expire(at: Self.time(10)).map(\.text), ["dial 2"])
    }

    @Test mutating func connectTimeoutOfZeroDoesNotRepeatAtOnce() {
        let (_, dial) = dial(for: Self.calls(1))
        _ = succeed(dial, PoolItem("c"), capacity: 1)
        _ = acquire(PoolItem("2"), connect: .zero)
        _ = state.expire(at: Self.time(5))
        #expect(state.nextDeadline > Self.time(5))
    }

    @Test mutating func dialWithoutAnOwnerEndsAtItsConnectTimeout() {
        let (group, dial) = dial(for: Self.calls(1))
        let connection = PoolItem("c")
        _ = succeed(dial, connection, capacity: 1)
        expect(acquire(PoolItem("2"), connect: .seconds(5)).outcome, "dial")
        let silent = PoolItem("silent")
        expect(state.dialStarted(silent, for: PoolItem("2"), in: group), true)
        expect(state.releaseStream(of: connection, in: group, at: Self.time(1)).map(\.text), ["start 2 by c"])
        expect(state.expire(at: Self.time(5)).map(\.text), ["cancel silent"])
        // Nothing prevents the next request from dialing.
        expect(state.removeConnection(connection, of: group, at: Self.time(6)).isEmpty, true)
        expect(acquire(PoolItem("3")).outcome, "dial")
    }

    @Test mutating func groupGrowsAgainAfterAFailedDial() {
        let (group, dial) = dial(for: Self.calls(1))
        let connection = PoolItem("c")
        _ = succeed(dial, connection, capacity: 1)
        expect(acquire(PoolItem("2")).outcome, "dial")
        let other = PoolItem("other")
        expect(state.dialStarted(other, for: PoolItem("2"), in: group), true)
        expect(state.dialFailed(other, with: error, at: now).isEmpty, true)
        expect(acquire(PoolItem("3")).outcome, "wait")
        expect(acquire(PoolItem("4"), at: Self.time(1)).outcome, "dial")
    }

    @Test mutating func connectTimeoutsBeginTogetherWhenTheSharedConnectionEnds() {
        let (group, dial) = dial(for: Self.calls(1))
        let connection = PoolItem("c")
        _ = succeed(dial, connection, capacity: 1)
        for name in ["2", "3"] { _ = acquire(PoolItem(name), connect: .seconds(5)) }
        let silent = PoolItem("silent")
        expect(state.dialStarted(silent, for: PoolItem("2"), in: group), true)
        _ = state.expire(at: Self.time(5))
        expect(state.removeConnection(connection, of: group, at: Self.time(7)).map(\.text), ["dial 2"])
        expect(
            state.expire(at: Self.time(12)).map(\.text).sorted(),
            ["fail 2: connectTimedOut", "fail 3: connectTimedOut"]
        )
    }

    @Test mutating func connectTimeoutAppliesToAllRequestsOfTheFirstDial() {
        for (index, call) in Self.calls(2).enumerated() {
            expect(acquire(call, connect: .seconds(5 + index)).outcome, index == 0 ? "dial" : "wait")
        }
        expect(state.expire(at: Self.time(5)).map(\.text), ["fail 1: connectTimedOut"])
        expect(state.expire(at: Self.time(6)).map(\.text), ["fail 2: connectTimedOut"])
        #expect(state.active == 0)
    }

    /// The next dial is for the requests that still have time. It is not restarted for each of them.
    @Test mutating func connectTimeoutContinuesAfterTheDialOfAnotherRequest() {
        let calls = Self.calls(3)
        let group = acquire(calls[0], connect: .seconds(5)).group
        expect(state.dialStarted(PoolItem("first"), for: calls[0], in: group), true)
        expect(acquire(calls[1], connect: .seconds(5), at: Self.time(3)).outcome, "wait")
        let actions = state.expire(at: Self.time(5)).map(\.text)
        #expect(actions == ["cancel first", "dial 2", "fail 1: connectTimedOut"])
        expect(state.dialStarted(PoolItem("second"), for: calls[1], in: group), true)
        expect(acquire(calls[2], connect: .seconds(5), at: Self.time(6)).outcome, "wait")
        expect(state.expire(at: Self.time(8)).map(\.text), ["fail 2: connectTimedOut"])
        expect(state.expire(at: Self.time(11)).map(\.text), ["cancel second", "fail 3: connectTimedOut"])
        #expect(state.dialCount == 0 && state.active == 0)
    }

    @Test mutating func manyRequestsDialSeveralConnections() {
        state = State(limit: 300, limitPerHost: 300, maximumWaiting: 0)
        let (_, dial) = dial(for: Self.calls(201))
        let actions = succeed(dial, PoolItem("c"), capacity: 50)
        #expect(actions.count == 52)
        #expect(actions.suffix(2) == ["dial 51", "dial 52"])
    }

    /// A request leaves a connection that takes no others, to be sent again elsewhere.
    @Test mutating func connectionIsIdleSinceARequestHasLeftIt() {
        let calls = Self.calls(1)
        let (group, dial) = dial(for: calls)
        let connection = PoolItem("c")
        _ = succeed(dial, connection, capacity: 100)
        _ = state.setCapacity(0, of: connection, in: group, at: now)
        let outcome = state.reacquire(
            calls[0],
            in: group,
            fresh: true,
            leaving: connection,
            total: .distantFuture,
            connectTimeout: nil,
            at: Self.time(7)
        )
        expect(outcome.text, "dial")
        _ = state.remove(calls[0], at: Self.time(8))
        let oldest = state.oldestIdleTime()
        #expect(oldest == Self.time(7))
    }

    @Test mutating func idleConnectionIsRemovableUnlessRequestsWait() {
        let (group, dial) = dial(for: Self.calls(1))
        let connection = PoolItem("c")
        _ = succeed(dial, connection, capacity: 100)
        var oldest = state.oldestIdleTime()
        #expect(oldest == nil)
        _ = state.releaseStream(of: connection, in: group, at: Self.time(1))
        oldest = state.oldestIdleTime()
        #expect(oldest == Self.time(1))
        _ = state.setCapacity(0, of: connection, in: group, at: now)
        let waiting = PoolItem("2")
        expect(acquire(waiting).outcome, "dial")
        oldest = state.oldestIdleTime()
        #expect(oldest == nil)
        expect(state.popOldestIdle()?.description, nil)
        expect(state.remove(waiting, at: now)?.count, 0)
        expect(state.popOldestIdle()?.description, "c")
    }

    @Test mutating func connectionIsDiscardedIfIdleOnesAreNotKept() {
        let (group, dial) = dial(for: Self.calls(2))
        let connection = PoolItem("c")
        _ = succeed(dial, connection, capacity: 100)
        state.keepsIdle = false
        expect(state.releaseStream(of: connection, in: group, at: now).isEmpty, true)
        expect(state.releaseStream(of: connection, in: group, at: now).map(\.text), ["discard c"])
    }
}
#endif
