#if os(Linux)
import Sluice
import SluiceHTTP
import SluiceRedis
import Testing

final class LinkHealthTests {
    /// Doubles from 100 ms to one second, at the maximum of the jitter.
    private var health = LinkHealth(Backoff(base: .milliseconds(100), limit: .seconds(1), hasJitter: false))

    private static func time(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: milliseconds * 1_000_000)
    }

    @Test func firstCommandConnectsAndOthersWait() {
        #expect(health.admit(at: Self.time(0)) == .connect)
        #expect(health.admit(at: Self.time(0)) == .wait)
        health.connected()
        #expect(health.admit(at: Self.time(0)) == .write)
    }

    @Test func afterAFailureCommandsFailUntilOneOfThemConnects() {
        _ = health.admit(at: Self.time(0))
        health.failed(at: Self.time(0), random: 0)
        #expect(health.admit(at: Self.time(99)) == .refuse)
        #expect(health.admit(at: Self.time(100)) == .connect)
        #expect(health.admit(at: Self.time(100)) == .refuse)
        health.connected()
        #expect(health.admit(at: Self.time(100)) == .write)
    }

    @Test func refusalEndsWithThePauseAndItsTrial() {
        #expect(health.refusalEnd <= Self.time(0))
        _ = health.admit(at: Self.time(0))
        #expect(health.refusalEnd <= Self.time(0))
        health.failed(at: Self.time(0), random: 0)
        #expect(health.refusalEnd == Self.time(100))
        _ = health.admit(at: Self.time(100))
        #expect(health.refusalEnd == .distantFuture)
        health.connected()
        #expect(health.refusalEnd <= Self.time(0))
    }

    @Test func connectionThatTheClientClosesIsOpenedForTheNextCommand() {
        _ = health.admit(at: Self.time(0))
        health.connected()
        health.released()
        #expect(health.admit(at: Self.time(0)) == .connect)
        health.failed(at: Self.time(0), random: 0)
        health.released()
        #expect(health.admit(at: Self.time(1)) == .refuse)
    }

    @Test func pausesGrowUntilThereIsAGoodReply() {
        var now: Int64 = 0
        for pause: Int64 in [100, 200, 400, 800, 1000, 1000] {
            #expect(health.admit(at: Self.time(now)) == .connect)
            // A greeting alone does not show that commands work, as on a replica.
            health.connected()
            health.failed(at: Self.time(now), random: 0)
            #expect(health.admit(at: Self.time(now + pause - 1)) == .refuse)
            now += pause
        }
        #expect(health.admit(at: Self.time(now)) == .connect)
        health.connected()
        health.answered()
        health.failed(at: Self.time(now), random: 0)
        #expect(health.admit(at: Self.time(now + 100)) == .connect)
    }

    @Test func serverThatClosesAfterGoodRepliesIsConnectedAtOnce() {
        _ = health.admit(at: Self.time(0))
        health.connected()
        health.answered()
        health.closed(at: Self.time(0), random: 0)
        #expect(health.admit(at: Self.time(0)) == .connect)
        health.connected()
        health.closed(at: Self.time(0), random: 0)
        #expect(health.admit(at: Self.time(0)) == .refuse)
    }

    @Test func timeoutsInARowEndTheConnection() {
        _ = health.admit(at: Self.time(0))
        health.connected()
        for _ in 1..<LinkHealth.maximumTimeouts { #expect(health.timedOut() == false) }
        health.answered()
        for _ in 1..<LinkHealth.maximumTimeouts { #expect(health.timedOut() == false) }
        #expect(health.timedOut() == true)
    }

    @Test func jitterChoosesFromTheWholePause() {
        for (random, first) in [(UInt64(0), Int64(0)), (1 << 63, 50)] {
            var health = LinkHealth(Backoff(base: .milliseconds(100)))
            _ = health.admit(at: Self.time(0))
            health.failed(at: Self.time(0), random: random)
            #expect(health.admit(at: Self.time(first - 1)) == .refuse || first == 0)
            #expect(health.admit(at: Self.time(first)) == .connect)
        }
    }
}
#endif
