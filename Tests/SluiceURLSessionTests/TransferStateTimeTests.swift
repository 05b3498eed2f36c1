import SluiceHTTP
import Testing

@testable import SluiceURLSession

@Suite struct TransferStateTimeTests {
    private let start = ContinuousClock.now

    private func state(idle: Duration?, total: Duration?) -> TransferState {
        let request = HTTPRequest(scheme: "http", authority: "host", path: "/")
        let context = TransferContext(timeouts: Timeouts(idle: idle, total: total))
        return TransferState(request: request, context: context, started: start)
    }

    @Test(arguments: [
        (Duration?.none, Duration?.none, Duration?.none), (.seconds(5), nil, .seconds(5)),
        (nil, .seconds(9), .seconds(9)), (.seconds(5), .seconds(9), .seconds(5)),
        (.seconds(9), .seconds(5), .seconds(5)),
    ])
    func deadlineIsEarlierTimeout(idle: Duration?, total: Duration?, expected: Duration?) {
        var state = state(idle: idle, total: total)
        state.begin(at: start)
        #expect(state.deadline(after: start) == expected.map { start + $0 })
    }

    @Test func totalTimeoutCountsFromCall() {
        var state = state(idle: nil, total: .seconds(5))
        #expect(state.checkTotalTime(at: start + .seconds(4)).name == "none")
        #expect(state.checkTotalTime(at: start + .seconds(5)).name == "timedOut")
        #expect(state.deadline(after: start) == nil)
    }

    @Test func idleTimeoutCountsFromStartOfTask() {
        var state = state(idle: .seconds(5), total: nil)
        #expect(state.checkSilence(at: start + .seconds(99)).name == "none")
        state.begin(at: start + .seconds(100))
        #expect(state.checkSilence(at: start + .seconds(104)).name == "none")
        #expect(state.checkSilence(at: start + .seconds(105)).name == "idleTimedOut")
    }

    @Test func sentAndReceivedBytesRestartIdleTimeout() {
        var state = state(idle: .seconds(5), total: nil)
        state.begin(at: start)
        state.send(bytes: 1, at: start + .seconds(4))
        #expect(state.checkSilence(at: start + .seconds(8)).name == "none")
        _ = state.receive(HTTPResponse(status: .ok), at: start + .seconds(8))
        #expect(state.checkSilence(at: start + .seconds(12)).name == "none")
        _ = state.receive(bytes: 1, at: start + .seconds(12))
        #expect(state.checkSilence(at: start + .seconds(16)).name == "none")
        #expect(state.checkSilence(at: start + .seconds(17)).name == "idleTimedOut")
    }

    @Test func timeWithoutSourceIsNotIdle() {
        var state = state(idle: .seconds(5), total: nil)
        state.begin(at: start)
        state.setAwaitsSource(true, at: start)
        #expect(state.checkSilence(at: start + .seconds(50)).name == "none")
        #expect(state.deadline(after: start + .seconds(50)) == start + .seconds(55))
        state.setAwaitsSource(false, at: start + .seconds(60))
        #expect(state.checkSilence(at: start + .seconds(64)).name == "none")
        #expect(state.checkSilence(at: start + .seconds(65)).name == "idleTimedOut")
    }

    @Test func timeWithoutReaderIsNotIdle() {
        var state = state(idle: .seconds(5), total: nil)
        state.begin(at: start)
        let changes = [
            state.setSuspended(true, at: start), state.setSuspended(true, at: start),
            state.setSuspended(true, at: start),
        ]
        #expect(changes == [true, false, false])
        #expect(state.checkSilence(at: start + .seconds(50)).name == "none")
        #expect(state.deadline(after: start + .seconds(50)) == start + .seconds(55))
        let isChange = state.setSuspended(false, at: start + .seconds(60))
        #expect(isChange)
        #expect(state.checkSilence(at: start + .seconds(64)).name == "none")
        #expect(state.checkSilence(at: start + .seconds(65)).name == "idleTimedOut")
    }
}
