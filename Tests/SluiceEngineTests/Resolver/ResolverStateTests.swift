#if os(Linux)
import SluiceHTTP
import Testing

@testable import SluiceEngine

private typealias State = ResolverState<Int>

@Suite struct ResolverStateTests {
    private let start = MonotonicTime(nanoseconds: 0)
    private let found = State.Answer.success([ScopedAddress(IPAddress(10, 0, 0, 1))])

    private func name(_ text: String) throws -> LookupName {
        guard case .name(let name) = LookupTarget(text) else { throw Resolver.Failure.notFound }
        return name
    }

    private func request(_ state: inout State, _ host: String, _ waiter: Int = 0) throws -> (
        Resolver.Ticket, State.Work
    ) {
        let (reply, work) = state.request(try name(host), waiter, at: start)
        guard case .pending(let ticket) = reply else { throw Resolver.Failure.notFound }
        return (ticket, work)
    }

    /// Requests a name, and starts the look-up on its new thread.
    private func begin(_ state: inout State, _ host: String) throws -> Resolver.Ticket {
        let (ticket, work) = try request(&state, host)
        #expect(work == .startThread)
        #expect(state.threadArrived() == .lookUp(id: ticket.lookUp, name: host))
        return ticket
    }

    @Test func equalNamesShareALookUp() throws {
        var state = State(threads: 2, lifetime: .seconds(60))
        let (first, work) = try request(&state, "API.example", 1)
        #expect(work == .startThread)
        let (second, none) = try request(&state, "api.eXample", 2)
        #expect(none == .none && second.lookUp == first.lookUp)
        #expect(state.threadArrived() == .lookUp(id: first.lookUp, name: "API.example"))
        #expect(try request(&state, "api.EXAMPLE", 3).1 == .none)
        let (answer, waiters) = state.finish(first.lookUp, found, at: start)
        #expect(answer == found && waiters == [1, 2, 3])
        #expect(state.nextStep() == .idle)
        guard case (.answer(found), .none) = state.request(try name("api.example"), 4, at: start) else {
            Issue.record("The answer is not cached.")
            return
        }
        #expect(state.cancel(first) == (false, .none))
        state.forget(try name("Api.Example"))
        #expect(try request(&state, "api.example", 5).1 == .wakeThread)
    }

    /// The search list applies to the name without the dot only.
    @Test func trailingDotMakesAnotherName() throws {
        var state = State(threads: 2, lifetime: .seconds(60))
        let (relative, _) = try request(&state, "db", 1)
        let (absolute, work) = try request(&state, "DB.", 2)
        #expect(work == .startThread && absolute.lookUp != relative.lookUp)
        #expect(state.threadArrived() == .lookUp(id: relative.lookUp, name: "db"))
        #expect(state.threadArrived() == .lookUp(id: absolute.lookUp, name: "DB."))
        _ = state.finish(absolute.lookUp, .failure(.notFound), at: start)
        let (answer, waiters) = state.finish(relative.lookUp, found, at: start)
        #expect(answer == found && waiters == [1])
        guard case .answer(.failure(.notFound)) = state.request(try name("db."), 3, at: start).0 else {
            Issue.record("The answer is not cached for the name with the dot.")
            return
        }
    }

    @Test func lookUpsBeyondTheThreadLimitWait() throws {
        var state = State(threads: 2, lifetime: .zero)
        let first = try begin(&state, "a")
        _ = try begin(&state, "b")
        let (third, work) = try request(&state, "c")
        #expect(work == .none)
        #expect(try request(&state, "d").1 == .none)
        #expect(state.queued == 2 && state.threads == 2)
        _ = state.finish(first.lookUp, found, at: start)
        #expect(state.nextStep() == .lookUp(id: third.lookUp, name: "c"))
    }

    @Test func abandonedLookUpsAllowTwiceTheThreadLimit() throws {
        var state = State(threads: 2, lifetime: .seconds(60))
        let tickets = try ["a", "b"].map { try begin(&state, $0) }
        #expect(try request(&state, "c").1 == .none)
        #expect(try request(&state, "d").1 == .none)
        #expect(try request(&state, "e").1 == .none)
        // Each abandoned look-up allows a waiting one to start.
        for ticket in tickets { #expect(state.cancel(ticket) == (true, .startThread)) }
        guard case .lookUp(let third, "c") = state.threadArrived(), case .lookUp(_, "d") = state.threadArrived() else {
            Issue.record("Expected the queued lookups.")
            return
        }
        #expect(state.threads == 4 && state.abandoned == 2 && state.capacity == 4)
        // Beyond that, the other look-ups count again.
        let (_, waiters) = state.finish(third, found, at: start)
        #expect(waiters.count == 1)
        guard case .lookUp(let fifth, "e") = state.nextStep() else {
            Issue.record("Expected the thread to continue.")
            return
        }
        // The answer of an abandoned look-up is cached, and its thread ends.
        #expect(state.finish(tickets[0].lookUp, found, at: start).1.isEmpty)
        guard case (.answer(found), .none) = state.request(try name("a"), 0, at: start) else {
            Issue.record("The late answer is not cached.")
            return
        }
        #expect(state.nextStep() == .end)
        _ = state.finish(fifth, found, at: start)
        #expect(state.nextStep() == .end)
        #expect(state.threads == 2)
    }

    @Test func abandonedLookUpsBeyondTheLimitBlockOthers() throws {
        var state = State(threads: 1, lifetime: .zero)
        #expect(state.cancel(try begin(&state, "a")) == (true, .none))
        #expect(state.cancel(try begin(&state, "b")) == (true, .none))
        #expect(try request(&state, "c").1 == .none)
        #expect(state.threads == 2 && state.abandoned == 2)
    }

    @Test func abandonedLookUpCanBeJoined() throws {
        var state = State(threads: 1, lifetime: .zero)
        let ticket = try begin(&state, "a")
        #expect(state.cancel(ticket) == (true, .none))
        #expect(state.cancel(ticket) == (false, .none))
        let second = try begin(&state, "b")
        let (joined, work) = try request(&state, "a", 7)
        #expect(work == .none && joined.lookUp == ticket.lookUp && state.abandoned == 0)
        #expect(try request(&state, "c").1 == .none)
        // Two look-ups with waiting requests run where one is allowed. The first thread that finishes ends although a name waits.
        _ = state.finish(second.lookUp, found, at: start)
        #expect(state.nextStep() == .end)
        #expect(state.finish(ticket.lookUp, found, at: start).1 == [7])
        guard case .lookUp(_, "c") = state.nextStep() else {
            Issue.record("Expected the lookup of the waiting name.")
            return
        }
    }

    @Test func cancelledQueuedLookUpIsNeverStarted() throws {
        var state = State(threads: 1, lifetime: .zero)
        let first = try begin(&state, "a")
        let (second, _) = try request(&state, "b")
        let (third, _) = try request(&state, "c")
        #expect(state.cancel(second) == (true, .none))
        #expect(state.queued == 1)
        _ = state.finish(first.lookUp, found, at: start)
        #expect(state.nextStep() == .lookUp(id: third.lookUp, name: "c"))
        _ = state.finish(third.lookUp, found, at: start)
        #expect(state.nextStep() == .idle)
    }

    @Test func wokenThreadIgnoresTheIdleTimeout() throws {
        var state = State(threads: 1, lifetime: .zero)
        _ = state.finish(try begin(&state, "a").lookUp, found, at: start)
        #expect(state.nextStep() == .idle)
        let (ticket, work) = try request(&state, "b")
        #expect(work == .wakeThread)
        #expect(state.idleTimePassed() == false)
        #expect(state.threadArrived() == .lookUp(id: ticket.lookUp, name: "b"))
        _ = state.finish(ticket.lookUp, found, at: start)
        #expect(state.nextStep() == .idle)
        #expect(state.idleTimePassed() == true)
        #expect(state.threads == 0)
        #expect(try request(&state, "c").1 == .startThread)
    }

    @Test func allWaitersFailWithoutAThread() throws {
        var state = State(threads: 2, lifetime: .seconds(60))
        let (first, work) = try request(&state, "a", 1)
        #expect(work == .startThread)
        let (second, _) = try request(&state, "a", 2)
        let failed = state.threadFailed()
        #expect(failed.map(\.0) == [first, second] && failed.map(\.1) == [1, 2])
        #expect(state.threads == 0 && state.queued == 0 && state.running == 0)
        // If another thread is running, the look-up waits for it.
        let running = try begin(&state, "b")
        #expect(try request(&state, "c", 3).1 == .startThread)
        #expect(state.threadFailed().isEmpty)
        _ = state.finish(running.lookUp, found, at: start)
        guard case .lookUp(_, "c") = state.nextStep() else {
            Issue.record("Expected the lookup of the waiting name.")
            return
        }
    }

    @Test func manyCancelledLookUpsAreAllRemoved() throws {
        var state = State(threads: 1, lifetime: .zero)
        let first = try begin(&state, "a")
        for round in 0..<50 {
            let tickets = try (0..<100).map { try request(&state, "n\(round)-\($0)").0 }
            for ticket in tickets.reversed() { #expect(state.cancel(ticket) == (true, .none)) }
        }
        #expect(state.queued == 0 && state.running == 1)
        _ = state.finish(first.lookUp, found, at: start)
        #expect(state.nextStep() == .idle)
    }
}
#endif
