#if os(Linux)
import Foundation
import Sluice
import SluiceHTTP
import SluiceRedis
import Testing

/// The parts of the article on Redis about sentinels, clusters and memory.
@Suite(.enabled(if: RedisProcess.canRun))
struct RedisFleetGuideTests {
    @Test func primariesThatSentinelsWatch() async throws {
        let (process, port) = try RedisProcess.onPort("--port", ["--requirepass", "hunter2hunter2"])
        let lines = "requirepass watch-only\nsentinel auth-pass shop hunter2hunter2"
        let (watcher, sentinelPort) = try RedisProcess.sentinel(of: port, quorum: 1, lines)
        let host = "127.0.0.1"
        var sentinel = RedisServer(host: host, port: sentinelPort)
        sentinel.password = Secret("watch-only")
        var server = RedisServer(sentinels: [sentinel], primary: "shop")
        server.password = Secret("hunter2hunter2")
        // The machine of a test may be slow.
        server = server.patient
        let redis = RedisClient(server)
        #expect(try await redis.send(RedisCommand("PING")).string == "PONG")
        withExtendedLifetime((process, watcher)) {}
    }

    @Test func clusters() async throws {
        let fleet = try await ClusterFleet()
        let redis = RedisClient(fleet.server(0))
        _ = try await redis.send(RedisCommand("MSET", "{shop}visits", 7, "{shop}orders", 2))
        let counts = try await redis.send(RedisCommand("MGET", "{shop}visits", "{shop}orders")).elements?.map(\.int)
        #expect(counts == [7, 2])
        let error = await #expect(throws: RedisError.self) {
            try await redis.send(RedisCommand("MGET", "visits", "orders"))
        }
        #expect(error?.code == .crossSlot)
    }

    @Test func largeReplies() async throws {
        let process = try RedisProcess()
        let redis = RedisClient(process.server)
        let value = Data(repeating: 7, count: 1 << 20)
        _ = try await redis.send(RedisCommand("SET", "report", value))
        var command = RedisCommand("GET", "report", isIdempotent: true)
        command.hasLargeReply = true
        let report = try await redis.send(command, timeout: .seconds(30)).data
        #expect(report == value)
    }

    @Test func limitsOfMemory() async throws {
        let process = try RedisProcess("--maxmemory", "100mb")
        let redis = RedisClient(process.server)
        let warnings = Locked<[String]>([])
        func log(_ text: String) { warnings.withLock { $0.append(text) } }
        if let warning = try await redis.evictionWarning() { log(warning) }
        #expect(warnings.withLock { $0.count } == 1)
    }
}
#endif
