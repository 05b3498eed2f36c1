#if os(Linux)
import Foundation
import SluiceHTTP
import Testing

@testable import SluiceRedis

/// The scripts of limits on a real server, whose time is that of the server. Passed time is set in the stored state.
@Suite(.enabled(if: RedisProcess.canRun))
struct LimitScriptTests {
    private let process: RedisProcess
    private let redis: RedisClient
    /// The number of calls for slots.
    private let calls = Locked(0)

    init() throws {
        process = try RedisProcess()
        redis = RedisClient(process.server)
    }

    /// The microseconds of the server's clock.
    private func time() async throws -> Int {
        let time = try await redis.send(RedisCommand("TIME")).elements?.compactMap(\.int) ?? [0, 0]
        return time[0] * 1_000_000 + time[1]
    }

    // MARK: Rates

    private func take(
        _ wanted: Int,
        unused: Int = 0,
        fullTime: Int = 0,
        _ rules: BatchRules = BatchRules(10, every: .seconds(1000), burst: 5)
    ) async throws -> BucketReply {
        let value = try await redis.run(
            BucketScripts.take,
            keys: ["{a}b", "{a}since"],
            arguments: [
                wanted, unused, rules.count, rules.periodTicks, rules.capacity, rules.tick, 1_000_000_000, fullTime,
            ]
        )
        return try BucketReply(value, wanted: wanted)
    }

    /// Stores a bucket whose state is of a number of seconds ago.
    private func store(_ permits: String, secondsAgo: Int, fraction: String = "0", pause: String = "0") async throws {
        let time = try await time() - secondsAgo * 1_000_000
        _ = try await redis.send(RedisCommand("SET", "{a}since", 1))
        _ = try await redis.send(RedisCommand("DEL", "{a}b"))
        _ = try await redis.send(RedisCommand("HSET", "{a}b", "n", permits, "f", fraction, "t", time, "p", pause))
    }

    @Test func firstBucketIsEmptyAndFillsAtTheRate() async throws {
        // One permit in 100 seconds.
        let first = try await take(3)
        #expect(first.granted == 0)
        #expect(first.wait > .seconds(99) && first.wait <= .seconds(100))
        for (seconds, expected) in [(0, 0), (101, 1), (301, 3), (10_000, 4), (-100, 0)] {
            try await store("0", secondsAgo: seconds)
            #expect(try await take(9).granted == expected, "after \(seconds) seconds")
        }
    }

    @Test func fractionsOfPermitsAreNotLost() async throws {
        let rules = BatchRules(3, every: .seconds(1000), burst: 4)
        try await store("0", secondsAgo: 1)
        _ = try await take(1, rules)
        let fraction = try await redis.send(RedisCommand("HGET", "{a}b", "f")).int ?? 0
        // Three units in a microsecond, of which a permit has as many as the period has microseconds.
        #expect((3_000_000...300_000_000).contains(fraction))
        try await store("0", secondsAgo: 333, fraction: "1000000")
        #expect(try await take(1, rules).granted == 1)
        try await store("0", secondsAgo: 200)
        #expect(try await take(1, rules).granted == 0)
    }

    @Test func missingBucketIsFullUnlessDataWasLost() async throws {
        _ = try await redis.send(RedisCommand("SET", "{a}since", 1))
        #expect(try await take(9).granted == 4)
        _ = try await redis.send(RedisCommand("FLUSHALL"))
        #expect(try await take(9).granted == 0)
        // Another key of the same limit, which was not used since.
        _ = try await redis.send(RedisCommand("DEL", "{a}b"))
        #expect(try await take(9).granted == 0)
        let since = try await time() - 250_000_000
        _ = try await redis.send(RedisCommand("SET", "{a}since", since))
        _ = try await redis.send(RedisCommand("DEL", "{a}b"))
        #expect(try await take(9).granted == 2)
    }

    @Test func unusedPermitsAreReturned() async throws {
        try await store("4", secondsAgo: 0)
        let first = try await take(3)
        #expect(first.granted == 3)
        #expect(try await take(9, unused: 2, fullTime: first.fullTime).granted == 3)
        #expect(try await take(9, unused: 100, fullTime: first.fullTime).granted == 4)
        #expect(try await take(9).granted == 0)
    }

    @Test func permitsFromBeforeTheBucketWasFullAreNotReturned() async throws {
        try await store("4", secondsAgo: 0)
        let first = try await take(4)
        #expect(first.granted == 4)
        // The time that fills the bucket.
        let time = try await time() - 1_000_000_000
        _ = try await redis.send(RedisCommand("HSET", "{a}b", "t", time))
        let second = try await take(4)
        #expect(second.granted == 4 && second.fullTime > first.fullTime)
        #expect(try await take(9, unused: 4, fullTime: first.fullTime).granted == 0)
        #expect(try await take(9, unused: 1, fullTime: second.fullTime).granted == 1)
        // A time in the future, or without sense, is not that of any permit.
        for forged in ["9000000000000000", "nan", "x", "-1"] {
            _ = try await redis.send(RedisCommand("HSET", "{a}b", "l", forged))
            #expect(try await take(9, unused: 4, fullTime: Int(forged) ?? 0).granted == 0)
        }
    }

    @Test func bucketExpiresWhenItIsFull() async throws {
        try await store("4", secondsAgo: 0)
        #expect(try await take(2).granted == 2)
        let left = try await redis.send(RedisCommand("PTTL", "{a}b")).int ?? 0
        #expect((100_000...201_000).contains(left))
        #expect(try await redis.send(RedisCommand("PTTL", "{a}since")).int == -1)
    }

    @Test func pauseHoldsForAllMachines() async throws {
        try await store("4", secondsAgo: 0)
        _ = try await redis.run(BucketScripts.pause, keys: ["{a}b"], arguments: [500_000_000])
        _ = try await redis.run(BucketScripts.pause, keys: ["{a}b"], arguments: [1])
        let paused = try await take(1)
        #expect(paused.granted == 0)
        #expect(paused.pause > .seconds(400) && paused.pause <= .seconds(500))
        // Longer than any machine accepts, as of a clock that went back.
        try await store("4", secondsAgo: 0, pause: "\(try await time() + 2_000_000_000)")
        let open = try await take(1)
        #expect(open.granted == 1 && open.pause == .zero)
        _ = try await redis.send(RedisCommand("DEL", "{a}b"))
        _ = try await redis.run(BucketScripts.pause, keys: ["{a}b"], arguments: [500_000_000])
        #expect(try await take(1).pause > .zero)
    }

    @Test(arguments: [("nan", "0"), ("-1", "0"), ("x", "0"), ("1", "-5"), ("1", "nan"), ("", "0")])
    func bucketWithoutSenseIsAnError(permits: String, fraction: String) async throws {
        try await store(permits, secondsAgo: 0, fraction: fraction)
        let error = await #expect(throws: RedisError.self) { try await take(1) }
        #expect(error?.code == .refused)
    }

    @Test func forgedPermitsAreAtMostTheBurst() async throws {
        for permits in ["1e300", "inf", "1000000"] {
            try await store(permits, secondsAgo: 0, fraction: "1e300")
            #expect(try await take(100).granted == 4)
        }
        _ = try await redis.send(RedisCommand("SET", "{a}b", "text"))
        await #expect(throws: RedisError.self) { try await take(1) }
    }

    // MARK: Slots

    private func set(
        _ machine: String,
        _ wanted: Int,
        _ running: Int = 0,
        usable: Int? = nil,
        limit: Int = 10,
        number: Int? = nil
    ) async throws -> SlotsReply {
        let next = calls.withLock { count in
            count += 1
            return count
        }
        let value = try await redis.run(
            SlotScripts.set,
            keys: ["{a}s", "{a}since"],
            arguments: [machine, wanted, usable ?? running, limit, 1_000_000, running, number ?? next]
        )
        return try SlotsReply(value, wanted: wanted, running: running, lease: .seconds(1000))
    }

    /// Lets the server forget that it is new.
    private func settle() async throws { _ = try await redis.send(RedisCommand("SET", "{a}since", 1)) }

    /// Ends the lease of a machine.
    private func endLease(of machine: String, at ends: Int = 1) async throws {
        let value = try await redis.send(RedisCommand("HGET", "{a}s", machine)).string ?? ""
        var parts = value.split(separator: " ").map(String.init)
        parts[1] = "\(ends)"
        _ = try await redis.send(RedisCommand("HSET", "{a}s", machine, parts.joined(separator: " ")))
    }

    @Test func slotsOfAllMachinesAreWithinTheLimit() async throws {
        try await settle()
        #expect(try await set("a", 7).held == 7)
        #expect(try await set("b", 7).held == 3)
        #expect(try await set("a", 9, 7).held == 7)
        #expect(try await set("a", 7).held == 5, "the fair share")
        #expect(try await set("b", 7).held == 5)
        #expect(try await set("a", 0).held == 0)
        #expect(try await set("b", 20).held == 10)
        #expect(try await set("b", 0).held == 0)
        for machine in ["a", "b"] {
            let value = try await redis.send(RedisCommand("HGET", "{a}s", machine)).string ?? ""
            #expect(value.hasPrefix("0 "))
            try await endLease(of: machine)
        }
        _ = try await set("c", 0)
        #expect(try await redis.send(RedisCommand("HKEYS", "{a}s")).elements == [.text("c")])
    }

    @Test func lateCallChangesNothing() async throws {
        try await settle()
        let first = try await set("a", 2)
        #expect(first.held == 2)
        let number = calls.withLock { $0 }
        #expect(try await set("a", 8).held == 8)
        #expect(try await set("b", 9).held == 2)
        // As sent before that for eight, whose slots are in use.
        let late = try await redis.run(
            SlotScripts.set,
            keys: ["{a}s", "{a}since"],
            arguments: ["a", 2, 0, 10, 1_000_000, 0, number]
        )
        #expect(late == .array([.integer(8), .integer(10), .integer(0)]))
        #expect(try await set("b", 9).held == 2)
        // The same call again, as after a lost connection.
        let last = calls.withLock { $0 } + 1
        for _ in 0..<2 { #expect(try await set("a", 3, number: last).held == 3) }
        // A machine without slots keeps its number for a while.
        #expect(try await set("a", 0).held == 0)
        #expect(try await set("a", 0, number: last).held == 0)
        let value = try await redis.run(
            SlotScripts.set,
            keys: ["{a}s", "{a}since"],
            arguments: ["a", 3, 0, 10, 1_000_000, 0, last]
        )
        #expect(value.elements?.first?.int == 0)
        #expect(try await set("b", 10).held == 10)
    }

    @Test func entryWithoutANumberIsThatOfAnEarlierVersion() async throws {
        try await settle()
        for machine in ["a", "b"] {
            _ = try await redis.send(RedisCommand("HSET", "{a}s", machine, "4 9000000000000 4"))
        }
        #expect(try await set("c", 9).held == 2)
        #expect(try await set("a", 9, 4).held == 4)
    }

    @Test func slotsOfAMachineThatStoppedComeBackAfterTheLease() async throws {
        try await settle()
        #expect(try await set("a", 10).held == 10)
        let ends =
            try await redis.send(RedisCommand("HGET", "{a}s", "a")).string?.split(separator: " ").map { Int($0) ?? 0 }
            ?? []
        let left = ends[1] - (try await time()) / 1000
        #expect((1...1_000_000).contains(left))
        #expect(try await set("b", 10).held == 0)
        try await endLease(of: "a")
        #expect(try await set("b", 10).held == 10)
        // It still uses them, and says so.
        let late = try await set("a", 10, 4)
        #expect(late.held == 4)
        #expect(try await set("b", 10).held == 5)
    }

    @Test func slotsThatMayBeUsedAreKeptUntilTheLeaseIsOver() async throws {
        try await settle()
        #expect(try await set("a", 10).held == 10)
        #expect(try await set("b", 10).held == 0)
        #expect(try await set("a", 10, 2, usable: 10).held == 10)
        #expect(try await set("a", 5, 2, usable: 5).held == 5)
        #expect(try await set("b", 10).held == 5)
        try await endLease(of: "a")
        #expect(try await set("b", 10).held == 10)
        #expect(try await set("a", 5, 2, usable: 5).held == 2)
    }

    /// The limit, the number of slots that each machine wants, and the numbers that they have after some time, in order.
    static let shares: [(limit: Int, wanted: [Int], held: [Int])] = [
        (10, [50, 50, 50], [3, 3, 4]), (9, [50, 50, 50, 50], [2, 2, 2, 3]), (3, [50, 50, 50], [1, 1, 1]),
        (2, [50], [2]),
        (20, [1, 1, 1, 50, 50], [1, 1, 1, 8, 9]), (64, [1, 1, 1, 1, 1, 1, 50, 60], [1, 1, 1, 1, 1, 1, 29, 29]),
        (10, [2, 3, 50], [2, 3, 5]),
    ]

    @Test(arguments: shares)
    func machinesThatWaitHaveAboutTheSameNumber(_ limit: Int, _ wanted: [Int], _ numbers: [Int]) async throws {
        try await settle()
        var held = wanted.map { _ in 0 }
        for _ in 0..<200 where held.sorted() != numbers {
            for machine in wanted.indices {
                // A request of the machine ends before each call.
                let running = max(0, held[machine] - 1)
                held[machine] = try await set("\(machine)", wanted[machine], running, limit: limit).held
                #expect(held.reduce(0, +) <= limit)
            }
        }
        #expect(held.sorted() == numbers)
    }

    @Test func leaseFromTheFutureEnds() async throws {
        try await settle()
        #expect(try await set("a", 10).held == 10)
        try await endLease(of: "a", at: 9_000_000_000_000)
        #expect(try await set("b", 10).held == 0)
        let ends =
            try await redis.send(RedisCommand("HGET", "{a}s", "a")).string?.split(separator: " ").map { Int($0) ?? 0 }
            ?? []
        #expect(ends[1] <= (try await time()) / 1000 + 1_000_000)
    }

    @Test func serverThatLostItsDataGivesNoSlots() async throws {
        let new = try await set("a", 4)
        #expect(new.held == 0 && new.settling > .zero && new.settling <= .seconds(1000))
        // Slots in use are counted.
        #expect(try await set("a", 9, 3).held == 3)
        #expect(try await set("b", 9).held == 0)
        // So are those that a machine may use until its lease ends.
        #expect(try await set("a", 9, 3, usable: 5).held == 5)
        #expect(try await set("a", 3, 3).held == 3)
        try await settle()
        #expect(try await set("b", 9).held == 7)
        _ = try await redis.send(RedisCommand("SET", "{a}since", "9000000000000"))
        #expect(try await set("b", 9, 1).settling > .zero)
    }

    /// All leases have ended, as after an outage of the server, but the requests of the machines go on.
    @Test func slotsInUseAreKnownAgainBeforeOthersAreGiven() async throws {
        try await settle()
        for machine in ["a", "b"] { #expect(try await set(machine, 5, 5).held == 5) }
        let ended = try await time() / 1000 - 2_000_000
        for machine in ["a", "b"] { try await endLease(of: machine, at: ended) }
        #expect(try await set("a", 10, 5).held == 5)
        #expect(try await set("c", 5).held == 0)
        #expect(try await set("b", 5, 5).held == 5)
        #expect(try await set("c", 5).held == 0)
        // Machines that stopped give up their slots after another lease, and at once after a long time.
        for machine in ["a", "b", "c"] { try await endLease(of: machine, at: ended) }
        #expect(try await set("d", 10).held == 0)
        for machine in ["a", "b", "d"] { try await endLease(of: machine, at: ended) }
        #expect(try await set("d", 10).held == 10)
        try await endLease(of: "d")
        #expect(try await set("a", 10).held == 10)
    }

    @Test func machinesTakeTurnsAtAScarceSlot() async throws {
        try await settle()
        var turns: [String: Int] = [:]
        var held = ["a": 0, "b": 0, "c": 0]
        for round in 0..<60 {
            let machine = ["a", "b", "c"][round % 3]
            // A request ends before each call.
            let running = max(0, (held[machine] ?? 0) - 1)
            let reply = try await set(machine, 5, running, limit: 1)
            held[machine] = reply.held
            turns[machine, default: 0] += reply.held
            #expect(held.values.reduce(0, +) <= 1)
        }
        for machine in ["a", "b", "c"] { #expect((turns[machine] ?? 0) >= 5) }
    }

    @Test(arguments: ["", "x", "1 2", "1 2 3 x", "1 2 3 4 5", "-1 9000000000000 1", "nan 1 1"])
    func slotsWithoutSenseAreAnError(value: String) async throws {
        _ = try await redis.send(RedisCommand("HSET", "{a}s", "m", value))
        await #expect(throws: RedisError.self) { try await set("a", 1) }
        _ = try await redis.send(RedisCommand("SET", "{a}s", value))
        await #expect(throws: RedisError.self) { try await set("a", 1) }
    }
}
#endif
