#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceRedis
import Testing

/// The client with scripted sentinels and primaries.
struct SentinelTests {
    /// A sentinel that knows a primary by its port; 0 for none.
    private static func sentinel(_ primary: Locked<Int>, asked: Locked<Int> = Locked(0)) throws -> ScriptedServer {
        try ScriptedServer { connection, _ in
            connection.greet()
            while let words = connection.command() {
                asked.withLock { $0 += 1 }
                let port = primary.withLock { $0 }
                let isKnown = words == ["SENTINEL", "get-master-addr-by-name", "shop"] && port > 0
                connection.write(isKnown ? "*2\r\n+127.0.0.1\r\n+\(port)\r\n" : "_\r\n")
            }
        }
    }

    /// A server with a role that answers all commands with a text.
    private static func primary(_ text: String, role: String = "master") throws -> ScriptedServer {
        try ScriptedServer(isOnPort: true) { connection, _ in
            connection.greet(role: role)
            while connection.command() != nil { connection.write("\(text)\r\n") }
        }
    }

    private static func server(_ sentinels: ScriptedServer...) -> RedisServer {
        RedisServer(sentinels: sentinels.map(\.server), primary: "shop").patient
    }

    @Test func primaryIsTheOneThatTheFirstSentinelNames() async throws {
        let primary = try Self.primary("+hello")
        let port = primary.port
        let asked = Locked(0)
        let (first, second) = (try Self.sentinel(Locked(port)), try Self.sentinel(Locked(port), asked: asked))
        let client = RedisClient(Self.server(first, second))
        for _ in 0..<4 { #expect(try await client.send(RedisCommand("GET", "a")) == .text("hello")) }
        #expect(asked.withLock { $0 } == 0)
        #expect(primary.connections == 2)
    }

    @Test func sentinelsThatAreAwaySilentOrIgnorantAreSkipped() async throws {
        let primary = try Self.primary("+hello")
        let silent = try ScriptedServer { connection, _ in connection.waitForEnd() }
        let ignorant = try Self.sentinel(Locked(0))
        let last = try Self.sentinel(Locked(primary.port))
        let away = RedisServer(unixSocket: "/nowhere/sentinel.sock").patient
        let sentinels = [away, silent.server, ignorant.server, last.server]
        var server = RedisServer(sentinels: sentinels, primary: "shop").patient
        server.connectTimeout = .seconds(10)
        server.connections = 1
        let client = RedisClient(server)
        #expect(try await client.send(RedisCommand("GET", "a")) == .text("hello"))
        #expect(silent.connections == 1)
    }

    @Test func sentinelThatAnsweredIsAskedFirst() async throws {
        let ports = Locked(0)
        let asked = Locked(0)
        let first = try Self.sentinel(ports, asked: asked)
        // Closes after each command, so that each command needs a connection.
        let primary = try ScriptedServer(isOnPort: true) { connection, _ in
            connection.greet(role: "master")
            if connection.command() != nil { connection.write("+hello\r\n") }
        }
        let second = try Self.sentinel(Locked(primary.port))
        var server = Self.server(first, second)
        server.connections = 1
        let client = RedisClient(server)
        let command = RedisCommand("GET", "a", isIdempotent: true)
        for _ in 0..<3 { #expect(try await client.eventually(command) == .text("hello")) }
        #expect(asked.withLock { $0 } == 1)
        #expect(second.connections >= 2)
    }

    @Test func replicaIsNotUsedAndTheSentinelsAreAskedAgain() async throws {
        let replica = try Self.primary("+wrong", role: "replica")
        let primary = try Self.primary("+hello")
        let port = Locked(replica.port)
        let sentinel = try Self.sentinel(port)
        let client = RedisClient(Self.server(sentinel))
        let error = await #expect(throws: RedisError.self) { try await client.send(RedisCommand("GET", "a")) }
        #expect(error?.code == .unavailable)
        #expect((error?.underlyingError as? RedisError)?.code == .readOnly)
        port.withLock { $0 = primary.port }
        #expect(try await client.eventually(RedisCommand("GET", "a")) == .text("hello"))
        withExtendedLifetime(sentinel) {}
    }

    @Test func allConnectionsFollowAFailover() async throws {
        let isDemoted = Locked(false)
        let old = try ScriptedServer(isOnPort: true) { connection, _ in
            connection.greet(role: "master")
            while let words = connection.command() {
                connection.write(isDemoted.withLock { $0 } && words[0] == "SET" ? "-READONLY replica\r\n" : "+old\r\n")
            }
        }
        let new = try Self.primary("+new")
        let port = Locked(old.port)
        let sentinel = try Self.sentinel(port)
        var server = Self.server(sentinel)
        server.connections = 4
        let client = RedisClient(server)
        for _ in 0..<8 { #expect(try await client.send(RedisCommand("GET", "a")) == .text("old")) }
        #expect(old.connections == 4)
        isDemoted.withLock { $0 = true }
        port.withLock { $0 = new.port }
        let error = await #expect(throws: RedisError.self) { try await client.send(RedisCommand("SET", "a", 1)) }
        #expect(error?.code == .readOnly)
        // The connection of the failed command asks the sentinels again.
        while new.connections == 0 { _ = try? await client.send(RedisCommand("GET", "a")) }
        // The others would still read from the old server, which answers.
        for _ in 0..<8 { #expect(try await client.eventually(RedisCommand("GET", "a")) == .text("new")) }
        #expect(new.connections == 4 && old.connections == 4)
        withExtendedLifetime(sentinel) {}
    }

    @Test func withoutASentinelTheServerIsUnavailableAndPausesFollow() async throws {
        let asked = Locked(0)
        let ignorant = try Self.sentinel(Locked(0), asked: asked)
        var server = Self.server(ignorant)
        server.connections = 1
        server.backoff = .init(base: .seconds(3600), limit: .seconds(3600), hasJitter: false)
        let client = RedisClient(server)
        for _ in 0..<100 {
            let error = await #expect(throws: RedisError.self) { try await client.send(RedisCommand("GET", "a")) }
            #expect(error?.code == .unavailable)
            #expect(error?.description.contains("the primary “shop”") == true)
        }
        #expect(asked.withLock { $0 } == 1)
        let none = RedisClient(RedisServer(sentinels: [], primary: "shop").patient)
        let error = await #expect(throws: RedisError.self) { try await none.send(RedisCommand("GET", "a")) }
        #expect(error?.code == .unavailable)
    }

    @Test func searchEndsWithTheTimeForAConnection() async throws {
        let silent = try ScriptedServer { connection, _ in connection.waitForEnd() }
        var server = Self.server(silent)
        server.connectTimeout = .milliseconds(50)
        let error = await #expect(throws: RedisError.self) {
            try await RedisClient(server).send(RedisCommand("GET", "a"))
        }
        #expect(error?.code == .unavailable)
    }

    @Test func sentinelsHaveTheirOwnCredentials() async throws {
        let primary = try Self.primary("+hello")
        let port = primary.port
        let words = Locked<[String]>([])
        let sentinel = try ScriptedServer { connection, _ in
            guard let hello = connection.command() else { return }
            words.withLock { $0 = hello }
            connection.write("%1\r\n+proto\r\n:3\r\n")
            while let command = connection.command() {
                switch command[0] {
                case "SENTINEL": connection.write("*2\r\n+127.0.0.1\r\n+\(port)\r\n")
                default: connection.write("+OK\r\n")
                }
            }
        }
        var entry = sentinel.server
        (entry.user, entry.password) = ("watch", "one")
        var server = RedisServer(sentinels: [entry], primary: "shop").patient
        (server.user, server.password) = ("shop", "two")
        #expect(try await RedisClient(server).send(RedisCommand("GET", "a")) == .text("hello"))
        #expect(words.withLock { $0 } == ["HELLO", "3", "AUTH", "watch", "one"])
    }
}
#endif
