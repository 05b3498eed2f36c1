import Foundation
import SluiceTesting
import XCTest

@testable import Sluice

/// Many concurrent requests with one token.
final class OAuth2ConcurrencyTests: XCTestCase {
    private func carried(_ count: Int, by client: APIClient) async -> [String] {
        await withTaskGroup(of: String.self) { group in
            for index in 0..<count {
                group.addTask {
                    let result = await client.get("x\(index % 10)")
                    return (try? result.get()) ?? "\(result)"
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    func testConcurrentRequestsShareOneToken() async throws {
        let guarded = try GuardedServer()
        let client = guarded.client(guarded.gate())
        let carried = await carried(200, by: client)
        XCTAssertEqual(carried, Array(repeating: "Bearer t1", count: 200))
        XCTAssertEqual(guarded.tokenRequests.count, 1)
    }

    func testConcurrentRefusalsCauseOneRefresh() async throws {
        let guarded = try GuardedServer(isRefreshable: true)
        let oauth = guarded.gate(.refreshToken("r0", id: "i"))
        let client = guarded.client(oauth)
        _ = await client.get("x")
        guarded.refuse("t1")
        let carried = await carried(200, by: client)
        XCTAssertEqual(carried, Array(repeating: "Bearer t2", count: 200))
        XCTAssertEqual(guarded.tokenRequests.map(\.text).map { String($0.suffix(2)) }, ["r0", "r1"])
        XCTAssertLessThanOrEqual(guarded.server.requestCount, 1 + 2 + 400)
    }

    func testCancelledRequestLeavesAndOthersGetToken() async throws {
        let guarded = try GuardedServer()
        let signal = LoopbackSignal()
        guarded.server.on(.post, "/token", .after(signal, .token("t")))
        let client = guarded.client(guarded.gate())
        let staying = Task { await client.get("x") }
        await guarded.server.waitForRequests(1)
        let leaving = Task { await client.get("x") }
        // The request usually waits by now. Otherwise it is cancelled before it starts.
        for _ in 0..<100 { await Task.yield() }
        leaving.cancel()
        let left = await leaving.value
        XCTAssertEqual(left.failure?.code, .cancelled)
        signal.fire()
        let carried = try await staying.value.get()
        XCTAssertEqual(carried, "Bearer t")
        XCTAssertEqual(guarded.tokenRequests.count, 1)
    }

    func testCancelsTokenRequestWhenLastWaiterLeaves() async throws {
        let guarded = try GuardedServer()
        guarded.server.on(.post, "/token", .hang, .token("t"))
        let client = guarded.client(guarded.gate())
        let tasks = (0..<3).map { _ in Task { await client.get("x") } }
        await guarded.server.waitForRequests(1)
        for task in tasks { task.cancel() }
        await guarded.server.waitForOpenConnections { $0 == 0 }
        for task in tasks {
            let result = await task.value
            XCTAssertEqual(result.failure?.code, .cancelled)
        }
        let carried = try await client.string.get("x").sender().value
        XCTAssertEqual(carried, "Bearer t")
    }

    func testTokenRequestOutlivesTheTimeOutOfItsLastWaiter() async throws {
        let guarded = try GuardedServer()
        let signal = LoopbackSignal()
        guarded.server.on(.post, "/token", .after(signal, .token("t")))
        let clock = TestClock()
        let client = guarded.client(guarded.gate(), clock: clock)
        let leaving = Task { await client.string.get("x").timeout(.seconds(5)).sender().result }
        await guarded.server.waitForRequests(1)
        await eventually { clock.pendingSleeps.contains(.seconds(5)) }
        clock.advance(by: .seconds(5))
        let left = await leaving.value
        XCTAssertEqual(left.failure?.code, .timedOut)
        let joining = Task { await client.get("x") }
        signal.fire()
        let carried = try await joining.value.get()
        XCTAssertEqual(carried, "Bearer t")
        XCTAssertEqual(guarded.tokenRequests.count, 1)
    }

    func testRefreshCompletesAfterLastWaiterLeaves() async throws {
        let guarded = try GuardedServer()
        let signal = LoopbackSignal()
        guarded.server.on(.post, "/token", .after(signal, .token("t", refresh: "r1")))
        let store = WatchedTokenStore()
        let client = guarded.client(guarded.gate(.refreshToken("r0", id: "i")) { $0.store = store })
        let leaving = Task { await client.get("x") }
        await guarded.server.waitForRequests(1)
        leaving.cancel()
        _ = await leaving.value
        signal.fire()
        await eventually { store.token.read != nil }
        XCTAssertEqual(store.token.read?.refreshToken, "r1")
        let carried = try await client.string.get("x").sender().value
        XCTAssertEqual(carried, "Bearer t")
        XCTAssertEqual(guarded.tokenRequests.count, 1)
    }

    func testStoresRefreshTokenBeforeUsingAccessToken() async throws {
        let guarded = try GuardedServer(isRefreshable: true)
        let store = WatchedTokenStore()
        let saveSignal = AsyncSignal()
        store.saveSignal.change { $0 = saveSignal }
        let client = guarded.client(guarded.gate(.refreshToken("r0", id: "i")) { $0.store = store })
        let call = Task { await client.get("x") }
        await eventually { store.calls.read.contains("save t1") }
        XCTAssertEqual(guarded.server.requests(to: "/api/x").count, 0)
        saveSignal.open()
        let carried = try await call.value.get()
        XCTAssertEqual(carried, "Bearer t1")
    }

    func testStoreIsNotCalledWhileACallForCancelledWorkRuns() async throws {
        let guarded = try GuardedServer()
        let store = WatchedTokenStore()
        let loadSignal = AsyncSignal()
        store.loadSignal.change { $0 = loadSignal }
        let oauth = guarded.gate { $0.store = store }
        let client = guarded.client(oauth)
        let cancelled = Task { await client.get("x") }
        await eventually { store.calls.read == ["load"] }
        cancelled.cancel()
        _ = await cancelled.value
        let next = Task { await client.get("x") }
        await eventually { oauth.shared.withLock { $0.storeWaiters.count } == 1 }
        XCTAssertEqual(store.calls.read, ["load"])
        loadSignal.open()
        let carried = try await next.value.get()
        XCTAssertEqual(carried, "Bearer t1")
        XCTAssertEqual(store.calls.read, ["load", "load", "save t1"])
    }

    func testCallOfTheStoreThatDoesNotEndFailsLaterCallsAfterTheTimeout() async throws {
        let guarded = try GuardedServer()
        let store = WatchedTokenStore()
        let loadSignal = AsyncSignal()
        store.loadSignal.change { $0 = loadSignal }
        let clock = TestClock()
        let oauth = guarded.gate {
            $0.store = store
            $0.timeout = .seconds(17)
        }
        let client = guarded.client(oauth, clock: clock)
        let cancelled = Task { await client.get("x") }
        await eventually { store.calls.read == ["load"] }
        cancelled.cancel()
        _ = await cancelled.value
        let next = Task { await client.get("x") }
        await eventually { clock.pendingSleeps.contains(.seconds(17)) }
        clock.advance(by: .seconds(17))
        let failed = await next.value
        XCTAssertEqual(failed.oauth2?.code, .storeFailed)
        XCTAssertEqual(store.calls.read, ["load"])
        // The call ends after all.
        loadSignal.open()
        let carried = try await client.string.get("x").sender().value
        XCTAssertEqual(carried, "Bearer t1")
        XCTAssertEqual(store.calls.read, ["load", "load", "save t1"])
    }

    func testStoreCanSendRequestsThroughSameClient() async throws {
        struct RemoteTokenStore: TokenStore {
            let client: Shared<APIClient?>
            func load() async throws -> OAuth2.Token? {
                guard let client = client.read else { return nil }
                return OAuth2.Token(accessToken: try await client.string.get("vault").sender().value)
            }
            func save(_ token: OAuth2.Token) async throws { _ = try await load() }
            func delete() async throws { _ = try await load() }
        }
        let guarded = try GuardedServer()
        guarded.server.on("/api/vault") { .text($0.headers[.authorization] ?? "kept") }
        let store = RemoteTokenStore(client: Shared(nil))
        let client = guarded.client(guarded.gate { $0.store = store })
        store.client.change { $0 = client }
        let carried = try await client.string.get("x").sender().value
        XCTAssertEqual(carried, "Bearer kept")

        // Without a request that needs the token.
        let oauth = guarded.gate { $0.store = store }
        let other = guarded.client(oauth)
        store.client.change { $0 = other }
        let token = try await oauth.token()
        XCTAssertEqual(token.accessToken, "kept")
        try await oauth.signOut()
        try await oauth.signIn(with: .init(accessToken: "new"))
        let newest = try await other.string.get("x").sender().value
        XCTAssertEqual(newest, "Bearer new")
        let vault = guarded.server.requests(to: "/api/vault")
        XCTAssertEqual(vault.count, 4)
        XCTAssertTrue(vault.allSatisfy { $0.headers[.authorization] == nil })
    }

    func testRandomCancellationsEndEveryRequest() async throws {
        let guarded = try GuardedServer()
        let client = guarded.client(guarded.gate { $0.refreshLimit = .init(count: 10_000) })
        let ended = await withTaskGroup(of: Int.self) { group in
            for index in 0..<500 {
                group.addTask {
                    if index % 50 == 49 { guarded.refuse("t\(index / 50)") }
                    let task = Task { await client.get("x") }
                    for _ in 0..<Int.random(in: 0...20) { await Task.yield() }
                    if index % 3 == 0 { task.cancel() }
                    let result = await task.value
                    switch result {
                    case .success: return 1
                    case .failure(let error):
                        return error.isCancellation || error.status == .unauthorized ? 1 : 0
                    }
                }
            }
            return await group.reduce(0, +)
        }
        XCTAssertEqual(ended, 500)
        guarded.refused.change { $0 = [] }
        let carried = await client.get("x")
        XCTAssertNotNil(try? carried.get())
    }
}
