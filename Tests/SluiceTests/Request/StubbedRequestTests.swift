import Sluice
import SluiceTesting
import XCTest

/// Requests that are answered by stubs, through the whole pipeline.
final class StubbedRequestTests: XCTestCase {
    private let ada = Stub.json(#"{"id":1,"name":"Ada"}"#)

    private struct Refusing: Gate {
        var name: String { "refusing" }
        func admit(_ request: RequestContext) async throws(SluiceError) -> Permit {
            throw SluiceError(.gateFailed, "There is no token.")
        }
    }

    private struct Renaming: ResponseInterceptor {
        func intercept(_ outcome: TransportOutcome, context: RequestContext) async -> TransportOutcome {
            outcome.map { response in
                var response = response
                response.body = Data(#"{"id":2,"name":"Grace"}"#.utf8)
                return response
            }
        }
    }

    func testStubAnswersWithoutASwitch() async throws {
        let client = APIClient(baseURL: "http://shop.invalid")
        let request: APIRequest<User, APIError> = client.codable.request("user")
        let user = try await request.stub(ada).sender().value
        XCTAssertEqual(user.name, "Ada")
        let posted: User = try await client.post("users").json(user).stub(ada).sender().value
        XCTAssertEqual(posted.name, "Ada")
        let preview = APIClient(baseURL: "http://shop.invalid") { [ada] in $0.stub = ada }
        let previewed: User = try await preview.get("user").sender().value
        XCTAssertEqual(previewed.name, "Ada")
        var lines: [String] = []
        for try await line in client.stream("log").stub(.text("one\ntwo")).lines() { lines.append(line) }
        XCTAssertEqual(lines, ["one", "two"])
        let folder = try DownloadFolder()
        let file = folder.url.appending(path: "user.json")
        let saved = try await client.download("user", to: .file(file)).stub(ada).sender().responseURL
        XCTAssertEqual(try Data(contentsOf: saved).count, 21)
        let (one, two) = try await client.batch(request.stub(ada), request.stub(ada))
        XCTAssertEqual([one.name, two.name], ["Ada", "Ada"])
    }

    func testClosureOfAStubTakesTheTotalTimeAtMost() async throws {
        let never = Stub.answering { _ in
            await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
            return .text("late")
        }
        let client = APIClient(baseURL: "http://shop.invalid")
        let request = client.string.get("user").stub(never).timeout(total: .milliseconds(50))
        let failure = await request.sender().response.failure
        XCTAssertEqual(failure?.code, .timedOut)
    }

    func testStubAnswersWhereTheCacheHasAResponse() async throws {
        let server = try LoopbackServer()
        server.on("/user", .json(#"{"id":9,"name":"Real"}"#))
        let client = APIClient(baseURL: server.url) { $0.cache = CacheStore(storage: nil) }
        let request: APIRequest<User, APIError> = client.codable.request("user").dataSource(.cacheElseServer)
        let real = try await request.sender().value
        let kept = try await request.sender().value
        let stubbed = try await request.stub(ada).sender().value
        XCTAssertEqual([real.name, kept.name, stubbed.name], ["Real", "Real", "Ada"])
        XCTAssertEqual(server.requests.count, 1)
    }

    func testRequestOverridesStubModeOfClient() async throws {
        let server = try LoopbackServer()
        server.on("/user", .json(#"{"id":9,"name":"Real"}"#))
        let cases: [(StubMode, StubMode?, String)] = [
            (.never, nil, "Real"), (.immediate, nil, "Ada"), (.never, .immediate, "Ada"), (.immediate, .never, "Real"),
        ]
        for (clients, own, name) in cases {
            let client = APIClient(baseURL: server.url) { $0.stubMode = clients }
            let request: APIRequest<User, APIError> = client.codable.request("user")
            let user = try await request.stub(ada, mode: own).sender().value
            XCTAssertEqual(user.name, name)
        }
    }

    func testStubOfClientAnswersRequestsWithoutStub() async throws {
        let client = APIClient(baseURL: "http://shop.test") { [ada] in
            $0.stubMode = .immediate
            $0.stub = .answering { $0.path == "/user" ? ada : .status(.notFound) }
        }
        let user: User = try await client.codable.request("user").sender().value
        XCTAssertEqual(user.name, "Ada")
        let other = await client.data.request("other").sender().response
        XCTAssertEqual(other.status, .notFound)
        let own = try await client.string.request("other").stub(.text("mine")).sender().value
        XCTAssertEqual(own, "mine")
    }

    func testDelayedModeWaitsByClockOfClient() async throws {
        let clock = TestClock()
        let client = APIClient(baseURL: "http://shop.test") {
            $0.stubMode = .delayed(.seconds(3))
            $0.clock = clock
        }
        async let text = client.string.request("x").stub(.text("late")).sender().value
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(3))
        let value = try await text
        XCTAssertEqual(value, "late")
    }

    func testGatesInterceptorsAndValidationRunAroundAStub() async throws {
        let gated = APIClient(baseURL: "http://shop.test") {
            $0.gates = [Refusing()]
            $0.responseInterceptors = [Renaming()]
        }
        let request: APIRequest<User, APIError> = gated.codable.request("user")
        let refused = await request.stub(ada, mode: .immediate).sender().result
        XCTAssertEqual(refused.failure?.code, .gateFailed)
        let user = try await request.stub(ada, mode: .immediate.skippingGates()).sender().value
        XCTAssertEqual(user.name, "Grace")
        let client = APIClient(baseURL: "http://shop.test") { $0.stubMode = .immediate }
        let failed = await client.data.request("x").stub(.status(.badGateway)).sender().result
        XCTAssertEqual(failed.failure?.code, .unacceptableStatus)
    }

    func testRetryUsesNextStubOfSequence() async throws {
        let clock = TestClock()
        let client = APIClient(baseURL: "http://shop.test") {
            $0.stubMode = .immediate
            $0.retry = .standard
            $0.clock = clock
        }
        let stub = Stub.sequence([.failure(.connectionLost), .status(.serviceUnavailable), ada])
        async let user = client.codable.request("user", as: User.self).stub(stub).sender().value
        for _ in 0..<2 {
            await clock.waitForSleepers(1)
            clock.advance(by: clock.pendingSleeps.first ?? .zero)
        }
        let name = try await user.name
        XCTAssertEqual(name, "Ada")
    }

    func testRedirectOfStubIsAnsweredByStub() async throws {
        let server = try LoopbackServer()
        let client = APIClient(baseURL: server.url) { $0.stubMode = .immediate }
        let stub = Stub.sequence([.redirect(to: "/moved"), .text("moved")])
        let response = await client.string.request("x").stub(stub).sender().response
        XCTAssertEqual(try response.result.get(), "moved")
        XCTAssertEqual(server.connections, 0)
    }

    func testReportsProgressOfStubChunks() async throws {
        let clock = TestClock()
        let client = APIClient(baseURL: "http://shop.test") {
            $0.stubMode = .immediate
            $0.clock = clock
        }
        let gap = Duration.seconds(30)
        let stub = Stub.data(Data(count: 4)).streamed(by: 2, every: gap).receivingBody(by: 3, every: gap)
        let sender = client.data.request("x").post().data(Data(count: 6)).stub(stub).sender()
        let sent = Shared([Int64]())
        let received = Shared([Int64]())
        let loops = [
            Task { for await progress in sender.uploadProgress { sent.change { $0.append(progress.completed) } } },
            Task {
                for await progress in sender.downloadProgress { received.change { $0.append(progress.completed) } }
            },
        ]
        async let body = sender.value
        // Progress is reported at most twenty times a second by the same clock. A gap ends after the progress has been seen.
        for (seen, count) in [(sent, Int64(3)), (received, 2)] {
            await eventually {
                if seen.read.contains(count), clock.pendingSleeps.contains(where: { $0 == gap }) { return true }
                if clock.pendingSleeps.contains(where: { $0 < gap }) { clock.advance(by: .milliseconds(50)) }
                return false
            }
            clock.advance(by: gap)
        }
        let bytes = try await body.count
        XCTAssertEqual(bytes, 4)
        for loop in loops { await loop.value }
        XCTAssertEqual(sent.read.last, 6)
        XCTAssertEqual(received.read.last, 4)
    }

    func testDoesNotCacheStubs() async throws {
        let server = try LoopbackServer()
        server.on("/x", .text("real"))
        let store = CacheStore(storage: nil)
        let client = APIClient(baseURL: server.url) { $0.cache = store }
        let cacheable = Stub.text("stub", headers: ["Cache-Control": "max-age=3600"])
        let request = client.string.get("x")
        let stubbed = try await request.stub(cacheable, mode: .immediate).sender().value
        let sent = try await request.sender().value
        XCTAssertEqual([stubbed, sent], ["stub", "real"])
    }

    func testStubsStreamsAndDownloads() async throws {
        let folder = try DownloadFolder()
        let client = APIClient(baseURL: "http://shop.test") {
            $0.stubMode = .immediate
            $0.stub = Stub.text("one\ntwo\n").streamed(by: 3)
        }
        var lines: [String] = []
        for try await line in client.stream("log").lines() { lines.append(line) }
        XCTAssertEqual(lines, ["one", "two"])
        let file = folder.url.appending(path: "log.txt")
        let url = try await client.download("log", to: .file(file)).sender().responseURL
        XCTAssertEqual(try String(contentsOf: url, encoding: .utf8), "one\ntwo\n")
    }

    func testCancellationEndsDelayedStub() async throws {
        let clock = TestClock()
        let client = APIClient(baseURL: "http://shop.test") {
            $0.stubMode = .delayed(.seconds(30))
            $0.clock = clock
        }
        let sender = client.data.request("x").stub(.status(.ok)).sender()
        async let result = sender.result
        await clock.waitForSleepers(1)
        sender.cancel()
        let failure = await result.failure
        XCTAssertEqual(failure?.code, .cancelled)
        while !clock.pendingSleeps.isEmpty { await Task.yield() }
    }
}
