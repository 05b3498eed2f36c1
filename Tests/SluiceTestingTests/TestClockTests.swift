import Sluice
import SluiceTesting
import Testing

@Suite(.timeLimit(.minutes(1))) struct TestClockTests {
    /// The total time-out is a sleeper as long as the request runs.
    @Test func pausesOfARequestWithATotalTimeoutCanBeWaitedFor() async throws {
        let clock = TestClock()
        let stubs = StubTransport(clock: clock)
        stubs.on(.get("/a"), .sequence([.status(.serviceUnavailable), .status(.serviceUnavailable), .text("ok")]))
        let client = APIClient(baseURL: "https://a.example") {
            $0.transport = stubs
            $0.clock = clock
            $0.retry = RetryPolicy(maximumAttempts: 3, backoff: .constant(.seconds(1)))
            $0.timeouts.total = .seconds(60)
        }
        let text = Task { await client.string.get("a").sender().result }
        for attempt in 1...2 {
            await clock.waitForSleepers(1, within: .seconds(1))
            #expect(clock.pendingSleeps == [.seconds(1), .seconds(60)])
            #expect(stubs.requests.count == attempt)
            clock.advance(by: .seconds(1))
        }
        let value = try await text.value.get()
        #expect(value == "ok")
    }

    @Test func waitWithinATimeEndsOnceTheClockIsCloseToTheEndOfTheSleep() async {
        let clock = TestClock()
        let sleeping = Task { try? await clock.sleep(for: .seconds(60)) }
        await clock.waitForSleepers(1)
        await clock.waitForSleepers(1, within: .seconds(60))
        let hasEnded = Locked(false)
        let waiting = Task {
            await clock.waitForSleepers(1, within: .seconds(1))
            hasEnded.withLock { $0 = true }
        }
        clock.advance(by: .milliseconds(58_999))
        for _ in 0..<100 { await Task.yield() }
        #expect(!hasEnded.withLock { $0 })
        clock.advance(by: .milliseconds(1))
        await waiting.value
        clock.advance(by: .seconds(1))
        await sleeping.value
    }

    @Test(arguments: [Duration(attoseconds: .max), .seconds(Int64.max), Duration(attoseconds: .min)])
    func extremeDurationsAreLimited(_ duration: Duration) async {
        let clock = TestClock()
        clock.advance(by: .seconds(1))
        let sleeping = Task { try? await clock.sleep(for: duration) }
        if duration > .zero { await clock.waitForSleepers(1, within: duration) }
        for _ in 0..<2 { clock.advance(by: duration) }
        await sleeping.value
        #expect(duration > .zero ? clock.now > TestClock().now : clock.now < TestClock().now)
    }

    @Test func cancellationEndsTheWaitForSleepers() async {
        let clock = TestClock()
        let waiting = Task { await clock.waitForSleepers(2) }
        waiting.cancel()
        await waiting.value
        let late = Task {
            while !Task.isCancelled { await Task.yield() }
            await clock.waitForSleepers(1)
        }
        late.cancel()
        await late.value
        // A wait that was cancelled takes nothing from the others.
        let sleeping = Task { try? await clock.sleep(for: .seconds(1)) }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(1))
        await sleeping.value
    }
}
