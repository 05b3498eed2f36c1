import Testing

@testable import Sluice

@Suite struct TokenBucketsTests {
    private static let start = ContinuousClock.now

    /// Buckets with a clock, and the number of the last request.
    private struct ClockedBuckets {
        var buckets: TokenBuckets<Int>
        var lastID = 0
        var now = TokenBucketsTests.start

        init(
            _ rate: TokenBucket.Rate = .init(10, every: .seconds(1), burst: 1),
            maximumWaiting: Int = 100,
            maximumWait: Duration? = nil
        ) {
            buckets = TokenBuckets(rate: rate, maximumWaiting: maximumWaiting, maximumWait: maximumWait)
        }

        mutating func arrive(_ key: String = "a", deadline: Duration? = nil) -> TokenBuckets<Int>.Arrival {
            lastID += 1
            let deadline = deadline.map { TokenBucketsTests.start + $0 }
            return buckets.arrive(lastID, id: lastID, key, deadline: deadline, now: now)
        }

        /// The time at which the next token is due, from the start.
        mutating func due() -> Duration? {
            buckets.nextDueTime().map { $0 - TokenBucketsTests.start }
        }

        mutating func release(at milliseconds: Int) -> [Int] {
            now = TokenBucketsTests.start + .milliseconds(milliseconds)
            return buckets.release(now: now)
        }
    }

    @Test func releasesWaitersInOrderAsTokensArrive() {
        var clocked = ClockedBuckets()
        #expect((1...4).map { _ in clocked.arrive() } == [.admitted, .waiting, .waiting, .waiting])
        #expect(clocked.due() == .milliseconds(100))
        #expect(clocked.release(at: 99) == [])
        #expect(clocked.release(at: 100) == [2])
        #expect(clocked.due() == .milliseconds(200))
        #expect(clocked.buckets.take("a", now: clocked.now) == false)
        #expect(clocked.release(at: 300) == [3])
        #expect(clocked.buckets.waiting == 1)
        #expect(clocked.release(at: 400) == [4])
        #expect(clocked.due() == nil)
    }

    @Test func newRequestDoesNotOvertakeWaiters() {
        var clocked = ClockedBuckets()
        _ = clocked.arrive()
        _ = clocked.arrive()
        clocked.now = Self.start + .seconds(1)
        #expect(clocked.buckets.take("a", now: clocked.now) == false)
        #expect(clocked.arrive() == .waiting)
        #expect(clocked.release(at: 1000) == [2])
        #expect(clocked.release(at: 1100) == [3])
    }

    @Test func eachKeyHasItsOwnTokens() {
        var clocked = ClockedBuckets()
        #expect(
            ["a", "b", "a", "b", "c"].map { clocked.arrive($0) } == [
                .admitted, .admitted, .waiting, .waiting, .admitted,
            ]
        )
        #expect(Set(clocked.release(at: 100)) == [3, 4])
    }

    @Test(arguments: [(-1, 0), (0, 0), (2, 2)])
    func limitsWaitersPerKey(_ maximum: Int, _ waiting: Int) {
        var clocked = ClockedBuckets(maximumWaiting: maximum)
        _ = clocked.arrive()
        for _ in 0..<waiting { #expect(clocked.arrive() == .waiting) }
        #expect(clocked.arrive() == .full(waiting: waiting))
        #expect(clocked.arrive("b") == .admitted)
    }

    @Test func refusesAtOnceIfWaitIsTooLong() {
        var clocked = ClockedBuckets(maximumWait: .milliseconds(150))
        #expect(
            (1...4).map { _ in clocked.arrive() }
                == [.admitted, .waiting, .tooLong(.milliseconds(200)), .tooLong(.milliseconds(200))]
        )
        // A request that leaves makes room for another.
        #expect(clocked.buckets.leave(id: 2, "a") == 2)
        #expect(clocked.arrive() == .waiting)
        var impatient = ClockedBuckets(maximumWait: .zero)
        #expect((1...2).map { _ in impatient.arrive() } == [.admitted, .tooLong(.milliseconds(100))])
        var patient = ClockedBuckets(maximumWait: .seconds(Int64.max))
        #expect((1...2).map { _ in patient.arrive() } == [.admitted, .waiting])
    }

    @Test func departedWaiterFreesItsPlace() {
        var clocked = ClockedBuckets()
        for _ in 0..<4 { _ = clocked.arrive() }
        #expect(clocked.buckets.leave(id: 2, "a") == 2)
        #expect(clocked.buckets.leave(id: 2, "a") == nil)
        #expect(clocked.release(at: 100) == [3])
        #expect(clocked.buckets.leave(id: 3, "a") == nil)
        #expect(clocked.buckets.leave(id: 4, "a") == 4)
        #expect(clocked.due() == nil)
        #expect(clocked.buckets.waiting == 0)
        #expect(clocked.release(at: 200) == [])
    }

    @Test func returnedTokenAdmitsWaiter() {
        var clocked = ClockedBuckets()
        for _ in 0..<3 { _ = clocked.arrive() }
        #expect(clocked.buckets.putBack("a", taken: clocked.now, now: clocked.now) == [2])
        #expect(clocked.due() == .milliseconds(100))
        #expect(clocked.buckets.putBack("unknown", taken: clocked.now, now: clocked.now) == [])
        #expect(clocked.release(at: 100) == [3])
    }

    @Test func closedKeyHoldsRequestsUntilItOpens() {
        var clocked = ClockedBuckets(.init(10, every: .seconds(1), burst: 2))
        #expect(clocked.buckets.pause("a", until: Self.start + .seconds(30), now: clocked.now).isEmpty)
        #expect((1...3).map { _ in clocked.arrive() } == [.waiting, .waiting, .waiting])
        #expect(clocked.arrive("b") == .admitted)
        #expect(clocked.due() == .seconds(30))
        #expect(clocked.buckets.pause("a", until: Self.start + .seconds(60), now: clocked.now).isEmpty)
        #expect(clocked.release(at: 30_000) == [])
        #expect(clocked.due() == .seconds(60))
        #expect(clocked.release(at: 60_000) == [1])
        #expect(clocked.release(at: 60_100) == [2])
        #expect(clocked.release(at: 60_200) == [3])
    }

    @Test func pauseIsFollowedByTheRateAndNoBurst() {
        var clocked = ClockedBuckets(.init(10, every: .seconds(1), burst: 5))
        #expect((1...3).map { _ in clocked.arrive() } == [.admitted, .admitted, .admitted])
        #expect(clocked.buckets.pause("a", until: Self.start + .seconds(30), now: clocked.now).isEmpty)
        // Neither do the tokens of requests that were not sent make up a burst.
        for _ in 0..<3 { #expect(clocked.buckets.putBack("a", taken: Self.start, now: clocked.now) == []) }
        for _ in 4...7 { #expect(clocked.arrive() == .waiting) }
        #expect(clocked.due() == .seconds(30))
        for (index, id) in (4...7).enumerated() {
            #expect(clocked.release(at: 30_000 + 100 * index) == [id])
            #expect(clocked.release(at: 30_099 + 100 * index) == [])
        }
        // Without requests the bucket fills, and a time in the past is no pause.
        for seconds in [60, 90] {
            clocked.now = Self.start + .seconds(seconds)
            #expect(clocked.buckets.pause("a", until: clocked.now - .milliseconds(1), now: clocked.now).isEmpty)
            for _ in 0..<5 { #expect(clocked.buckets.take("a", now: clocked.now) == true) }
            #expect(clocked.buckets.take("a", now: clocked.now) == false)
        }
    }

    @Test func closingKeyRefusesWaitersBeyondMaximumWait() {
        var clocked = ClockedBuckets(maximumWait: .seconds(10))
        for _ in 0..<4 { _ = clocked.arrive() }
        // The second request's token is then due at 9.95 s, and the third's after its maximum wait of ten seconds.
        let until = Self.start + .milliseconds(9950)
        let refused = clocked.buckets.pause("a", until: until, now: clocked.now)
        #expect(refused.map(\.0) == [3, 4])
        #expect(refused.map(\.1) == [.tooLong(.milliseconds(10_050)), .tooLong(.milliseconds(10_050))])
        #expect(clocked.buckets.waiting == 1)
        #expect(clocked.due() == .milliseconds(9950))
        #expect(clocked.arrive() == .tooLong(.milliseconds(10_050)))
        #expect(clocked.release(at: 9950) == [2])
    }

    @Test func pauseBeyondADeadlineRefusesAtOnce() {
        var clocked = ClockedBuckets()
        #expect(clocked.arrive() == .admitted)
        for deadline in [Duration.seconds(3), .seconds(30), .seconds(2), nil] {
            #expect(clocked.arrive(deadline: deadline) == .waiting)
        }
        let refused = clocked.buckets.pause("a", until: Self.start + .seconds(10), now: clocked.now)
        #expect(refused.map(\.0) == [2, 4])
        #expect(refused.map(\.1) == [.tooLate(.seconds(10)), .tooLate(.milliseconds(10_100))])
        #expect(clocked.buckets.waiting == 2)
        #expect(clocked.arrive(deadline: .seconds(9)) == .tooLate(.milliseconds(10_200)))
        #expect(clocked.arrive(deadline: .seconds(10)) == .waiting)
        #expect(clocked.release(at: 10_000) == [3])
    }

    @Test func queueBeyondADeadlineRefusesNothing() {
        var clocked = ClockedBuckets()
        // Requests ahead can leave, or put their tokens back.
        #expect((1...3).map { _ in clocked.arrive(deadline: .milliseconds(50)) } == [.admitted, .waiting, .waiting])
    }

    @Test func removesIdleKeys() {
        var clocked = ClockedBuckets()
        for host in 0..<20_000 {
            clocked.now = Self.start + .milliseconds(host)
            #expect(clocked.buckets.take("\(host)", now: clocked.now) == true)
        }
        #expect(clocked.buckets.keyCount <= 1024)
    }

    @Test func keepsKeysInUse() {
        var clocked = ClockedBuckets(.init(1, every: .seconds(60)))
        _ = clocked.buckets.pause("closed", until: Self.start + .seconds(3600), now: clocked.now)
        _ = clocked.arrive("waiting")
        _ = clocked.arrive("waiting")
        for host in 0..<5000 { _ = clocked.arrive("\(host)") }
        #expect(clocked.arrive("closed") == .waiting)
        #expect(clocked.arrive("17") == .waiting)
        #expect(Set(clocked.release(at: 60_000)).isSuperset(of: [2]))
    }

    @Test func departedWaitersLeaveNoScheduledTimes() {
        var clocked = ClockedBuckets()
        _ = clocked.buckets.pause("a", until: Self.start + .seconds(3600), now: clocked.now)
        for _ in 0..<10_000 {
            _ = clocked.arrive()
            #expect(clocked.buckets.leave(id: clocked.lastID, "a") == clocked.lastID)
        }
        #expect(clocked.buckets.scheduledCount <= 1)
    }
}
