#if os(Linux)
import Testing

@testable import SluiceHTTP

@Suite struct MonotonicTimeTests {
    private static func time(_ nanoseconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: nanoseconds) }

    @Test(
        arguments: [
            (.zero, 0), (.nanoseconds(1), 1), (.microseconds(1), 1000), (.milliseconds(1500), 1_500_000_000),
            (.nanoseconds(-1), -1), (.milliseconds(-1500), -1_500_000_000),
            (Duration(secondsComponent: 0, attosecondsComponent: 999_999_999), 0),
            (Duration(secondsComponent: 9_223_372_036, attosecondsComponent: 854_775_807_000_000_000), .max),
            (Duration(secondsComponent: 9_223_372_036, attosecondsComponent: 854_775_806_000_000_000), .max - 1),
            // The seconds alone fit, but not with their fraction.
            (Duration(secondsComponent: 9_223_372_036, attosecondsComponent: 900_000_000_000_000_000), .max),
            (Duration(secondsComponent: -9_223_372_036, attosecondsComponent: -900_000_000_000_000_000), .min),
            (.seconds(Int64.max), .max), (.seconds(Int64.min), .min), (.seconds(9_223_372_037), .max),
            (.seconds(-9_223_372_037), .min), (.seconds(1e19), .max), (.seconds(-1e19), .min),
            (Duration(attoseconds: .max), .max), (Duration(attoseconds: .min), .min),
        ] as [(Duration, Int64)]
    )
    func durationsAreClampedTo64Bits(duration: Duration, nanoseconds: Int64) {
        #expect(duration.nanoseconds == nanoseconds)
    }

    @Test(
        arguments: [
            (0, .seconds(1), 1_000_000_000), (1_000_000_000, .seconds(-1), 0), (5, .nanoseconds(-10), -5),
            (1, .nanoseconds(Int64.max - 1), .max), (1, .nanoseconds(Int64.max), .max), (1, .seconds(Int64.max), .max),
            (.max, .zero, .max), (.max, .nanoseconds(1), .max),
        ] as [(Int64, Duration, Int64)]
    )
    func additionIsClampedToTheDistantFuture(start: Int64, duration: Duration, sum: Int64) {
        #expect(Self.time(start) + duration == Self.time(sum))
    }

    @Test(
        arguments: [
            (100, 100, 0), (99, 100, 0), (0, .max - 1, 0), (101, 100, 1), (1_000_100, 100, 1), (1_000_101, 100, 2),
            (60_000_000_100, 100, 60_000), (.max - 1, 1, .max), (.max, 1, -1), (.max, .max, -1),
        ] as [(Int64, Int64, Int32)]
    )
    func intervalIsRoundedUpToMilliseconds(end: Int64, now: Int64, milliseconds: Int32) {
        #expect(Self.time(end).milliseconds(after: Self.time(now)) == milliseconds)
    }

    @Test(
        arguments: [
            (.seconds(30), "30.0 seconds"), (.milliseconds(2_999_907), "2999.907 seconds"), (.zero, "0.0 seconds"),
            (.nanoseconds(1), "0.001 seconds"), (.microseconds(1_000_001), "1.001 seconds"),
        ] as [(Duration, String)]
    )
    func textIsRoundedUpToMilliseconds(duration: Duration, text: String) {
        #expect(duration.textRoundedUp == text)
    }

    @Test func sinceReturnsTheDifference() {
        #expect(Self.time(1_500_000_000).since(Self.time(500_000_000)) == .seconds(1))
        #expect(Self.time(1).since(Self.time(3)) == .nanoseconds(-2))
    }

    @Test func clockNeverGoesBackwards() {
        var last = MonotonicTime.now
        for _ in 0..<1000 {
            let now = MonotonicTime.now
            #expect(last <= now)
            last = now
        }
        #expect(last < .distantFuture)
        #expect(last > Self.time(0))
    }
}
#endif
