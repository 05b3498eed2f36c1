#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceRedis
import SluiceTesting
import Testing

/// The client with a real server.
@Suite(.enabled(if: RedisProcess.canRun))
struct RedisClientTests {
    @Test func valuesOfAllKindsAreRead() async throws {
        let redis = try RedisProcess()
        let client = RedisClient(redis.server)
        let bytes = Data((0...255).map { UInt8($0) })
        #expect(try await client.send(RedisCommand("SET", "a", bytes)).string == "OK")
        #expect(try await client.send(RedisCommand("GET", "a")) == .bytes(bytes))
        #expect(try await client.send(RedisCommand("GET", "none")) == .null)
        #expect(try await client.send(RedisCommand("INCR", "n")).int == 1)
        _ = try await client.send(RedisCommand("HSET", "h", "k", "v"))
        let map = RedisValue.map([.init(key: .text("k"), value: .text("v"))])
        #expect(try await client.send(RedisCommand("HGETALL", "h")) == map)
        _ = try await client.send(RedisCommand("SADD", "s", 1))
        #expect(try await client.send(RedisCommand("SMEMBERS", "s")) == .set([.text("1")]))
        _ = try await client.send(RedisCommand("ZADD", "z", "1.5", "m"))
        #expect(try await client.send(RedisCommand("ZSCORE", "z", "m")) == .double(1.5))
        let large = Data(repeating: 7, count: 5 << 20)
        _ = try await client.send(RedisCommand("SET", "large", large))
        #expect(try await client.send(RedisCommand("GET", "large")) == .bytes(large))
        await #expect(throws: RedisError.self) { try await client.send(RedisCommand("LPUSH", "a", 1)) }
    }

    /// The threads of the parent's connections do not exist in the child.
    @Test func commandOfAForkedProcessFails() async {
        await #expect(processExitsWith: .exitCode(7)) {
            guard let symbol = dlsym(nil, "fork") else { exit(1) }
            let fork = unsafeBitCast(symbol, to: (@convention(c) () -> pid_t).self)
            let redis = try RedisProcess()
            let client = RedisClient(redis.server)
            _ = try await client.send(RedisCommand("PING"))
            let child = fork()
            if child == 0 {
                // This is the only thread of the process. A command that waits would never continue.
                do {
                    _ = try await client.send(RedisCommand("PING"))
                    _exit(1)
                } catch {
                    _exit((error as? RedisError)?.code == .unavailable ? 9 : 2)
                }
            }
            var status: Int32 = 0
            do {
                try await waitUntil("the child has ended") { waitpid(child, &status, WNOHANG) == child }
            } catch {
                kill(child, SIGKILL)
                throw error
            }
            try #require(status == 9 << 8)
            _ = try await client.send(RedisCommand("PING"))
            redis.kill()
            exit(7)
        }
    }

    @Test func databaseAndNameAreThoseOfTheServer() async throws {
        let redis = try RedisProcess()
        var server = redis.server
        (server.database, server.clientName) = (5, "orders")
        let info = try await RedisClient(server).send(RedisCommand("CLIENT", "INFO")).string ?? ""
        #expect(info.contains(" name=orders ") && info.contains(" db=5 ") && info.contains(" resp=3"))
    }

    @Test func commandsThatChangeTheConnectionAreNotSent() async throws {
        let redis = try RedisProcess()
        let client = RedisClient(redis.server)
        let commands = [
            RedisCommand("subscribe", "news"), RedisCommand("MULTI"), RedisCommand("SELECT", 3),
            RedisCommand("CLIENT", "reply", "SKIP"), RedisCommand("QUIT"),
        ]
        for (number, command) in commands.enumerated() {
            let error = await #expect(throws: RedisError.self) { try await client.send(command) }
            #expect(error?.code == .refused)
            #expect(try await client.send(RedisCommand("ECHO", number)).int == number)
        }
    }

    @Test func commandsOfManyTasksShareFewConnections() async throws {
        let redis = try RedisProcess()
        let client = RedisClient(redis.server)
        let values = await withTaskGroup(of: Int?.self) { group in
            for number in 0..<2000 {
                group.addTask { try? await client.send(RedisCommand("ECHO", number)).int == number ? 1 : nil }
            }
            return await group.reduce(into: 0) { $0 += $1 ?? 0 }
        }
        #expect(values == 2000)
        let list = try await client.send(RedisCommand("CLIENT", "LIST")).string ?? ""
        #expect(list.split(separator: "\n").count == 2)
    }

    @Test func repliesOfCancelledCommandsAreDropped() async throws {
        let redis = try RedisProcess()
        var server = redis.server
        server.connections = 1
        let client = RedisClient(server)
        for round in 0..<50 {
            let tasks = (0..<20).map { number in
                Task { try await client.send(RedisCommand("ECHO", round * 20 + number)).int }
            }
            for (number, task) in tasks.enumerated() where number % 3 != 0 { task.cancel() }
            for (number, task) in tasks.enumerated() {
                do {
                    #expect(try await task.value == round * 20 + number)
                } catch let error as RedisError {
                    #expect(error.code == .cancelled && number % 3 != 0)
                }
            }
        }
        let list = try await client.send(RedisCommand("CLIENT", "LIST")).string ?? ""
        #expect(list.split(separator: "\n").count == 1)
    }

    @Test func repliesAfterTheirTimeAreDropped() async throws {
        let redis = try RedisProcess()
        var server = redis.server
        server.connections = 1
        let client = RedisClient(server)
        #expect(try await client.send(RedisCommand("ECHO", 0)).int == 0)
        redis.pause()
        for number in 1...3 {
            let command = RedisCommand("ECHO", number)
            let error = await #expect(throws: RedisError.self) {
                try await client.send(command, timeout: .milliseconds(5))
            }
            #expect(error?.code == .timedOut)
        }
        redis.proceed()
        for number in 4...20 { #expect(try await client.send(RedisCommand("ECHO", number)).int == number) }
        let list = try await client.send(RedisCommand("CLIENT", "LIST")).string ?? ""
        #expect(list.split(separator: "\n").count == 1)
    }

    @Test func serverMayBeKilledAndStartedAgain() async throws {
        let redis = try RedisProcess()
        let client = RedisClient(redis.server)
        for round in 0..<3 {
            #expect(try await client.eventually(RedisCommand("ECHO", round)).int == round)
            let tasks = (0..<100).map { _ in Task { try await client.send(RedisCommand("INCR", "n")).int } }
            redis.kill()
            for task in tasks {
                do {
                    _ = try await task.value
                } catch let error as RedisError {
                    #expect([.connectionLost, .unavailable].contains(error.code))
                }
            }
            let error = await #expect(throws: RedisError.self) { try await client.send(RedisCommand("PING")) }
            #expect(error?.code == .unavailable || error?.code == .connectionLost)
            try redis.start()
        }
        #expect(try await client.eventually(RedisCommand("ECHO", 9)).int == 9)
    }

    @Test func scriptsAreSentWholeOnlyIfTheServerDoesNotHaveThem() async throws {
        let redis = try RedisProcess()
        let client = RedisClient(redis.server)
        let script = RedisScript("return redis.call('INCRBY', KEYS[1], ARGV[1])")
        #expect(try await client.run(script, keys: ["n"], arguments: [2]).int == 2)
        #expect(try await client.run(script, keys: ["n"], arguments: [3]).int == 5)
        _ = try await client.send(RedisCommand("SCRIPT", "FLUSH"))
        #expect(try await client.run(script, keys: ["n"], arguments: [1]).int == 6)
        let statistics = try await client.send(RedisCommand("INFO", "commandstats")).string ?? ""
        #expect(statistics.contains("cmdstat_eval:calls=2,"))
        // Another error of a script is not a missing script.
        let broken = RedisScript("return redis.call('INCR', 'a', 'b')")
        await #expect(throws: RedisError.self) { try await client.run(broken, keys: []) }
    }

    @Test func usersNeedTheirPassword() async throws {
        let redis = try RedisProcess("--user", "shop", "on", ">hunter2", "~shop:*", "+@all", "--user", "default", "off")
        var server = redis.server
        (server.user, server.password) = ("shop", "hunter2")
        let client = RedisClient(server)
        #expect(try await client.send(RedisCommand("SET", "shop:a", 1)).string == "OK")
        let denied = await #expect(throws: RedisError.self) { try await client.send(RedisCommand("GET", "other")) }
        #expect(denied?.code == .unauthorized)
        server.password = "hunter3"
        let wrong = await #expect(throws: RedisError.self) { try await RedisClient(server).send(RedisCommand("PING")) }
        #expect(wrong?.code == .unavailable)
        #expect((wrong?.underlyingError as? RedisError)?.code == .unauthorized)
        #expect(wrong?.description.contains("hunter") == false)
        #expect(!"\(server)".contains("hunter"))
        server.password = nil
        let missing = await #expect(throws: RedisError.self) {
            try await RedisClient(server).send(RedisCommand("PING"))
        }
        #expect((missing?.underlyingError as? RedisError)?.code == .unauthorized)
    }

    @Test func fullServerAndReplicaAreTypedErrors() async throws {
        let redis = try RedisProcess()
        let client = RedisClient(redis.server)
        _ = try await client.send(RedisCommand("CONFIG", "SET", "maxmemory", 1))
        let full = await #expect(throws: RedisError.self) { try await client.send(RedisCommand("SET", "a", 1)) }
        #expect(full?.code == .outOfMemory)
        _ = try await client.send(RedisCommand("CONFIG", "SET", "maxmemory", 0))
        _ = try await client.send(RedisCommand("REPLICAOF", "127.0.0.1", 1))
        let replica = await #expect(throws: RedisError.self) { try await client.send(RedisCommand("SET", "a", 1)) }
        #expect(replica?.code == .readOnly)
        _ = try await client.eventually(RedisCommand("REPLICAOF", "NO", "ONE"))
        #expect(try await client.eventually(RedisCommand("SET", "a", 1)).string == "OK")
    }

    @Test func hostNamesAreLookedUp() async throws {
        let (redis, port) = try RedisProcess.onPort("--port")
        let client = RedisClient(RedisServer(host: "localhost", port: port).patient)
        #expect(try await client.send(RedisCommand("PING")).string == "PONG")
        withExtendedLifetime(redis) {}
    }

    @Test func trustedCertificateMustBeValidForTheHost() async throws {
        let folder = try RedisProcess.makeFolder()
        let (certificate, arguments) = try RedisProcess.makeCertificate(in: folder)
        let (redis, port) = try RedisProcess.onPort("--tls-port", arguments, in: folder)
        var server = RedisServer(host: "localhost", port: port).patient
        server.tls = TLSConfiguration(trust: .only(.file(certificate)))
        let client = RedisClient(server)
        let large = Data(repeating: 7, count: 3 << 20)
        _ = try await client.send(RedisCommand("SET", "large", large))
        #expect(try await client.send(RedisCommand("GET", "large")) == .bytes(large))
        let reports = Locked(0)
        let pin = PublicKeyPin(sha256: Data(repeating: 1, count: 32))
        let backup = PublicKeyPin(sha256: Data(repeating: 2, count: 32))
        server.tls?.pins = PublicKeyPins(pin, backups: backup, mode: .report { _ in reports.withLock { $0 += 1 } })
        _ = try await RedisClient(server).send(RedisCommand("PING"))
        #expect(reports.withLock(\.self) == 1)
        server.tls?.pins = nil
        server.address = .tcp(host: "127.0.0.1", port: port)
        let wrong = await #expect(throws: RedisError.self) { try await RedisClient(server).send(RedisCommand("PING")) }
        let failure = (wrong?.underlyingError as? SluiceError)?.underlyingError as? TLSFailure
        #expect(failure?.check == .hostName)
        server.address = .tcp(host: "localhost", port: port)
        server.tls = TLSConfiguration()
        let unknown = await #expect(throws: RedisError.self) {
            try await RedisClient(server).send(RedisCommand("PING"))
        }
        #expect((unknown?.underlyingError as? SluiceError)?.code == .tlsFailed)
        withExtendedLifetime(redis) {}
    }
}
#endif
