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
