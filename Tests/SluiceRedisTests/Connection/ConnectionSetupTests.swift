#if os(Linux)
import Foundation
import Glibc
import SluiceHTTP
import SluiceRedis
import Testing

/// Greetings, options of sockets and time-outs on real connections.
struct ConnectionSetupTests {
    @Test func serverThatKnowsOnlyVersion2IsUsed() async throws {
        let seen = Locked<[String]>([])
        let fake = try ScriptedServer { connection, _ in
            while let words = connection.command() {
                seen.withLock { $0.append(words.joined(separator: " ")) }
                switch words[0] {
                case "HELLO": connection.write("-ERR unknown command `HELLO`, with args beginning with: `3`, \r\n")
                case "PING": connection.write("+PONG\r\n")
                case "HGETALL": connection.write("*2\r\n$1\r\nk\r\n$1\r\nv\r\n")
                case "GET": connection.write("$-1\r\n")
                default: connection.write("+OK\r\n")
                }
            }
        }
        var server = fake.server
        (server.user, server.password, server.database) = ("shop", "one", 3)
        let client = RedisClient(server)
        #expect(try await client.send(RedisCommand("HGETALL", "h")) == .array([.text("k"), .text("v")]))
        #expect(try await client.send(RedisCommand("GET", "a")) == .null)
        let greeting = ["HELLO 3 AUTH shop one", "AUTH shop one", "CLIENT SETNAME sluice", "SELECT 3", "PING"]
        #expect(seen.withLock { $0 } == greeting + ["HGETALL h", "GET a"])
    }

    @Test func deadPeersAreNoticedBySocketOptions() async throws {
        let fake = try ScriptedServer(isOnPort: true) { connection, _ in
            connection.greet()
            while connection.command() != nil { connection.write("+fine\r\n") }
        }
        let client = RedisClient(fake.server)
        _ = try await client.send(RedisCommand("GET", "a"))
        let descriptor = try #require(Self.descriptor(connectedTo: fake.port))
        let tcp = Int32(IPPROTO_TCP)
        #expect(Self.option(descriptor, SOL_SOCKET, SO_KEEPALIVE) == 1)
        #expect(Self.option(descriptor, tcp, TCP_NODELAY) == 1)
        #expect(Self.option(descriptor, tcp, TCP_KEEPIDLE) == 30)
        #expect(Self.option(descriptor, tcp, TCP_KEEPINTVL) == 10)
        #expect(Self.option(descriptor, tcp, TCP_KEEPCNT) == 3)
        #expect(Self.option(descriptor, tcp, TCP_USER_TIMEOUT) == 10_000)
        withExtendedLifetime(client) {}
    }

    @Test func greetingHasTheTimeForAConnection() async throws {
        let fake = try ScriptedServer(isOnPort: true) { connection, _ in connection.waitForEnd() }
        var server = fake.server
        server.connectTimeout = .milliseconds(50)
        let client = RedisClient(server)
        // The command itself has 20 seconds, so it would be timedOut.
        let error = await #expect(throws: RedisError.self) { try await client.send(RedisCommand("GET", "a")) }
        #expect(error?.code == .unavailable)
    }

    private static func option(_ descriptor: Int32, _ level: Int32, _ name: Int32) -> Int32? {
        var value: Int32 = -1
        var size = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, level, name, &value, &size) == 0 ? value : nil
    }

    /// Finds the client's socket by the port of its peer.
    private static func descriptor(connectedTo port: Int) -> Int32? {
        (0..<Int32(4096)).first { descriptor in
            var address = sockaddr_in()
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let status = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &size) }
            }
            guard status == 0, address.sin_family == sa_family_t(AF_INET) else { return false }
            return UInt16(bigEndian: address.sin_port) == port
        }
    }

    /// The warning about a server that does not evict.
    @Suite(.enabled(if: RedisProcess.canRun))
    struct Eviction {
        @Test(arguments: [
            (0, "noeviction", false), (100_000_000, "noeviction", true), (100_000_000, "allkeys-lru", false),
            (100_000_000, "volatile-ttl", false),
        ])
        func serverThatRefusesWritesWhenItIsFullIsNamed(limit: Int, policy: String, isWarning: Bool) async throws {
            let redis = try RedisProcess("--maxmemory", "\(limit)", "--maxmemory-policy", policy)
            let warning = try await RedisClient(redis.server).evictionWarning()
            #expect((warning != nil) == isWarning)
            #expect(warning?.contains("100000000") != false)
        }
    }
}

struct EvictionPolicyTests {
    @Test(arguments: [
        ("", 0, "noeviction", false), ("maxmemory:5\r\nmaxmemory_policy:noeviction\r\n", 5, "noeviction", true),
        ("# Memory\r\nmaxmemory:5\r\nmaxmemory_human:5B\r\nmaxmemory_policy:allkeys-lfu", 5, "allkeys-lfu", false),
        ("maxmemory:x\r\n:\r\nmaxmemory_policy", 0, "noeviction", false),
    ])
    func policyIsReadFromTheInformation(info: String, limit: Int, name: String, refusesWrites: Bool) {
        let policy = EvictionPolicy(info: info)
        #expect(policy.limit == limit && policy.name == name && policy.refusesWrites == refusesWrites)
    }
}
#endif
