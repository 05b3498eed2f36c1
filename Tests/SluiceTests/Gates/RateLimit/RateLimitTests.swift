import SluiceHTTP
import SluiceTesting
import Testing

@testable import Sluice

@Suite struct RateLimitTests {
    private let clock = TestClock()
    private var client: APIClient { .client(clock: clock) }

    private func admits(_ gate: RateLimit, _ host: String = "a.example") -> Bool {
        gate.admitImmediately(client.requestContext(host)) != nil
    }

    private func waiter(_ gate: RateLimit, _ host: String = "a.example") async -> Task<Permit, any Error> {
        let count = gate.waiting
        let task = Task { [client] in try await gate.admit(client.requestContext(host)) }
        await eventually { gate.waiting == count + 1 }
        return task
    }

    @Test func admitsWaitersWhenTheirTokensAreDue() async throws {
        let gate = RateLimit(1, every: .seconds(60))
        #expect(admits(gate))
        #expect(!admits(gate, "A.EXAMPLE:443"))
        #expect(admits(gate, "b.example"))
        let tasks = [await waiter(gate), await waiter(gate)]
        await clock.waitForSleepers(1)
        // A single task sleeps, whatever the number of waiting requests.
        #expect(clock.pendingSleeps == [.seconds(60)])
        clock.advance(by: .seconds(60))
        _ = try await tasks[0].value
        #expect(gate.waiting == 1)
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(60))
        _ = try await tasks[1].value
        #expect(clock.pendingSleeps == [])
    }

    @Test func reschedulesTimerForEarlierKey() async throws {
        let gate = RateLimit(1, every: .seconds(60))
        #expect(admits(gate, "a"))
        clock.advance(by: .seconds(30))
        #expect(admits(gate, "b"))
        let laterWaiter = await waiter(gate, "b")
        await clock.waitForSleepers(1)
        #expect(clock.pendingSleeps == [.seconds(60)])
        let earlierWaiter = await waiter(gate, "a")
        await eventually { clock.pendingSleeps == [.seconds(30)] }
        clock.advance(by: .seconds(30))
        _ = try await earlierWaiter.value
        await eventually { clock.pendingSleeps == [.seconds(30)] }
        clock.advance(by: .seconds(30))
        _ = try await laterWaiter.value
    }

    @Test func cancelledWaiterLeavesAtOnceAndLastStopsTimer() async throws {
        let gate = RateLimit(1, every: .seconds(60))
        #expect(admits(gate))
        let first = await waiter(gate)
        let second = await waiter(gate)
        await clock.waitForSleepers(1)
        first.cancel()
        #expect(gate.waiting == 1)
        let error = await #expect(throws: SluiceError.self) { try await first.value }
        #expect(error?.isCancellation == true)
        #expect(clock.pendingSleeps == [.seconds(60)])
        second.cancel()
        #expect(clock.pendingSleeps == [])
        await #expect(throws: SluiceError.self) { try await second.value }
        clock.advance(by: .seconds(60))
        #expect(admits(gate))
    }

    @Test func cancelledTaskTakesNoToken() async {
        let gate = RateLimit(1, every: .seconds(60))
        let task = Task { [client] in
            while !Task.isCancelled { await Task.yield() }
            return try await gate.admit(client.requestContext("a.example"))
        }
        task.cancel()
        await #expect(throws: SluiceError.self) { try await task.value }
        #expect(admits(gate))
    }

    @Test func failsWithRetryAfterIfWaitIsTooLong() async throws {
        let gate = RateLimit(1, every: .seconds(60), maximumWait: .seconds(59.5), named: "slow")
        #expect(admits(gate))
        clock.advance(by: .milliseconds(499))
        let error = await #expect(throws: SluiceError.self) { try await gate.admit(client.requestContext("a.example")) }
        #expect(error?.code == .rateLimited)
        #expect(error?.step == .gate)
        let refusal = try #require(error?.underlyingError as? GateRefusal)
        #expect(refusal == GateRefusal(gate: "slow", retryAfter: .milliseconds(59_501)))
        #expect(error?.description.contains("59.501 seconds") == true)
        clock.advance(by: .milliseconds(1))
        let task = await waiter(gate)
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(60))
        _ = try await task.value
    }

    @Test func failsRequestWhenQueueIsFull() async {
        let gate = RateLimit(1, every: .seconds(60), maximumWaiting: 0)
        #expect(admits(gate))
        let error = await #expect(throws: SluiceError.self) { try await gate.admit(client.requestContext("a.example")) }
        #expect(error?.code == .queueFull)
        #expect(error?.description.hasPrefix("The RateLimit cannot admit the request now") == true)
    }

    @Test(
        arguments: [
            (.failed(.cancelled, .gate), true), (.failed(.cannotConnect), true), (.failed(.cancelled), false),
            (.failed(.connectionLost), false), (.answered(.ok), false), (.answered(.internalServerError), false),
        ] as [(TransportOutcome, Bool)]
    )
    func returnsTokenOnlyIfRequestWasNotSent(_ outcome: TransportOutcome, _ isReturned: Bool) {
        let gate = RateLimit(1, every: .seconds(60))
        let permit = gate.admitImmediately(client.requestContext("a.example"))
        #expect(permit?.releaseImmediately(outcome) == .settled)
        #expect(admits(gate) == isReturned)
    }

    @Test func returnedTokenAdmitsWaiter() async throws {
        let gate = RateLimit(1, every: .seconds(60))
        let permit = gate.admitImmediately(client.requestContext("a.example"))
        let task = await waiter(gate)
        _ = permit?.releaseImmediately(.failed(.cannotConnect))
        _ = try await task.value
        #expect(clock.pendingSleeps == [])
    }

    @Test(
        arguments: [
            (.seconds(3600), "30", 30), (.seconds(10), "30", 10), (.seconds(3600), "999999999999999999999", 3600),
            (nil, "30", 0), (.seconds(-1), "30", 0),
        ] as [(Duration?, String, Int)]
    )
    func pausesForRetryAfterUpToMaximum(_ maximum: Duration?, _ retryAfter: String, _ seconds: Int) {
        let gate = RateLimit(100, every: .seconds(1), maximumPause: maximum)
        let permit = gate.admitImmediately(client.requestContext("a.example"))
        _ = permit?.releaseImmediately(.answered(.tooManyRequests, ["Retry-After": retryAfter]))
        #expect(admits(gate, "b.example"))
        #expect(admits(gate) == (seconds == 0))
        clock.advance(by: .milliseconds(max(0, seconds * 1000 - 1)))
        #expect(admits(gate) == (seconds == 0))
        clock.advance(by: .milliseconds(1))
        #expect(admits(gate))
    }

    @Test func serverPauseBeyondMaximumWaitFailsWaiters() async throws {
        let gate = RateLimit(1, every: .seconds(2), maximumWait: .seconds(5))
        let permit = gate.admitImmediately(client.requestContext("a.example"))
        let task = await waiter(gate)
        _ = permit?.releaseImmediately(.answered(.serviceUnavailable, ["Retry-After": "30"]))
        let error = await #expect(throws: SluiceError.self) { try await task.value }
        #expect(error?.code == .rateLimited)
        #expect((error?.underlyingError as? GateRefusal)?.retryAfter == .seconds(30))
        #expect(clock.pendingSleeps == [])
    }

    @Test func appliesPauseToHostThatResponded() {
        let gate = RateLimit.fromServer(per: .host)
        let context = client.requestContext("a.example")
        let permit = gate.admitImmediately(context)
        let target = HTTPRequest(scheme: "https", authority: "cdn.example", path: "/")
        context.call.recordRedirect(of: context.request, to: target, in: context.attempt)
        _ = permit?.releaseImmediately(.answered(.tooManyRequests, ["Retry-After": "30"], by: "cdn.example"))
        #expect(admits(gate))
        #expect(!admits(gate, "cdn.example"))
    }

    @Test func serverOnlyLimitAdmitsUntilServerPauses() async throws {
        let gate = RateLimit.fromServer(per: .client)
        let permits = (0..<1000).compactMap { _ in gate.admitImmediately(client.requestContext("a.example")) }
        #expect(permits.count == 1000)
        _ = permits[0].releaseImmediately(.answered(.ok, ["RateLimit": #""d";r=0;t=30"#]))
        let task = await waiter(gate, "b.example")
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(30))
        _ = try await task.value
    }

    @Test func releasesThousandWaitersTogether() async throws {
        let gate = RateLimit.fromServer(per: .host)
        let permit = gate.admitImmediately(client.requestContext("a.example"))
        _ = permit?.releaseImmediately(.answered(.tooManyRequests, ["Retry-After": "30"]))
        let client = client
        let tasks = (0..<1000).map { _ in Task { try await gate.admit(client.requestContext("a.example")) } }
        await eventually { gate.waiting == 1000 }
        await clock.waitForSleepers(1)
        #expect(clock.pendingSleeps.count == 1)
        clock.advance(by: .seconds(30))
        for task in tasks { _ = try await task.value }
        #expect(gate.waiting == 0)
    }

    @Test func concurrentTasksEndOnceEach() async {
        let gate = RateLimit(1000, every: .seconds(1), burst: 1, maximumWaiting: 50)
        let counts = Locked((served: 0, refused: 0, cancelled: 0))
        let client = client
        let ticking = Task { [clock] in
            while !Task.isCancelled {
                clock.advance(by: .milliseconds(1))
                await Task.yield()
            }
        }
        await withTaskGroup { group in
            for seed in 0..<2000 as Range<UInt64> {
                let task = Task {
                    do {
                        let permit = try await gate.admit(client.requestContext(seed % 2 == 0 ? "a" : "b"))
                        counts.withLock { $0.served += 1 }
                        _ = permit.releaseImmediately(seed % 5 == 0 ? .failed(.cannotConnect) : .answered(.ok))
                    } catch let error as SluiceError where error.isCancellation {
                        counts.withLock { $0.cancelled += 1 }
                    } catch {
                        counts.withLock { $0.refused += 1 }
                    }
                }
                group.addTask {
                    if seed % 3 == 0 {
                        for _ in 0..<seed % 7 { await Task.yield() }
                        task.cancel()
                    }
                    await task.value
                }
            }
        }
        ticking.cancel()
        await ticking.value
        let (served, refused, cancelled) = counts.withLock { $0 }
        #expect(served + refused + cancelled == 2000)
        #expect(served > 0)
        #expect(gate.waiting == 0)
        #expect(clock.pendingSleeps == [])
    }
}
