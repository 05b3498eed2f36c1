#if os(Linux)
import Foundation
import Testing

@testable import SluiceRedis

/// The permits of one machine, without a server.
struct SharedBucketTests {
    typealias Bucket = SharedBucket<Int>

    /// A bucket and its time.
    private struct Scenario {
        var bucket: Bucket
        var now = ContinuousClock.now

        init(_ count: Int = 100, burst: Int? = nil, _ change: (inout Bucket.Settings) -> Void = { _ in }) {
            var settings = Bucket.Settings(rules: BatchRules(count, every: .seconds(1), burst: burst))
            settings.maximumPause = .seconds(60)
            change(&settings)
            bucket = Bucket(settings, now: now)
        }

        mutating func pass(_ duration: Duration) { now += duration }
        mutating func take() -> Bool { bucket.take(now: now) }
        mutating func arrive(_ waiter: Int) -> LimitArrival { bucket.arrive(waiter, id: waiter, now: now) }
        mutating func call() -> Bucket.Call? { bucket.nextCall(now: now) }
        mutating func wake() -> [String] { Scenario.text(bucket.wake(now: now)) }
        var wakeAfter: Duration? { bucket.nextWake(now: now).map { $0 - now } }

        mutating func reply(_ call: Bucket.Call?, _ reply: BucketReply?, after time: Duration = .zero) -> [String] {
            let sentAt = now
            now += time
            guard let call else { return ["no call"] }
            return Scenario.text(bucket.finished(call, reply, sentAt: sentAt, now: now))
        }

        private static func text(_ released: Bucket.Released) -> [String] {
            released.map { waiter in
                switch waiter.refusal {
                case nil: "\(waiter.waiter)"
                case .tooLong(let wait): "\(waiter.waiter) late by \(wait)"
                case .unavailable: "\(waiter.waiter) refused"
                }
            }
        }
    }

    @Test func oneCallTakesPermitsForAllThatWait() {
        var scenario = Scenario()
        #expect(scenario.take() == false)
        #expect(scenario.arrive(1) == .waiting)
        let first = scenario.call()
        #expect(first == .init(wanted: 1, returned: 0))
        for waiter in 2...5 { #expect(scenario.arrive(waiter) == .waiting) }
        #expect(scenario.call() == nil, "one call runs at a time")
        #expect(scenario.reply(first, BucketReply(granted: 1)) == ["1"])
        let second = scenario.call()
        #expect(second == .init(wanted: 4, returned: 0))
        #expect(scenario.reply(second, BucketReply(granted: 3, wait: .milliseconds(8))) == ["2", "3", "4"])
        #expect(scenario.call() == nil)
        #expect(scenario.wakeAfter == .milliseconds(8))
        scenario.pass(.milliseconds(8))
        #expect(scenario.reply(scenario.call(), BucketReply(granted: 1)) == ["5"])
        #expect(scenario.wakeAfter == nil)
        #expect(scenario.call() == nil)
        #expect(scenario.bucket.isIdle(now: scenario.now))
    }

    @Test func permitsOfABatchNeedNoCalls() {
        var scenario = Scenario(1000)
        for waiter in 0..<100 { _ = scenario.arrive(waiter) }
        scenario.pass(.milliseconds(100))
        // 500 a second are seen, so those of 50 milliseconds are taken ahead.
        let call = scenario.call()
        #expect(call == .init(wanted: 125, returned: 0))
        #expect(scenario.reply(call, BucketReply(granted: 125)).count == 100)
        for number in 0..<12 {
            #expect(scenario.take() == true)
            #expect(scenario.call() == nil, "permit \(number)")
        }
        #expect(scenario.take() == true)
        #expect(scenario.call() == .init(wanted: 13, returned: 0), "half of the batch is left")
        for _ in 0..<12 { #expect(scenario.take() == true) }
        #expect(scenario.take() == false)
    }

    @Test func permitsThatWereHeldTooLongAreReturned() {
        var scenario = Scenario(1000)
        for waiter in 0..<100 { _ = scenario.arrive(waiter) }
        scenario.pass(.milliseconds(100))
        #expect(scenario.reply(scenario.call(), BucketReply(granted: 125), after: .milliseconds(10)).count == 100)
        scenario.pass(.milliseconds(89))
        #expect(scenario.take() == true)
        scenario.pass(.milliseconds(1))
        #expect(scenario.take() == false, "the time is reckoned from the start of the call")
        scenario.bucket.putBack(scenario.bucket.lastGrant)
        #expect(scenario.arrive(1) == .waiting)
        let call = scenario.call()
        #expect(call?.returned == 25)
        #expect(scenario.reply(call, BucketReply(granted: call?.wanted ?? 0)).count == 1)
        scenario.pass(.seconds(1))
        #expect(scenario.arrive(2) == .waiting)
        #expect(scenario.call()?.returned == (call?.wanted ?? 0) - 1)
    }

    @Test func permitsFromBeforeTheBucketWasFullAreNotReturned() {
        var scenario = Scenario(1000)
        for waiter in 0..<100 { _ = scenario.arrive(waiter) }
        scenario.pass(.milliseconds(100))
        #expect(scenario.reply(scenario.call(), BucketReply(granted: 125, fullTime: 5)).count == 100)
        #expect(scenario.take() == true)
        let early = scenario.bucket.lastGrant
        scenario.bucket.putBack(early)
        for _ in 0..<12 { #expect(scenario.take() == true) }
        // Half of the batch is left, and one permit is returned.
        let call = scenario.call()
        #expect(call == .init(wanted: 13, returned: 1, fullTime: 5))
        scenario.bucket.putBack(early)
        #expect(scenario.reply(call, BucketReply(granted: 1, wait: .seconds(1), fullTime: 6)) == [])
        // Neither what was put back before or is put back later, nor those of the first batch that were held for too long.
        scenario.bucket.putBack(early)
        scenario.pass(.seconds(1))
        let next = scenario.call()
        #expect(next?.returned == 1 && next?.fullTime == 6)
        // A permit of the fallback is not one of the server.
        var local = Scenario { $0.fallback = .allow }
        #expect(local.arrive(1) == .waiting)
        #expect(local.reply(local.call(), nil) == ["1"])
        #expect(local.take() == true)
        local.bucket.putBack(local.bucket.lastGrant)
        local.pass(.milliseconds(250))
        #expect(local.call()?.returned == 0)
    }

    @Test func waitersGetTheGrantsOfTheirPermits() {
        var now = ContinuousClock.now
        var bucket = Bucket(.init(rules: BatchRules(3, every: .seconds(1))), now: now)
        for waiter in 1...2 { #expect(bucket.arrive(waiter, id: waiter, now: now) == .waiting) }
        for fullTime in [7, 9] {
            guard let call = bucket.nextCall(now: now) else { break }
            let released = bucket.finished(
                call,
                BucketReply(granted: 1, fullTime: fullTime),
                sentAt: now,
                now: now
            )
            #expect(released.map(\.grant) == [fullTime])
            now += .milliseconds(10)
        }
        #expect(bucket.waiting == 0)
    }

    @Test func smallLimitsHoldNoPermits() {
        var scenario = Scenario(3)
        #expect(scenario.arrive(1) == .waiting)
        let call = scenario.call()
        _ = scenario.bucket.leave(id: 1)
        #expect(scenario.reply(call, BucketReply(granted: 1)) == [])
        #expect(scenario.take() == false)
        #expect(scenario.arrive(2) == .waiting)
        #expect(scenario.call() == .init(wanted: 1, returned: 1))
    }

    @Test func queueAndWaitAreLimited() {
        var scenario = Scenario(10, burst: 1) {
            $0.maximumWaiting = 3
            $0.maximumWait = .milliseconds(250)
        }
        #expect(scenario.arrive(1) == .waiting)
        #expect(scenario.reply(scenario.call(), BucketReply(granted: 0, wait: .milliseconds(100))) == [])
        #expect(scenario.arrive(2) == .waiting)
        #expect(scenario.arrive(3) == .refused(.tooLong(.milliseconds(300))))
        #expect(scenario.bucket.waiting == 2)
        // Other machines took the permit.
        scenario.pass(.milliseconds(100))
        #expect(
            scenario.reply(scenario.call(), BucketReply(granted: 0, wait: .milliseconds(100))) == [
                "2 late by 0.2 seconds"
            ]
        )
        #expect(scenario.wakeAfter == .milliseconds(100))
        scenario.pass(.milliseconds(100))
        #expect(scenario.reply(scenario.call(), BucketReply(granted: 0, wait: .milliseconds(20))) == [])
        var full = Scenario { $0.maximumWaiting = 1 }
        #expect(full.arrive(1) == .waiting)
        #expect(full.arrive(2) == .full(waiting: 1))
        // A reply that does not come.
        var slow = Scenario { $0.maximumWait = .milliseconds(30) }
        #expect(slow.arrive(1) == .waiting)
        #expect(slow.call() != nil)
        #expect(slow.wakeAfter == .milliseconds(31))
        slow.pass(.milliseconds(31))
        #expect(slow.wake() == ["1 late by 0.0 seconds"])
    }

    @Test func pausesStopPermits() {
        var scenario = Scenario()
        #expect(scenario.arrive(1) == .waiting)
        #expect(scenario.reply(scenario.call(), BucketReply(granted: 1)) == ["1"])
        _ = scenario.bucket.pause(until: scenario.now + .seconds(2), now: scenario.now)
        #expect(scenario.take() == false)
        #expect(scenario.arrive(2) == .waiting)
        #expect(scenario.call() == nil)
        #expect(scenario.wakeAfter == .seconds(2))
        scenario.pass(.seconds(2))
        // Another machine has been told to pause.
        #expect(scenario.reply(scenario.call(), BucketReply(granted: 0, pause: .seconds(100))) == [])
        #expect(scenario.wakeAfter == .seconds(60), "the longest pause")
        scenario.pass(.seconds(60))
        #expect(scenario.reply(scenario.call(), BucketReply(granted: 1)) == ["2"])
    }

    @Test func localBucketStartsEmptyWhileTheServerDoesNotWork() {
        var scenario = Scenario(100) { $0.fallback = .local(share: 0.1) }
        #expect(scenario.arrive(1) == .waiting)
        #expect(scenario.reply(scenario.call(), nil) == [])
        #expect(scenario.wakeAfter == .milliseconds(100))
        #expect(scenario.call() == nil, "the server is not called again at once")
        scenario.pass(.milliseconds(99))
        #expect(scenario.wake() == [])
        #expect(scenario.take() == false)
        scenario.pass(.milliseconds(1))
        #expect(scenario.wake() == ["1"])
        #expect(scenario.take() == false)
        scenario.pass(.milliseconds(150))
        #expect(scenario.take() == true)
        let call = scenario.call()
        #expect(call?.wanted == 1)
        #expect(scenario.reply(call, nil) == [])
        scenario.pass(.seconds(10))
        var admitted = 0
        while scenario.take() { admitted += 1 }
        #expect(admitted == 10, "the share of the burst")
        #expect(scenario.reply(scenario.call(), BucketReply(granted: 1)) == [])
        #expect(!scenario.bucket.isFallback)
        #expect(scenario.take() == true)
        #expect(scenario.take() == false)
    }

    @Test func fallbackAllowsOrRefuses() {
        var allowing = Scenario { $0.fallback = .allow }
        #expect(allowing.arrive(1) == .waiting)
        #expect(allowing.arrive(2) == .waiting)
        #expect(allowing.reply(allowing.call(), nil) == ["1", "2"])
        for _ in 0..<1000 { #expect(allowing.take() == true) }
        allowing.pass(.milliseconds(250))
        #expect(allowing.reply(allowing.call(), BucketReply(granted: 0, wait: .seconds(1))) == [])
        #expect(allowing.take() == false)
        var refusing = Scenario { $0.fallback = .refuse }
        #expect(refusing.arrive(1) == .waiting)
        #expect(refusing.reply(refusing.call(), nil) == ["1 refused"])
        #expect(refusing.arrive(2) == .refused(.unavailable))
        #expect(refusing.take() == false)
        #expect(refusing.call() == nil)
        refusing.pass(.milliseconds(250))
        let call = refusing.call()
        #expect(refusing.arrive(3) == .refused(.unavailable))
        #expect(refusing.reply(call, BucketReply(granted: 1)) == [])
        #expect(refusing.arrive(4) == .admitted)
    }
}
#endif
