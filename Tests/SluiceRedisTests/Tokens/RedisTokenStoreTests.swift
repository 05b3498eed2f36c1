#if os(Linux)
import Foundation
import Sluice
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceRedis

/// The token store and its lock with a real server.
@Suite(.enabled(if: RedisProcess.canRun))
struct RedisTokenStoreTests {
    private static let secret = Secret("0123456789abcdef0123456789abcdef")

    private let process: RedisProcess
    private let redis: RedisClient
    private let store: RedisTokenStore

    init() throws {
        process = try RedisProcess()
        redis = RedisClient(process.server)
        store = try Self.store(redis)
    }

    private static func store(_ redis: RedisClient, _ name: String = "shop", key: Secret = secret) throws
        -> RedisTokenStore
    {
        try RedisTokenStore(redis, named: name, seal: RedisSeal(key))
    }

    private static func token(_ access: String) -> OAuth2.Token {
        .init(accessToken: access, refreshToken: "refresh-\(access)")
    }

    /// Ends the lease of the lock at once.
    private func endLease() async throws {
        _ = try await redis.send(RedisCommand("DEL", store.keys.lock))
    }

    private func lock(_ store: RedisTokenStore? = nil, on clock: any SluiceClock = SystemClock()) async throws
        -> any TokenLock
    {
        try await (store ?? self.store).lock(timeout: .seconds(30), on: clock)
    }

    private func release(_ owner: String) async throws -> Int? {
        let keys = [store.keys.lock, store.keys.mark, store.keys.released(owner)]
        return try await redis.run(TokenScripts.release, keys: keys, arguments: [owner, "", 35_000]).int
    }

    private func take(_ owner: String) async throws -> RedisValue {
        let keys = [store.keys.lock, store.keys.fence, store.keys.token, store.keys.released(owner)]
        return try await redis.run(TokenScripts.take, keys: keys, arguments: [owner, 35_000, 0])
    }

    @Test func savesLoadsAndDeletesToken() async throws {
        #expect(try await store.load() == nil)
        var token = Self.token("secret-1")
        token.expiresAt = Date(timeIntervalSince1970: 1_800_000_000)
        token.scope = "read"
        try await store.save(token)
        #expect(try await store.load() == token)
        let other = try Self.store(RedisClient(process.server))
        #expect(try await other.load() == token)
        #expect(try await Self.store(redis, "other").load() == nil)
        try await other.delete()
        #expect(try await store.load() == nil)
        try await store.delete()
    }

    @Test func refreshTokenThatAStoppedMachineHasSentIsNotSent() async throws {
        let stopped = try await lock()
        try await stopped.willSend(refreshToken: "r0")
        // A command may be repeated after a lost reply.
        try await stopped.willSend(refreshToken: "r0")
        try await endLease()
        let other = try Self.store(RedisClient(process.server))
        for _ in 0..<2 {
            let next = try await lock(other)
            await #expect(throws: RefreshInterrupted.self) { try await next.willSend(refreshToken: "r0") }
            try await next.delete()
        }
        // Another token is not concerned, and neither is the first one after it was saved.
        let next = try await lock(other)
        try await next.willSend(refreshToken: "r1")
        try await next.save(.init(accessToken: "a", refreshToken: "r2"))
        try await next.willSend(refreshToken: "r0")
        await #expect(throws: TokenLockExpired.self) { try await stopped.willSend(refreshToken: "r0") }
    }

    @Test func machineMayRefreshAgainAfterAFailureBeforeTheLockIsReleased() async throws {
        let failed = try await lock()
        try await failed.willSend(refreshToken: "r0")
        await failed.refreshFailed()
        try await endLease()
        let other = try Self.store(RedisClient(process.server))
        try await lock(other).willSend(refreshToken: "r0")
        withExtendedLifetime(failed) {}
    }

    @Test func slowMachineSavesItsTokenAfterOthersHadToStop() async throws {
        try await store.save(.init(accessToken: "a", refreshToken: "r0"))
        let slow = try await lock()
        try await slow.willSend(refreshToken: "r0")
        try await endLease()
        let other = try Self.store(RedisClient(process.server))
        do {
            let next = try await lock(other)
            await #expect(throws: RefreshInterrupted.self) { try await next.willSend(refreshToken: "r0") }
        }
        try await slow.save(.init(accessToken: "b", refreshToken: "r1"))
        #expect(try await other.load()?.accessToken == "b")
        try await endLease()
        try await lock(other).willSend(refreshToken: "r1")
    }

    @Test func lateCommandOfAReleasedLockMarksNothing() async throws {
        let late = try await lock()
        try await endLease()
        await #expect(throws: TokenLockExpired.self) { try await late.willSend(refreshToken: "r0") }
        #expect(try await redis.send(RedisCommand("GET", store.keys.mark)) == .null)
    }

    @Test func machineThatRunsOnReleasesItsRefreshToken() async throws {
        let other = try Self.store(RedisClient(process.server))
        for name in ["r0", "r0", "r1"] {
            try await lock().willSend(refreshToken: Secret(name))
            try await lock(other).willSend(refreshToken: Secret(name))
        }
    }

    @Test func spentRefreshTokenIsNotSentByAnotherGateOfTheProcess() async throws {
        // The first gate does not save its token again, as its clock stands still.
        let first = try await lock(on: TestClock())
        try await first.willSend(refreshToken: "r0")
        process.kill()
        let token = OAuth2.Token(accessToken: "a", refreshToken: "r1")
        await #expect(throws: TokenStoreError.self) { try await first.save(token) }
        try process.start()
        _ = try await redis.eventually(RedisCommand("PING"))
        do {
            let second = try await lock()
            for _ in 0..<2 {
                await #expect(throws: RefreshInterrupted.self) { try await second.willSend(refreshToken: "r0") }
            }
            try await second.willSend(refreshToken: "other")
            await second.refreshFailed()
        }
        try await endLease()
        try await first.save(token)
        #expect(try await store.load()?.accessToken == "a")
        try await endLease()
        try await lock().willSend(refreshToken: "r0")
    }

    @Test func refreshTokenThatTheServerKeepsIsNotSpent() throws {
        let token = OAuth2.Token(accessToken: "a", refreshToken: "r1")
        let held = try #require(try HeldToken(.array([.text("1"), .null]), owner: "o", until: .now))
        store.recordSpent("r1", for: token)
        _ = try store.arguments(toMark: "r1", of: held, .seconds(30))
        store.recordSpent("r0", for: token)
        #expect(throws: RefreshInterrupted.self) { try store.arguments(toMark: "r0", of: held, .seconds(30)) }
        store.forgetSpent("r0")
        _ = try store.arguments(toMark: "r0", of: held, .seconds(30))
    }

    @Test func refreshTokenThatTheServerKeepsIsSentAgain() async throws {
        let other = try Self.store(RedisClient(process.server))
        for (access, isKept) in [("a", false), ("b", true), ("b", true)] {
            let lock = try await lock()
            if access == "b" { try await lock.willSend(refreshToken: "r0") }
            try await lock.save(.init(accessToken: access, refreshToken: "r0"))
            try await endLease()
            let stopped = try await self.lock()
            try await stopped.willSend(refreshToken: "r0")
            try await endLease()
            let next = try await self.lock(other)
            _ = try await next.load()
            if isKept {
                try await next.willSend(refreshToken: "r0")
            } else {
                await #expect(throws: RefreshInterrupted.self) { try await next.willSend(refreshToken: "r0") }
            }
        }
    }

    @Test func neitherNamesNorValuesShowSecrets() async throws {
        try await store.save(Self.token("secret-1"))
        let lock = try await lock()
        try await lock.willSend(refreshToken: "secret-1")
        let names = try await redis.send(RedisCommand("KEYS", "*")).elements?.compactMap(\.string) ?? []
        #expect(names.contains(store.keys.token))
        for name in names {
            #expect(name.wholeMatch(of: /sluice:\{[0-9a-f]{64}\}:(token|fence|lock(:[0-9a-f]{32})?|mark)/) != nil)
            let value = try await redis.send(RedisCommand("GET", name)).data ?? Data()
            #expect(value.firstRange(of: Data("secret-1".utf8)) == nil)
        }
        withExtendedLifetime(lock) {
            // The fifth one is the release of the lock for saving.
            #expect(names.count { !$0.contains("lock:") } == 4)
        }
        #expect(!"\(store)".contains("0123456789"))
    }

    @Test func valuesThatDoNotOpenAreErrorsUntilASignIn() async throws {
        try await store.save(Self.token("good"))
        let key = store.keys.token
        let good = try #require(try await redis.send(RedisCommand("GET", key)).data)
        let foreign = try Self.store(redis, key: Secret(String(repeating: "x", count: 40)))
        let plain = try RedisSeal(Self.secret).seal(
            JSONEncoder().encode(TokenRecord(version: 1, token: Self.token("planted"))),
            as: key
        )
        let version = try RedisSeal(Self.secret, encrypts: true).seal(Data(#"{"version":"2"}"#.utf8), as: key)
        let values = [
            Data("planted".utf8), good.dropLast(), good + [0],
            try foreign.sealed(Self.token("x"), version: 1, sent: nil).0, plain,
            version,
            try Self.store(redis, "other").sealed(Self.token("moved"), version: 1, sent: nil).0,
        ]
        for (number, value) in values.enumerated() {
            _ = try await redis.send(RedisCommand("SET", key, value))
            let error = await #expect(throws: TokenStoreError.self, "value \(number)") { try await store.load() }
            #expect(error?.description.contains("not a token of this store") == true)
            let lock = try await lock()
            await #expect(throws: TokenStoreError.self) { try await lock.load() }
        }
        try await store.save(Self.token("new"))
        #expect(try await store.load()?.accessToken == "new")
    }

    @Test func valuesOfAnotherTypeAreErrors() async throws {
        for key in [store.keys.token, store.keys.lock, store.keys.fence] {
            // A lock that was just released may still be there.
            _ = try await redis.send(RedisCommand("DEL", store.keys.lock))
            _ = try await redis.send(RedisCommand("LPUSH", key, "a"))
            await #expect(throws: TokenStoreError.self) { try await lock().save(Self.token("a")) }
            _ = try await redis.send(RedisCommand("DEL", key))
        }
        _ = try await redis.send(RedisCommand("SET", store.keys.fence, "nonsense"))
        try await store.save(Self.token("a"))
        #expect(try await store.load()?.accessToken == "a")
        _ = try await redis.send(RedisCommand("SET", store.keys.fence, "1e999"))
        await #expect(throws: TokenStoreError.self) { try await store.save(Self.token("a")) }
    }

    @Test func replayedValueDoesNotReplaceANewerOne() async throws {
        try await store.save(Self.token("old"))
        let old = try #require(try await redis.send(RedisCommand("GET", store.keys.token)).data)
        try await store.save(Self.token("new"))
        _ = try await redis.send(RedisCommand("SET", store.keys.token, old))
        #expect(try await store.load()?.accessToken == "new")
        #expect(try await lock().load()?.accessToken == "new")
        try await store.save(Self.token("newest"))
        #expect(try await Self.store(redis).load()?.accessToken == "newest")
    }

    // MARK: The lock

    @Test func lockIsGivenToOneOwner() async throws {
        let clock = TestClock()
        var first: (any TokenLock)? = try await lock()
        let second = Task { try await lock(Self.store(redis), on: clock) }
        for _ in 0..<3 {
            await clock.waitForSleepers(1)
            #expect(clock.pendingSleeps.allSatisfy { (.milliseconds(20)...(.milliseconds(50))).contains($0) })
            clock.advance(by: .milliseconds(50))
        }
        try await first?.save(Self.token("a"))
        await clock.waitForSleepers(1)
        // The lease no longer ends, so that only its owner frees the lock.
        _ = try await redis.send(RedisCommand("PERSIST", store.keys.lock))
        first = nil
        try await waitUntil("the lock is released", within: .seconds(60)) {
            try await redis.send(RedisCommand("EXISTS", store.keys.lock)).int == 0
        }
        clock.advance(by: .milliseconds(50))
        #expect(try await second.value.load()?.accessToken == "a")
    }

    @Test func waitForTheLockEnds() async throws {
        let clock = TestClock()
        let first = try await lock()
        let waiting = Task { try await lock(on: clock) }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(66))
        await #expect(throws: TokenStoreError.self) { try await waiting.value }
        let cancelled = Task { try await lock(on: clock) }
        await clock.waitForSleepers(1)
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        withExtendedLifetime(first) {}
    }

    @Test func lockThatWasLeftBehindIsFreeAfterItsLease() async throws {
        let clock = TestClock()
        // As if its machine had stopped.
        _ = try await take("stopped")
        let left = try await redis.send(RedisCommand("PTTL", store.keys.lock)).int ?? -1
        #expect((1...35_000).contains(left))
        let waiting = Task { try await lock(on: clock) }
        await clock.waitForSleepers(1)
        _ = try await redis.send(RedisCommand("PEXPIRE", store.keys.lock, 1))
        while try await redis.send(RedisCommand("EXISTS", store.keys.lock)).int == 1 {}
        clock.advance(by: .milliseconds(50))
        try await waiting.value.save(Self.token("a"))
        #expect(try await store.load()?.accessToken == "a")
    }

    @Test func leaseIsLongerThanARequestForAToken() async throws {
        let clock = TestClock()
        let lock = try await lock(on: clock)
        let left = try await redis.send(RedisCommand("PTTL", store.keys.lock)).int ?? 0
        #expect((30_001...35_000).contains(left))
        #expect(lock.isHeld(for: .seconds(30)))
        #expect(!lock.isHeld(for: Duration(attoseconds: .max)))
        clock.advance(by: .seconds(4))
        #expect(lock.isHeld(for: .seconds(30)))
        clock.advance(by: .milliseconds(1))
        #expect(!lock.isHeld(for: .seconds(30)))
    }

    @Test(arguments: [
        (Duration.milliseconds(6_500), 6_500), (.milliseconds(100), 5_000), (.seconds(Int64.max), 9_223_372_036_854),
    ])
    func leaseIsSentInMilliseconds(_ lease: Duration, _ expected: Int) throws {
        let store = try RedisTokenStore(redis, named: "shop", seal: RedisSeal(Self.secret), lease: lease)
        let held = try #require(try HeldToken(.array([.text("1"), .null]), owner: "o", until: .now))
        let milliseconds = try store.arguments(toMark: "r0", of: held, .zero)[1] as? Int
        #expect(milliseconds == expected)
    }

    @Test func numbersGrowAlsoAfterALossOfData() async throws {
        var last = 0
        for round in 0..<6 {
            if round == 3 { _ = try await redis.send(RedisCommand("FLUSHALL")) }
            // A time in the future, as of a clock that went back.
            if round == 4 { last = 4_000_000_000_000_000 }
            if round == 4 { store.remember(nil, version: last) }
            let held = try await store.hold(timeout: .seconds(30), on: SystemClock())
            #expect(held.version > last)
            last = held.version
            _ = try await release(held.owner)
        }
    }

    @Test func onlyTheOwnerReleasesTheLock() async throws {
        let held = try await store.hold(timeout: .seconds(30), on: SystemClock())
        #expect(try await release("other") == 0)
        #expect(try await redis.send(RedisCommand("GET", store.keys.lock)).string == held.owner)
        #expect(try await release(held.owner) == 1)
    }

    @Test func commandThatTakesTheLockAfterItsReleaseGetsNone() async throws {
        #expect(try await take("late").elements?.count == 2)
        #expect(try await release("late") == 1)
        // A repeated command, or one whose reply the owner did not wait for.
        #expect(try await take("late").elements == [])
        #expect(try await release("later") == 0)
        #expect(try await take("later").elements == [])
        #expect(try await redis.send(RedisCommand("EXISTS", store.keys.lock)).int == 0)
        let left = try await redis.send(RedisCommand("PTTL", store.keys.released("later"))).int ?? -1
        #expect((1...35_000).contains(left))
        #expect(try await take("next").elements?.count == 2)
        // The failure of a refresh releases nothing.
        #expect(try await release("next") == 1)
        let lock = try await lock()
        try await lock.willSend(refreshToken: "r0")
        await lock.refreshFailed()
        try await lock.willSend(refreshToken: "r0")
    }

    @Test func lateOwnerChangesNothing() async throws {
        try await store.save(Self.token("old"))
        let late = try await lock()
        #expect(try await late.load()?.accessToken == "old")
        try await endLease()
        let next = try await lock(Self.store(redis))
        try await next.save(Self.token("new"))
        await #expect(throws: TokenLockExpired.self) { try await late.delete() }
        withExtendedLifetime(next) {}
        try await endLease()
        for _ in 0..<2 {
            await #expect(throws: TokenLockExpired.self) { try await late.save(Self.token("late")) }
        }
        #expect(try await store.load()?.accessToken == "new")
    }

    @Test func lateOwnerDoesNotUndoASignOut() async throws {
        try await store.save(Self.token("old"))
        let late = try await lock()
        try await endLease()
        try await Self.store(redis).delete()
        for _ in 0..<2 {
            await #expect(throws: TokenLockExpired.self) { try await late.save(Self.token("late")) }
        }
        #expect(try await store.load() == nil)
    }

    @Test func lateOwnerSavesIfNothingHasChanged() async throws {
        try await store.save(Self.token("old"))
        let late = try await lock()
        try await endLease()
        // Without a later lock.
        try await late.save(Self.token("a"))
        #expect(try await store.load()?.accessToken == "a")
        try await endLease()
        // After a later lock that has changed nothing.
        _ = try await store.hold(timeout: .seconds(30), on: SystemClock())
        try await endLease()
        try await late.save(Self.token("b"))
        #expect(try await Self.store(redis).load()?.accessToken == "b")
        // The same token again, as after a reply that was lost.
        try await late.save(Self.token("b"))
    }

    @Test func tokenThatCouldNotBeSavedIsSavedInTheBackground() async throws {
        let clock = TestClock()
        let lock = try await lock(on: clock)
        #expect(lock.backgroundSave == nil)
        process.kill()
        await #expect(throws: TokenStoreError.self) { try await lock.save(Self.token("a")) }
        let save = try #require(lock.backgroundSave)
        try process.start()
        _ = try await redis.eventually(RedisCommand("PING"))
        while lock.backgroundSave != nil {
            clock.advance(by: .milliseconds(250))
            await Task.yield()
        }
        await save.value
        #expect(try await store.load()?.accessToken == "a")
    }

    @Test func tokenIsSavedAfterALossOfData() async throws {
        try await store.save(Self.token("old"))
        let lock = try await lock()
        process.kill()
        try process.start()
        #expect(try await redis.eventually(RedisCommand("PING")).string == "PONG")
        try await lock.save(Self.token("new"))
        #expect(try await Self.store(redis).load()?.accessToken == "new")
    }
}
#endif
