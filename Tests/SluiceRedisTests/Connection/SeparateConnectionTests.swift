#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceRedis
import Testing

/// Large and blocking commands, which have connections of their own.
struct SeparateConnectionTests {
    @Test func largeReplyDoesNotHoldUpSmallCommands() async throws {
        let hasArrived = Locked(false)
        let release = DispatchSemaphore(value: 0)
        let fake = try ScriptedServer { connection, _ in
            connection.greet()
            while let words = connection.command() {
                if words[1] == "large" {
                    connection.write("$1000000\r\n")
                    hasArrived.withLock { $0 = true }
                    release.wait()
                    connection.write(String(repeating: "x", count: 1_000_000) + "\r\n")
                } else {
                    connection.write("+small\r\n")
                }
            }
        }
        let client = RedisClient(fake.server)
        var command = RedisCommand("GET", "large")
        command.hasLargeReply = true
        let large = Task { [command] in try await client.send(command).data?.count }
        while !hasArrived.withLock({ $0 }) { await Task.yield() }
        for _ in 0..<10 { #expect(try await client.send(RedisCommand("GET", "a")) == .text("small")) }
        release.signal()
        #expect(try await large.value == 1_000_000)
        #expect(fake.connections == 2)
    }

    @Test func largeCommandsShareAnotherConnection() async throws {
        let numbers = Locked<[Int]>([])
        let fake = try ScriptedServer { connection, number in
            connection.greet()
            while connection.command() != nil {
                numbers.withLock { $0.append(number) }
                connection.write("+OK\r\n")
            }
        }
        let client = RedisClient(fake.server)
        for count in [1, 70_000, 60_000, 100_000] {
            _ = try await client.send(RedisCommand("SET", "a", Data(repeating: 7, count: count)))
        }
        #expect(numbers.withLock { $0 } == [0, 1, 0, 1])
    }

    @Suite(.enabled(if: RedisProcess.canRun))
    struct Blocking {
        private let redis: RedisProcess
        private let client: RedisClient
        private let command = RedisCommand("XREAD", "BLOCK", 0, "STREAMS", "events", "$")

        init() throws {
            redis = try RedisProcess()
            var server = redis.server
            server.connections = 1
            // Longer than the test waits.
            server.overdueTimeout = .seconds(600)
            client = RedisClient(server)
        }

        private func field(_ name: String, _ section: String) async throws -> Int? {
            let info = try await client.send(RedisCommand("INFO", section)).string ?? ""
            return info.firstRange(of: name + ":").flatMap { Int(info[$0.upperBound...].prefix { $0.isNumber }) }
        }

        private func blocked(_ count: Int) async throws {
            try await until { try await field("blocked_clients", "clients") == count }
        }

        @Test func otherCommandsAreNotHeldUp() async throws {
            let wait = Task { try await client.sendBlocking(command, timeout: .seconds(60)) }
            try await blocked(1)
            _ = try await client.send(RedisCommand("XADD", "events", "*", "name", "a"))
            guard case .map(let streams) = try await wait.value else {
                Issue.record("The reply is no map.")
                return
            }
            #expect(streams.map(\.key) == [.text("events")])
            #expect(try await field("connected_clients", "clients") == 2)
        }

        @Test func cancellationEndsTheCommandOnTheServer() async throws {
            let waits = (0..<5).map { _ in Task { try await client.sendBlocking(command, timeout: .seconds(600)) } }
            try await blocked(5)
            for wait in waits { wait.cancel() }
            for wait in waits {
                let error = await #expect(throws: RedisError.self) { try await wait.value }
                #expect(error?.code == .cancelled)
            }
            try await blocked(0)
            #expect(try await field("connected_clients", "clients") == 1)
        }

        @Test func timeoutEndsTheCommandOnTheServer() async throws {
            #expect(try await field("connected_clients", "clients") == 1)
            let error = await #expect(throws: RedisError.self) {
                try await client.sendBlocking(command, timeout: .milliseconds(100))
            }
            #expect(error?.code == .timedOut)
            try await until { try await field("connected_clients", "clients") == 1 }
        }

        @Test func connectionIsUsedAgain() async throws {
            let brief = RedisCommand("XREAD", "BLOCK", 1, "STREAMS", "events", "$")
            for _ in 0..<5 { #expect(try await client.sendBlocking(brief, timeout: .seconds(60)) == .null) }
            // An error of the server ends the command as well.
            let wrong = RedisCommand("XREAD", "BLOCK", "x", "STREAMS", "events", "$")
            await #expect(throws: RedisError.self) { try await client.sendBlocking(wrong, timeout: .seconds(60)) }
            #expect(try await client.sendBlocking(brief, timeout: .seconds(60)) == .null)
            #expect(try await field("total_connections_received", "stats") == 2)
        }

        @Test func connectionsOfAClientThatIsGoneAreClosed() async throws {
            var other: RedisClient? = RedisClient(redis.server)
            let brief = RedisCommand("XREAD", "BLOCK", 1, "STREAMS", "events", "$")
            _ = try await other?.sendBlocking(brief, timeout: .seconds(60))
            #expect(try await field("connected_clients", "clients") == 2)
            other = nil
            try await until { try await field("connected_clients", "clients") == 1 }
        }
    }
}
#endif
