import Sluice
import SluiceTesting
import XCTest

/// A constraint controlled by a test.
final class ScriptedConstraint: Constraint {
    struct Refused: Error {}

    private struct State {
        var isSatisfied = false
        var checkCount = 0
        var satisfactions = 0
        var running = 0
        var mostRunning = 0
        var cancelled = 0
    }

    let name: String
    let needs: Set<String>
    let timeout: Duration?
    private let work: @Sendable (ScriptedConstraint, RequestContext) async throws -> Void
    private let state = Shared(State())

    init(
        _ name: String = "Scripted",
        needs: Set<String> = [],
        timeout: Duration? = .seconds(60),
        _ work: @escaping @Sendable (ScriptedConstraint, RequestContext) async throws -> Void = { _, _ in }
    ) {
        self.name = name
        self.needs = needs
        self.timeout = timeout
        self.work = work
    }

    var checkCount: Int { state.read.checkCount }
    var satisfactions: Int { state.read.satisfactions }
    var mostRunning: Int { state.read.mostRunning }
    var cancelled: Int { state.read.cancelled }

    func set(_ isSatisfied: Bool) { state.change { $0.isSatisfied = isSatisfied } }

    func isSatisfied(for request: RequestContext) async -> Bool {
        state.change { state in
            state.checkCount += 1
            return state.isSatisfied
        }
    }

    func satisfy(for request: RequestContext) async throws {
        state.change { state in
            state.satisfactions += 1
            state.running += 1
            state.mostRunning = max(state.mostRunning, state.running)
        }
        defer { state.change { $0.running -= 1 } }
        do {
            try await work(self, request)
        } catch {
            if error is CancellationError { state.change { $0.cancelled += 1 } }
            throw error
        }
        set(true)
    }
}

final class ConstraintTests: XCTestCase {
    private func client(_ server: LoopbackServer, _ constraints: any Constraint...) -> APIClient {
        server.on("/data", .text("ok"))
        return APIClient(baseURL: server.url) { $0.constraints = constraints }
    }

    /// Returns when `count` requests wait for the constraint. The check of a further request shows that the check of
    /// the last one has ended; that request is cancelled.
    private func untilAllWait(_ count: Int, for constraint: ScriptedConstraint, _ client: APIClient) async {
        await eventually { constraint.checkCount == count }
        let next = Task { await client.string.request("data").sender().result.failure }
        await eventually { constraint.checkCount == count + 1 }
        next.cancel()
        _ = await next.value
    }

    func testSatisfiesOnceForAllWaitingRequests() async throws {
        let server = try LoopbackServer()
        let gate = AsyncSignal()
        let constraint = ScriptedConstraint { _, _ in await gate.wait() }
        let client = client(server, constraint)
        await withTaskGroup(of: String?.self) { group in
            for _ in 0..<100 { group.addTask { try? await client.string.request("data").sender().value } }
            await untilAllWait(100, for: constraint, client)
            XCTAssertEqual(server.requests(to: "/data").count, 0)
            gate.open()
            for await text in group { XCTAssertEqual(text, "ok") }
        }
        XCTAssertEqual(constraint.satisfactions, 1)
        _ = try await client.string.request("data").sender().value
        XCTAssertEqual(constraint.satisfactions, 1)
        XCTAssertEqual(constraint.checkCount, 102)
    }

    func testErrorFailsAllWaitersAndNextRequestRetries() async throws {
        let server = try LoopbackServer()
        let gate = AsyncSignal()
        let constraint = ScriptedConstraint { constraint, _ in
            if constraint.satisfactions == 1 {
                await gate.wait()
                throw ScriptedConstraint.Refused()
            }
        }
        let client = client(server, constraint)
        await withTaskGroup(of: APIError?.self) { group in
            for _ in 0..<20 { group.addTask { await client.string.request("data").sender().result.failure } }
            await untilAllWait(20, for: constraint, client)
            gate.open()
            for await error in group {
                XCTAssertEqual(error?.code, .gateFailed)
                XCTAssertEqual(error?.error.step, .gate)
                XCTAssertTrue(error?.underlyingError is ScriptedConstraint.Refused)
            }
        }
        let text = try await client.string.request("data").sender().value
        XCTAssertEqual(text, "ok")
        XCTAssertEqual(constraint.satisfactions, 2)
        XCTAssertEqual(server.requests(to: "/data").count, 1)
    }

    func testCancelledWaiterLeavesWithoutAffectingOthers() async throws {
        let server = try LoopbackServer()
        let gate = AsyncSignal()
        let constraint = ScriptedConstraint { _, _ in await gate.wait() }
        let client = client(server, constraint)
        let staying = Task { try await client.string.request("data").sender().value }
        await eventually { constraint.checkCount == 1 }
        let leaving = Task { await client.string.request("data").sender().result.failure }
        await eventually { constraint.checkCount == 2 }
        leaving.cancel()
        let error = await leaving.value
        XCTAssertEqual(error?.code, .cancelled)
        gate.open()
        let text = try await staying.value
        XCTAssertEqual(text, "ok")
        XCTAssertEqual(constraint.cancelled, 0)
    }

    func testCancelsSatisfactionWhenLastWaiterLeaves() async throws {
        let server = try LoopbackServer()
        let clock = TestClock()
        let constraint = ScriptedConstraint { _, _ in try await clock.sleep(for: .seconds(1)) }
        let client = client(server, constraint)
        let request = Task { await client.string.request("data").sender().result.failure }
        await clock.waitForSleepers(1)
        request.cancel()
        let error = await request.value
        XCTAssertEqual(error?.code, .cancelled)
        await eventually { constraint.cancelled == 1 }
    }

    func testSatisfactionTimeoutFailsAllWaiters() async throws {
        let server = try LoopbackServer()
        let clock = TestClock()
        let never = AsyncSignal()
        let constraint = ScriptedConstraint(timeout: .seconds(30)) { _, _ in await never.wait() }
        server.on("/data", .text("ok"))
        let client = APIClient(baseURL: server.url) {
            $0.constraints = [constraint]
            $0.clock = clock
        }
        let requests = (0..<3).map { _ in Task { await client.string.request("data").sender().result.failure } }
        await untilAllWait(3, for: constraint, client)
        await eventually { constraint.satisfactions == 1 }
        while true {
            clock.advance(by: .seconds(31))
            if await TaskRace.isDone(requests[0]) { break }
        }
        for request in requests {
            let error = await request.value
            XCTAssertEqual(error?.code, .timedOut)
        }
        never.open()
    }

    func testRequestFromSatisfactionBypassesItsConstraint() async throws {
        let server = try LoopbackServer()
        server.on("/token", .text("t1"))
        let constraint = ScriptedConstraint { _, request in
            let token = try await request.client.string.request("token").sender().value
            XCTAssertEqual(token, "t1")
        }
        let text = try await client(server, constraint).string.request("data").sender().value
        XCTAssertEqual(text, "ok")
        XCTAssertEqual(constraint.satisfactions, 1)
        XCTAssertEqual(constraint.checkCount, 1)
    }

    func testConstraintsThatSendRequestsDoNotWaitForEachOther() async throws {
        let server = try LoopbackServer()
        server.on("/token", .text("t1"))
        let both = AsyncSignal()
        let running = Shared(0)
        let work: @Sendable (ScriptedConstraint, RequestContext) async throws -> Void = { _, request in
            if running.change({
                $0 += 1; return $0 == 2
            }) {
                both.open()
            }
            await both.wait()
            _ = try await request.client.string.request("token").sender().value
        }
        let (a, b) = (ScriptedConstraint("A", timeout: nil, work), ScriptedConstraint("B", timeout: nil, work))
        let c = ScriptedConstraint("C", needs: ["A", "B"], timeout: nil)
        let text = try await client(server, a, b, c).string.request("data").sender().value
        XCTAssertEqual(text, "ok")
        XCTAssertEqual([a, b, c].map(\.satisfactions), [1, 1, 1])
    }

    func testSatisfiesIndependentConstraintsConcurrently() async throws {
        let server = try LoopbackServer()
        let both = AsyncSignal()
        let order = Shared<[String]>([])
        let a = ScriptedConstraint("A") { _, _ in
            order.change { $0.append("A") }
            await both.wait()
        }
        let b = ScriptedConstraint("B") { _, _ in
            order.change { $0.append("B") }
            await both.wait()
        }
        let c = ScriptedConstraint("C", needs: ["A", "B"]) { _, _ in order.change { $0.append("C") } }
        let client = client(server, c, a, b)
        let request = Task { try await client.string.request("data").sender().value }
        await eventually { order.read.count == 2 }
        both.open()
        let text = try await request.value
        XCTAssertEqual(text, "ok")
        XCTAssertEqual(Set(order.read.prefix(2)), ["A", "B"])
        XCTAssertEqual(order.read.last, "C")
    }

    func testFailingConstraintCancelsOtherSatisfactions() async throws {
        let server = try LoopbackServer()
        let clock = TestClock()
        let slow = ScriptedConstraint("Slow") { _, _ in try await clock.sleep(for: .seconds(1)) }
        let failing = ScriptedConstraint("Failing") { _, _ in
            await clock.waitForSleepers(1)
            throw ScriptedConstraint.Refused()
        }
        let error = await client(server, slow, failing).string.request("data").sender().result.failure
        XCTAssertTrue(error?.underlyingError is ScriptedConstraint.Refused)
        await eventually { slow.cancelled == 1 }
    }

    func testCircularOrMissingRequirementFailsRequest() async throws {
        let server = try LoopbackServer()
        let a = ScriptedConstraint("A", needs: ["B"])
        let b = ScriptedConstraint("B", needs: ["A"])
        let circular = await client(server, a, b).string.request("data").sender().result.failure
        XCTAssertEqual(circular?.code, .gateFailed)
        XCTAssertTrue("\(circular?.error.reason ?? "")".contains("A, B"))
        let missing = await client(server, a).string.request("data").sender().result.failure
        XCTAssertTrue("\(missing?.error.reason ?? "")".contains("requires the gate B"))
        XCTAssertEqual(server.connections, 0)
    }

    func testRequestBypassesOneOrAllConstraints() async throws {
        let server = try LoopbackServer()
        let a = ScriptedConstraint("A")
        let b = ScriptedConstraint("B")
        let client = client(server, a, b)
        _ = try await client.string.request("data").withoutGates().sender().value
        XCTAssertEqual([a.checkCount, b.checkCount], [0, 0])
        _ = try await client.string.request("data").withoutGate(named: "A").sender().value
        XCTAssertEqual([a.checkCount, b.checkCount], [0, 1])
        _ = try await client.string.request("data").sender().value
        XCTAssertEqual([a.checkCount, b.checkCount], [1, 2])
    }

    func testRandomInterleavingsEndEveryRequest() async throws {
        let server = try LoopbackServer()
        let random = Shared(SeededGenerator(seed: 4))
        let constraint = ScriptedConstraint { constraint, _ in
            let turns = random.change { Int.random(in: 0..<20, using: &$0) }
            for _ in 0..<turns {
                await Task.yield()
                try Task.checkCancellation()
            }
            if random.change({ Int.random(in: 0..<3, using: &$0) }) == 0 { throw ScriptedConstraint.Refused() }
        }
        let client = APIClient(baseURL: server.url) {
            $0.constraints = [constraint]
            $0.transport = AnsweringTransport()
        }
        var outcomes: [SluiceError.Code?: Int] = [:]
        for _ in 0..<40 {
            constraint.set(false)
            await withTaskGroup(of: SluiceError.Code?.self) { group in
                for _ in 0..<50 {
                    let (turns, isCancelled) = random.change {
                        (Int.random(in: 0..<30, using: &$0), Int.random(in: 0..<3, using: &$0) == 0)
                    }
                    group.addTask {
                        for _ in 0..<turns { await Task.yield() }
                        let sender = client.data.request("data").sender()
                        let request = Task { await sender.result.failure?.code }
                        if isCancelled {
                            for _ in 0..<turns { await Task.yield() }
                            request.cancel()
                        }
                        return await request.value
                    }
                }
                for await code in group { outcomes[code, default: 0] += 1 }
            }
        }
        XCTAssertEqual(outcomes.values.reduce(0, +), 2000)
        XCTAssertTrue(Set(outcomes.keys).isSubset(of: [nil, .cancelled, .gateFailed]), "\(outcomes)")
        XCTAssertGreaterThan(outcomes[nil, default: 0], 100)
        XCTAssertEqual(constraint.mostRunning, 1)
    }
}
