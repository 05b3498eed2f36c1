#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceRedis
import Testing

/// The client with servers that close, stay silent, or send something other than replies.
struct FaultyServerTests {
    private static func code(_ body: () async throws -> RedisValue) async -> RedisError.Code? {
        do {
            _ = try await body()
            return nil
        } catch {
            return (error as? RedisError)?.code
        }
    }

    @Test func repliesMayArriveByteByByte() async throws {
        let fake = try ScriptedServer { connection, _ in
            connection.greet()
            while connection.command() != nil {
                for character in "*2\r\n$3\r\nabc\r\n%1\r\n+k\r\n:1\r\n" { connection.write(String(character)) }
            }
        }
        let client = RedisClient(fake.server)
        for _ in 0..<3 {
            let value = try await client.send(RedisCommand("GET", "a"))
            #expect(value == .array([.text("abc"), .map([.init(key: .text("k"), value: .integer(1))])]))
        }
    }

    @Test func pushesAndAttributesAnswerNoCommand() async throws {
        let fake = try ScriptedServer { connection, _ in
            connection.write(">1\r\n+early\r\n")
            connection.greet()
            while connection.command() != nil {
                connection.write(">2\r\n+message\r\n:1\r\n|1\r\n+ttl\r\n:3\r\n:7\r\n")
            }
        }
        let client = RedisClient(fake.server)
        #expect(try await client.send(RedisCommand("GET", "a")) == .integer(7))
        #expect(try await client.send(RedisCommand("GET", "a")) == .integer(7))
    }

    @Test(arguments: ["HTTP/1.1 400 Bad Request\r\n\r\n", "*99999999999\r\n", "$99999999999\r\n", "+a\n\r\n"])
    func nonsenseEndsTheConnection(text: String) async throws {
        let fake = try ScriptedServer { connection, number in
            connection.greet()
            _ = connection.command()
            connection.write(number == 0 ? text : "+fine\r\n")
            connection.waitForEnd()
        }
        let client = RedisClient(fake.server)
        #expect(await Self.code { try await client.send(RedisCommand("INCR", "a")) } == .connectionLost)
        #expect(try await client.eventually(RedisCommand("GET", "a")) == .text("fine"))
    }

    @Test func replyWithoutACommandEndsTheConnection() async throws {
        let fake = try ScriptedServer { connection, number in
            connection.greet()
            _ = connection.command()
            connection.write(number == 0 ? "+first\r\n+stray\r\n" : "+fine\r\n")
            connection.waitForEnd()
        }
        let client = RedisClient(fake.server)
        #expect(try await client.send(RedisCommand("GET", "a")) == .text("first"))
        #expect(try await client.eventually(RedisCommand("GET", "a")) == .text("fine"))
    }

    @Test func onlyIdempotentCommandsAreSentAgain() async throws {
        let seen = Locked<[String]>([])
        let fake = try ScriptedServer { connection, number in
            connection.greet()
            while let words = connection.command() {
                let count = seen.withLock { seen in
                    seen.append(words[0])
                    return seen.count
                }
                if number == 0, count == 1 {
                    // Good replies so far, so that the loss is not a failure.
                    connection.write("+OK\r\n")
                } else if number == 0 {
                    if count == 3 { return }
                } else {
                    connection.write("+again\r\n")
                }
            }
        }
        let client = RedisClient(fake.server)
        _ = try await client.send(RedisCommand("PING"))
        async let get = client.send(RedisCommand("GET", "a", isIdempotent: true))
        let code = await Self.code { try await client.send(RedisCommand("INCR", "a")) }
        #expect(code == .connectionLost)
        #expect(try await get == .text("again"))
        #expect(seen.withLock { $0.filter { $0 == "INCR" }.count } == 1)
        #expect(seen.withLock { $0.filter { $0 == "GET" }.count } == 2)
    }

    @Test func silentServerIsGivenUpAfterSomeTimeouts() async throws {
        let fake = try ScriptedServer { connection, number in
            connection.greet()
            if number == 0 { return connection.waitForEnd() }
            while connection.command() != nil { connection.write("+fine\r\n") }
        }
        let client = RedisClient(fake.server)
        let end = ContinuousClock.now + .seconds(60)
        while fake.connections < 2, ContinuousClock.now < end {
            let code = await Self.code {
                try await client.send(RedisCommand("GET", "a"), timeout: .milliseconds(20))
            }
            #expect(code == nil || code == .timedOut || code == .unavailable || code == .connectionLost)
        }
        #expect(try await client.eventually(RedisCommand("GET", "a")) == .text("fine"))
        #expect(fake.connections == 2)
    }

    @Test func connectionWithAnOverdueReplyIsClosed() async throws {
        let fake = try ScriptedServer { connection, number in
            connection.greet()
            if number == 0 { return connection.waitForEnd() }
            while connection.command() != nil { connection.write("+fine\r\n") }
        }
        var server = fake.server
        server.overdueTimeout = .milliseconds(10)
        let client = RedisClient(server)
        let timeout = Duration.milliseconds(500)
        #expect(await Self.code { try await client.send(RedisCommand("GET", "a"), timeout: timeout) } == .timedOut)
        #expect(try await client.eventually(RedisCommand("GET", "a")) == .text("fine"))
        #expect(fake.connections == 2)
    }

    @Test func deadServerCostsNothing() async throws {
        let fake = try ScriptedServer { _, _ in }
        var server = fake.server
        server.backoff = .init(base: .seconds(3600), limit: .seconds(3600), hasJitter: false)
        let client = RedisClient(server)
        for _ in 0..<1000 {
            #expect(await Self.code { try await client.send(RedisCommand("GET", "a")) } == .unavailable)
        }
        #expect(fake.connections == 1)
    }

    @Test func missingSocketIsAnErrorWithItsCause() async throws {
        let client = RedisClient(.patient(unixSocket: "/nowhere/redis.sock"))
        let error = await #expect(throws: RedisError.self) { try await client.send(RedisCommand("PING")) }
        #expect(error?.code == .unavailable)
        #expect((error?.underlyingError as? SluiceError)?.code == .cannotConnect)
        #expect(error?.description.contains("/nowhere/redis.sock") == true)
    }

    @Test func fullQueueRefusesCommands() async throws {
        let hasReceived = Locked(false)
        let fake = try ScriptedServer { connection, _ in
            connection.greet()
            _ = connection.command()
            hasReceived.withLock { $0 = true }
            connection.waitForEnd()
        }
        var server = fake.server
        server.maximumCommands = 1
        let client = RedisClient(server)
        let first = Task { try await client.send(RedisCommand("GET", "a")) }
        while !hasReceived.withLock({ $0 }) { await Task.yield() }
        #expect(await Self.code { try await client.send(RedisCommand("GET", "b")) } == .queueFull)
        first.cancel()
        #expect(await Self.code { try await first.value } == .cancelled)
        // The reply of the first command is still awaited.
        #expect(await Self.code { try await client.send(RedisCommand("GET", "b")) } == .queueFull)
        server.maximumCommandBytes = 10
        let other = RedisClient(server)
        #expect(await Self.code { try await other.send(RedisCommand("GET", "b")) } == .queueFull)
    }

    @Test(arguments: [
        ("MOVED 3999 nowhere", RedisError.Code.moved), ("ASK 16384 127.0.0.1:6381", .moved),
        ("CROSSSLOT Keys in request", .crossSlot), ("TRYAGAIN Multiple keys", .tryAgain),
        ("CLUSTERDOWN Hash slot not served", .clusterDown),
        ("OOM command not allowed", .outOfMemory), ("NOSCRIPT No matching script", .noScript),
        ("WRONGTYPE Operation against a key", .refused), ("NOPERM this user", .unauthorized),
        ("LOADING Redis is loading", .loading), ("READONLY You can't write", .readOnly),
    ])
    func errorsOfTheServerAreTyped(text: String, code: RedisError.Code) async throws {
        let fake = try ScriptedServer { connection, _ in
            connection.greet()
            while connection.command() != nil { connection.write("-\(text)\r\n") }
        }
        let client = RedisClient(fake.server)
        let error = await #expect(throws: RedisError.self) { try await client.send(RedisCommand("GET", "a")) }
        #expect(error?.code == code)
        #expect(error?.reply == RedisReplyError(text))
    }

    @Test func replicaIsConnectedAgainAfterPauses() async throws {
        let fake = try ScriptedServer { connection, number in
            connection.greet()
            while connection.command() != nil {
                connection.write(number < 3 ? "-READONLY You can't write against a read only replica.\r\n" : "+OK\r\n")
            }
        }
        let client = RedisClient(fake.server)
        #expect(try await client.eventually(RedisCommand("SET", "a", 1)) == .text("OK"))
        #expect(fake.connections == 4)
    }
}

extension FaultyServerTests {
    @Test func commandsUseTheOtherConnectionWhileOnePauses() async throws {
        let fake = try ScriptedServer { connection, number in
            connection.greet()
            while connection.command() != nil {
                connection.write(number == 0 ? "-READONLY You can't write against a read only replica.\r\n" : "+OK\r\n")
            }
        }
        var server = fake.server
        server.connections = 2
        server.backoff = .init(base: .seconds(3600), limit: .seconds(3600), hasJitter: false)
        let client = RedisClient(server)
        #expect(await Self.code { try await client.send(RedisCommand("SET", "a", 1)) } == .readOnly)
        for _ in 0..<10 { #expect(try await client.send(RedisCommand("SET", "a", 1)) == .text("OK")) }
        #expect(fake.connections == 2)
    }
}

extension RedisClient {
    /// Sends a command until the server answers it.
    func eventually(_ command: RedisCommand, timeout: Duration? = nil) async throws -> RedisValue {
        let end = ContinuousClock.now + .seconds(60)
        while true {
            do {
                return try await send(command, timeout: timeout)
            } catch {
                guard ContinuousClock.now < end else { throw error }
                await Task.yield()
            }
        }
    }
}
#endif
