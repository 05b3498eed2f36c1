import SluiceTesting
import XCTest

@testable import Sluice

/// Constraints of several clients.
final class SharedConstraintTests: XCTestCase {
    /// A sign-in whose state is its own.
    private actor SignIn: Constraint {
        private(set) var count = 0
        private var isSignedIn = false
        private let work: @Sendable () async throws -> Void

        init(_ work: @escaping @Sendable () async throws -> Void = {}) {
            self.work = work
        }

        func isSatisfied(for request: RequestContext) async -> Bool { isSignedIn }

        func satisfy(for request: RequestContext) async throws {
            count += 1
            try await work()
            isSignedIn = true
        }
    }

    /// A sign-in whose state is in an object.
    private struct SignInOfASession: Constraint {
        let session: ScriptedConstraint

        func isSatisfied(for request: RequestContext) async -> Bool { await session.isSatisfied(for: request) }
        func satisfy(for request: RequestContext) async throws { try await session.satisfy(for: request) }
    }

    private func server() throws -> LoopbackServer {
        let server = try LoopbackServer()
        server.on("/data", .text("ok"))
        server.on("/sign-in", .text("ok"))
        return server
    }

    func testOneConstraintOfTwoClientsIsSatisfiedOnce() async throws {
        let server = try server()
        let opening = AsyncSignal()
        let signIn = ScriptedConstraint { _, _ in await opening.wait() }
        let users = APIClient(baseURL: server.url) { $0.constraints = [signIn] }
        let orders = APIClient(baseURL: server.url) { $0.constraints = [signIn] }
        await withTaskGroup(of: String?.self) { group in
            for client in [users, orders] {
                for _ in 0..<5 { group.addTask { try? await client.string.get("data").sender().value } }
            }
            await eventually { signIn.checkCount == 10 }
            opening.open()
            for await text in group { XCTAssertEqual(text, "ok") }
        }
        XCTAssertEqual(signIn.satisfactions, 1)
        XCTAssertEqual(signIn.mostRunning, 1)
    }

    func testGateOfAnObjectIsRemovedWithItsLastClient() {
        let signIn = SignIn()
        var clients = (0..<2).map { _ in
            APIClient(baseURL: "http://localhost") { $0.constraints = [signIn] }
        }
        XCTAssertTrue(ConstraintGate.isShared(signIn))
        clients.removeLast()
        XCTAssertTrue(ConstraintGate.isShared(signIn))
        clients.removeLast()
        XCTAssertFalse(ConstraintGate.isShared(signIn))
    }

    func testOneActorOfTwoClientsIsSatisfiedOnce() async throws {
        let server = try server()
        let signIn = SignIn()
        let clients = (0..<2).map { _ in APIClient(baseURL: server.url) { $0.constraints = [signIn] } }
        try await withThrowingTaskGroup(of: String.self) { group in
            for client in clients { group.addTask { try await client.string.get("data").sender().value } }
            for try await text in group { XCTAssertEqual(text, "ok") }
        }
        let count = await signIn.count
        XCTAssertEqual(count, 1)
    }

    func testOneGateOfTwoClientsIsSatisfiedOnce() async throws {
        let server = try server()
        let opening = AsyncSignal()
        let session = ScriptedConstraint { _, _ in await opening.wait() }
        let gate = SignInOfASession(session: session).makeGate()
        let clients = (0..<2).map { _ in APIClient(baseURL: server.url) { $0.gates = [gate] } }
        await withTaskGroup(of: String?.self) { group in
            for client in clients { group.addTask { try? await client.string.get("data").sender().value } }
            await eventually { session.checkCount == 2 }
            opening.open()
            for await text in group { XCTAssertEqual(text, "ok") }
        }
        XCTAssertEqual(session.satisfactions, 1)
    }

    func testRequestsOfASatisfactionBypassTheConstraintOnEveryClient() async throws {
        let server = try server()
        let authorities = Shared<[APIClient]>([])
        let signIn = SignIn {
            for client in authorities.read { _ = try await client.string.get("sign-in").sender().value }
        }
        let clients = (0..<2).map { _ in APIClient(baseURL: server.url) { $0.constraints = [signIn] } }
        authorities.change { $0 = clients }
        let text = try await clients[0].string.get("data").sender().value
        XCTAssertEqual(text, "ok")
        XCTAssertEqual(server.requests(to: "/sign-in").count, 2)
    }

    func testDifferentConstraintsAreSatisfiedEach() async throws {
        let server = try server()
        for _ in 0..<10 {
            let first = SignIn()
            let second = SignIn()
            let clients = [first, second].map { signIn in
                APIClient(baseURL: server.url) { $0.constraints = [signIn] }
            }
            for client in clients { _ = try await client.string.get("data").sender().value }
            let counts = await [first.count, second.count]
            XCTAssertEqual(counts, [1, 1])
        }
    }
}
