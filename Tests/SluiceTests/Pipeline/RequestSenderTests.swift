import Sluice
import SluiceTesting
import XCTest

/// Runs tasks only when a test requests it, so that the test knows that a task waits.
private final class ManualExecutor: TaskExecutor {
    private let jobs = Shared<[UnownedJob]>([])

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.change { $0.append(job) }
    }

    /// Runs the tasks until all of them wait or have ended.
    func run() {
        while let job = jobs.change({ $0.isEmpty ? nil : $0.removeFirst() }) {
            job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}

final class RequestSenderTests: XCTestCase {
    func testSendsOnceForManyCallers() async throws {
        let server = try LoopbackServer()
        server.on("/user", .json(#"{"id":1,"name":"Ada"}"#))
        let sender: RequestSender<User, APIError> = APIClient(baseURL: server.url).codable.request("user").sender()
        let answers = await withTaskGroup(of: User?.self) { group in
            for _ in 0..<20 { group.addTask { try? await sender.value } }
            return await group.reduce(into: [User?]()) { $0.append($1) }
        }
        XCTAssertEqual(answers, Array(repeating: User(id: 1, name: "Ada"), count: 20))
        let status = await sender.response.status
        XCTAssertEqual(status, .ok)
        XCTAssertEqual(server.requestCount, 1)
    }

    func testSendsNothingBeforeOutcomeIsAwaited() async throws {
        let server = try LoopbackServer()
        server.on("/user", .json(#"{"id":1,"name":"Ada"}"#))
        let client = APIClient(baseURL: server.url)
        let unused: RequestSender<User, APIError> = client.codable.request("user").sender()
        let used: RequestSender<User, APIError> = client.codable.request("user").sender()
        _ = try await used.value
        XCTAssertEqual(server.requestCount, 1)
        _ = unused
    }

    func testCancellingOnlyWaiterClosesConnection() async throws {
        let server = try LoopbackServer()
        server.on("/hang", .hang)
        let sender = APIClient(baseURL: server.url).data.request("hang").sender()
        let task = Task { await sender.result }
        await server.waitForRequests(1)
        task.cancel()
        let result = await task.value
        XCTAssertEqual(result.failure?.code, .cancelled)
        await server.waitForOpenConnections { $0 == 0 }
    }

    func testCancellingOneWaiterDoesNotAffectOther() async throws {
        let server = try LoopbackServer()
        let signal = LoopbackSignal()
        server.on("/user", .after(signal, .json(#"{"id":1,"name":"Ada"}"#)))
        let sender: RequestSender<User, APIError> = APIClient(baseURL: server.url).codable.request("user").sender()
        let first = Task { await sender.result }
        await server.waitForRequests(1)
        let answer = Shared<Result<User, APIError>?>(nil)
        let executor = ManualExecutor()
        Task(executorPreference: executor) {
            let result = await sender.result
            answer.change { $0 = result }
        }
        // Returns when the second task waits too.
        executor.run()
        XCTAssertNil(answer.read)
        first.cancel()
        let cancelled = await first.value
        XCTAssertEqual(cancelled.failure?.code, .cancelled)
        signal.fire()
        await eventually {
            executor.run()
            return answer.read != nil
        }
        XCTAssertEqual(try answer.read?.get(), User(id: 1, name: "Ada"))
    }

    func testCancelEndsAllWaitersAndIsFinal() async throws {
        let server = try LoopbackServer()
        server.on("/hang", .hang)
        let sender = APIClient(baseURL: server.url).data.request("hang").sender()
        let tasks = (0..<3).map { _ in Task { await sender.result } }
        await server.waitForRequests(1)
        sender.cancel()
        for task in tasks {
            let result = await task.value
            XCTAssertEqual(result.failure?.isCancellation, true)
        }
        let later = await sender.result
        XCTAssertEqual(later.failure?.code, .cancelled)
        await server.waitForOpenConnections { $0 == 0 }
    }

    func testCancelBeforeStartSendsNothing() async throws {
        let server = try LoopbackServer()
        let sender = APIClient(baseURL: server.url).data.request("never").sender()
        sender.cancel()
        let result = await sender.result
        XCTAssertEqual(result.failure?.code, .cancelled)
        XCTAssertEqual(server.connections, 0)
    }

    func testCancelledTaskSendsNothing() async throws {
        let server = try LoopbackServer()
        let sender = APIClient(baseURL: server.url).data.request("never").sender()
        let gate = AsyncStream<Void>.makeStream()
        let task = Task {
            for await _ in gate.stream {}
            return await sender.result
        }
        task.cancel()
        let result = await task.value
        XCTAssertEqual(result.failure?.code, .cancelled)
        XCTAssertEqual(server.connections, 0)
    }

    func testCancelAfterOutcomeHasNoEffect() async throws {
        let server = try LoopbackServer()
        server.on("/user", .json(#"{"id":1,"name":"Ada"}"#))
        let sender: RequestSender<User, APIError> = APIClient(baseURL: server.url).codable.request("user").sender()
        let user = try await sender.value
        sender.cancel()
        let again = try await sender.value
        XCTAssertEqual(user, again)
    }
}
