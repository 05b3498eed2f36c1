#if os(Linux)
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceEngine

/// Runs random requests, departures, answers and threads on a resolver's state, without real threads.
private struct ResolverModel {
    let bound: Int
    let mayFail: Bool
    var state: ResolverState<Int>
    var now: Int64 = 0
    var lastWaiter = 0
    /// The waiting requests, with their names.
    var waiting: [Int: (ticket: Resolver.Ticket, name: Int)] = [:]
    /// The look-ups in the order of their first requests, and those that run.
    var queued: [UInt64] = []
    var running: [(id: UInt64, name: Int)] = []
    /// The number of threads that are starting, were woken, are idle, or have finished a look-up.
    var starting = 0
    var woken = 0
    var idle = 0
    var finishing = 0
    var begun = 0
    var hasThreadFailed = false

    init(_ random: inout SeededGenerator) {
        bound = Int.random(in: 1...4, using: &random)
        mayFail = Int.random(in: 0..<4, using: &random) == 0
        let lifetime = Int.random(in: 0...3, using: &random)
        state = ResolverState(threads: bound, lifetime: .seconds(lifetime), cacheCapacity: 4)
    }

    var clock: MonotonicTime { MonotonicTime(nanoseconds: now * 1_000_000) }

    private func answer(_ name: Int) -> ResolverState<Int>.Answer {
        switch name % 4 {
        case 0: .failure(.notFound)
        case 1: .failure(.temporary("Try again"))
        default: .success([ScopedAddress(IPAddress(10, 0, 0, UInt8(name)))])
        }
    }

    private mutating func take(_ work: ResolverState<Int>.Work) {
        switch work {
        case .none: break
        case .startThread: starting += 1
        case .wakeThread:
            idle -= 1
            woken += 1
            #expect(idle >= 0)
        }
    }

    mutating func request(_ random: inout SeededGenerator) throws {
        let name = Int.random(in: 0..<12, using: &random)
        guard case .name(let key) = LookupTarget("host\(name)") else { throw Resolver.Failure.notFound }
        lastWaiter += 1
        let (reply, work) = state.request(key, lastWaiter, at: clock)
        switch reply {
        case .answer(let answer):
            #expect(answer == self.answer(name) && name % 4 != 1)
            #expect(!waiting.values.contains { $0.name == name }, "A lookup of this name is in progress.")
        case .pending(let ticket):
            if let other = waiting.values.first(where: { $0.name == name }) {
                #expect(other.ticket.lookUp == ticket.lookUp)
            } else if let other = running.first(where: { $0.name == name }) {
                #expect(other.id == ticket.lookUp)
            } else {
                queued.append(ticket.lookUp)
            }
            waiting[lastWaiter] = (ticket, name)
        }
        take(work)
    }

    mutating func cancel(_ random: inout SeededGenerator) {
        guard let waiter = waiting.keys.sorted().randomElement(using: &random), let place = waiting[waiter] else {
            return
        }
        waiting[waiter] = nil
        if !waiting.values.contains(where: { $0.ticket.lookUp == place.ticket.lookUp }) {
            queued.removeAll { $0 == place.ticket.lookUp }
        }
        let (isCancelled, work) = state.cancel(place.ticket)
        #expect(isCancelled)
        take(work)
        #expect(state.cancel(place.ticket) == (false, .none))
    }

    private mutating func take(_ step: ResolverState<Int>.Step) {
        switch step {
        case .idle:
            idle += 1
            #expect(queued.isEmpty)
        case .end: break
        case .lookUp(let id, let name):
            #expect(id == queued.first, "Lookups must start in the order of the requests.")
            queued.removeFirst()
            running.append((id, Int(name.dropFirst(4)) ?? -1))
            begun += 1
            let attended = running.count { look in waiting.values.contains { $0.ticket.lookUp == look.id } }
            #expect(running.count <= bound + min(bound, running.count - attended))
        }
    }

    mutating func threadArrives(_ random: inout SeededGenerator) {
        if starting > 0, mayFail, Int.random(in: 0..<3, using: &random) == 0 {
            starting -= 1
            hasThreadFailed = true
            let failed = state.threadFailed()
            for (ticket, waiter) in failed { #expect(waiting.removeValue(forKey: waiter)?.ticket == ticket) }
            if !failed.isEmpty { queued = [] }
            if starting + woken + idle + finishing + running.count == 0 { #expect(waiting.isEmpty) }
        } else if starting > 0, woken == 0 || Bool.random(using: &random) {
            starting -= 1
            take(state.threadArrived())
        } else if woken > 0 {
            woken -= 1
            take(state.threadArrived())
        }
    }

    mutating func finish(_ random: inout SeededGenerator) {
        guard let index = running.indices.randomElement(using: &random) else { return }
        let (id, name) = running.remove(at: index)
        let expected = waiting.filter { $0.value.ticket.lookUp == id }.keys.sorted()
        let (answer, waiters) = state.finish(id, self.answer(name), at: clock)
        #expect(answer == self.answer(name))
        #expect(waiters == expected)
        for waiter in waiters { #expect(waiting.removeValue(forKey: waiter)?.name == name) }
        finishing += 1
    }

    mutating func threadContinues() {
        guard finishing > 0 else { return }
        finishing -= 1
        take(state.nextStep())
    }

    mutating func idleTimePasses() {
        guard idle + woken > 0 else { return }
        let hasEnded = state.idleTimePassed()
        #expect(hasEnded == (idle > 0))
        if hasEnded { idle -= 1 }
    }

    func check() {
        #expect(state.threads == starting + woken + idle + finishing + running.count)
        #expect(state.threads <= 2 * bound)
        #expect(state.idle == idle && state.arriving == starting + woken)
        #expect(state.queued == queued.count && state.running == running.count)
        #expect(state.cached <= 4)
        let abandoned = running.count { look in !waiting.values.contains { $0.ticket.lookUp == look.id } }
        #expect(state.abandoned == abandoned)
        // No look-up waits that could start.
        if !hasThreadFailed { #expect(state.queued <= state.arriving || state.occupied >= state.capacity) }
    }
}

@Suite struct ResolverStateModelTests {
    @Test(arguments: 0..<60 as Range<UInt64>)
    func everyWaiterIsAnsweredOnceByBoundedThreads(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var model = ResolverModel(&random)
        for step in 0..<800 {
            let requests = step % 200 < 100 ? 5 : 2
            switch Int.random(in: 0..<16, using: &random) {
            case 0..<requests: try model.request(&random)
            case 5, 6: model.cancel(&random)
            case 7, 8, 9: model.threadArrives(&random)
            case 10, 11: model.finish(&random)
            case 12, 13: model.threadContinues()
            case 14: model.idleTimePasses()
            default: model.now += Int64.random(in: 0...800, using: &random)
            }
            model.check()
        }
        #expect(model.begun > 20)
        while model.starting + model.woken + model.finishing + model.running.count > 0 {
            model.threadArrives(&random)
            model.threadContinues()
            model.finish(&random)
            model.check()
        }
        #expect(model.waiting.isEmpty)
        while model.idle > 0 { model.idleTimePasses() }
        #expect(model.state.threads == 0)
    }
}
#endif
