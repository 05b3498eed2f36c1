import Foundation
import SluiceHTTP
import SluiceTesting
import XCTest

@testable import Sluice

/// Gates that share the file of a token, as programs do.
final class OAuth2SharedFileTests: XCTestCase {
    private let file = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString).json")

    override func tearDown() {
        for suffix in ["", ".lock"] { try? FileManager.default.removeItem(atPath: file.path + suffix) }
    }

    /// An authorization server that exchanges each refresh token once, and an API that accepts the newest token.
    private struct RotatingServer {
        let guarded: GuardedServer
        /// The number of refreshes with a refresh token that had been exchanged before.
        let spentCount = Shared(0)

        init() throws {
            guarded = try GuardedServer()
            let issued = Shared(0)
            let spentCount = spentCount
            guarded.server.on(.post, "/token") { request in
                guard let refresh = request.text.components(separatedBy: "refresh_token=r").last,
                    let number = issued.change({ newest in
                        guard Int(refresh) == newest else { return Int?.none }
                        newest += 1
                        return newest
                    })
                else {
                    spentCount.change { $0 += 1 }
                    return .json(#"{"error":"invalid_grant"}"#, status: .badRequest)
                }
                return .token("t\(number)", refresh: "r\(number)")
            }
        }
    }

    private func gate(_ guarded: GuardedServer, store: (any TokenStore)? = nil) -> OAuth2 {
        guarded.gate(.refreshToken("r0", id: "i")) {
            $0.store = store ?? FileTokenStore(file)
            $0.refreshLimit = .init(count: 100)
        }
    }

    func testGatesRefreshOnceAndUseNoSpentToken() async throws {
        let server = try RotatingServer()
        let clients = (0..<4).map { _ in server.guarded.client(gate(server.guarded)) }
        for round in 1...10 {
            let carried = await withTaskGroup(of: String?.self) { group in
                for client in clients + clients {
                    group.addTask { try? await client.string.get("x").sender().value }
                }
                return await group.reduce(into: Set()) { $0.insert($1) }
            }
            XCTAssertEqual(carried, ["Bearer t\(round)"])
            XCTAssertEqual(server.guarded.tokenRequests.count, round)
            server.guarded.refuse("t\(round)")
        }
        XCTAssertEqual(server.spentCount.read, 0)
    }

    func testSignInWaitsForTheRefreshOfAnotherGate() async throws {
        let guarded = try GuardedServer()
        let signal = LoopbackSignal()
        guarded.server.on(.post, "/token", .after(signal, .token("refreshed", refresh: "r1")))
        let (first, second) = (gate(guarded), gate(guarded))
        let refreshing = Task { try await first.token() }
        await guarded.server.waitForRequests(1)
        let signingIn = Task { try await second.signIn(with: .init(accessToken: "signed-in", refreshToken: "s")) }
        signal.fire()
        let refreshed = try await refreshing.value
        XCTAssertEqual(refreshed.accessToken, "refreshed")
        try await signingIn.value
        let stored = try await FileTokenStore(file).load()
        XCTAssertEqual(stored?.accessToken, "signed-in")
        guarded.refuse("refreshed")
        let carried = try await guarded.client(first).string.get("x").sender().value
        XCTAssertEqual(carried, "Bearer signed-in")
        XCTAssertEqual(guarded.tokenRequests.count, 1)
    }

    func testSignOutRevokesTokenThatAnotherGateObtained() async throws {
        let server = try RotatingServer()
        server.guarded.server.on(.post, "/revoke", .status(.ok))
        let (first, second) = (gate(server.guarded), gate(server.guarded))
        _ = try await first.token()
        let leaving = OAuth2(.refreshToken("r0", id: "i"), tokenURL: server.guarded.tokenURL) {
            $0.store = FileTokenStore(file)
            $0.revocationURL = "\(server.guarded.server.url)/revoke"
        }
        _ = try await leaving.token()
        server.guarded.refuse("t1")
        let carried = try await server.guarded.client(second).string.get("x").sender().value
        XCTAssertEqual(carried, "Bearer t2")
        try await leaving.signOut()
        XCTAssertEqual(server.guarded.server.requests(to: "/revoke").first?.text.contains("token=r2&"), true)
        for gate in [first, second] {
            server.guarded.refuse("t2")
            let result = await server.guarded.client(gate).get("x")
            XCTAssertEqual(result.failure?.code, .authorizationRequired)
        }
        XCTAssertEqual(server.spentCount.read, 0)
    }

    func testSignOutHoldsAlsoWhileAnotherProcessHasTheLock() async throws {
        let server = try RotatingServer()
        let gate = server.guarded.gate(GuardedServer.user(server.guarded)) {
            $0.store = FileTokenStore(file)
            $0.timeout = .milliseconds(50)
        }
        try await gate.signIn(with: .init(accessToken: "t0"))
        var other: (any TokenLock)? = try await FileTokenStore(file).lock(timeout: .seconds(30), on: SystemClock())
        do {
            try await gate.signOut()
            XCTFail("The sign-out succeeded.")
        } catch {
            XCTAssertEqual(error.authorizationError?.code, .storeFailed)
        }
        try await other?.save(.init(accessToken: "t1"))
        other = nil
        let result = await server.guarded.client(gate).get("x")
        XCTAssertEqual(result.failure?.code, .authorizationRequired)
    }

    func testSignOutRevokesTokenThatCouldNotBeSaved() async throws {
        let server = try RotatingServer()
        server.guarded.server.on(.post, "/revoke", .status(.ok))
        let failing = Shared(false)
        let gate = server.guarded.gate(.refreshToken("r0", id: "i")) {
            $0.store = FailingStore(file: FileTokenStore(file), isFailing: failing)
            $0.revocationURL = "\(server.guarded.server.url)/revoke"
        }
        let token = try await gate.token()
        XCTAssertEqual(token.accessToken, "t1")
        server.guarded.refuse("t1")
        failing.change { $0 = true }
        let unsaved = await server.guarded.client(gate).get("x")
        XCTAssertEqual(unsaved.oauth2?.code, .storeFailed)
        failing.change { $0 = false }
        try await gate.signOut()
        let revoked = server.guarded.server.requests(to: "/revoke").map(\.text)
        XCTAssertEqual(revoked.count, 2)
        XCTAssertEqual(revoked.first?.contains("token=r2&"), true)
        XCTAssertEqual(revoked.last?.contains("token=t2&"), true)
        let stored = try await FileTokenStore(file).load()
        XCTAssertNil(stored)
    }

    func testLockIsKeptWhileTheNewTokenIsNotSaved() async throws {
        let server = try RotatingServer()
        let failing = Shared(true)
        let store = FailingStore(file: FileTokenStore(file), isFailing: failing)
        let first = gate(server.guarded, store: store)
        let second = server.guarded.gate(.refreshToken("r0", id: "i")) {
            $0.store = FileTokenStore(file)
            $0.timeout = .milliseconds(50)
        }
        let unsaved = await server.guarded.client(first).get("x")
        XCTAssertEqual(unsaved.oauth2?.code, .storeFailed)
        // The refresh token that the other gate knows is spent. It is not used.
        let locked = await server.guarded.client(second).get("x")
        XCTAssertEqual(locked.oauth2?.code, .storeFailed)
        XCTAssertEqual(locked.oauth2?.detail?.contains("lock"), true)
        failing.change { $0 = false }
        for client in [first, second].map({ server.guarded.client($0) }) {
            let carried = try await client.string.get("x").sender().value
            XCTAssertEqual(carried, "Bearer t1")
        }
        XCTAssertEqual(server.spentCount.read, 0)
        XCTAssertEqual(server.guarded.tokenRequests.count, 1)
    }

    func testLockThatEndsIsTakenAgainAndItsTokenIsDropped() async throws {
        let server = try RotatingServer()
        let store = ShortLockStore()
        let gate = gate(server.guarded, store: store)
        let client = server.guarded.client(gate)
        let carried = try await client.string.get("x").sender().value
        XCTAssertEqual(carried, "Bearer other")
        XCTAssertEqual(server.guarded.tokenRequests.count, 1)
        XCTAssertEqual(store.taken.read, 2)
        XCTAssertEqual(store.released.read, 2)
    }

    func testRequestsDoNotWaitForAStoreThatSavesInTheBackground() async throws {
        let guarded = try GuardedServer(isRefreshable: true)
        let store = BackgroundSavingStore()
        let gate = gate(guarded, store: store)
        let client = guarded.client(gate)
        for _ in 0..<3 {
            let carried = try await client.string.get("x").sender().value
            XCTAssertEqual(carried, "Bearer t1")
        }
        XCTAssertEqual(store.saves.read, ["t1"])
        // The background does not know the token of a sign-in yet.
        try? await gate.signIn(with: .init(accessToken: "signed-in"))
        XCTAssertEqual(store.saves.read, ["t1", "signed-in"])
        store.isAway.change { $0 = false }
        store.end.open()
        let carried = try await client.string.get("x").sender().value
        XCTAssertEqual(carried, "Bearer signed-in")
        XCTAssertEqual(store.saves.read, ["t1", "signed-in", "signed-in"])
    }

    func testRequestThatNeedsAnotherTokenSavesTheOneThatIsSavedInTheBackground() async throws {
        let guarded = try GuardedServer(isRefreshable: true)
        let store = BackgroundSavingStore()
        let clock = TestClock()
        let client = guarded.client(gate(guarded, store: store), clock: clock)
        for _ in 0..<2 { _ = await client.get("x") }
        XCTAssertEqual(store.saves.read, ["t1"])
        guarded.refuse("t1")
        let refused = await client.get("x")
        XCTAssertEqual(refused.oauth2?.code, .storeFailed)
        XCTAssertEqual(store.saves.read, ["t1", "t1"])
        clock.advance(by: .seconds(3600))
        let expired = await client.get("x")
        XCTAssertEqual(expired.oauth2?.code, .storeFailed)
        XCTAssertEqual(store.saves.read, ["t1", "t1", "t1"])
        store.isAway.change { $0 = false }
        store.end.open()
    }

    func testCancelledWorkLeavesTheLockOfTheNextWorkAlone() async throws {
        let guarded = try GuardedServer()
        let signal = LoopbackSignal()
        guarded.server.on(.post, "/token", .after(signal, .token("t")))
        let store = SlowLockStore()
        let client = guarded.client(guarded.gate { $0.store = store })
        let cancelled = Task { await client.get("x") }
        await eventually { store.taken.read == 1 }
        cancelled.cancel()
        _ = await cancelled.value
        let next = Task { await client.get("x") }
        await guarded.server.waitForRequests(1)
        // The work that was cancelled gets its lock, and releases it.
        store.firstLock.open()
        await eventually { store.released.read == 1 }
        signal.fire()
        let carried = try await next.value.get()
        XCTAssertEqual(carried, "Bearer t")
        XCTAssertEqual(store.taken.read, 2)
        XCTAssertEqual(guarded.tokenRequests.count, 1)
        // It reads nothing.
        XCTAssertEqual(store.loads.read, 1)
        XCTAssertEqual(store.loadsByLock.read, 1)
    }

    func testCancelledWaitForTheLockEndsAtOnceAndHoldsNothing() async throws {
        let guarded = try GuardedServer(isRefreshable: true)
        let clock = TestClock()
        let held = try await FileTokenStore(file).lock(timeout: .zero, on: clock)
        let client = guarded.client(gate(guarded), clock: clock)
        let waiting = Task { await client.get("x") }
        // One for the lock, and one for requests that could use an old token.
        await clock.waitForSleepers(2)
        waiting.cancel()
        let cancelled = await waiting.value
        XCTAssertEqual(cancelled.failure?.code, .cancelled)
        withExtendedLifetime(held) {}
        XCTAssertEqual(guarded.tokenRequests.count, 0)
    }

    func testLockThatAnotherProgramHoldsForTooLongFailsRequests() async throws {
        let guarded = try GuardedServer(isRefreshable: true)
        let clock = TestClock()
        let held = try await FileTokenStore(file).lock(timeout: .zero, on: clock)
        let client = guarded.client(gate(guarded), clock: clock)
        let waiting = Task { await client.get("x") }
        // One for the lock, and one for requests that could use an old token.
        await clock.waitForSleepers(2)
        clock.advance(by: .seconds(31))
        let result = await waiting.value
        XCTAssertEqual(result.oauth2?.code, .storeFailed)
        withExtendedLifetime(held) {}
        XCTAssertEqual(guarded.tokenRequests.count, 0)
    }
}

/// A shared store in memory, whose first lock ends before a refresh token is sent, and whose second one before the token is saved.
private final class ShortLockStore: SharedTokenStore {
    final class Lock: TokenLock {
        let store: ShortLockStore
        let number: Int

        init(_ number: Int, of store: ShortLockStore) {
            self.number = number
            self.store = store
        }

        deinit { store.released.change { $0 += 1 } }

        func isHeld(for duration: Duration) -> Bool { number > 1 }
        func load() async -> OAuth2.Token? { await store.memory.load() }

        func save(_ token: OAuth2.Token) async throws {
            if number == 2 {
                await store.memory.save(.init(accessToken: "other", refreshToken: "r9"))
                throw TokenLockExpired()
            }
            await store.memory.save(token)
        }

        func delete() async { await store.memory.delete() }
    }

    let memory = MemoryTokenStore()
    let taken = Shared(0)
    let released = Shared(0)
    var allowsUnsavedTokens: Bool { true }

    func load() async -> OAuth2.Token? { await memory.load() }
    func save(_ token: OAuth2.Token) async { await memory.save(token) }
    func delete() async { await memory.delete() }

    func lock(timeout: Duration, on clock: any SluiceClock) async throws -> any TokenLock {
        Lock(
            taken.change {
                $0 += 1; return $0
            },
            of: self
        )
    }
}

/// A shared store in memory, which gives its first lock late. A lock ends when the token is read through it once more.
private final class SlowLockStore: SharedTokenStore {
    final class Lock: TokenLock {
        let store: SlowLockStore

        init(of store: SlowLockStore) {
            self.store = store
        }

        deinit { store.released.change { $0 += 1 } }

        func isHeld(for duration: Duration) -> Bool { true }

        func load() async throws -> OAuth2.Token? {
            let count = store.loadsByLock.change { count in
                count += 1
                return count
            }
            if count > 1 { throw TokenLockExpired() }
            return await store.memory.load()
        }

        func save(_ token: OAuth2.Token) async { await store.memory.save(token) }
        func delete() async { await store.memory.delete() }
    }

    let memory = MemoryTokenStore()
    let firstLock = AsyncSignal()
    let taken = Shared(0)
    let released = Shared(0)
    let loads = Shared(0)
    let loadsByLock = Shared(0)
    var allowsUnsavedTokens: Bool { true }

    func load() async -> OAuth2.Token? {
        loads.change { $0 += 1 }
        return await memory.load()
    }

    func save(_ token: OAuth2.Token) async { await memory.save(token) }
    func delete() async { await memory.delete() }

    func lock(timeout: Duration, on clock: any SluiceClock) async throws -> any TokenLock {
        let number = taken.change { count in
            count += 1
            return count
        }
        if number == 1 { await firstLock.wait() }
        return Lock(of: self)
    }
}

/// A shared store that is away, and whose lock saves the token in the background.
private final class BackgroundSavingStore: SharedTokenStore {
    final class Lock: TokenLock {
        let store: BackgroundSavingStore

        init(of store: BackgroundSavingStore) {
            self.store = store
        }

        var backgroundSave: Task<Void, Never>? { store.isAway.read ? store.task : nil }
        func isHeld(for duration: Duration) -> Bool { true }
        func load() async -> OAuth2.Token? { nil }

        func save(_ token: OAuth2.Token) async throws {
            store.saves.change { $0.append(token.accessToken) }
            if store.isAway.read { throw TokenStoreError("The store is away.") }
        }

        func delete() async {}
    }

    let end = AsyncSignal()
    let isAway = Shared(true)
    let saves = Shared<[String]>([])
    let task: Task<Void, Never>
    var allowsUnsavedTokens: Bool { true }

    init() {
        task = Task { [end] in await end.wait() }
    }

    func load() async -> OAuth2.Token? { nil }
    func save(_ token: OAuth2.Token) async {}
    func delete() async {}
    func lock(timeout: Duration, on clock: any SluiceClock) async throws -> any TokenLock { Lock(of: self) }
}

/// A shared store whose tokens cannot be saved at times.
private struct FailingStore: SharedTokenStore {
    struct Failure: Error {}

    final class Lock: TokenLock {
        let store: FailingStore
        let lock: any TokenLock

        init(_ lock: any TokenLock, of store: FailingStore) {
            self.lock = lock
            self.store = store
        }

        func isHeld(for duration: Duration) -> Bool { lock.isHeld(for: duration) }
        func load() async throws -> OAuth2.Token? { try await lock.load() }
        func save(_ token: OAuth2.Token) async throws { try await store.save(token) }
        func delete() async throws { try await lock.delete() }
    }

    let file: FileTokenStore
    let isFailing: Shared<Bool>
    var allowsUnsavedTokens: Bool { false }

    func load() async throws -> OAuth2.Token? { try await file.load() }

    func save(_ token: OAuth2.Token) async throws {
        if isFailing.read { throw Failure() }
        try await file.save(token)
    }

    func delete() async throws { try await file.delete() }

    func lock(timeout: Duration, on clock: any SluiceClock) async throws -> any TokenLock {
        Lock(try await file.lock(timeout: timeout, on: clock), of: self)
    }
}
