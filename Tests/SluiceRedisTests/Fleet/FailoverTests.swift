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
        var writer = fleet.server
        writer.connections = 1
        let single = RedisClient(writer)
        for number in 1...50 { #expect(try await single.send(RedisCommand("INCR", "n")).int == number) }
        // The replica has acknowledged all writes of this connection, so the failover loses none.
        #expect(try await single.send(RedisCommand("WAIT", 1, 20_000)).int == 1)
        #expect(try await client.send(RedisCommand("GET", "n")).int == 50)
        #expect(try await port(of: client) == fleet.primaryPort)
        fleet.primary.kill()
        try await until { try await single.send(RedisCommand("INCR", "n"), timeout: .seconds(2)).int != nil }
        #expect(try await port(of: single) == fleet.replicaPort)
        for _ in 0..<8 {
            // Each connection of the other client.
            try await until { try await port(of: client) == fleet.replicaPort }
        }
        let count = try await client.send(RedisCommand("GET", "n")).int
        #expect(count == 51)
        // The old primary comes back as one, until the sentinels make it a replica.
        try fleet.primary.start()
        for number in 52...80 { #expect(try await single.send(RedisCommand("INCR", "n")).int == number) }
        #expect(try await RedisClient(fleet.server).send(RedisCommand("GET", "n")).int == 80)
    }

    @Test func clientFollowsTheClusterToTheNewPrimary() async throws {
        let fleet = try await ClusterFleet()
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
        try await until { try await client.send(RedisCommand("INCR", "bar"), timeout: .seconds(2)).int == 22 }
        // The slot of “foo” is 12182, one of the third node, which has not failed.
        #expect(try await client.send(RedisCommand("INCR", "foo")).int == 1)
    }

    private func port(of client: RedisClient) async throws -> Int? {
        let info = try await client.send(RedisCommand("INFO", "server")).string ?? ""
        return info.firstRange(of: "tcp_port:").flatMap { Int(info[$0.upperBound...].prefix { $0.isNumber }) }
    }
}
#endif
