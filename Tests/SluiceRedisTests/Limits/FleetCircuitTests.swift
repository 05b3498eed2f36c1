#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import Sluice
@testable import SluiceRedis

/// Circuit breakers of several machines.
@Suite(.enabled(if: RedisProcess.canRun))
struct FleetCircuitTests {
    private struct Machine {
        let breaker = CircuitBreaker(of: 2, openFor: .seconds(30), trials: 1)
        let gate: RedisCircuitBreaker
        let clock = TestClock()
        let context: RequestContext

        init(_ process: RedisProcess) {
            gate = RedisCircuitBreaker(breaker, on: RedisClient(process.server), named: "shop")
            context = RequestContext(
                request: HTTPRequest(scheme: "https", authority: "a.example", path: "/"),
                tags: [],
                client: APIClient(baseURL: "https://a.example") { [clock] in $0.clock = clock }
            )
        }

        var state: CircuitBreaker.State { breaker.state(for: context.call.host) }

        func send(_ status: HTTPStatus) {
            let head = HTTPResponse(status: status, headers: [:])
            let response = ServerResponse(request: context.request, head: head, body: .init())
            _ = gate.admitImmediately(context)?.releaseImmediately(.success(response))
        }
    }

    private let process: RedisProcess
    private let redis: RedisClient
    private let key: String

    init() throws {
        key = try LimitKeys("circuit", "shop").state(of: "a.example")
        process = try RedisProcess()
        redis = RedisClient(process.server)
    }

    @Test func changesAreAnnounced() {
        let now = ContinuousClock.now
        let expected: [(CircuitBreaker.State, Int?)] = [
            (.open(until: now + .seconds(3)), 3000), (.open(until: now + .microseconds(1500)), 1),
            (.open(until: now), nil), (.open(until: now - .seconds(1)), nil), (.halfOpen, nil), (.closed, 0),
        ]
        for (state, milliseconds) in expected {
            #expect(RedisCircuitBreaker.announcement(of: state, now: now) == milliseconds, "\(state)")
        }
    }

    @Test func looksAtAnyNumberOfKeysAreRemembered() {
        var looks = RedisCircuitBreaker.Looks()
        let start = ContinuousClock.now
        let names = (0..<5000).map { "host\($0).example" }
        for name in names {
            let isDue = looks.begin(name, now: start)
            #expect(isDue)
        }
        for (milliseconds, isDue) in [(249, false), (250, true), (499, false), (500, true)] {
            let now = start + .milliseconds(milliseconds)
            let due = names.filter { looks.begin($0, now: now) }
            #expect(due.count == (isDue ? names.count : 0), "\(milliseconds) ms")
        }
    }

    @Test func shorterAnnouncementOfAnotherMachineIsIgnored() async throws {
        func announce(_ milliseconds: Int, by machine: String = "a") async throws -> Int {
            _ = try await redis.run(RedisCircuitBreaker.announce, keys: [key], arguments: [milliseconds, machine])
            return try await redis.send(RedisCommand("PTTL", key)).int ?? 0
        }
        for (milliseconds, longest) in [(1_000_000, 1_000_000), (30_000, 1_000_000), (2_000_000, 2_000_000)] {
            let left = try await announce(milliseconds)
            #expect((longest / 2...longest).contains(left))
        }
        // A machine whose trials have succeeded.
        #expect(try await announce(0, by: "b") > 0)
        #expect(try await announce(0) == -2)
    }

    @Test func openingReachesOtherMachinesAndEnds() async throws {
        let (first, second) = (Machine(process), Machine(process))
        for _ in 0..<2 { first.send(.serviceUnavailable) }
        #expect(first.state == .open(until: first.clock.now + .seconds(30)))
        while try await redis.send(RedisCommand("EXISTS", key)).int == 0 {}
        let left = try await redis.send(RedisCommand("PTTL", key)).int ?? 0
        #expect((1...30_000).contains(left))
        second.send(.ok)
        while second.state == .closed { await Task.yield() }
        #expect(second.gate.admitImmediately(second.context) == nil)
        let error = await #expect(throws: SluiceError.self) { try await second.gate.admit(second.context) }
        #expect(error?.code == .circuitOpen)
        // The first machine tries again, and closes.
        first.clock.advance(by: .seconds(30))
        first.send(.ok)
        #expect(first.state == .closed)
        while try await redis.send(RedisCommand("EXISTS", key)).int == 1 {}
        second.clock.advance(by: .seconds(30))
        second.send(.ok)
        #expect(second.state == .closed)
    }

    /// Waits until machines have looked at the server this many times.
    private func waitForLooks(_ count: Int) async throws {
        var calls = ""
        while !calls.contains("cmdstat_pttl:calls=\(count),") {
            calls = try await redis.send(RedisCommand("INFO", "commandstats")).string ?? ""
        }
    }

    @Test func sickMachineDoesNotKeepTheOthersOpen() async throws {
        let machine = Machine(process)
        _ = try await redis.send(RedisCommand("SET", key, "sick", "PX", 1_000_000))
        machine.send(.ok)
        while machine.state == .closed { await Task.yield() }
        // Its own trial succeeds, while that of the other machine fails again and again.
        machine.clock.advance(by: .seconds(60))
        for look in 2...5 {
            machine.send(.ok)
            try await waitForLooks(look)
            machine.clock.advance(by: .milliseconds(250))
        }
        #expect(machine.state == .closed)
        machine.clock.advance(by: .seconds(60))
        machine.send(.ok)
        while machine.state == .closed { await Task.yield() }
    }

    @Test func machinesLookAtMostFourTimesASecond() async throws {
        let machine = Machine(process)
        for _ in 0..<100 { machine.send(.ok) }
        machine.clock.advance(by: .milliseconds(249))
        for _ in 0..<100 { machine.send(.ok) }
        machine.clock.advance(by: .milliseconds(1))
        for _ in 0..<100 { machine.send(.ok) }
        try await waitForLooks(2)
        #expect(machine.state == .closed)
    }

    @Test func breakerWorksAloneWhileRedisIsAway() async throws {
        process.kill()
        let machine = Machine(process)
        machine.send(.ok)
        for _ in 0..<4 { machine.send(.serviceUnavailable) }
        #expect(machine.state == .open(until: machine.clock.now + .seconds(30)))
    }

    @Test func keyThatNeverExpiresOpensNothing() async throws {
        let machine = Machine(process)
        _ = try await redis.send(RedisCommand("SET", key, "open"))
        machine.send(.ok)
        try await waitForLooks(1)
        #expect(machine.state == .closed)
        // A time beyond the longest of the breaker is cut.
        _ = try await redis.send(RedisCommand("PEXPIRE", key, 1_000_000_000))
        machine.clock.advance(by: .milliseconds(250))
        machine.send(.ok)
        while machine.state == .closed { await Task.yield() }
        #expect(machine.state == .open(until: machine.clock.now + .seconds(60)))
    }
}
#endif
