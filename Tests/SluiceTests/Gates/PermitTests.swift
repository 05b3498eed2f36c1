import Sluice
import SluiceTesting
import XCTest

/// A gate that records the release of its permits.
private final class NotingGate: ImmediateGate {
    let name: String
    let isImmediate: Bool
    private let decision: @Sendable (TransportOutcome) -> Permit.Decision
    private let notes = Shared((admitted: 0, returned: [String]()))

    init(
        _ name: String = "Noting",
        isImmediate: Bool,
        decision: @escaping @Sendable (TransportOutcome) -> Permit.Decision = { _ in .settled }
    ) {
        self.name = name
        self.isImmediate = isImmediate
        self.decision = decision
    }

    var admitted: Int { notes.read.admitted }
    var returned: [String] { notes.read.returned }

    func admit(_ request: RequestContext) async throws(SluiceError) -> Permit { makePermit() }
    func admitImmediately(_ request: RequestContext) -> Permit? { isImmediate ? makePermit() : nil }

    private func makePermit() -> Permit {
        let number = notes.change { notes in
            notes.admitted += 1
            return notes.admitted
        }
        return Permit(modifyRequest: { $0.headers["X-Permit"] = "\(number)" }) { [self] outcome in
            notes.change { notes in
                switch outcome {
                case .success(let response): notes.returned.append("\(response.head.status.rawValue)")
                case .failure(let error): notes.returned.append("\(error.code)")
                }
            }
            return decision(outcome)
        }
    }
}

private struct Stamp: RequestAdapter {
    var fails = false

    func adapt(_ request: inout HTTPRequest, context: RequestContext) throws {
        if fails { throw ScriptedConstraint.Refused() }
        request.headers["X-Attempt"] = "\(context.attempt)"
    }
}

/// A gate that adds its name to the request.
private struct NamedGate: ImmediateGate {
    let name: String
    let needs: Set<String>
    var reservesResource: Bool { false }

    func admit(_ request: RequestContext) async throws(SluiceError) -> Permit { permit }
    func admitImmediately(_ request: RequestContext) -> Permit? { permit }

    private var permit: Permit { Permit { $0.headers.append("X-Gate", name) } }
}

/// Permits of gates that admit at once, without a task, and of gates that wait. Both behave the same.
final class PermitTests: XCTestCase {
    private let kinds = [true, false]

    func testGateChangesTheRequestAfterThoseThatItNeeds() async throws {
        let server = try LoopbackServer()
        server.on("/", .text("ok"))
        let client = APIClient(baseURL: server.url) {
            $0.gates = [NamedGate(name: "signature", needs: ["token"]), NamedGate(name: "token", needs: [])]
        }
        _ = try await client.string.get("").sender().value
        XCTAssertEqual(server.requests.first?.headers.values(for: "X-Gate"), ["token", "signature"])
    }

    func testReleasesEveryPermitOnceWithTheOutcome() async throws {
        for isImmediate in kinds {
            let server = try LoopbackServer()
            server.on("/ok", .text("ok"))
            server.on("/missing", .status(.notFound))
            server.on("/drop", .drop)
            server.on("/redirect", .redirect(to: "/ok"))
            server.on("/chunks", .chunked([Data("a".utf8), Data("b".utf8)]))
            let gate = NotingGate(isImmediate: isImmediate)
            let client = APIClient(baseURL: server.url) { $0.gates = [gate] }
            for path in ["ok", "missing", "drop", "redirect", "chunks"] {
                _ = await client.data.request(path).sender().result
            }
            XCTAssertEqual(gate.returned, ["200", "404", "connectionLost", "200", "200"])
            XCTAssertEqual(gate.admitted, 5)
        }
    }

    func testReleasesPermitWhenRequestIsCancelled() async throws {
        for isImmediate in kinds {
            let server = try LoopbackServer()
            server.on("/hang", .hang)
            let gate = NotingGate(isImmediate: isImmediate)
            let client = APIClient(baseURL: server.url) { $0.gates = [gate] }
            let request = Task { await client.data.request("hang").sender().result.failure?.code }
            await server.waitForRequests(1)
            request.cancel()
            let code = await request.value
            XCTAssertEqual(code, .cancelled)
            await eventually { gate.returned == ["cancelled"] }
        }
    }

    /// A gate whose release sends a request, and appends if its task was cancelled.
    private struct Slot: ImmediateGate {
        let isImmediate: Bool
        let wasCancelled = Shared<[Bool]>([])

        func admit(_ request: RequestContext) async throws(SluiceError) -> Permit { permit(request) }
        func admitImmediately(_ request: RequestContext) -> Permit? { isImmediate ? permit(request) : nil }

        private func permit(_ request: RequestContext) -> Permit {
            Permit { [wasCancelled, client = request.client] _ in
                wasCancelled.change { $0.append(Task.isCancelled) }
                _ = await client.data.delete("slot").withoutGates().sender().result
            }
        }
    }

    func testAsynchronousReleaseIsNotCancelledWithItsRequest() async throws {
        for isImmediate in kinds {
            for end in ["cancel", "total", "deadline"] {
                let server = try LoopbackServer()
                server.on(.get, "/hang", .hang)
                server.on(.delete, "/slot", .status(.noContent))
                let slot = Slot(isImmediate: isImmediate)
                let client = APIClient(baseURL: server.url) { $0.gates = [slot] }
                var request = client.data.get("hang")
                if end == "total" { request = request.timeout(total: .milliseconds(100)) }
                let sender = request.sender()
                let limit = Duration.milliseconds(end == "deadline" ? 100 : 60_000)
                let task = Task { await Deadline.withDeadline(limit) { await sender.result.failure?.code } }
                if end == "cancel" {
                    await server.waitForRequests(1)
                    sender.cancel()
                }
                let code = await task.value
                XCTAssertEqual(code, end == "cancel" ? .cancelled : .timedOut, "\(isImmediate), \(end)")
                await eventually { server.requests(to: "/slot").count == 1 }
                XCTAssertEqual(slot.wasCancelled.read, [false], "\(isImmediate), \(end)")
            }
        }
    }

    func testReleaseThatDoesNotEndDelaysTheOutcomeForTheTotalTimeAtMost() async throws {
        struct Endless: ImmediateGate {
            func admit(_ request: RequestContext) async throws(SluiceError) -> Permit { permit }
            func admitImmediately(_ request: RequestContext) -> Permit? { permit }

            private var permit: Permit {
                Permit { _ in await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }
            }
        }
        let server = try LoopbackServer()
        server.on("/x", .text("ok"))
        let client = APIClient(baseURL: server.url) { $0.gates = [Endless()] }
        let text = try await client.string.get("x").timeout(total: .milliseconds(100)).sender().value
        XCTAssertEqual(text, "ok")
        server.on("/hang", .hang)
        let stream = Task {
            do throws(APIError) {
                _ = try await client.stream("hang").response()
                return nil as SluiceError.Code?
            } catch {
                return error.code
            }
        }
        await server.waitForRequests(2)
        stream.cancel()
        let code = await stream.value
        XCTAssertEqual(code, .cancelled)
    }

    func testReleasesPermitWhenInterceptorFails() async throws {
        for isImmediate in kinds {
            let server = try LoopbackServer()
            let gate = NotingGate(isImmediate: isImmediate)
            let client = APIClient(baseURL: server.url) {
                $0.gates = [gate]
                $0.requestInterceptors = [Stamp(fails: true)]
            }
            let error = await client.data.request("x").sender().result.failure
            XCTAssertEqual(error?.code, .interceptorFailed)
            XCTAssertTrue(error?.underlyingError is ScriptedConstraint.Refused)
            XCTAssertEqual(gate.returned, ["interceptorFailed"])
            XCTAssertEqual(server.connections, 0)
        }
    }

    func testPermitSignsRequestAfterInterceptors() async throws {
        for isImmediate in kinds {
            let server = try LoopbackServer()
            server.on("/echo", .echo)
            let client = APIClient(baseURL: server.url) {
                $0.gates = [NotingGate(isImmediate: isImmediate)]
                $0.requestInterceptors = [Stamp()]
            }
            let echo = try await client.codable.request("echo", as: LoopbackEcho.self).sender().value
            XCTAssertEqual(echo.values(for: "x-permit"), ["1"])
            XCTAssertEqual(echo.values(for: "x-attempt"), ["1"])
        }
    }

    func testReplayVerdictResendsRequestOnce() async throws {
        for isImmediate in kinds {
            let server = try LoopbackServer()
            server.on("/mended", .status(.unauthorized), .text("ok"))
            server.on("/never", .status(.unauthorized))
            let gate = NotingGate(isImmediate: isImmediate) { outcome in
                if case .success(let response) = outcome, response.head.status == .unauthorized { return .replay }
                return .settled
            }
            let client = APIClient(baseURL: server.url) {
                $0.gates = [gate]
                $0.requestInterceptors = [Stamp()]
            }
            let text = try await client.string.request("mended").sender().value
            XCTAssertEqual(text, "ok")
            XCTAssertEqual(gate.returned, ["401", "200"])
            let sent = server.requests(to: "/mended")
            XCTAssertEqual(sent.map { $0.headers["X-Permit"] }, ["1", "2"])
            XCTAssertEqual(sent.map { $0.headers["X-Attempt"] }, ["1", "2"])
            let error = await client.string.request("never").sender().result.failure
            XCTAssertEqual(error?.response?.status, .unauthorized)
            XCTAssertEqual(server.requests(to: "/never").count, 2)
        }
    }

    func testDoesNotReplayOneShotBody() async throws {
        let server = try LoopbackServer()
        server.on("/", .status(.unauthorized))
        let gate = NotingGate(isImmediate: true) { _ in .replay }
        let client = APIClient(baseURL: server.url) { $0.gates = [gate] }
        let chunks = AsyncStream {
            $0.yield(Data("x".utf8)); $0.finish()
        }
        let request = client.data.post("").body(.stream(chunks))
        let error = await request.sender().result.failure
        XCTAssertEqual(error?.response?.status, .unauthorized)
        XCTAssertEqual(server.requests(to: "/").count, 1)
    }

    func testAsksGatesThatHoldNothingFirst() async throws {
        struct Ordered: Gate {
            let name: String
            let reservesResource: Bool
            let order: Shared<[String]>

            func admit(_ request: RequestContext) async throws(SluiceError) -> Permit {
                order.change { $0.append(name) }
                return Permit()
            }
        }
        let order = Shared<[String]>([])
        let client = APIClient(baseURL: "http://localhost") {
            $0.gates = [("h1", true), ("c1", false), ("h2", true)].map {
                Ordered(name: $0, reservesResource: $1, order: order)
            }
            $0.transport = AnsweringTransport()
        }
        _ = try await client.data.request("").sender().value
        XCTAssertEqual(order.read, ["c1", "h1", "h2"])
    }
}
