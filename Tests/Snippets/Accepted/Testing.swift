import Foundation
import Sluice
import SluiceTesting

// Stubs, servers and clocks of tests.

func stubTransport() async throws {
    let stubs = StubTransport()
    stubs.on(.get("/users/{id}"), .json(#"{"id":1}"#))
    let c = APIClient(baseURL: "https://a") { $0.transport = stubs }
    let u: User = try await c.get("users/1").sender().value
    show(u)
    print(stubs.count(of: .get("/users/1")))
}

func stubTransportClosure() {
    let stubs = StubTransport()
    stubs.on(.get("/users/{id}")) { request in .json(#"{"id":1}"#) }
    show(stubs)
}

func stubTransportStatus() {
    let stubs = StubTransport()
    stubs.on(.post("/users"), .status(201))
    show(stubs)
}

func stubTransportJSONStatus() {
    let stubs = StubTransport()
    stubs.on(.post("/users"), .json("{}", status: 422))
    show(stubs)
}

func stubTransportJSONStatusDot() {
    let stubs = StubTransport()
    stubs.on(.post("/users"), .json("{}", status: .created))
    show(stubs)
}

func stubTransportHeaders() {
    let stubs = StubTransport()
    stubs.on(.get("/a"), .json("{}", headers: ["ETag": "x"]))
    show(stubs)
}

func stubTransportFailure() {
    let stubs = StubTransport()
    stubs.on(.get("/a"), .failure(.timedOut))
    show(stubs)
}

func stubTransportSeq() {
    let stubs = StubTransport()
    stubs.on(.get("/a"), .sequence([.status(503), .json("[]")]))
    show(stubs)
}

func stubTransportRequests() {
    let stubs = StubTransport()
    print(stubs.requests.map(\.path))
    print(stubs.requests.first?.headers["a"] ?? "")
}

func stubTransportBodyDecoded() throws {
    let stubs = StubTransport()
    show(try stubs.requests[0].decoded(as: User.self))
}

func stubDelay() {
    let s = Stub.json("{}").delayed(by: .seconds(1))
    show(s)
}

func loopback() async throws {
    let server = try LoopbackServer()
    server.on(.get, "/users/1", .json("{}"))
    let c = APIClient(baseURL: server.url)
    let u: User = try await c.get("users/1").sender().value
    show(u)
    print(server.requests.count)
}

func loopbackClosure() async throws {
    let server = try LoopbackServer()
    server.on(.get, "/users/1") { request in .json("{}") }
    show(server)
}

func loopbackStatusInt() async throws {
    let server = try LoopbackServer()
    server.on(.get, "/users/1", .status(404))
    show(server)
}

func loopbackWith() async throws {
    try await withLoopbackServer { server in
        server.on("/slow", .hang); let c = APIClient(baseURL: server.url) { $0.timeouts.total = .milliseconds(50) };
        try await expectError(.timedOut) { try await c.data.get("slow").sender().value }
    }
}

func testClock() async {
    let clock = TestClock()
    let c = APIClient(baseURL: "https://a") { $0.clock = clock }
    let t = Task { try await c.string.get("a").sender().value }
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(1))
    _ = await t.result
}

func cassette() throws {
    let c = CassetteTransport(recording: SocketTransport(), to: URL(filePath: "/a"))
    show(APIClient(baseURL: "https://a") { $0.transport = c })
}

func stubInline() async throws {
    let u = try await shop.get("u", as: User.self).stub(.json(#"{"id":1,"name":"a"}"#)).sender().value
    show(u)
}

func errorsOfOnesOwn() async throws {
    enum WeatherError: Error, Equatable { case unknownCity, quotaExceeded(retryAfter: Int) }
    try await expectError(WeatherError.quotaExceeded(retryAfter: 60)) { throw WeatherError.unknownCity }
    let error = try await expectError(WeatherError.self) { throw WeatherError.unknownCity }
    let sent = try await expectError(.timedOut) { try await shop.get("u", as: User.self).sender().value }
    let failure = try await expectError(APIError.self) { try await shop.get("u", as: User.self).sender().value }
    print(error == .unknownCity, sent.code, failure)
}
