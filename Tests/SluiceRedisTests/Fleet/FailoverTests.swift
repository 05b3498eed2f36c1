#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceRedis
import Testing

/// Real sentinels and a real cluster that lose a primary.
@Suite(.enabled(if: RedisProcess.canRun), .serialized)
struct FailoverTests {
    @Test func clientFollowsTheSentinelsToTheNewPrimary() async throws {
        let fleet = try await SentinelFleet()
        let client = RedisClient(fleet.server)
        var single = fleet.server
        single.connections = 1
        let writer = RedisClient(single)
        #expect(try await port(of: client) == fleet.primaryPort)
        let isOver = Locked(false)
        let replicated = Locked(0)
        let writes = Task {
            while !isOver.withLock({ $0 }) {
                guard let number = try? await writer.send(RedisCommand("INCR", "n"), timeout: .seconds(2)).int else {
                    await Task.yield()
                    continue
                }
                // A write that the replica has is not lost, so the number is not given again.
                #expect(number > replicated.withLock { $0 })
                let wait = RedisCommand("WAIT", 1, 1000)
                guard (try? await writer.send(wait, timeout: .seconds(2)).int) == 1 else { continue }
                replicated.withLock { $0 = number }
            }
        }
        try await until { replicated.withLock { $0 } >= 20 }
        fleet.primary.kill()
        // Each connection of the other client.
        for _ in 0..<4 { try await until { try await port(of: client) == fleet.replicaPort } }
        try await until { try await port(of: writer) == fleet.replicaPort }
        isOver.withLock { $0 = true }
        await writes.value
        let value = try await client.send(RedisCommand("GET", "n")).int ?? 0
        #expect(value >= replicated.withLock { $0 })
        // The old primary starts as one, until the sentinels make it a replica. It gets no command.
        try fleet.primary.start()
        for number in 1...30 { #expect(try await writer.send(RedisCommand("INCR", "m")).int == number) }
        #expect(try await RedisClient(fleet.server).send(RedisCommand("GET", "m")).int == 30)
    }

    @Test func clientFollowsTheClusterToTheNewPrimary() async throws {
        let fleet = try await ClusterFleet(nodeTimeout: .seconds(5))
        try await fleet.addReplica(of: 0)
        var server = fleet.server(1)
        server.connections = 1
        let client = RedisClient(server)
        // The slot of “bar” is 5061, one of the first node.
        for number in 1...20 { #expect(try await client.send(RedisCommand("INCR", "bar")).int == number) }
        #expect(try await client.send(RedisCommand("EVAL", "return redis.call('INCR', KEYS[1])", 1, "bar")).int == 21)
        let primary = RedisClient(fleet.nodes[0].process.server)
        try await until {
            let info = try await primary.send(RedisCommand("INFO", "replication")).string ?? ""
            let offsets = ["master_repl_offset:", "offset="].map { name in
                info.firstRange(of: name).map { info[$0.upperBound...].prefix { $0.isNumber } }
            }
            return offsets[0] != nil && offsets[0] == offsets[1]
        }
        fleet.nodes[0].process.kill()
        try await until { try await client.send(RedisCommand("GET", "bar"), timeout: .seconds(2)).int == 21 }
        #expect(try await client.send(RedisCommand("INCR", "bar")).int == 22)
        // The slot of “foo” is 12182, one of the third node, which has not failed.
        #expect(try await client.send(RedisCommand("INCR", "foo")).int == 1)
    }

    private func port(of client: RedisClient) async throws -> Int? {
        let info = try await client.send(RedisCommand("INFO", "server")).string ?? ""
        return info.firstRange(of: "tcp_port:").flatMap { Int(info[$0.upperBound...].prefix { $0.isNumber }) }
    }
}
#endif
