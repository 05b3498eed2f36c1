#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceRedis
import Testing

/// The client with scripted nodes of a cluster.
struct RedirectionTests {
    /// A node that answers `CLUSTER SLOTS` with an error and records the other commands.
    private struct Node {
        let server: ScriptedServer
        private let seen: Locked<[String]>

        /// The commands so far, with their connections.
        var commands: [String] { seen.withLock { $0 } }

        init(_ answer: @escaping @Sendable ([String]) -> String) throws {
            let seen = Locked<[String]>([])
            self.seen = seen
            server = try ScriptedServer(isOnPort: true) { connection, _ in
                connection.greet()
                while let words = connection.command() {
                    if words[0] == "CLUSTER" {
                        connection.write("-ERR no map\r\n")
                        continue
                    }
                    seen.withLock { $0.append(words.joined(separator: " ")) }
                    connection.write(answer(words) + "\r\n")
                }
            }
        }
    }

    @Test func movedSlotIsFollowedAndRemembered() async throws {
        let owner = try Node { words in "+owner \(words[1])" }
        let port = owner.server.port
        let seed = try Node { words in
            words[1] == "{a}1" || words[1] == "{a}2" ? "-MOVED 15495 127.0.0.1:\(port)" : "+seed"
        }
        let client = RedisClient(seed.server.server)
        #expect(try await client.send(RedisCommand("GET", "{a}1")) == .text("owner {a}1"))
        #expect(try await client.send(RedisCommand("GET", "{a}2")) == .text("owner {a}2"))
        #expect(try await client.send(RedisCommand("GET", "b")) == .text("seed"))
        #expect(seed.commands == ["GET {a}1", "GET b"])
        #expect(owner.commands == ["GET {a}1", "GET {a}2"])
    }

    @Test func askConcernsOneCommandAndIsSentRightBeforeIt() async throws {
        let target = try Node { words in words[0] == "ASKING" ? "+OK" : "+target \(words[1])" }
        let port = target.server.port
        let seed = try Node { words in words[1] == "a" ? "-ASK 15495 127.0.0.1:\(port)" : "+seed" }
        let client = RedisClient(seed.server.server)
        for _ in 0..<2 { #expect(try await client.send(RedisCommand("GET", "a")) == .text("target a")) }
        #expect(seed.commands == ["GET a", "GET a"])
        #expect(target.commands == ["ASKING", "GET a", "ASKING", "GET a"])
        let values = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<100 {
                group.addTask { (try? await client.send(RedisCommand("GET", "a"))) == .text("target a") }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(values == 100)
        let commands = target.commands
        #expect(stride(from: 0, to: commands.count, by: 2).allSatisfy { commands[$0] == "ASKING" })
        #expect(commands.count == 204)
    }

    @Test func commandIsSentAgainWhileItsKeysAreOnTwoNodes() async throws {
        let refusals = Locked(3)
        let target = try Node { words in
            if words[0] == "ASKING" { return "+OK" }
            let isRefused = refusals.withLock { left in
                left -= 1
                return left >= 0
            }
            return isRefused ? "-TRYAGAIN Multiple keys request during rehashing of slot" : "+target"
        }
        let port = target.server.port
        let seed = try Node { _ in "-ASK 15495 127.0.0.1:\(port)" }
        let client = RedisClient(seed.server.server)
        #expect(try await client.send(RedisCommand("MGET", "{a}1", "{a}2")) == .text("target"))
        #expect(seed.commands == ["MGET {a}1 {a}2"])
        #expect(target.commands == Array(repeating: ["ASKING", "MGET {a}1 {a}2"], count: 4).flatMap { $0 })
        // An end of the rehashing is not awaited for ever, and not beyond the time of the command.
        refusals.withLock { $0 = .max }
        for (timeout, most) in [(nil, 18), (Duration.milliseconds(12), 4)] {
            let before = target.commands.count
            let error = await #expect(throws: RedisError.self) {
                try await client.send(RedisCommand("MGET", "{a}1", "{a}2"), timeout: timeout)
            }
            #expect(error?.code == .tryAgain || error?.code == .timedOut)
            #expect((target.commands.count - before) / 2 <= most)
        }
    }

    @Test func atMostFiveRedirectionsAreFollowed() async throws {
        let ports = Locked<[Int]>([])
        let nodes = try (0..<2).map { index in
            try Node { _ in "-MOVED 15495 127.0.0.1:\(ports.withLock { $0[1 - index] })" }
        }
        ports.withLock { $0 = nodes.map(\.server.port) }
        let client = RedisClient(nodes[0].server.server)
        let error = await #expect(throws: RedisError.self) { try await client.send(RedisCommand("GET", "a")) }
        #expect(error?.code == .moved)
        #expect(nodes.map(\.commands.count).reduce(0, +) == 6)
    }

    @Test func redirectionsShareTheTimeOfTheCommand() async throws {
        let silent = try ScriptedServer(isOnPort: true) { connection, _ in
            connection.greet()
            connection.waitForEnd()
        }
        let port = silent.port
        let seed = try Node { _ in "-MOVED 15495 127.0.0.1:\(port)" }
        let client = RedisClient(seed.server.server)
        let error = await #expect(throws: RedisError.self) {
            try await client.send(RedisCommand("GET", "a"), timeout: .milliseconds(300))
        }
        #expect(error?.code == .timedOut)
    }

    @Test func nodeThatIsAwayIsUnavailable() async throws {
        let seed = try Node { words in words[1] == "a" ? "-MOVED 15495 127.0.0.1:1" : "+seed" }
        let client = RedisClient(seed.server.server)
        let error = await #expect(throws: RedisError.self) { try await client.send(RedisCommand("GET", "a")) }
        #expect(error?.code == .unavailable)
        #expect(error?.description.contains("127.0.0.1:1") == true)
        #expect(try await client.send(RedisCommand("GET", "b")) == .text("seed"))
    }

    @Test func keysOfSeveralSlotsAreAnErrorBeforeAnythingIsSent() async throws {
        let owner = try Node { _ in "+owner" }
        let port = owner.server.port
        let seed = try Node { _ in "-MOVED 15495 127.0.0.1:\(port)" }
        let client = RedisClient(seed.server.server)
        _ = try await client.send(RedisCommand("GET", "a"))
        let script = RedisScript("return 1")
        let error = await #expect(throws: RedisError.self) { try await client.run(script, keys: ["a", "b"]) }
        #expect(error?.code == .crossSlot && error?.reply == nil)
        #expect(seed.commands.count == 1 && owner.commands.count == 1)
        #expect(try await client.run(script, keys: ["a", "x{a}"]) == .text("owner"))
    }

    @Test func mapIsFetchedAfterARedirection() async throws {
        let (fetches, redirections) = (Locked(0), Locked(0))
        let owner = try Node { words in "+owner \(words[1])" }
        let port = owner.server.port
        let seed = try ScriptedServer(isOnPort: true) { connection, _ in
            connection.greet()
            while let words = connection.command() {
                if words[0] == "CLUSTER" {
                    fetches.withLock { $0 += 1 }
                    connection.write("*1\r\n*3\r\n:0\r\n:16383\r\n*3\r\n$0\r\n\r\n:\(port)\r\n+id\r\n")
                } else {
                    redirections.withLock { $0 += 1 }
                    connection.write("-MOVED 15495 :\(port)\r\n")
                }
            }
        }
        let client = RedisClient(seed.server)
        // Without the map the seed would be asked for “b”, and redirect to the same node under the slot of “a” each time.
        var before = -1
        while redirections.withLock({ $0 }) != before {
            before = redirections.withLock { $0 }
            for key in ["a", "b"] { #expect(try await client.send(RedisCommand("GET", key)) == .text("owner \(key)")) }
        }
        let fetched = fetches.withLock { $0 }
        #expect(fetched > 0)
        for _ in 0..<50 { #expect(try await client.send(RedisCommand("GET", "b")) == .text("owner b")) }
        #expect(redirections.withLock { $0 } == before)
        // One fetch may have been on its way because of a redirection from before the map was in use.
        #expect(fetches.withLock { $0 } <= fetched + 1)
    }

    @Test func nodesThatTheMapDoesNotHaveAreLeftWithoutLosingACommand() async throws {
        let release = DispatchSemaphore(value: 0)
        let (idleEnds, busyEnds) = (Locked(0), Locked(0))
        let isBusy = Locked(false)
        let idle = try ScriptedServer(isOnPort: true) { connection, _ in
            connection.greet()
            while let words = connection.command() { connection.write(words[0] == "ASKING" ? "+OK\r\n" : "+idle\r\n") }
            idleEnds.withLock { $0 += 1 }
        }
        let busy = try ScriptedServer(isOnPort: true) { connection, _ in
            connection.greet()
            while let words = connection.command() {
                if words[0] == "ASKING" {
                    connection.write("+OK\r\n")
                } else {
                    isBusy.withLock { $0 = true }
                    release.wait()
                    connection.write("+busy\r\n")
                }
            }
            busyEnds.withLock { $0 += 1 }
        }
        let ports = Locked<[Int]>([])
        let owner = try ScriptedServer(isOnPort: true) { connection, _ in
            connection.greet()
            while let words = connection.command() {
                let map = "*1\r\n*3\r\n:0\r\n:0\r\n*2\r\n+127.0.0.1\r\n:\(ports.withLock { $0[0] })\r\n"
                connection.write(words[0] == "CLUSTER" ? map : "+owner\r\n")
            }
        }
        ports.withLock { $0 = [owner.port] }
        let (idlePort, busyPort, ownerPort) = (idle.port, busy.port, owner.port)
        let seed = try ScriptedServer(isOnPort: true) { connection, _ in
            connection.greet()
            while let words = connection.command() {
                switch words[1] {
                case "idle": connection.write("-ASK 1 127.0.0.1:\(idlePort)\r\n")
                case "busy": connection.write("-ASK 2 127.0.0.1:\(busyPort)\r\n")
                default: connection.write("-MOVED 15495 127.0.0.1:\(ownerPort)\r\n")
                }
            }
        }
        // No limit that a loaded machine exceeds while the command is held back.
        var server = seed.server
        server.commandTimeout = .seconds(60)
        let client = RedisClient(server)
        #expect(try await client.send(RedisCommand("GET", "idle")) == .text("idle"))
        let command = Task { try await client.send(RedisCommand("GET", "busy")) }
        while !isBusy.withLock({ $0 }) { await Task.yield() }
        #expect(try await client.send(RedisCommand("GET", "a")) == .text("owner"))
        try await until { idleEnds.withLock { $0 } == 1 }
        release.signal()
        #expect(try await command.value == .text("busy"))
        try await until { busyEnds.withLock { $0 } == 1 }
        // They can be asked again.
        #expect(try await client.send(RedisCommand("GET", "idle")) == .text("idle"))
    }
}
#endif
