#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import Sluice
@testable import SluiceRedis

/// The gates of several machines with a real server. Each machine has a client of its own.
@Suite(.enabled(if: RedisProcess.canRun))
struct FleetLimitTests {
    private let process: RedisProcess

    init() throws {
        process = try RedisProcess()
    }

    private static func context(_ clock: any SluiceClock = SystemClock(), host: String = "a.example") -> RequestContext
    {
        RequestContext(
            request: HTTPRequest(scheme: "https", authority: host, path: "/"),
            tags: [],
            client: APIClient(baseURL: "https://a.example") { $0.clock = clock }
        )
    }

    private static func failed(_ step: SluiceError.Step) -> TransportOutcome {
        .failure(SluiceError(.cannotConnect, "It failed.", step: step))
    }

    private func rate(
        _ count: Int,
        burst: Int? = nil,
        maximumWaiting: Int = 1000,
        _ fallback: RedisLimitFallback = .refuse
    ) -> RedisRateLimit {
        RedisRateLimit(
            count,
            every: .seconds(1),
            burst: burst,
            on: RedisClient(process.server),
            named: "shop",
            maximumWaiting: maximumWaiting,
            whenUnavailable: fallback
        )
    }

    /// Runs tasks on all gates until a number of requests is admitted. Returns the number.
    private static func admit(_ number: Int, by gates: [any Gate]) async -> Int {
        let left = Locked(number)
        return await withTaskGroup(of: Int.self) { group in
            for gate in gates {
                for _ in 0..<8 {
                    group.addTask {
                        let context = context()
                        var admitted = 0
                        while left.withLock({ $0 > 0 }) {
                            do {
                                _ = try await gate.admit(context)
                                admitted += 1
                                left.withLock { $0 -= 1 }
                            } catch {
                                await Task.yield()
                            }
                        }
                        return admitted
                    }
                }
            }
            return await group.reduce(0, +)
        }
    }

    private func time(_ redis: RedisClient) async throws -> Double {
        let time = try await redis.send(RedisCommand("TIME")).elements?.compactMap(\.int) ?? [0, 0]
        return Double(time[0]) + Double(time[1]) / 1e6
    }

    // MARK: Rates

    @Test func machinesTogetherStayWithinTheRate() async throws {
        let redis = RedisClient(process.server)
        let gates = (0..<4).map { _ in rate(400) }
        let start = try await time(redis)
        let admitted = await Self.admit(400, by: gates)
        let span = try await time(redis) - start
        #expect(admitted >= 400)
        // The bucket starts empty.
        #expect(Double(admitted) <= 400 * span)
        #expect(gates.allSatisfy { $0.failure == nil && $0.waiting == 0 })
    }

    @Test func rateHoldsOverARestartThatLosesTheState() async throws {
        let gates = (0..<3).map { _ in rate(100) }
        let clock = ContinuousClock()
        let start = clock.now
        var admitted = 0
        for round in 0..<3 {
            admitted += await Self.admit(40, by: gates)
            process.kill()
            if round == 1 {
                await #expect(throws: SluiceError.self) {
                    for _ in 0..<1000 { _ = try await gates[0].admit(Self.context()) }
                }
                #expect(gates[0].failure != nil)
            }
            try process.start()
        }
        admitted += await Self.admit(40, by: gates)
        // Permits that the server has handed out and whose reply was lost are not used.
        #expect(Double(admitted) <= 100 * ((clock.now - start) / .seconds(1)))
        #expect(admitted >= 160)
    }

    @Test func oneMachineNeedsFewerCallsThanPermits() async throws {
        let gate = rate(1_000_000)
        let context = Self.context()
        for _ in 0..<50_000 where gate.admitImmediately(context) == nil { _ = try await gate.admit(context) }
        let redis = RedisClient(process.server)
        let statistics = try await redis.send(RedisCommand("INFO", "commandstats")).string ?? ""
        let calls = statistics.firstMatch(of: /cmdstat_evalsha:calls=(\d+),/).flatMap { Int($0.1) } ?? .max
        #expect(calls < 25_000, "\(calls) calls for 50,000 permits")
    }

    @Test func hostsAndNamesHaveLimitsOfTheirOwn() async throws {
        // A bucket expires when it is full, which takes minutes for this burst.
        let gate = rate(1000, burst: 1_000_000)
        _ = try await gate.admit(Self.context(host: "a.example"))
        _ = try await gate.admit(Self.context(host: "b.example"))
        let names =
            try await RedisClient(process.server).send(RedisCommand("KEYS", "*")).elements?.compactMap(\.string) ?? []
        #expect(names.count == 3)
        #expect(names.allSatisfy { $0.wholeMatch(of: /sluice:rate:\{[0-9a-f]{32}\}:([0-9a-f]{32}|since)/) != nil })
    }

    @Test func cancelledAndSurplusRequestsLeaveTheQueue() async throws {
        let gate = RedisRateLimit(
            1,
            every: .seconds(3600),
            on: RedisClient(process.server),
            named: "slow",
            maximumWaiting: 1
        )
        let waiting = Task { try await gate.admit(Self.context()) }
        while gate.waiting == 0 { await Task.yield() }
        let full = await #expect(throws: SluiceError.self) { try await gate.admit(Self.context()) }
        #expect(full?.code == .queueFull)
        waiting.cancel()
        let cancelled = await #expect(throws: SluiceError.self) { try await waiting.value }
        #expect(cancelled?.code == .cancelled && gate.waiting == 0)
        let impatient = RedisRateLimit(
            1,
            every: .seconds(3600),
            on: RedisClient(process.server),
            named: "slow",
            maximumWait: .seconds(60)
        )
        let late = await #expect(throws: SluiceError.self) { try await impatient.admit(Self.context()) }
        #expect(late?.code == .rateLimited)
        #expect((late?.underlyingError as? GateRefusal)?.retryAfter ?? .zero > .seconds(60))
    }

    @Test func pauseOfTheUpstreamServerHoldsForOtherMachines() async throws {
        let clock = TestClock()
        let (first, second) = (rate(1000), rate(1000))
        let permit = try await first.admit(Self.context())
        let request = HTTPRequest(scheme: "https", authority: "a.example", path: "/")
        let head = HTTPResponse(status: .tooManyRequests, headers: ["Retry-After": "600"])
        _ = permit.releaseImmediately(.success(ServerResponse(request: request, head: head, body: .init())))
        #expect(first.admitImmediately(Self.context()) == nil)
        let redis = RedisClient(process.server)
        let key = try LimitKeys("rate", "shop").state(of: Self.context().call.host)
        while try await redis.send(RedisCommand("HGET", key, "p")).int ?? 0 < 1_000_000 {}
        let waiting = Task { try await second.admit(Self.context(clock)) }
        await clock.waitForSleepers(1)
        #expect(clock.pendingSleeps.allSatisfy { $0 > .seconds(400) && $0 <= .seconds(600) })
        waiting.cancel()
        _ = await waiting.result
    }

    @Test func permitOfARequestThatWasNotSentIsReturned() async throws {
        let gate = RedisRateLimit(3, every: .seconds(3600), on: RedisClient(process.server), named: "few")
        let redis = RedisClient(process.server)
        _ = try await redis.send(RedisCommand("SET", try LimitKeys("rate", "few").since(), 1))
        for _ in 0..<2 { _ = try await gate.admit(Self.context()) }
        let unsent = try await gate.admit(Self.context())
        _ = unsent.releaseImmediately(Self.failed(.gate))
        _ = try await gate.admit(Self.context())
        let waiting = Task { try await gate.admit(Self.context()) }
        while gate.waiting == 0 { await Task.yield() }
        waiting.cancel()
        await #expect(throws: SluiceError.self) { try await waiting.value }
    }

    @Test func fallbackAppliesWhileRedisIsAway() async throws {
        process.kill()
        let allowing = rate(1, .allow)
        for _ in 0..<20 { _ = try await allowing.admit(Self.context()) }
        #expect(allowing.failure?.code == .unavailable)
        let refusing = rate(1)
        let refused = await #expect(throws: SluiceError.self) { try await refusing.admit(Self.context()) }
        #expect(refused?.code == .rateLimited && refused?.step == .gate)
        let clock = TestClock()
        let local = rate(10, .local(share: 0.5))
        let waiting = Task { try await local.admit(Self.context(clock)) }
        while !clock.pendingSleeps.contains(.milliseconds(200)) { await Task.yield() }
        clock.advance(by: .milliseconds(200))
        _ = try await waiting.value
        #expect(local.admitImmediately(Self.context(clock)) == nil)
    }

    @Test func valueOfAnotherTypeIsLikeAServerThatIsAway() async throws {
        let gate = rate(1000, .allow)
        let redis = RedisClient(process.server)
        let key = try LimitKeys("rate", "shop").state(of: Self.context().call.host)
        _ = try await redis.send(RedisCommand("SET", key, "nonsense"))
        _ = try await gate.admit(Self.context())
        #expect(gate.failure?.reply?.prefix == "WRONGTYPE")
        let slots = RedisConcurrencyLimit(3, on: RedisClient(process.server), named: "shop", whenUnavailable: .allow)
        let hash = try LimitKeys("slots", "shop").state(of: Self.context().call.host)
        _ = try await redis.send(RedisCommand("HSET", hash, "a", "nonsense"))
        _ = try await slots.admit(Self.context())
        #expect(slots.failure?.code == .refused)
    }

    // MARK: Slots

    private func settledSlots(_ limit: Int, machines: Int, lease: Duration = .seconds(600)) async throws
        -> [RedisConcurrencyLimit]
    {
        _ = try await RedisClient(process.server).send(RedisCommand("SET", try LimitKeys("slots", "shop").since(), 1))
        return (0..<machines).map { _ in
            RedisConcurrencyLimit(
                limit,
                on: RedisClient(process.server),
                named: "shop",
                lease: lease,
                whenUnavailable: .refuse
            )
        }
    }

    @Test func machinesTogetherStayWithinTheSlots() async throws {
        let gates = try await settledSlots(6, machines: 3)
        let state = Locked((running: 0, highest: 0))
        await withTaskGroup(of: Void.self) { group in
            for gate in gates {
                for _ in 0..<8 {
                    group.addTask {
                        var (admitted, refused) = (0, 0)
                        while admitted < 20, refused < 100 {
                            // A call may take too long on a busy machine. Its requests are then refused, and no slot is used twice.
                            guard let permit = try? await gate.admit(Self.context()) else {
                                refused += 1
                                await Task.yield()
                                continue
                            }
                            admitted += 1
                            state.withLock { state in
                                state.running += 1
                                state.highest = max(state.highest, state.running)
                            }
                            await Task.yield()
                            state.withLock { $0.running -= 1 }
                            _ = permit.releaseImmediately(Self.failed(.transport))
                        }
                        #expect(admitted == 20, "\(String(describing: gate.failure))")
                    }
                }
            }
        }
        #expect((2...6).contains(state.withLock { $0.highest }))
        #expect(gates.allSatisfy { $0.running == 0 && $0.waiting == 0 })
    }

    @Test func idleSlotsServeAnotherMachine() async throws {
        let gates = try await settledSlots(2, machines: 2)
        let permits = [try await gates[0].admit(Self.context()), try await gates[0].admit(Self.context())]
        let waiting = Task { try await gates[1].admit(Self.context()) }
        while gates[1].waiting == 0 { await Task.yield() }
        _ = permits[0].releaseImmediately(Self.failed(.transport))
        _ = try await waiting.value
        #expect(gates[0].running == 1 && gates[1].running == 1)
    }

    @Test func newLimitUsesItsFallbackForALease() async throws {
        let limit = RedisConcurrencyLimit(
            10,
            on: RedisClient(process.server),
            named: "new",
            whenUnavailable: .local(share: 0.3)
        )
        for _ in 0..<3 { _ = try await limit.admit(Self.context()) }
        let waiting = Task { try await limit.admit(Self.context()) }
        while limit.waiting == 0 { await Task.yield() }
        _ = try await RedisClient(process.server).send(RedisCommand("SET", try LimitKeys("slots", "new").since(), 1))
        _ = try await waiting.value
        #expect(limit.running == 4 && limit.failure == nil)
    }

    @Test func slotsInUseAreKnownAfterALossOfData() async throws {
        let gates = try await settledSlots(3, machines: 2, lease: .seconds(3))
        let permits = [try await gates[0].admit(Self.context()), try await gates[0].admit(Self.context())]
        process.kill()
        let refused = await #expect(throws: SluiceError.self) { try await gates[1].admit(Self.context()) }
        #expect(refused?.code == .rateLimited)
        try process.start()
        let redis = RedisClient(process.server)
        _ = try await redis.eventually(RedisCommand("PING"))
        // It tells what it uses when it renews its lease.
        let key = try LimitKeys("slots", "shop").state(of: Self.context().call.host)
        var values: [String] = []
        while !values.contains(where: { $0.hasPrefix("2 ") }) {
            values = try await redis.send(RedisCommand("HVALS", key)).elements?.compactMap(\.string) ?? []
        }
        #expect(gates[0].running == 2)
        _ = permits
    }
}
#endif
