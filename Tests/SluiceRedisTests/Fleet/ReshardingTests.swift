#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceRedis
import Testing

/// A real cluster whose slots move.
@Suite(.enabled(if: RedisProcess.canRun), .serialized)
struct ReshardingTests {
    @Test func noWriteIsLostOrDoubledWhileSlotsMove() async throws {
        let fleet = try await ClusterFleet()
        let client = RedisClient(fleet.server(0))
        let isOver = Locked(false)
        // Some counters are in the slot that moves, and the others anywhere.
        let keys = (0..<12).map { $0 % 2 == 0 ? "{bar}\($0)" : "other\($0)" }
        let counts = try await withThrowingTaskGroup(of: (String, Int).self) { group in
            for key in keys {
                group.addTask {
                    var count = 0
                    while !isOver.withLock({ $0 }) {
                        count += 1
                        // Each reply shows that the writes before were executed once.
                        let value = try await client.send(RedisCommand("INCR", key)).int
                        #expect(value == count)
                    }
                    return (key, count)
                }
            }
            let slot = try #require(HashSlot(5061))
            for (from, to) in [(0, 2), (2, 1), (1, 0), (0, 1)] {
                try await fleet.move(slot, from: from, to: to) { hasMovedKeys async throws in
                    let name = "{bar}new\(from)\(to)\(hasMovedKeys)"
                    // A key that does not exist is created at the target (ASK).
                    #expect(try await client.send(RedisCommand("SET", name, 1)).string == "OK")
                    #expect(try await client.send(RedisCommand("GET", name)).int == 1)
                }
            }
            isOver.withLock { $0 = true }
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        #expect(counts.count == keys.count)
        for (key, count) in counts { #expect(try await client.send(RedisCommand("GET", key)).int == count) }
        let owner = try await fleet.nodes[1].client.send(RedisCommand("CLUSTER", "COUNTKEYSINSLOT", 5061)).int
        #expect(owner == 6 + 8)
    }

    @Test func askIsFollowedWhileASlotMovesAndMovedAfterIt() async throws {
        let fleet = try await ClusterFleet()
        var server = fleet.server(0)
        server.connections = 1
        let client = RedisClient(server)
        let slot = try #require(HashSlot(5061))
        func calls(_ command: String, _ node: Int) async throws -> Int {
            let statistics = try await fleet.nodes[node].client.send(RedisCommand("INFO", "commandstats")).string ?? ""
            let range = statistics.firstRange(of: "cmdstat_\(command):calls=")
            return range.flatMap { Int(statistics[$0.upperBound...].prefix { $0.isNumber }) } ?? 0
        }
        #expect(try await client.send(RedisCommand("SET", "bar", 1)).string == "OK")
        try await fleet.move(slot, from: 0, to: 2) { hasMovedKeys async throws in
            for _ in 0..<5 { #expect(try await client.send(RedisCommand("GET", "bar")).int == 1) }
            #expect(try await calls("asking", 2) == (hasMovedKeys ? 5 : 0))
            // Two keys of a slot on two nodes.
            let error = await #expect(throws: RedisError.self) {
                try await client.send(RedisCommand("MGET", "bar", "{bar}none"))
            }
            if !hasMovedKeys { #expect(error?.code == .tryAgain) }
        }
        let asked = try await calls("asking", 2)
        let before = try await calls("get", 0)
        for _ in 0..<5 { #expect(try await client.send(RedisCommand("GET", "bar")).int == 1) }
        // The first of these commands is redirected for good, before it counts as called.
        #expect(try await calls("get", 0) == before)
        #expect(try await calls("asking", 2) == asked)
    }

    @Test func keysOfSeveralSlotsAreAnError() async throws {
        let fleet = try await ClusterFleet()
        let client = RedisClient(fleet.server(0))
        let script = RedisScript("return redis.call('MGET', KEYS[1], KEYS[2])")
        // The server refuses it while the client does not know the cluster, and then the client itself.
        for _ in 0..<2 {
            let error = await #expect(throws: RedisError.self) { try await client.run(script, keys: ["foo", "bar"]) }
            #expect(error?.code == .crossSlot)
            _ = try await client.send(RedisCommand("SET", "foo", 1))
        }
        #expect(try await client.run(script, keys: ["foo", "{foo}2"]) == .array([.text("1"), .null]))
    }
}
#endif
