#if os(Linux)
import Foundation
import Sluice
import SluiceEngine
import SluiceTesting
import XCTest

/// The end of a client's service: ``APIClient/drain(within:)``.
final class DrainTests: XCTestCase {
    private let clock = TestClock()

    private func server() throws -> (LoopbackServer, LoopbackSignal) {
        let server = try LoopbackServer()
        let signal = LoopbackSignal()
        server.on("/*", .text("ok"))
        server.on("/held", .after(signal, .text("held")))
        return (server, signal)
    }

    private func client(
        _ server: LoopbackServer,
        _ configure: (inout APIClient.Configuration) -> Void = { _ in }
    ) -> APIClient {
        APIClient(baseURL: server.url) {
            $0.transport = SocketTransport()
            $0.clock = self.clock
            configure(&$0)
        }
    }

    /// Waits until the client refuses requests. Sends none, whose connections would stay open until the end of the drain.
    private func waitUntilDraining(_ client: APIClient) async throws {
        try await waitUntil("the client refuses requests") {
            do throws(SluiceError) { try await client.connect() } catch { return error.code == .drained }
            return false
        }
    }

    func testCancelAllEndsRunningRequestsAndKeepsTheClient() async throws {
        let (server, signal) = try server()
        let client = client(server) { $0.gates = [ConcurrencyLimit(1)] }
        let other = APIClient(baseURL: server.url)
        let tasks = (0..<2).map { _ in Task { await client.string.get("/held").sender().result.failure?.code } }
        let kept = Task { try await other.string.get("/held").sender().value }
        await server.waitForRequests(2)
        client.cancelAll()
        for task in tasks {
            let code = await task.value
            XCTAssertEqual(code, .cancelled)
        }
        let text = try await client.string.get("/").sender().value
        XCTAssertEqual(text, "ok")
        signal.fire()
        let held = try await kept.value
        XCTAssertEqual(held, "held")
    }

    func testRunningRequestFinishesAndNewOnesAreRefused() async throws {
        let (server, signal) = try server()
        let client = client(server)
        let copy = client
        let held = client.string.get("/held").sender()
        let task = Task { await held.result }
        await server.waitForRequests(1)
        _ = try await client.string.get("/").sender().value
        let draining = Task { await copy.drain() }
        try await waitUntilDraining(client)
        let sent = server.requests.count
        let refused = await client.string.get("/").sender().response.failure
        XCTAssertEqual(refused?.code, .drained)
        XCTAssertEqual(server.requests.count, sent)
        try await waitUntil("the idle connection is closed") { server.openConnections == 1 }
        signal.fire()
        let isComplete = await draining.value
        XCTAssertTrue(isComplete)
        let value = try await task.value.get()
        XCTAssertEqual(value, "held")
        try await waitUntil("the last connection is closed") { server.openConnections == 0 }
        XCTAssertEqual(client.connections.open, 0)
    }

    func testRequestsAreReportedBeforeTheDrainEnds() async throws {
        final class Ends: Plugin {
            let count = Locked(0)
            func didFinish(_ result: Result<any Sendable, any Error>, context: RequestContext) {
                count.withLock { $0 += 1 }
            }
        }
        for _ in 0..<20 {
            let (server, signal) = try server()
            let ends = Ends()
            let client = client(server) { $0.plugins = [ends] }
            let task = Task { await client.string.get("/held").sender().result }
            await server.waitForRequests(1)
            let draining = Task { await client.drain() }
            try await waitUntilDraining(client)
            let refused = ends.count.withLock { $0 }
            signal.fire()
            _ = await draining.value
            XCTAssertEqual(ends.count.withLock { $0 }, refused + 1)
            _ = await task.value
        }
    }

    func testRequestsThatAreLeftAreCancelledAtTheDeadline() async throws {
        let (server, _) = try server()
        let client = client(server)
        let task = Task { await client.string.get("/held").sender().response.failure }
        await server.waitForRequests(1)
        let draining = Task { await client.drain(within: .seconds(30)) }
        await clock.waitForSleepers(1)
        XCTAssertEqual(clock.pendingSleeps, [.seconds(30)])
        clock.advance(by: .seconds(30))
        let isComplete = await draining.value
        XCTAssertFalse(isComplete)
        let failure = await task.value
        XCTAssertEqual(failure?.code, .cancelled)
        try await waitUntil("the connection is closed") { server.openConnections == 0 }
    }

    func testAbandonedRequestDoesNotDelayTheDrain() async throws {
        /// A transport that ignores the cancellation of its task.
        struct Stubborn: Transport {
            let begin: AsyncStream<Void>.Continuation
            let held: AsyncStream<Void>

            func send(
                _ request: HTTPRequest,
                context: TransferContext
            ) async throws(SluiceError) -> TransportResponse {
                begin.finish()
                await Task.detached { for await _ in held {} }.value
                return TransportResponse(head: HTTPResponse(status: .ok), body: ResponseBody())
            }
        }
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let (held, release) = AsyncStream.makeStream(of: Void.self)
        defer { release.finish() }
        let client = APIClient(baseURL: "http://shop.test") { $0.transport = Stubborn(begin: begin, held: held) }
        let task = Task { await client.string.get("/").sender().result }
        for await _ in begun {}
        task.cancel()
        _ = await task.value
        let isComplete = await client.drain(within: .seconds(30))
        XCTAssertTrue(isComplete)
    }

    func testRevalidationInTheBackgroundEndsBeforeTheDrain() async throws {
        let (server, signal) = try server()
        let headers: HTTPHeaders = ["Cache-Control": "max-age=1, stale-while-revalidate=600"]
        server.on("/page", .text("1", headers: headers), .after(signal, .text("2", headers: headers)))
        let cache = CacheStore(storage: nil)
        let client = client(server) { $0.cache = cache }
        _ = try await client.string.get("/page").sender().value
        clock.advance(by: .seconds(2))
        let stale = try await client.string.get("/page").sender().value
        XCTAssertEqual(stale, "1")
        await server.waitForRequests(2)
        let draining = Task { await client.drain() }
        try await waitUntilDraining(client)
        // A client that drains revalidates nothing.
        let refused = await client.string.get("/page").sender().response.failure
        XCTAssertEqual(refused?.code, .drained)
        signal.fire()
        let isComplete = await draining.value
        XCTAssertTrue(isComplete)
        let successor = self.client(server) { $0.cache = cache }
        let fresh = try await successor.string.get("/page").sender().value
        XCTAssertEqual(fresh, "2")
        XCTAssertEqual(server.requests.count, 2)
    }

    func testRefreshThatNobodyWaitsForEndsBeforeTheDrain() async throws {
        try await expectRefreshBeforeDrain { _ in }
    }

    func testRefreshByAnotherClientEndsBeforeTheDrain() async throws {
        let other = APIClient()
        try await expectRefreshBeforeDrain { $0.client = other }
    }

    private func expectRefreshBeforeDrain(_ configure: (inout OAuth2.Configuration) -> Void) async throws {
        let (server, signal) = try server()
        let token = #"{"access_token":"new","token_type":"Bearer","refresh_token":"r1"}"#
        server.on(.post, "/token", .after(signal, .json(token)))
        let store = MemoryTokenStore()
        let gate = OAuth2(.refreshToken("r0", id: "i"), tokenURL: "\(server.url)/token") {
            $0.store = store
            configure(&$0)
        }
        let client = client(server) { $0.gates = [gate] }
        let sender = client.string.get("/").sender()
        let task = Task { await sender.result }
        await server.waitForRequests(1)
        sender.cancel()
        _ = await task.value
        let draining = Task { await client.drain() }
        try await waitUntilDraining(client)
        let before = await store.load()
        XCTAssertNil(before)
        signal.fire()
        let isComplete = await draining.value
        XCTAssertTrue(isComplete)
        // The server has replaced the refresh token, so the new one must not be lost.
        let after = await store.load()
        XCTAssertEqual(after?.refreshToken, "r1")
    }

    func testTokenIsStoredBeforeTheDrainEnds() async throws {
        let (server, _) = try server()
        let token = #"{"access_token":"new","token_type":"Bearer","refresh_token":"r1"}"#
        server.on(.post, "/token", .json(token))
        let store = LateTokenStore()
        let gate = OAuth2(.refreshToken("r0", id: "i"), tokenURL: "\(server.url)/token") { $0.store = store }
        let (client, other) = (client(server) { $0.gates = [gate] }, client(server) { $0.gates = [gate] })
        // Requests do not wait until the token is stored.
        for client in [client, client, other] {
            let value = try await client.string.get("/").sender().value
            XCTAssertEqual(value, "ok")
        }
        let drains = [client, other].map { client in Task { await client.drain() } }
        for drain in drains {
            let isDone = await TaskRace.isDone(drain)
            XCTAssertFalse(isDone)
        }
        store.signal.open()
        for drain in drains {
            let isComplete = await drain.value
            XCTAssertTrue(isComplete)
        }
        XCTAssertEqual(server.requests(to: "/token").count, 1)
    }

    func testRefreshThatOtherClientsMayNeedIsNotCancelled() async throws {
        let (server, signal) = try server()
        let token = #"{"access_token":"new","token_type":"Bearer","refresh_token":"r1"}"#
        server.on(.post, "/token", .after(signal, .json(token)))
        let store = MemoryTokenStore()
        let gate = OAuth2(.refreshToken("r0", id: "i"), tokenURL: "\(server.url)/token") { $0.store = store }
        let (client, other) = (client(server) { $0.gates = [gate] }, client(server) { $0.gates = [gate] })
        let left = Task { await client.string.get("/").sender().response.failure }
        await server.waitForRequests(1)
        let waiting = Task { await other.string.get("/").sender().result }
        let draining = Task { await client.drain(within: .seconds(10)) }
        try await waitUntil("the drain waits") { self.clock.pendingSleeps.contains(.seconds(10)) }
        clock.advance(by: .seconds(10))
        let isComplete = await draining.value
        XCTAssertFalse(isComplete)
        let failure = await left.value
        XCTAssertEqual(failure?.code, .cancelled)
        signal.fire()
        let value = try await waiting.value.get()
        XCTAssertEqual(value, "ok")
        XCTAssertEqual(server.requests(to: "/token").count, 1)
        let stored = await store.load()
        XCTAssertEqual(stored?.refreshToken, "r1")
    }

    func testStreamWithoutAnEndIsCancelledAtTheDeadline() async throws {
        let (server, _) = try server()
        server.on(
            "/events",
            .script(.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n"), .hang)
        )
        let client = client(server)
        let events = Locked<[String]>([])
        let task = Task {
            do throws(APIError) {
                for try await event in client.stream("/events").serverSentEvents() {
                    events.withLock { $0.append(event.data) }
                }
                return SluiceError.Code?.none
            } catch {
                return error.code
            }
        }
        try await waitUntil("the first event") { events.withLock(\.self) == ["1"] }
        let draining = Task { await client.drain(within: .seconds(10)) }
        await clock.waitForSleepers(1)
        XCTAssertEqual(server.openConnections, 1)
        clock.advance(by: .seconds(10))
        let isComplete = await draining.value
        XCTAssertFalse(isComplete)
        let code = await task.value
        XCTAssertEqual(code, .cancelled)
        try await waitUntil("the connection is closed") { server.openConnections == 0 }
    }

    func testStreamThatEndsInTimeIsComplete() async throws {
        let (server, signal) = try server()
        let head = "HTTP/1.1 200 OK\r\n\r\n"
        server.on("/lines", .script(.write(head + "first\n"), .wait(for: signal), .write("last\n"), .close))
        let client = client(server)
        let response = try await client.stream("/lines").response()
        let draining = Task { await client.drain() }
        await clock.waitForSleepers(1)
        signal.fire()
        var lines: [String] = []
        for try await line in response.lines { lines.append(line) }
        XCTAssertEqual(lines, ["first", "last"])
        let isComplete = await draining.value
        XCTAssertTrue(isComplete)
    }

    func testStreamThatIsNotReadEndsWithItsResponse() async throws {
        let (server, _) = try server()
        server.on("/endless", .endless(chunk: Data("x".utf8)))
        let client = client(server)
        var response: StreamedResponse<APIError>? = try await client.stream("/endless").response()
        XCTAssertEqual(response?.status, .ok)
        let draining = Task { await client.drain() }
        await clock.waitForSleepers(1)
        response = nil
        let isComplete = await draining.value
        XCTAssertTrue(isComplete)
    }

    func testStreamIsRefused() async throws {
        let (server, _) = try server()
        let client = client(server)
        let isComplete = await client.drain()
        XCTAssertTrue(isComplete)
        do {
            _ = try await client.stream("/lines").response()
            XCTFail("The stream was sent.")
        } catch {
            XCTAssertEqual(error.code, .drained)
        }
        XCTAssertEqual(server.requests.count, 0)
    }

    func testDownloadFinishesOrIsRefused() async throws {
        let (server, signal) = try server()
        let client = client(server)
        let sender = client.download("/held", to: .temporary).sender()
        let task = Task { await sender.result }
        await server.waitForRequests(1)
        let draining = Task { await client.drain() }
        try await waitUntilDraining(client)
        signal.fire()
        let file = try await task.value.get()
        XCTAssertEqual(try String(contentsOf: file.url, encoding: .utf8), "held")
        let isComplete = await draining.value
        XCTAssertTrue(isComplete)
        let refused = await client.download("/", to: .temporary).sender().response.failure
        XCTAssertEqual(refused?.code, .drained)
    }

    func testRetryOfARunningRequestIsSent() async throws {
        let (server, signal) = try server()
        server.on("/busy", .after(signal, .status(503)), .text("done"))
        let client = client(server) { $0.retry = .standard }
        let task = Task { await client.string.get("/busy").sender().result }
        await server.waitForRequests(1)
        let draining = Task { await client.drain(within: .seconds(1000)) }
        await clock.waitForSleepers(1)
        signal.fire()
        // The drain and the pause before the retry.
        await clock.waitForSleepers(2)
        clock.advance(by: .seconds(60))
        let value = try await task.value.get()
        XCTAssertEqual(value, "done")
        let isComplete = await draining.value
        XCTAssertTrue(isComplete)
    }

    func testOtherClientsAreNotAffected() async throws {
        let (server, _) = try server()
        let transport = SocketTransport()
        let client = client(server) { $0.transport = transport }
        let other = APIClient(baseURL: server.url) { $0 = client.configuration }
        _ = try await other.string.get("/").sender().value
        await client.drain()
        let value = try await other.string.get("/").sender().value
        XCTAssertEqual(value, "ok")
    }

    func testCancelledDrainCancelsWhatIsLeft() async throws {
        let (server, _) = try server()
        let client = client(server)
        let task = Task { await client.string.get("/held").sender().response.failure }
        await server.waitForRequests(1)
        let draining = Task { await client.drain() }
        await clock.waitForSleepers(1)
        draining.cancel()
        let isComplete = await draining.value
        XCTAssertFalse(isComplete)
        let failure = await task.value
        XCTAssertEqual(failure?.code, .cancelled)
    }

    func testNoConnectionsAreOpenedAfterADrain() async throws {
        let (server, _) = try server()
        let client = client(server)
        await client.drain()
        do {
            try await client.connect(count: 2)
            XCTFail("Connections were opened.")
        } catch {
            XCTAssertEqual(error.code, .drained)
        }
        XCTAssertEqual(server.connections, 0)
    }

    func testObserversSeeRefusedRequests() async throws {
        let (server, _) = try server()
        let failures = Locked<[SluiceError.Code]>([])
        let client = client(server) { $0.observers = [Failures(codes: failures)] }
        await client.drain()
        _ = await client.string.get("/").sender().response
        await client.observersCaughtUp()
        XCTAssertEqual(failures.withLock(\.self), [.drained])
    }

    func testEveryRequestLeavesHoweverItEnds() async throws {
        let (server, _) = try server()
        let client = client(server)
        let ends = (0..<100).map { index in
            Task {
                let sender = client.string.get(index % 2 == 0 ? "/\(index)" : "/held").sender()
                let waiting = Task { await sender.response.failure?.code }
                if index % 2 == 1 {
                    if index % 4 == 1 { sender.cancel() } else { waiting.cancel() }
                }
                return await waiting.value
            }
        }
        for (index, end) in ends.enumerated() {
            let code = await end.value
            XCTAssertEqual(code, index % 2 == 0 ? nil : .cancelled)
        }
        // Nothing is left, so the clock need not advance.
        let isComplete = await client.drain()
        XCTAssertTrue(isComplete)
    }
}

/// A shared store that saves its token only after a signal, in the background.
private final class LateTokenStore: SharedTokenStore {
    final class Lock: TokenLock {
        let store: LateTokenStore

        init(of store: LateTokenStore) {
            self.store = store
        }

        var backgroundSave: Task<Void, Never>? { store.isSaved.read ? nil : store.task }
        func isHeld(for duration: Duration) -> Bool { true }
        func load() async -> OAuth2.Token? { nil }
        func save(_ token: OAuth2.Token) async throws { throw TokenStoreError("The store is away.") }
        func delete() async {}
    }

    let signal = AsyncSignal()
    let isSaved = Shared(false)
    let task: Task<Void, Never>
    var allowsUnsavedTokens: Bool { true }

    init() {
        task = Task { [signal, isSaved] in
            await signal.wait()
            isSaved.change { $0 = true }
        }
    }

    func load() async -> OAuth2.Token? { nil }
    func save(_ token: OAuth2.Token) async {}
    func delete() async {}
    func lock(timeout: Duration, on clock: any SluiceClock) async throws -> any TokenLock { Lock(of: self) }
}

private struct Failures: RequestObserver {
    let codes: Locked<[SluiceError.Code]>

    var interests: RequestEvent.Kinds { .finished }

    func observe(_ event: RequestEvent, of request: ObservedRequest) {
        if case .finished(.failure(let error)) = event { codes.withLock { $0.append(error.code) } }
    }
}
#endif
