#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceRedis

/// The news of changes by other processes.
struct ChangeFeedTests {
    @Test(arguments: [Duration.zero, .milliseconds(50), .seconds(20)])
    func readHasTheTimeForALateServer(_ commandTimeout: Duration) {
        // A server on which nothing happens ends a wait of 500 milliseconds up to 100 milliseconds too late.
        #expect(ChangeFeed.readTimeout(commandTimeout) > .milliseconds(600) + commandTimeout)
    }

    @Test func eachKindOfErrorIsReportedOnce() {
        var warnings = FeedWarnings()
        let errors: [(RedisError, isReported: Bool)] = [
            (.cancelled, false),
            (RedisError(RedisReplyError("NOPERM this user has no permissions to run the 'xread' command")), true),
            (RedisError(RedisReplyError("NOPERM this user has no permissions to run the 'time' command")), false),
            (RedisError(RedisReplyError("WRONGTYPE Operation against a key")), true),
            (RedisError(.timedOut, "It took too long."), true),
            (RedisError(.timedOut, "It took too long again."), false),
            (.unexpectedReply, true),
        ]
        for (error, isReported) in errors {
            #expect((warnings.text(for: error) != nil) == isReported, "\(error)")
        }
        let many = (0..<100).compactMap { warnings.text(for: RedisError(RedisReplyError("E\($0) text"))) }
        #expect(many.count < 40, "The memory is bounded.")
    }

    @Test func eachCallerWaitsForALeaseForItsOwnTime() async throws {
        let clock = TestClock()
        let redis = RedisClient(RedisServer(unixSocket: "/nowhere/redis.sock"))
        let feed = ChangeFeed(redis, try RedisCacheStorageTests.seal(), prefix: "x", clock: clock) { _ in }
        let limits = [100, 110, 120].map { Duration.milliseconds($0) }
        let waits = limits.map { limit in
            Task {
                let isReleased = await feed.waitForRelease(of: "lease", within: limit)
                return (isReleased, clock.elapsed)
            }
        }
        await clock.waitForSleepers(3)
        for (wait, limit) in zip(waits, limits) {
            clock.advance(by: limit - clock.elapsed)
            let (isReleased, elapsed) = await wait.value
            #expect(!isReleased && elapsed == limit)
        }
        #expect(clock.pendingSleeps.isEmpty)
        // One that is cancelled leaves the others alone.
        let cancelled = Task { await feed.waitForRelease(of: "lease", within: .seconds(1)) }
        let last = Task { await feed.waitForRelease(of: "lease", within: .seconds(2)) }
        await clock.waitForSleepers(2)
        cancelled.cancel()
        #expect(await cancelled.value == false)
        feed.close()
        #expect(await last.value == false)
        #expect(await feed.waitForRelease(of: "lease", within: .seconds(1)) == false)
    }

    @Test(.enabled(if: RedisProcess.canRun)) func newsThatCannotBeReadIsReported() async throws {
        let redis = try RedisProcess()
        _ = try await RedisClient(redis.server).send(RedisCommand("ACL", "SETUSER", "default", "-xread"))
        let warnings = Locked<[String]>([])
        let seal = try RedisCacheStorageTests.seal()
        let storage = RedisCacheStorage(RedisClient(redis.server), seal: seal) { event in
            if case .storageWarning(let text) = event { warnings.withLock { $0.append(text) } }
        }
        var news = try #require(storage.invalidations()).makeAsyncIterator()
        // Each attempt begins with everything, and ends with the error.
        for _ in 0..<4 { #expect(await news.next() == .everything) }
        let texts = warnings.withLock { $0 }
        #expect(texts.count == 1 && texts.first?.contains("NOPERM") == true)
        withExtendedLifetime(storage) {}
    }
}
#endif
