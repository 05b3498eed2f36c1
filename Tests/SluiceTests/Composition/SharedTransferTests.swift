import SluiceTesting
import XCTest

@testable import Sluice

final class SharedTransferTests: XCTestCase {
    private func client(
        _ server: LoopbackServer,
        _ configure: (inout APIClient.Configuration) -> Void = { _ in }
    ) -> APIClient {
        addTeardownBlock { server.stop() }
        return APIClient(baseURL: server.url) {
            $0.sharing = .safeMethods
            configure(&$0)
        }
    }

    func testTenThousandEqualRequestsShareOneTransfer() async throws {
        let server = try LoopbackServer()
        let signal = LoopbackSignal()
        server.on("/user", .after(signal, .json(#"{"id":1,"name":"Ada"}"#)))
        let gate = CountingGate()
        let client = client(server) { $0.gates = [gate] }
        let senders = (0..<10_000).map { _ in client.codable.get("user", as: User.self).sender() }
        let sum = await withTaskGroup(of: Int.self) { group in
            for sender in senders { group.addTask { (try? await sender.value.id) ?? 0 } }
            await eventually { client.pipeline.transfers.waiting == senders.count }
            signal.fire()
            return await group.reduce(0, +)
        }
        XCTAssertEqual(sum, 10_000)
        XCTAssertEqual(server.requestCount, 1)
        XCTAssertEqual(gate.admitted.read, 1)
    }

    func testEqualRequestOfAnInterceptorIsNotShared() async throws {
        struct Again: ResponseInterceptor {
            let hasSent = Shared(false)

            func intercept(_ outcome: TransportOutcome, context: RequestContext) async -> TransportOutcome {
                let isFirst = hasSent.change { hasSent in
                    defer { hasSent = true }
                    return !hasSent
                }
                guard isFirst else { return outcome }
                let response = await context.client.string.get("page").sender().response
                XCTAssertEqual(try? response.result.get(), "page")
                return outcome
            }
        }
        let server = try LoopbackServer()
        server.on("/page", .text("page"))
        let client = client(server) { $0.responseInterceptors = [Again()] }
        let value = try await client.string.get("page").sender().value
        XCTAssertEqual(value, "page")
        XCTAssertEqual(server.requestCount, 2)
    }

    /// The interceptor starts a task that sends requests after the transfer.
    func testRequestsOfATaskThatATransferHasStartedAreShared() async throws {
        struct Poller: ResponseInterceptor {
            let begin = AsyncSignal()
            let poll: @Sendable () async -> Void
            let polls = Shared<Task<Void, Never>?>(nil)

            func intercept(_ outcome: TransportOutcome, context: RequestContext) async -> TransportOutcome {
                polls.change { task in
                    if task == nil {
                        task = Task {
                            await begin.wait()
                            await poll()
                        }
                    }
                }
                return outcome
            }
        }
        let server = try LoopbackServer()
        let signal = LoopbackSignal()
        server.on("/page", .text("page"))
        server.on("/poll", .after(signal, .text("poll")))
        let own = Shared<APIClient?>(nil)
        let poller = Poller {
            guard let client = own.read else { return }
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<2 { group.addTask { _ = await client.string.get("poll").sender().result } }
                await eventually { client.pipeline.transfers.waiting == 2 }
                signal.fire()
            }
        }
        let client = client(server) { $0.responseInterceptors = [poller] }
        own.change { $0 = client }
        _ = try await client.string.get("page").sender().value
        poller.begin.open()
        await poller.polls.read?.value
        XCTAssertEqual(server.requests.map(\.path), ["/page", "/poll"])
        own.change { $0 = nil }
    }

    func testTransferOfAUserWhoSignsOutIsNotTheNextUsers() async throws {
        let server = try LoopbackServer()
        let signal = LoopbackSignal()
        server.on("/me", .after(signal, .text("ada")), .text("grace"))
        let jar = CookieJar()
        try await jar.set(Cookie(name: "sid", value: "ada", domain: "127.0.0.1"))
        let client = client(server) { $0.cookies = jar }
        async let ada = client.string.get("me").sender().value
        await server.waitForRequests(1)
        await jar.removeAll()
        try await jar.set(Cookie(name: "sid", value: "grace", domain: "127.0.0.1"))
        let grace = try await client.string.get("me").sender().value
        XCTAssertEqual(grace, "grace")
        signal.fire()
        let first = try await ada
        XCTAssertEqual(first, "ada")
    }

    func testEachCallerDecodesTheSharedBody() async throws {
        let server = try LoopbackServer()
        let signal = LoopbackSignal()
        server.on("/user", .after(signal, .json(#"{"id":1,"name":"Ada"}"#)))
        let client = client(server)
        async let user = client.codable.get("user", as: User.self).sender().value
        async let text = client.string.get("user").sender().value
        async let wrong = client.codable.get("user", as: [Int].self).sender().result
        await eventually { client.pipeline.transfers.waiting == 3 }
        signal.fire()
        let (ada, json, failure) = (try await user, try await text, await wrong)
        XCTAssertEqual(ada.name, "Ada")
        XCTAssertEqual(json, #"{"id":1,"name":"Ada"}"#)
        XCTAssertEqual(failure.failure?.code, .decodingFailed)
        XCTAssertEqual(server.requestCount, 1)
    }

    func testTransferIsCancelledWithItsLastCaller() async throws {
        let server = try LoopbackServer()
        server.on("/hang", .hang)
        let client = client(server)
        let tasks = (0..<3).map { _ in Task { await client.string.get("hang").sender().result } }
        await eventually { client.pipeline.transfers.waiting == 3 }
        await server.waitForRequests(1)
        for (number, task) in tasks.enumerated() {
            XCTAssertEqual(server.openConnections, 1)
            task.cancel()
            let result = await task.value
            XCTAssertEqual(result.failure?.isCancellation, true)
            XCTAssertEqual(client.pipeline.transfers.waiting, 2 - number)
        }
        await server.waitForOpenConnections { $0 == 0 }
        XCTAssertEqual(server.requestCount, 1)
    }

    func testTransferIsNotJoinedByRequestsThatItWaitsForThroughAnotherClient() async throws {
        struct Asking: RequestInterceptor {
            let client: Shared<APIClient?>
            let hasAsked = Shared(false)

            func intercept(_ request: HTTPRequest, context: RequestContext) async throws -> HTTPRequest {
                let isFirst = hasAsked.change { hasAsked in
                    defer { hasAsked = true }
                    return !hasAsked
                }
                if isFirst { _ = try await client.read?.string.get("page").sender().value }
                return request
            }
        }
        let server = try LoopbackServer()
        server.on("/page", .text("ok"))
        let first = Shared<APIClient?>(nil)
        let second = client(server) { $0.requestInterceptors = [Asking(client: first)] }
        let client = client(server) { $0.requestInterceptors = [Asking(client: Shared(second))] }
        first.change { $0 = client }
        let text = try await client.string.get("page").timeout(total: .seconds(30)).sender().value
        XCTAssertEqual(text, "ok")
        XCTAssertEqual(server.requestCount, 3)
        first.change { $0 = nil }
    }

    func testPluginsGetTheTimeOutOfASharedTransfer() async throws {
        struct Noting: Plugin {
            let codes: Shared<[SluiceError.Code?]>

            func didFinish(_ result: Result<any Sendable, any Error>, context: RequestContext) {
                guard case .failure(let error) = result else { return codes.change { $0.append(nil) } }
                codes.change { $0.append((error as? SluiceError)?.code) }
            }
        }
        let server = try LoopbackServer()
        server.on("/hang", .hang)
        let codes = Shared<[SluiceError.Code?]>([])
        let client = client(server) { $0.plugins = [Noting(codes: codes)] }
        _ = await Deadline.withDeadline(.seconds(1)) { await client.string.get("hang").sender().result }
        try await waitUntil("the plugin has the end of the request") { !codes.read.isEmpty }
        XCTAssertEqual(codes.read, [.timedOut])
    }

    func testRequestAfterACancelledTransferStartsANewOne() async throws {
        let server = try LoopbackServer()
        let requests = Shared(0)
        server.on("/page") { _ in requests.counted == 1 ? .hang : .text("second") }
        let client = client(server)
        let task = Task { await client.string.get("page").sender().result }
        await eventually { requests.read == 1 }
        task.cancel()
        _ = await task.value
        let text = try await client.string.get("page").sender().value
        XCTAssertEqual(text, "second")
    }

    func testJoinDuringCancellationStartsANewTransfer() throws {
        let client = APIClient(baseURL: "http://a.example") { $0.sharing = .safeMethods }
        let request = client.string.get("page")
        let key = try XCTUnwrap(SharedTransferKey(request.httpRequest(), request.draft, client.pipeline))
        let transfers = SharedTransfers()
        let (begun, stopped) = (Shared(0), Shared(0))
        let answers = Shared([Bool]())
        let begin: SharedTransfers.Begin = { _, _, _ in
            begun.change { $0 += 1 }
            return { stopped.change { $0 += 1 } }
        }
        let leave = transfers.join(
            key,
            nil,
            clock: TestClock(),
            caller: { $0() },
            completion: { _ in
                // No caller waits any longer, and the transfer is about to be cancelled.
                _ = transfers.join(
                    key,
                    nil,
                    clock: TestClock(),
                    caller: { $0() },
                    completion: { _ in answers.change { $0.append(true) } },
                    begin
                )
            },
            begin
        )
        leave()
        XCTAssertEqual(begun.read, 2)
        XCTAssertEqual(stopped.read, 1)
        XCTAssertEqual(answers.read, [])
        XCTAssertEqual(transfers.waiting, 1, "A later request can join the new transfer.")
    }

    func testFinishedTransferIsNotReused() async throws {
        let server = try LoopbackServer()
        server.on("/page", .text("one"), .text("two"))
        let client = client(server)
        let first = try await client.string.get("page").sender().value
        let second = try await client.string.get("page").sender().value
        XCTAssertEqual([first, second], ["one", "two"])
    }

    func testFailuresAreShared() async throws {
        let server = try LoopbackServer()
        let signal = LoopbackSignal()
        server.on("/page", .after(signal, .drop))
        let client = client(server)
        let tasks = (0..<3).map { _ in Task { await client.string.get("page").sender().result } }
        await eventually { client.pipeline.transfers.waiting == 3 }
        signal.fire()
        for task in tasks {
            let result = await task.value
            XCTAssertEqual(result.failure?.code, .connectionLost)
        }
    }

    func testJoinedCallersReceiveProgress() async throws {
        let server = try LoopbackServer()
        let signal = LoopbackSignal()
        let half = Data(repeating: 1, count: 500)
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"
        server.on("/slow", .script(.write(head), .write(half), .wait(for: signal), .write(half)))
        let client = client(server)
        let first = Task { await client.data.get("slow").sender().result }
        await eventually { client.pipeline.transfers.waiting == 1 }
        let sender = client.data.get("slow").sender()
        let second = Task { await sender.result }
        var last: TransferProgress?
        for await progress in sender.downloadProgress {
            last = progress
            if progress.completed == 500 { signal.fire() }
        }
        XCTAssertEqual(last?.completed, 1000)
        XCTAssertEqual(last?.attempt, 1)
        _ = await (first.value, second.value)
        XCTAssertEqual(server.requestCount, 1)
    }

    func testProgressOfACancelledCallerEnds() async throws {
        let server = try LoopbackServer()
        server.on("/hang", .hang)
        let client = client(server)
        let first = Task { await client.data.get("hang").sender().result }
        let sender = client.data.get("hang").sender()
        let second = Task { await sender.result }
        await eventually { client.pipeline.transfers.waiting == 2 }
        let progress = Task { await sender.downloadProgress.reduce(into: nil) { $0 = $1 } }
        second.cancel()
        _ = await second.value
        let last = await progress.value
        XCTAssertEqual(last?.completed, 0)
        first.cancel()
        _ = await first.value
    }

    func testGETAfterPOSTDoesNotJoinAnEarlierTransfer() async throws {
        let server = try LoopbackServer()
        let signal = LoopbackSignal()
        let requests = Shared(0)
        server.on(.get, "/note") { _ in
            requests.counted == 1 ? .after(signal, .text("old")) : .text("new")
        }
        server.on(.post, "/note", .text("kept"))
        let client = client(server)
        let early = Task { try await client.string.get("note").sender().value }
        await eventually { requests.read == 1 }
        _ = try await client.string.post("note").sender().value
        let text = try await client.string.get("note").sender().value
        XCTAssertEqual(text, "new")
        signal.fire()
        let before = try await early.value
        XCTAssertEqual(before, "old")
    }

    func testObserversReceiveOneFinishedEvent() async throws {
        let server = try LoopbackServer()
        let signal = LoopbackSignal()
        server.on("/page", .after(signal, .status(.notFound)))
        let observer = OutcomeObserver()
        let client = client(server) { $0.observers = [observer] }
        let tasks = (0..<3).map { _ in Task { await client.string.get("page").sender().result } }
        await eventually { client.pipeline.transfers.waiting == 3 }
        signal.fire()
        for task in tasks { _ = await task.value }
        await client.observersCaughtUp()
        XCTAssertEqual(observer.codes.read, [.unacceptableStatus])
    }

    func testEqualRequestOfAConstraintDoesNotJoinTheOuterOne() async throws {
        let server = try LoopbackServer()
        server.on("/page", .text("for the gate"), .text("for the caller"))
        let constraint = RequestingConstraint()
        let client = client(server) { $0.constraints = [constraint] }
        let text = try await client.string.get("page").sender().value
        XCTAssertEqual(text, "for the caller")
        XCTAssertEqual(constraint.text.read, "for the gate")
    }

    func testRetriesAreShared() async throws {
        let server = try LoopbackServer()
        let signal = LoopbackSignal()
        server.on("/page", .after(signal, .status(.serviceUnavailable)), .text("up again"))
        let clock = TestClock()
        let client = client(server) {
            $0.retry = .standard
            $0.clock = clock
        }
        let tasks = (0..<5).map { _ in Task { await client.string.get("page").sender().result } }
        await eventually { client.pipeline.transfers.waiting == 5 }
        signal.fire()
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(60))
        for task in tasks {
            let result = await task.value
            XCTAssertEqual(try result.get(), "up again")
        }
        XCTAssertEqual(server.requestCount, 2)
    }

    func testSharedModifierOverridesTheClient() async throws {
        let server = try LoopbackServer()
        server.on("/report", .text("done"))
        let client = client(server)
        let post = client.string.post("report").data(Data("x".utf8))
        let own = client.string.get("report")
        XCTAssertNil(try SharedTransferKey(post.httpRequest(), post.draft, client.pipeline))
        let shared = post.shared()
        XCTAssertNotNil(try SharedTransferKey(shared.httpRequest(), shared.draft, client.pipeline))
        let alone = own.shared(.none)
        XCTAssertNil(try SharedTransferKey(alone.httpRequest(), alone.draft, client.pipeline))
        let unshared = APIClient(baseURL: server.url)
        let plain = unshared.string.get("report")
        XCTAssertNil(
            try SharedTransferKey(plain.httpRequest(), plain.draft, unshared.pipeline),
            "Sharing is off by default."
        )
    }
}

private final class CountingGate: ImmediateGate {
    let admitted = Shared(0)

    func admit(_ request: RequestContext) async throws(SluiceError) -> Permit {
        admitted.change { $0 += 1 }
        return Permit()
    }
    func admitImmediately(_ request: RequestContext) -> Permit? {
        admitted.change { $0 += 1 }
        return Permit()
    }
}

private final class OutcomeObserver: RequestObserver {
    let codes = Shared([SluiceError.Code?]())
    var interests: RequestEvent.Kinds { .finished }

    func observe(_ event: RequestEvent, of request: ObservedRequest) {
        guard case .finished(let outcome) = event else { return }
        codes.change { $0.append(outcome.failure?.code) }
    }
}

/// A constraint that is satisfied after the page has been requested.
private final class RequestingConstraint: Constraint {
    let text = Shared(String?.none)

    func isSatisfied(for request: RequestContext) async -> Bool { text.read != nil }
    func satisfy(for request: RequestContext) async throws {
        let page: APIRequest<String, APIError> = request.client.string.get("page")
        let found = try await page.sender().value
        text.change { $0 = found }
    }
}

extension Shared<Int> {
    /// Increments the value and returns it.
    fileprivate var counted: Int {
        change { count in
            count += 1
            return count
        }
    }
}
