import SluiceTesting
import XCTest

@testable import Sluice

final class RequestGraphTests: XCTestCase {
    private struct Refusal: Error {}

    private func client(_ server: LoopbackServer) -> APIClient {
        addTeardownBlock { server.stop() }
        return APIClient(baseURL: server.url)
    }

    func testStepReceivesTypedResultsOfItsDependencies() async throws {
        let server = try LoopbackServer()
        server.on("/me", .json(#"{"id":7,"name":"Ada"}"#))
        server.on("/users/7/friends", .json(#"[{"id":8,"name":"Grace"}]"#))
        let client = client(server)
        var graph = RequestGraph()
        let me = graph.add("me", client.codable.get("me", as: User.self))
        let friends = graph.add("friends", after: me) { me in
            client.codable.get("users/\(me.id)/friends", as: [User].self)
        }
        let line = graph.add("line", after: me, friends) { me, friends in
            let names = friends.map(\.name).joined(separator: ", ")
            return "\(me.name) knows \(names)."
        }
        let number = graph.add("number") { 5 }
        let results = try await graph.run()
        XCTAssertEqual(try results.value(of: line), "Ada knows Grace.")
        XCTAssertEqual(try results.value(of: number), 5)
        XCTAssertEqual(try results.value(of: friends).count, 1)
        XCTAssertTrue(results.failures.isEmpty)
        XCTAssertEqual(graph.names, ["me", "friends", "line", "number"])
        _ = try await graph.run()
        XCTAssertEqual(server.requestCount, 4, "A graph can be run again.")
    }

    func testStepSendsDownload() async throws {
        let server = try LoopbackServer()
        server.on("/files/7", .text("whole"))
        let client = client(server)
        var graph = RequestGraph()
        let id = graph.add("id") { 7 }
        let file = graph.add("file", after: id) { id in client.download("files/\(id)", to: .temporary) }
        let results = try await graph.run()
        let downloaded = try results.value(of: file)
        XCTAssertEqual(try Data(contentsOf: downloaded.url), Data("whole".utf8))
        try FileManager.default.removeItem(at: downloaded.url)
    }

    func testIndependentStepsRunConcurrently() async throws {
        let (first, second) = (AsyncSignal(), AsyncSignal())
        var graph = RequestGraph()
        let a = graph.add("a") {
            first.open()
            await second.wait()
            return 1
        }
        let b = graph.add("b") {
            second.open()
            await first.wait()
            return 2
        }
        let sum = graph.add("sum", after: a, b) { $0 + $1 }
        let total = try await graph.run().value(of: sum)
        XCTAssertEqual(total, 3)
    }

    func testMaximumInFlightLimitsConcurrentSteps() async throws {
        // The second run has the smallest limit.
        for (limit, expected) in [(4, 4), (-1, 1)] {
            let running = Shared((now: 0, most: 0))
            var graph = RequestGraph()
            for number in 0..<50 {
                graph.add("\(number)") {
                    running.change { state in
                        state.now += 1
                        state.most = max(state.most, state.now)
                    }
                    try await waitUntil("\(expected) steps run") { running.read.most >= expected }
                    for _ in 0..<10 { await Task.yield() }
                    running.change { $0.now -= 1 }
                }
            }
            _ = try await graph.run(maximumInFlight: limit)
            XCTAssertEqual(running.read.most, expected)
            XCTAssertEqual(running.read.now, 0)
        }
    }

    func testInvalidGraphFailsBeforeSending() async throws {
        let server = try LoopbackServer()
        let client = client(server)
        var graph = RequestGraph()
        let egg = GraphStep<String>("egg")
        let hen = graph.add("hen", after: egg) { (_: String) in client.string.get("hen") }
        graph.add(egg, after: hen) { (_: String) in client.string.get("egg") }
        graph.add("hen", client.string.get("hen"))
        graph.add("nest", after: GraphStep<Int>("straw")) { "\($0)" }
        graph.add("farm", after: GraphStep<Int>("nest")) { "\($0)" }
        do {
            _ = try await graph.run(failsFast: false)
            XCTFail("The graph was accepted.")
        } catch {
            XCTAssertNil(error.step)
            XCTAssertEqual(
                error.defects,
                [
                    "More than one step is named “hen”.",
                    "The step “nest” depends on “straw”, which is not in the graph.",
                    "The step “farm” expects Int from “nest”, which gives String.",
                    "Steps depend on each other in a cycle: “hen” → “egg” → “hen”.",
                ]
            )
            XCTAssertEqual((error.error as? SluiceError)?.code, .invalidGraph)
        }
        XCTAssertEqual(server.requestCount, 0)
    }

    func testFirstFailureCancelsOtherRequestsAndHasItsStep() async throws {
        let server = try LoopbackServer()
        let signal = LoopbackSignal()
        server.on("/hang", .hang)
        server.on("/bad", .after(signal, .json(#"{"message":"No."}"#, status: .badRequest)))
        let client = client(server)
        var graph = RequestGraph()
        graph.add("slow", client.string.get("hang"))
        let bad: APIRequest<User, ShopError> = client.codable.get("bad")
        let failing = graph.add("failing", bad)
        graph.add("never", after: failing) { _ in client.string.get("never") }
        let run = Task { [graph] in try await graph.run() }
        await server.waitForRequests(2)
        signal.fire()
        do {
            _ = try await run.value
            XCTFail("The graph did not fail.")
        } catch let failure as GraphFailure {
            XCTAssertEqual(failure.step, "failing")
            XCTAssertEqual((failure.error as? ShopError)?.message, "No.")
            XCTAssertFalse(failure.isCancellation)
        }
        await server.waitForOpenConnections { $0 <= 1 }
        XCTAssertEqual(server.requestCount, 2)
    }

    func testIndependentStepsRunAfterAFailureWithoutFailsFast() async throws {
        var graph = RequestGraph()
        let bad = graph.add("bad") { () throws -> Int in throw Refusal() }
        let after = graph.add("after", after: bad) { $0 + 1 }
        let far = graph.add("far", after: after) { $0 + 1 }
        let good = graph.add("good") { 2 }
        let better = graph.add("better", after: good) { $0 + 1 }
        let results = try await graph.run(maximumInFlight: 1, failsFast: false)
        XCTAssertEqual(try results.value(of: better), 3)
        XCTAssertEqual(results.failures.map(\.step), ["bad", "after", "far"])
        XCTAssertTrue(results.failures.first?.error is Refusal)
        XCTAssertThrowsError(try results.value(of: bad)) { error in
            XCTAssertEqual((error as? GraphFailure)?.step, "bad")
            XCTAssertTrue((error as? GraphFailure)?.error is Refusal)
        }
        XCTAssertThrowsError(try results.value(of: far)) { error in
            XCTAssertEqual((error as? GraphFailure)?.step, "far")
            XCTAssertEqual(((error as? GraphFailure)?.error as? SluiceError)?.code, .dependencyFailed)
            XCTAssertTrue("\(error)".contains("“bad”"))
        }
        XCTAssertThrowsError(try results.value(of: GraphStep<Int>("other")))
        XCTAssertThrowsError(try results.value(of: GraphStep<String>("good")))
    }

    func testCancelledCallerCancelsAllRequests() async throws {
        let server = try LoopbackServer()
        server.on("/*", .hang)
        let client = client(server)
        var graph = RequestGraph()
        for number in 0..<3 {
            let request: APIRequest<User, ShopError> = client.codable.get("\(number)")
            graph.add("\(number)", request)
        }
        let run = Task { [graph] in try await graph.run() }
        await server.waitForRequests(3)
        run.cancel()
        do {
            _ = try await run.value
            XCTFail("The graph was not cancelled.")
        } catch let failure as GraphFailure {
            XCTAssertTrue(failure.isCancellation)
            XCTAssertNil(failure.step)
        }
        await server.waitForOpenConnections { $0 == 0 }
    }

    func testCancelledTaskSendsNoRequests() async throws {
        let server = try LoopbackServer()
        let client = client(server)
        var graph = RequestGraph()
        graph.add("a", client.string.get("a"))
        let run = Task { [graph] in
            while !Task.isCancelled { await Task.yield() }
            return try await graph.run()
        }
        run.cancel()
        do {
            _ = try await run.value
            XCTFail("The graph was not cancelled.")
        } catch let failure as GraphFailure {
            XCTAssertTrue(failure.isCancellation)
            XCTAssertNil(failure.step)
        }
        XCTAssertEqual(server.connections, 0)
    }

    func testEmptyGraphSucceeds() async throws {
        let results = try await RequestGraph().run()
        XCTAssertTrue(results.failures.isEmpty)
    }

    func testNilValuesArePassedOn() async throws {
        var graph = RequestGraph()
        let none = graph.add("none") { Int?.none }
        let isNil = graph.add("isNil", after: none) { $0 == nil }
        let found = try await graph.run().value(of: isNil)
        XCTAssertTrue(found)
    }
}
