#if os(Linux)
import Foundation
import Testing

@testable import SluiceRedis

/// The slots of one machine, without a server.
struct SharedSlotsTests {
    typealias Slots = SharedSlots<Int>

    private struct Scenario {
        var slots: Slots
        var now = ContinuousClock.now

        init(_ limit: Int = 10, _ fallback: RedisLimitFallback = .refuse, maximumWaiting: Int = 100) {
            slots = Slots(.init(limit: limit, maximumWaiting: maximumWaiting, fallback: fallback), now: now)
        }

        mutating func pass(_ duration: Duration) { now += duration }
        mutating func take() -> Bool { slots.take(now: now) }
        mutating func arrive(_ waiter: Int) -> LimitArrival { slots.arrive(waiter, id: waiter, now: now) }
        mutating func call() -> Slots.Call? { slots.nextCall(now: now) }
        mutating func release() -> [Int] { slots.release(now: now).map(\.waiter) }
        var wakeAfter: Duration? { slots.nextWake(now: now).map { $0 - now } }

        /// Answers the call that is due.
        mutating func reply(_ held: Int, fairShare: Int = 10, settling: Duration = .zero, after time: Duration = .zero)
            -> [Int]
        {
            guard let call = call() else { return [-1] }
            let sentAt = now
            now += time
            let reply = SlotsReply(held: held, fairShare: fairShare, settling: settling)
            return slots.finished(call, reply, sentAt: sentAt, now: now).map(\.waiter)
        }

        mutating func fail() -> [String] {
            guard let call = call() else { return ["no call"] }
            return slots.finished(call, nil, sentAt: now, now: now).map {
                $0.refusal == nil ? "\($0.waiter)" : "\($0.waiter) refused"
            }
        }
    }

    @Test func oneCallTakesSlotsForAllThatWait() {
        var scenario = Scenario(100)
        for waiter in 1...8 { #expect(scenario.arrive(waiter) == .waiting) }
        let call = scenario.call()
        #expect(call == .init(wanted: 10, usable: 0, running: 0), "some more are taken ahead")
        #expect(scenario.call() == nil)
        let released = scenario.slots.finished(
            call!,
            .init(held: 10, fairShare: 100),
            sentAt: scenario.now,
            now: scenario.now
        )
        #expect(released.map(\.waiter) == Array(1...8))
        #expect(scenario.take() == true)
        #expect(scenario.take() == true)
        #expect(scenario.take() == false)
        #expect(scenario.call() == nil, "nobody waits")
        // Slots of requests that end serve the next ones without a call.
        for _ in 0..<1000 {
            #expect(scenario.release() == [])
            #expect(scenario.take() == true)
            #expect(scenario.call() == nil)
        }
        #expect(scenario.slots.running == 10)
    }

    @Test func waitersWaitForSlotsOfOtherMachines() {
        var scenario = Scenario()
        for waiter in 1...3 { _ = scenario.arrive(waiter) }
        #expect(scenario.reply(2) == [1, 2])
        #expect(scenario.call() == nil)
        #expect(scenario.wakeAfter == .milliseconds(20))
        #expect(scenario.release() == [3])
        scenario.pass(.milliseconds(20))
        _ = scenario.arrive(4)
        #expect(scenario.slots.leave(id: 4) == 4)
        #expect(scenario.slots.leave(id: 4) == nil)
        var full = Scenario(maximumWaiting: 1)
        _ = full.arrive(1)
        #expect(full.arrive(2) == .full(waiting: 1))
    }

    @Test func idleSlotsAreGivenBackAfterAWhile() {
        var scenario = Scenario()
        for waiter in 1...4 { _ = scenario.arrive(waiter) }
        #expect(scenario.reply(5) == [1, 2, 3, 4])
        for _ in 1...3 { #expect(scenario.release() == []) }
        var calls: [Slots.Call] = []
        for _ in 0..<4 {
            guard let wake = scenario.wakeAfter else { break }
            scenario.pass(wake)
            _ = scenario.slots.wake(now: scenario.now)
            guard let call = scenario.call() else { continue }
            calls.append(call)
            #expect(scenario.slots.held == call.wanted, "what is given back is not used during the call")
            _ = scenario.slots.finished(
                call,
                .init(held: call.wanted, fairShare: 10),
                sentAt: scenario.now,
                now: scenario.now
            )
        }
        #expect(calls.last == .init(wanted: 1, usable: 1, running: 1))
        #expect(scenario.release() == [])
        for _ in 0..<4 {
            guard let wake = scenario.wakeAfter else { break }
            scenario.pass(wake)
            if let call = scenario.call() {
                _ = scenario.slots.finished(
                    call,
                    .init(held: call.wanted, fairShare: 10),
                    sentAt: scenario.now,
                    now: scenario.now
                )
            }
        }
        #expect(scenario.slots.held == 0 && scenario.wakeAfter == nil)
        #expect(scenario.slots.isIdle(now: scenario.now))
    }

    @Test func leaseIsRenewedWhileSlotsAreUsed() {
        var scenario = Scenario()
        _ = scenario.arrive(1)
        #expect(scenario.reply(1) == [1])
        for _ in 0..<10 {
            let wake = scenario.wakeAfter ?? .zero
            #expect(wake > .zero && wake <= .milliseconds(3334))
            scenario.pass(wake)
            #expect(scenario.reply(1) == [])
        }
        // A slot whose lease is over is not given to another request.
        scenario.pass(.seconds(10))
        #expect(scenario.release() == [])
        #expect(scenario.take() == false)
    }

    @Test func slotsBeyondTheFairShareGoToOtherMachines() {
        var scenario = Scenario()
        for waiter in 1...14 { _ = scenario.arrive(waiter) }
        #expect(scenario.reply(10).count == 10)
        scenario.pass(.milliseconds(20))
        #expect(scenario.reply(10, fairShare: 8) == [])
        #expect(scenario.release() == [])
        #expect(scenario.release() == [])
        #expect(scenario.release() == [11])
        scenario.pass(.milliseconds(20))
        let call = scenario.call()
        #expect(call?.usable == 8)
    }

    @Test func slotsThatAreUsedDuringACallAreNotGivenAway() throws {
        var scenario = Scenario()
        for waiter in 1...10 { _ = scenario.arrive(waiter) }
        #expect(scenario.reply(10).count == 10)
        for _ in 1...8 { #expect(scenario.release() == []) }
        scenario.pass(.seconds(4))
        let due = scenario.call()
        let call = try #require(due)
        #expect(call == .init(wanted: 10, usable: 10, running: 2))
        for _ in 1...8 { #expect(scenario.take() == true) }
        // Another machine has begun to wait.
        let reply = SlotsReply(held: 10, fairShare: 5)
        _ = scenario.slots.finished(call, reply, sentAt: scenario.now, now: scenario.now)
        for _ in 1...6 { #expect(scenario.release() == []) }
        let wake = try #require(scenario.wakeAfter)
        #expect(wake <= .milliseconds(20))
        scenario.pass(.milliseconds(20))
        #expect(scenario.call() == .init(wanted: 5, usable: 5, running: 4))
        // The last slot of a machine that others wait for is given back, too.
        scenario = Scenario(1)
        _ = scenario.arrive(1)
        #expect(scenario.reply(1, fairShare: 0) == [1])
        #expect(scenario.release() == [])
        #expect(!scenario.slots.isIdle(now: scenario.now))
        let pause = try #require(scenario.wakeAfter)
        scenario.pass(pause)
        #expect(scenario.reply(0, fairShare: 0) == [])
        #expect(scenario.wakeAfter == nil && scenario.slots.isIdle(now: scenario.now))
        // Without a lease, the server may have given the slots to others.
        scenario = Scenario()
        for waiter in 1...4 { _ = scenario.arrive(waiter) }
        #expect(scenario.reply(8).count == 4)
        scenario.pass(.seconds(10))
        let late = scenario.call()
        #expect(late?.usable == 4)
    }

    @Test func fallbackAppliesUntilTheServerHasItsDataForALease() {
        var scenario = Scenario(10, .local(share: 0.2))
        for waiter in 1...5 { _ = scenario.arrive(waiter) }
        #expect(scenario.reply(0, settling: .seconds(10)) == [1, 2])
        #expect(scenario.wakeAfter == .milliseconds(250))
        #expect(scenario.release() == [3])
        scenario.pass(.milliseconds(250))
        #expect(scenario.reply(2, settling: .milliseconds(100)) == [])
        scenario.pass(.milliseconds(100))
        #expect(scenario.reply(4) == [4, 5])
    }

    @Test func fallbackAllowsOrRefuses() {
        var allowing = Scenario(2, .allow)
        _ = allowing.arrive(1)
        #expect(allowing.fail() == ["1"])
        for _ in 0..<20 { #expect(allowing.take() == true) }
        #expect(allowing.call() == nil)
        allowing.pass(.milliseconds(250))
        #expect(allowing.call() == .init(wanted: 21, usable: 21, running: 21))
        var refusing = Scenario(4, .refuse)
        for waiter in 1...2 { _ = refusing.arrive(waiter) }
        #expect(refusing.reply(2) == [1, 2])
        _ = refusing.arrive(3)
        refusing.pass(.milliseconds(20))
        #expect(refusing.fail() == ["3 refused"])
        #expect(refusing.arrive(4) == .refused(.unavailable))
        // The lease of a slot that is held goes on.
        #expect(refusing.release() == [])
        #expect(refusing.take() == true)
        #expect(refusing.take() == false)
    }

    @Test func refusedRequestLetsTheServerBeTriedAgain() {
        var scenario = Scenario(4, .refuse)
        #expect(scenario.arrive(1) == .waiting)
        #expect(scenario.fail() == ["1 refused"])
        #expect(scenario.wakeAfter == nil, "no request asks for a slot")
        #expect(scenario.arrive(2) == .refused(.unavailable))
        #expect(!scenario.slots.isIdle(now: scenario.now))
        #expect(scenario.call() == nil)
        #expect(scenario.wakeAfter == .milliseconds(250))
        scenario.pass(.milliseconds(250))
        // One call for each pause, as long as requests ask.
        #expect(scenario.fail() == [])
        #expect(scenario.wakeAfter == nil)
        #expect(scenario.arrive(3) == .refused(.unavailable))
        scenario.pass(.milliseconds(250))
        #expect(scenario.reply(1) == [])
        #expect(scenario.arrive(4) == .admitted)
    }

    @Test func requestIsNotAskedForWhereASlotBecameFree() throws {
        var scenario = Scenario(4, .refuse)
        for waiter in 1...2 { #expect(scenario.arrive(waiter) == .waiting) }
        #expect(scenario.reply(2) == [1, 2])
        #expect(scenario.arrive(3) == .waiting)
        scenario.pass(.milliseconds(20))
        #expect(scenario.fail() == ["3 refused"])
        #expect(scenario.arrive(4) == .refused(.unavailable))
        #expect(scenario.release() == [])
        let wake = try #require(scenario.wakeAfter)
        scenario.pass(wake)
        #expect(scenario.call() == nil)
        // The timer does not fire again at once.
        let next = try #require(scenario.wakeAfter)
        #expect(next > .zero)
        #expect(scenario.take() == true)
    }

    @Test func requestThatFindsNoPlaceInTheQueueAsksForASlot() {
        var scenario = Scenario(maximumWaiting: 0)
        #expect(scenario.arrive(1) == .full(waiting: 0))
        #expect(scenario.reply(1) == [])
        #expect(scenario.arrive(2) == .admitted)
    }
}
#endif
