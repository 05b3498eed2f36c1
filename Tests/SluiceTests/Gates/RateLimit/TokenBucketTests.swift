import Testing

@testable import Sluice

@Suite struct TokenBucketTests {
    private static let start = ContinuousClock.now

    @Test func emptyBucketFillsAtTheRate() {
        let rate = TokenBucket.Rate(10, every: .seconds(1), burst: 3)
        var bucket = TokenBucket(emptyAt: Self.start, rate)
        for (milliseconds, expected) in [(0, false), (99, false), (100, true), (199, false), (200, true), (200, false)]
        {
            #expect(bucket.take(rate, now: Self.start + .milliseconds(milliseconds)) == expected)
        }
        for expected in [true, true, true, false] {
            #expect(bucket.take(rate, now: Self.start + .seconds(60)) == expected)
        }
    }

    @Test(
        arguments: [
            // The times of requests in milliseconds, and true for those that get a token.
            (
                .init(10, every: .seconds(1), burst: 1), [0, 0, 99, 100, 150, 200, 10_000],
                [true, false, false, true, false, true, true]
            ),
            (
                .init(10, every: .seconds(1), burst: 2), [0, 0, 0, 100, 100, 1000, 1000, 1000],
                [true, true, false, true, false, true, true, false]
            ),
            (.init(3, every: .seconds(1)), [0, 0, 0, 0, 333, 334, 667], [true, true, true, false, false, true, true]),
            (.init(1, every: .seconds(3600)), [0, 3_599_999, 3_600_000], [true, false, true]),
            (.init(5, every: .zero), [0, 0, 0, 0, 0, 0, 0], [true, true, true, true, true, true, true]),
            // An invalid value is replaced with the nearest valid one.
            (.init(0, every: .seconds(1)), [0, 0, 1000], [true, false, true]),
            (.init(-5, every: .seconds(-5), burst: -5), [0, 0], [true, true]),
            (.init(.max, every: .seconds(Int64.max), burst: .max), [0, 0, 0], [true, true, true]),
            (.init(1, every: .seconds(Int64.max), burst: 1), [0, 0, 1_000_000], [true, false, false]),
        ] as [(TokenBucket.Rate, [Int], [Bool])]
    )
    func refillsAtRateUpToBurst(_ rate: TokenBucket.Rate, _ times: [Int], _ expected: [Bool]) {
        var bucket = TokenBucket(now: Self.start)
        #expect(times.map { bucket.take(rate, now: Self.start + .milliseconds($0)) } == expected)
    }

    @Test func computesDueTimeBehindWaiters() {
        let rate = TokenBucket.Rate(10, every: .seconds(1), burst: 3)
        var bucket = TokenBucket(now: Self.start)
        #expect(
            (0..<5).map { bucket.due(waitersAhead: $0, rate, now: Self.start) - Self.start }
                == [0, 0, 0, 100, 200].map { .milliseconds($0) }
        )
        for _ in 0..<3 { _ = bucket.take(rate, now: Self.start) }
        #expect(
            (0..<3).map { bucket.due(waitersAhead: $0, rate, now: Self.start) - Self.start }
                == [100, 200, 300].map { .milliseconds($0) }
        )
        let later = Self.start + .milliseconds(250)
        #expect(
            (0..<4).map { bucket.due(waitersAhead: $0, rate, now: later) - Self.start }
                == [250, 250, 300, 400].map { .milliseconds($0) }
        )
    }

    @Test func returnedTokenIsAvailableUpToBurst() {
        let rate = TokenBucket.Rate(10, every: .seconds(1), burst: 2)
        var bucket = TokenBucket(now: Self.start)
        #expect((0..<3).map { _ in bucket.take(rate, now: Self.start) } == [true, true, false])
        bucket.putBack(rate, taken: Self.start)
        #expect((0..<2).map { _ in bucket.take(rate, now: Self.start) } == [true, false])
        for _ in 0..<10 { bucket.putBack(rate, taken: Self.start) }
        #expect((0..<3).map { _ in bucket.take(rate, now: Self.start) } == [true, true, false])
    }

    @Test func tokenReturnedAfterBucketWasFullAgainIsDropped() {
        let rate = TokenBucket.Rate(1, every: .seconds(1), burst: 1)
        var bucket = TokenBucket(now: Self.start)
        #expect(bucket.take(rate, now: Self.start) == true)
        let later = Self.start + .milliseconds(9990)
        #expect(bucket.take(rate, now: later) == true)
        bucket.putBack(rate, taken: Self.start)
        #expect(bucket.take(rate, now: later + .milliseconds(10)) == false)
        bucket.putBack(rate, taken: later)
        #expect(bucket.take(rate, now: later + .milliseconds(10)) == true)
    }

    @Test func closedBucketAdmitsNothingUntilItOpens() {
        let rate = TokenBucket.Rate(10, every: .seconds(1), burst: 2)
        var bucket = TokenBucket(now: Self.start)
        bucket.pause(rate, until: Self.start + .seconds(5), now: Self.start)
        bucket.pause(rate, until: Self.start + .seconds(3), now: Self.start)
        #expect(bucket.take(rate, now: Self.start + .milliseconds(4999)) == false)
        #expect(
            (0..<3).map { bucket.due(waitersAhead: $0, rate, now: Self.start) - Self.start }
                == [5000, 5100, 5200].map { .milliseconds($0) }
        )
        #expect((0..<2).map { _ in bucket.take(rate, now: Self.start + .seconds(5)) } == [true, false])
        #expect((0..<3).map { _ in bucket.take(rate, now: Self.start + .seconds(6)) } == [true, true, false])
    }

    @Test func isFreshOnlyIfFullAndOpen() {
        let rate = TokenBucket.Rate(10, every: .seconds(1), burst: 2)
        var bucket = TokenBucket(now: Self.start)
        #expect(bucket.isFresh(now: Self.start))
        _ = bucket.take(rate, now: Self.start)
        #expect(!bucket.isFresh(now: Self.start + .milliseconds(99)))
        #expect(bucket.isFresh(now: Self.start + .milliseconds(100)))
        bucket.pause(rate, until: Self.start + .seconds(1), now: Self.start)
        // One token at the end of the pause, and the other later.
        #expect(!bucket.isFresh(now: Self.start + .milliseconds(1099)))
        #expect(bucket.isFresh(now: Self.start + .milliseconds(1100)))
    }

    @Test func extremeDelaysDoNotTrap() {
        let rate = TokenBucket.Rate(1, every: .seconds(Int64.max), burst: .max)
        var bucket = TokenBucket(now: Self.start)
        let end = Self.start + RetryAfter.longest
        bucket.pause(rate, until: end, now: Self.start)
        #expect(bucket.due(waitersAhead: 1 << 20, rate, now: Self.start) == end)
        var empty = TokenBucket(emptyAt: Self.start, rate)
        empty.pause(rate, until: end, now: Self.start)
        #expect(empty.due(waitersAhead: 1 << 20, rate, now: Self.start) > end)
    }

    /// A quota of an hour is not lost by a pause of a second.
    @Test func pauseTakesNoMoreThanItWouldHaveAdded() {
        let rate = TokenBucket.Rate(3600, every: .seconds(3600), burst: 3600)
        var bucket = TokenBucket(now: Self.start)
        let end = Self.start + .seconds(10)
        bucket.pause(rate, until: end, now: Self.start)
        #expect(bucket.due(waitersAhead: 3589, rate, now: Self.start) == end)
        #expect(bucket.due(waitersAhead: 3590, rate, now: Self.start) == end + .seconds(1))
    }
}
