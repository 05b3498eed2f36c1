#if os(Linux)
import Foundation
import Sluice
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceRedis

/// Gates of several machines that share a token. Each has a client of Redis of its own.
@Suite(.enabled(if: RedisProcess.canRun))
struct FleetTokenTests {
    /// An authorization server that exchanges each refresh token once, and an API that returns the token it gets.
    private final class RotatingServer: Sendable {
        let web: LoopbackServer
        let refused = Locked<Set<String>>([])
        /// The number of refreshes with a refresh token that had been exchanged before.
        let spent = Locked(0)
        private let issued = Locked(0)

        init(until signal: LoopbackSignal? = nil) throws {
            web = try LoopbackServer()
            let (issued, spent, refused) = (issued, spent, refused)
            let answer: @Sendable (LoopbackRequest) -> LoopbackResponse = { request in
                let text = String(decoding: request.body, as: UTF8.self)
                let isRepeatable = text.contains("grant_type=client_credentials")
                let used = text.components(separatedBy: "refresh_token=r").last.flatMap { Int($0) }
                let number = issued.withLock { newest -> Int? in
                    guard isRepeatable || used == newest else { return nil }
                    newest += 1
                    return newest
                }
                guard let number else {
                    spent.withLock { $0 += 1 }
                    return .json(#"{"error":"invalid_grant"}"#, status: .badRequest)
                }
                let refresh = isRepeatable ? "" : #","refresh_token":"r\#(number)""#
                return .json(#"{"access_token":"t\#(number)","token_type":"Bearer","expires_in":3600\#(refresh)}"#)
            }
            web.on(.post, "/token") { request in signal.map { .after($0, answer(request)) } ?? answer(request) }
            web.on("/api/*") { request in
                let token = request.headers[.authorization] ?? ""
                return refused.withLock { $0.contains(token) }
                    ? .status(.unauthorized, headers: ["WWW-Authenticate": #"Bearer error="invalid_token""#])
                    : .text(token)
            }
        }

        var tokenRequests: Int { web.requests(to: "/token").count }
    }

    private struct Machine {
        let redis: RedisClient
        let gate: OAuth2
        let client: APIClient

        init(
            _ server: RotatingServer,
            _ process: RedisProcess,
            grant: OAuth2.Grant = .refreshToken("r0", id: "i"),
            whenUnavailable fallback: RedisTokenStore.Fallback = .fail,
            afterInterruption interruptedRefresh: RedisTokenStore.InterruptedRefresh = .signIn
        ) throws {
            let redis = RedisClient(process.server)
            let seal = try RedisSeal("0123456789abcdef0123456789abcdef")
            let store = try RedisTokenStore(
                redis,
                named: "shop",
                seal: seal,
                whenUnavailable: fallback,
                afterInterruption: interruptedRefresh
            )
            let gate = OAuth2(grant, tokenURL: "\(server.web.url)/token") {
                $0.store = store
                $0.refreshLimit = .init(count: 100)
            }
            self.redis = redis
            self.gate = gate
            client = APIClient(baseURL: "\(server.web.url)/api") { $0.gates = [gate] }
        }

        func carried() async throws -> String { try await client.string.get("x").sender().value }

        func failure() async -> OAuth2Error? {
            do throws(APIError) {
                _ = try await client.string.get("x").sender().value
                return nil
            } catch {
                return error.authorizationError
            }
        }
    }

    @Test func eightMachinesRefreshOnce() async throws {
        let (server, process) = (try RotatingServer(), try RedisProcess())
        let machines = try (0..<8).map { _ in try Machine(server, process) }
        for round in 1...6 {
            let carried = await withTaskGroup(of: String?.self) { group in
                for machine in machines + machines { group.addTask { try? await machine.carried() } }
                return await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(carried == ["Bearer t\(round)"])
            #expect(server.tokenRequests == round)
            server.refused.withLock { _ = $0.insert("Bearer t\(round)") }
        }
        #expect(server.spent.withLock { $0 } == 0)
    }

    @Test func signOutOfOneMachineSignsOutTheOthers() async throws {
        let (server, process) = (try RotatingServer(), try RedisProcess())
        let machines = try (0..<2).map { _ in try Machine(server, process) }
        for machine in machines { #expect(try await machine.carried() == "Bearer t1") }
        try await machines[0].gate.signOut()
        server.refused.withLock { _ = $0.insert("Bearer t1") }
        #expect(await machines[1].failure()?.code == .authorizationRequired)
        try await machines[1].gate.signIn(with: .init(accessToken: "signed-in"))
        #expect(try await machines[0].carried() == "Bearer signed-in")
    }

    @Test func validTokenIsUsedWhileRedisIsAway() async throws {
        let (server, process) = (try RotatingServer(), try RedisProcess())
        let machine = try Machine(server, process)
        #expect(try await machine.carried() == "Bearer t1")
        process.kill()
        #expect(try await machine.carried() == "Bearer t1")
        server.refused.withLock { _ = $0.insert("Bearer t1") }
        // The refresh token may be spent, so it is not sent.
        #expect(await machine.failure()?.code == .storeFailed)
        #expect(server.tokenRequests == 1)
        try process.start()
        _ = try await machine.redis.eventually(RedisCommand("PING"))
        // The server has lost the token.
        #expect(await machine.failure()?.code == .authorizationRequired)
        #expect(server.spent.withLock { $0 } == 0)
    }

    @Test func machineMayRefreshAloneIfItChoosesSo() async throws {
        let (server, process) = (try RotatingServer(), try RedisProcess())
        let grant = OAuth2.Grant.clientCredentials(id: "i", secret: "s")
        let machine = try Machine(server, process, grant: grant, whenUnavailable: .refreshAlone)
        let careful = try Machine(server, process, grant: grant)
        process.kill()
        #expect(try await machine.carried() == "Bearer t1")
        #expect(try await machine.carried() == "Bearer t1")
        #expect(await careful.failure()?.code == .storeFailed)
        server.refused.withLock { _ = $0.insert("Bearer t1") }
        #expect(try await machine.carried() == "Bearer t2")
        try process.start()
        for machine in [machine, careful] { _ = try await machine.redis.eventually(RedisCommand("PING")) }
        server.refused.withLock { _ = $0.insert("Bearer t2") }
        #expect(try await machine.carried() == "Bearer t3")
        #expect(try await careful.carried() == "Bearer t3")
        #expect(server.tokenRequests == 3)
    }

    @Test func tokenIsKeptIfRedisIsKilledDuringTheRefresh() async throws {
        let signal = LoopbackSignal()
        let (server, process) = (try RotatingServer(until: signal), try RedisProcess())
        let (machine, other) = (try Machine(server, process), try Machine(server, process))
        let refreshing = Task { try await machine.carried() }
        await server.web.waitForRequests(1)
        process.kill()
        signal.fire()
        #expect(try await refreshing.value == "Bearer t1")
        #expect(try await machine.carried() == "Bearer t1")
        #expect(await other.failure()?.code == .storeFailed)
        try process.start()
        for machine in [machine, other] { _ = try await machine.redis.eventually(RedisCommand("PING")) }
        // The server has lost the lock, so the other machine must not be earlier than the save in the background.
        while try await other.redis.send(RedisCommand("KEYS", "*token")).elements?.isEmpty == true {}
        #expect(try await machine.carried() == "Bearer t1")
        #expect(try await other.carried() == "Bearer t1")
        #expect(server.tokenRequests == 1)
        #expect(server.spent.withLock { $0 } == 0)
    }

    @Test func unsavedTokenIsSavedWithoutFurtherRequests() async throws {
        let signal = LoopbackSignal()
        let server = try RotatingServer(until: signal)
        // This server keeps its data, so that the lock holds after it is started again.
        let process = try RedisProcess("--appendonly", "yes", "--appendfsync", "always")
        let (machine, other) = (try Machine(server, process), try Machine(server, process))
        let refreshing = Task { try await machine.carried() }
        await server.web.waitForRequests(1)
        process.kill()
        signal.fire()
        #expect(try await refreshing.value == "Bearer t1")
        try process.start()
        _ = try await other.redis.eventually(RedisCommand("PING"))
        #expect(try await other.carried() == "Bearer t1")
        #expect(try await machine.carried() == "Bearer t1")
        #expect(server.tokenRequests == 1)
        for machine in [machine, other] {
            server.refused.withLock { _ = $0.insert("Bearer t1") }
            #expect(try await machine.carried() == "Bearer t2")
        }
        #expect(server.spent.withLock { $0 } == 0)
    }

    @Test func noTokenIsSpentTwiceWhileRedisIsKilledAndStarted() async throws {
        let server = try RotatingServer()
        let process = try RedisProcess("--appendonly", "yes", "--appendfsync", "always")
        let machines = try (0..<4).map { _ in try Machine(server, process) }
        for _ in 0..<6 {
            let tasks = machines.map { machine in
                Task {
                    while true {
                        if let token = try? await machine.carried() { return token }
                        await Task.yield()
                    }
                }
            }
            process.kill()
            try process.start()
            for task in tasks {
                let token = await task.value
                server.refused.withLock { _ = $0.insert(token) }
            }
        }
        #expect(server.spent.withLock { $0 } == 0)
        #expect(server.tokenRequests >= 4)
    }

    @Test func refreshTokenOfAStoppedMachineIsNotSpentTwice() async throws {
        let signal = LoopbackSignal()
        let (server, process) = (try RotatingServer(until: signal), try RedisProcess())
        let (stopped, other) = (try Machine(server, process), try Machine(server, process))
        let refreshing = Task { try await stopped.carried() }
        await server.web.waitForRequests(1)
        try await endLease(of: other)
        for _ in 0..<2 { #expect(await other.failure()?.code == .authorizationRequired) }
        #expect(server.tokenRequests == 1)
        try await other.gate.signIn(with: .init(accessToken: "signed-in"))
        // The machine goes on nevertheless, and does not replace the token.
        signal.fire()
        #expect(try await refreshing.value == "Bearer signed-in")
        #expect(try await other.carried() == "Bearer signed-in")
        #expect(server.spent.withLock { $0 } == 0)
    }

    @Test func slowMachineSharesItsTokenWithThoseThatDidNotSendTheSameRefreshToken() async throws {
        let signal = LoopbackSignal()
        let (server, process) = (try RotatingServer(until: signal), try RedisProcess())
        let (slow, other) = (try Machine(server, process), try Machine(server, process))
        let refreshing = Task { try await slow.carried() }
        await server.web.waitForRequests(1)
        try await endLease(of: other)
        #expect(await other.failure()?.code == .authorizationRequired)
        signal.fire()
        #expect(try await refreshing.value == "Bearer t1")
        #expect(try await other.carried() == "Bearer t1")
        server.refused.withLock { _ = $0.insert("Bearer t1") }
        #expect(try await other.carried() == "Bearer t2")
        #expect(server.tokenRequests == 2)
        #expect(server.spent.withLock { $0 } == 0)
    }

    /// Ends the lease of the lock while its machine has no response.
    private func endLease(of machine: Machine) async throws {
        for key in try await machine.redis.send(RedisCommand("KEYS", "*lock")).elements?.compactMap(\.string) ?? [] {
            _ = try await machine.redis.send(RedisCommand("DEL", key))
        }
    }

    @Test func refreshTokenIsSentAgainByChoice() async throws {
        let signal = LoopbackSignal()
        let (server, process) = (try RotatingServer(until: signal), try RedisProcess())
        let stopped = try Machine(server, process)
        let other = try Machine(server, process, afterInterruption: .refreshAgain)
        let refreshing = Task { try await stopped.carried() }
        await server.web.waitForRequests(1)
        try await endLease(of: other)
        let failure = Task { await other.failure() }
        await server.web.waitForRequests(2)
        signal.fire()
        #expect(await failure.value?.code == .authorizationRequired)
        _ = try? await refreshing.value
    }

    @Test func plantedTokenIsNotUsed() async throws {
        let (server, process) = (try RotatingServer(), try RedisProcess())
        let machines = try (0..<2).map { _ in try Machine(server, process) }
        #expect(try await machines[0].carried() == "Bearer t1")
        let keys = try await machines[0].redis.send(RedisCommand("KEYS", "*token")).elements?.compactMap(\.string) ?? []
        for key in keys {
            _ = try await machines[0].redis.send(
                RedisCommand("SET", key, #"{"version":9,"token":{"access_token":"x"}}"#)
            )
        }
        #expect(keys.count == 1)
        #expect(await machines[1].failure()?.code == .storeFailed)
        server.refused.withLock { _ = $0.insert("Bearer t1") }
        #expect(await machines[0].failure()?.code == .storeFailed)
        #expect(server.tokenRequests == 1)
        try await machines[0].gate.signIn(with: .init(accessToken: "signed-in"))
        for machine in machines { #expect(try await machine.carried() == "Bearer signed-in") }
    }
}
#endif
