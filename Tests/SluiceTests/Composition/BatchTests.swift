import SluiceTesting
import XCTest

@testable import Sluice

final class BatchTests: XCTestCase {
    private func client(_ server: LoopbackServer) -> APIClient {
        addTeardownBlock { server.stop() }
        return APIClient(baseURL: server.url)
    }

    func testTupleBatchReturnsTypedModelsAndErrors() async throws {
        let server = try LoopbackServer()
        server.on("/user", .json(#"{"id":1,"name":"Ada"}"#))
        server.on("/motto", .text("Let it flow."))
        let client = client(server)
        let user: APIRequest<User, ShopError> = client.codable.get("user")
        let motto: APIRequest<String, APIError> = client.string.get("motto")
        let (ada, text) = try await client.batch(user, motto)
        XCTAssertEqual(ada, User(id: 1, name: "Ada"))
        XCTAssertEqual(text, "Let it flow.")
        let (result, failure) = await client.batchSender(user, client.string.get("none"), failsFast: false).results
        XCTAssertEqual(try result.get().id, 1)
        XCTAssertEqual(failure.failure?.code, .unacceptableStatus)
    }

    func testTupleBatchOfOneErrorModelThrowsIt() async throws {
        let server = try LoopbackServer()
        server.on("/user", .json(#"{"id":1,"name":"Ada"}"#))
        server.on("/motto", .text("Let it flow."))
        let client = client(server)
        let user: APIRequest<User, ShopError> = client.codable.get("user")
        let motto: APIRequest<String, ShopError> = client.string.get("motto")
        let missing: APIRequest<String, ShopError> = client.string.get("missing")
        func load(_ last: APIRequest<String, ShopError>) async throws(ShopError) -> String {
            let (user, text) = try await client.batch(user, last)
            return "\(user.name): \(text)"
        }
        let text = try await load(motto)
        XCTAssertEqual(text, "Ada: Let it flow.")
        do throws(ShopError) {
            _ = try await load(missing)
            XCTFail("The batch succeeded.")
        } catch {
            XCTAssertEqual(server.requests.contains { $0.path == "/missing" }, true)
        }
        let cancelled = Task { () async throws(ShopError) -> String in
            while !Task.isCancelled { await Task.yield() }
            return try await load(motto)
        }
        cancelled.cancel()
        let result = await cancelled.result
        XCTAssertThrowsError(try result.get()) { XCTAssertTrue($0 is ShopError) }
    }

    func testResultsHaveTheOrderOfTheRequests() async throws {
        let server = try LoopbackServer()
        let signal = LoopbackSignal()
        server.on("/0", .after(signal, .text("0")))
        for number in 1..<20 {
            server.on("/\(number)") { _ in
                if number == 19 { signal.fire() }
                return .text("\(number)")
            }
        }
        let client = client(server)
        let numbers = try await client.batch((0..<20).map { client.string.get("\($0)") })
        XCTAssertEqual(numbers, (0..<20).map(String.init))
    }

    func testEmptyBatchSucceedsAndItsProgressEnds() async throws {
        let client = APIClient(baseURL: "http://127.0.0.1:1")
        let none: [APIRequest<User, APIError>] = []
        let users = try await client.batch(none)
        XCTAssertEqual(users, [])
        let sender = client.batchSender(none)
        let results = await sender.results
        XCTAssertTrue(results.isEmpty)
        let states = await sender.progress.reduce(into: []) { $0.append($1) }
        XCTAssertEqual(states, [BatchProgress(total: 0)])
        XCTAssertEqual(states.last?.fractionCompleted, 1)
        try await client.batch()
    }

    func testMaximumInFlightLimitsConcurrentRequests() async throws {
        for (maximum, expected) in [(3, 3), (0, 1)] {
            let server = try LoopbackServer()
            let signal = LoopbackSignal()
            server.on("/fence", .text("fence"))
            server.on("/*", .after(signal, .text("done")))
            let client = client(server)
            let requests: [APIRequest<String, APIError>] = (0..<40).map { client.string.get("\($0)") }
            let batch = Task { try await client.batch(requests, maximumInFlight: maximum) }
            await server.waitForRequests(expected)
            // A request sent by now would have arrived before this one.
            for _ in 0..<3 { _ = try await client.string.get("fence").sender().value }
            XCTAssertEqual(server.requests.filter { $0.target != "/fence" }.count, expected)
            signal.fire()
            let values = try await batch.value
            XCTAssertEqual(values, Array(repeating: "done", count: 40))
        }
    }

    func testFirstFailureIsThrownAndCancelsTheOtherRequests() async throws {
        let server = try LoopbackServer()
        let hanging = LoopbackSignal()
        server.on("/hang", .hang)
        server.on("/bad", .after(hanging, .json(#"{"message":"No."}"#, status: .badRequest)))
        let client = client(server)
        let requests: [APIRequest<User, ShopError>] = ["hang", "bad", "hang"].map { client.codable.get($0) }
        let sender = client.batchSender(requests)
        async let first = sender.firstFailure
        await server.waitForRequests(3)
        hanging.fire()
        do {
            _ = try await sender.value
            XCTFail("The batch did not throw.")
        } catch {
            XCTAssertEqual(error.message, "No.")
        }
        let position = await first
        XCTAssertEqual(position, 1)
        let results = await sender.results
        XCTAssertEqual(results.map { $0.failure?.isCancellation }, [true, false, true])
        await server.waitForOpenConnections { $0 <= 1 }
    }

    func testTupleBatchThrowsTheErrorTypeOfTheFailedRequest() async throws {
        let server = try LoopbackServer()
        server.on("/hang", .hang)
        server.on("/bad", .json(#"{"message":"No."}"#, status: .badRequest))
        let client = client(server)
        let hanging: APIRequest<User, APIError> = client.codable.get("hang")
        let failing: APIRequest<User, ShopError> = client.codable.get("bad")
        do {
            _ = try await client.batch(hanging, failing)
            XCTFail("The batch did not throw.")
        } catch let error as ShopError {
            XCTAssertEqual(error.message, "No.")
        }
    }

    func testQueuedRequestsAreNotSentAfterAFailure() async throws {
        let server = try LoopbackServer()
        server.on("/bad", .status(.badRequest))
        let client = client(server)
        let requests: [APIRequest<Empty, APIError>] = (0..<10).map { _ in client.empty.get("bad") }
        let sender = client.batchSender(requests, maximumInFlight: 1)
        let results = await sender.results
        XCTAssertEqual(server.requestCount, 1)
        XCTAssertEqual(results.first?.failure?.code, .unacceptableStatus)
        XCTAssertTrue(results.dropFirst().allSatisfy { $0.failure?.isCancellation == true })
        let last = await sender.progress.reduce(into: nil) { $0 = $1 }
        XCTAssertEqual(last, BatchProgress(failed: 1, total: 10))
    }

    func testResultsIncludeAllFailuresWithoutFailsFast() async throws {
        let server = try LoopbackServer()
        for number in 0..<6 {
            server.on("/\(number)", number.isMultiple(of: 2) ? .text("fine") : .status(.badRequest))
        }
        let client = client(server)
        let requests: [APIRequest<String, APIError>] = (0..<6).map { client.string.get("\($0)") }
        let sender = client.batchSender(requests, failsFast: false)
        let results = await sender.results
        XCTAssertEqual(results.map { try? $0.get() }, ["fine", nil, "fine", nil, "fine", nil])
        do {
            _ = try await sender.value
            XCTFail("The batch did not throw.")
        } catch {
            XCTAssertEqual(error.code, .unacceptableStatus)
        }
        XCTAssertEqual(server.requestCount, 6)
        let last = await sender.progress.reduce(into: nil) { $0 = $1 }
        XCTAssertEqual(last, BatchProgress(succeeded: 3, failed: 3, total: 6, bytesReceived: 12))
    }

    func testCancelledCallerCancelsAllRequests() async throws {
        let server = try LoopbackServer()
        server.on("/*", .hang)
        let client = client(server)
        let requests: [APIRequest<String, APIError>] = (0..<5).map { client.string.get("\($0)") }
        let task = Task { () throws(APIError) in try await client.batch(requests) }
        await server.waitForRequests(5)
        task.cancel()
        do {
            _ = try await task.value
            XCTFail("The batch was not cancelled.")
        } catch {
            XCTAssertEqual((error as? APIError)?.isCancellation, true)
        }
        await server.waitForOpenConnections { $0 == 0 }
    }

    func testCancelKeepsFinishedResults() async throws {
        let server = try LoopbackServer()
        server.on("/now", .text("here"))
        server.on("/hang", .hang)
        let client = client(server)
        let requests: [APIRequest<String, APIError>] = [client.string.get("now"), client.string.get("hang")]
        let sender = client.batchSender(requests, failsFast: false)
        let results = Task { await sender.results }
        let progressTask = Task {
            for await progress in sender.progress where progress.completed == 1 { return true }
            return false
        }
        let hasCompletedOne = await progressTask.value
        XCTAssertTrue(hasCompletedOne)
        await server.waitForRequests(2)
        sender.cancel()
        let kept = await results.value
        XCTAssertEqual(try kept.first?.get(), "here")
        XCTAssertEqual(kept.last?.failure?.isCancellation, true)
        let first = await sender.firstFailure
        XCTAssertNil(first)
        let again = await sender.results
        XCTAssertEqual(try again.first?.get(), "here")
        await server.waitForOpenConnections { $0 <= 1 }
    }

    func testEachRequestIsSentByItsOwnClient() async throws {
        let (first, second) = (try LoopbackServer(), try LoopbackServer())
        first.on("/name", .text("first"))
        second.on("/name", .text("second"))
        let (one, two) = (client(first), client(second))
        let (a, b) = try await one.batch(one.string.get("name"), two.string.get("name"))
        XCTAssertEqual([a, b], ["first", "second"])
    }
}
