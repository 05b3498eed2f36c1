import Foundation
import Sluice
import SluiceTesting

// Rules and stubs, as written at first.

// error: Write "on(.get("/users"), stub)".
func stubTransport2() {
    let stubs = StubTransport()
    stubs.on(.get, "/users/1", .json("{}"))
    show(stubs)
}

// error: Name the method: "on(.get("/users"), stub)".
func stubTransportPath() {
    let stubs = StubTransport()
    stubs.on("/users/1", .json("{}"))
    show(stubs)
}

// error: Write ".json(encoding: user)".
func stubTransportModel() {
    let stubs = StubTransport()
    stubs.on(.get("/users/1"), .json(User(id: 1, name: "")))
    show(stubs)
}

// error: Write "on(.get("/users"), .sequence([first, second]))".
func stubTransportSequence() {
    let stubs = StubTransport()
    stubs.on(.get("/a"), .status(503), .json("[]"))
    show(stubs)
}

// error: Write "try decoded(as: JSON.self)".
func stubTransportBody() throws {
    let stubs = StubTransport()
    print(try stubs.requests[0].json())
}

// error: Write ".json(encoding: user)".
func loopbackModel() async throws {
    let server = try LoopbackServer()
    server.on(.get, "/users/1", .json(User(id: 1, name: "")))
    show(server)
}

// error: Write "on(.get, "/users", response)".
func loopbackGetPath() async throws {
    let server = try LoopbackServer()
    server.on(.get("/users/1"), .json("{}"))
    show(server)
}

// error: Write "stub(.json("{}"))" or "stub(.text("…"))".
func stubInlineString() async throws {
    let u = try await shop.get("u", as: User.self).stub(#"{"id":1}"#).sender().value
    show(u)
}

// error: Write "on(.get("/users")) { request in … }".
func stubClosureOfMethodAndPath() {
    let stubs = StubTransport()
    stubs.on(.get, "/users/1") { _ in .json("{}") }
    show(stubs)
}

// error: Write "on(.get, "/users") { request in … }".
func loopbackClosureOfMatcher() throws {
    let server = try LoopbackServer()
    server.on(.get("/users/1")) { _ in .json("{}") }
    show(server)
}

// error: Write the stubs as an array: ".sequence([first, second])".
func sequenceOfStubs() {
    let stubs = StubTransport()
    stubs.on(.get("/a"), .sequence(.status(503), .json("[]")))
    show(stubs)
}

// error: Pass the responses one by one
func sequenceOfLoopbackResponses() throws {
    let server = try LoopbackServer()
    server.on(.get, "/a", .sequence([.status(503), .json("[]")]))
    show(server)
}

// error: Write ".status(HTTPStatus(code))".
func stubOfANumber(_ code: Int) {
    show(shop.get("u", as: User.self).stub(.status(code)))
}

// error: Write ".status(HTTPStatus(code))".
func loopbackOfANumber(_ code: Int) throws {
    let server = try LoopbackServer()
    server.on(.get, "/a", .status(code))
    show(server)
}

// error: Write ".redirect(to: "/new")".
func loopbackRedirect() throws {
    let server = try LoopbackServer()
    server.on(.get, "/a", .redirect("/b", status: 308))
    show(server)
}

// error: Write "queryItems".
func queryOfARecordedRequest() {
    print(StubTransport().requests[0].query as Any)
}

// error: Write "requests(matching: .path("/users"))".
func requestsToAPath() {
    print(StubTransport().requests(to: "/users").count)
}

// error: Write "requests.last".
func lastRequestOfStubs() {
    print(StubTransport().lastRequest as Any)
}

// error: Write "requests.last".
func lastRequestOfAServer() throws {
    print(try LoopbackServer().lastRequest as Any)
}

// error: Call "try stubs.verify()": it throws the first unmatched request.
func unmatchedRequests() {
    print(StubTransport().unmatchedRequests.count)
}

// error: Write "CassetteTransport(replaying: URL(filePath: path))".
func cassetteOfAPath() {
    show(CassetteTransport(replaying: "/tmp/users.json"))
}

// error: Write "CassetteTransport(recording: transport, to: URL(filePath: path))".
func cassetteToAPath(_ transport: StubTransport) {
    show(CassetteTransport(recording: transport, to: "/tmp/users.json"))
}

// error: Write the criteria as an array: "matching: [.method, .path]".
func cassetteOfOneCriterion() {
    show(CassetteTransport(replaying: URL(filePath: "/tmp/users.json"), matching: .method))
}

// error: Leave "save()" out: each exchange is written before its request ends.
func saveCassette() async throws {
    try await CassetteTransport(replaying: URL(filePath: "/tmp/users.json")).save()
}

// error: Write "waitUntil("the file exists", within: .seconds(5)) { … }".
func waitUntilTimeout() async throws {
    try await waitUntil(timeout: .seconds(5)) { true }
}

// error: Write "waitUntil("the file exists", within: .seconds(5)) { … }".
func waitUntilTimeoutWithDescription() async throws {
    try await waitUntil("the file exists", timeout: .seconds(5)) { true }
}

// error: Write "on(.get("/users"), stub)".
func stubTransportStub() {
    StubTransport().stub(.get("/users/1"), .json("{}"))
}

// error: Write "on(.get("/users"), stub)".
func stubTransportWhen() {
    StubTransport().when(.get("/users/1"), .json("{}"))
}

// error: A server listens as soon as it is created.
func loopbackServerStart() throws {
    try LoopbackServer().start()
}

// error: Write "try JSONDecoder().decode(User.self, from: body)".
func loopbackRequestModel() throws {
    let server = try LoopbackServer()
    server.on(.post, "/users") { request in
        .json(encoding: try request.decoded(as: User.self))
    }
}

// error: Write "query".
func loopbackRequestQuery() throws {
    print(try LoopbackServer().requests[0].queryItems)
}

// error: Write "pendingSleeps".
func testClockSleepers() {
    print(TestClock().sleepers)
}

// error: Write "expectError(.unacceptableStatus) { … }", which returns the error, and compare its status.
func expectedStatus() async throws {
    try await expectError(status: .notFound) { try await shop.data.get("x").sender().value }
}

// error: Write "Stub.status(.ok).delayed(by: .seconds(3600))", with a TestClock.
func hangingStub() {
    show(Stub.hang)
}

// error: Write "Stub.status(.ok).delayed(by: .seconds(3600))", with a TestClock.
func stubWithoutAResponse() {
    show(Stub.never)
}
