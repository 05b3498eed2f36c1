import Sluice
import SluiceTesting
import XCTest

final class ChainTests: XCTestCase {
    private struct Refusal: Error {}

    private struct Job: Codable, Sendable {
        var next: String?
    }

    private func client(_ server: LoopbackServer) -> APIClient {
        addTeardownBlock { server.stop() }
        return APIClient(baseURL: server.url)
    }

    func testNextRequestFollowsFromTheLastResponse() async throws {
        let server = try LoopbackServer()
        server.on("/a", .json(#"{"next":"b"}"#))
        server.on("/b", .json(#"{"next":"c"}"#))
        server.on("/c", .json("{}"))
        let client = client(server)
        let first: APIRequest<Job, APIError> = client.codable.get("a")
        let chain = client.chain(first) { response in
            try response.result.get().next.map { client.codable.get($0) }
        }
        XCTAssertEqual(server.requestCount, 0)
        let jobs = try await chain.reduce(into: []) { $0.append(try $1.result.get().next) }
        XCTAssertEqual(jobs, ["b", "c", nil])
        XCTAssertEqual(server.requests.map(\.target), ["/a", "/b", "/c"])
        for try await _ in chain { break }
        XCTAssertEqual(server.requestCount, 4)
    }

    func testCancellationFailsTheChainWithCancelled() async throws {
        let server = try LoopbackServer()
        server.on("/job", .json("{}"))
        let client = client(server)
        let first: APIRequest<Job, APIError> = client.codable.get("job")
        for error in [CancellationError(), SluiceError.cancelled] as [any Error] {
            do {
                for try await _ in client.chain(first, next: { _ in throw error }) {}
                XCTFail("The chain did not fail.")
            } catch {
                XCTAssertEqual(error.code, .cancelled)
            }
        }
        let picks = Shared(0)
        let chain = client.chain(first) { _ in
            picks.change { $0 += 1 }
            return first
        }
        let task = Task {
            for try await _ in chain { withUnsafeCurrentTask { $0?.cancel() } }
        }
        let result = await task.result
        XCTAssertThrowsError(try result.get()) { XCTAssertEqual(($0 as? SluiceError)?.code, .cancelled) }
        XCTAssertEqual(picks.read, 0)
    }

    func testChainContinuesAfterAFailedRequest() async throws {
        let server = try LoopbackServer()
        server.on("/new", .status(.notFound))
        server.on("/old", .text("old"))
        let client = client(server)
        let first: APIRequest<String, APIError> = client.string.get("new")
        let chain = client.chain(first) { response in
            response.status == .notFound ? client.string.get("old") : nil
        }
        let statuses = try await chain.reduce(into: []) { $0.append($1.status) }
        XCTAssertEqual(statuses, [.notFound, .ok])
    }

    func testChainOverItsLimitFailsWithChainTooLong() async throws {
        let server = try LoopbackServer()
        server.on("/again", .text("x"))
        let client = client(server)
        let first: APIRequest<String, APIError> = client.string.get("again")
        for (limit, sent) in [(3, 3), (0, 1)] {
            let before = server.requestCount
            do {
                for try await _ in client.chain(first, limit: limit, next: { _ in first }) {}
                XCTFail("The chain did not fail.")
            } catch {
                XCTAssertEqual(error.code, .chainTooLong)
                XCTAssertTrue(error.description.contains("\(sent)"))
            }
            XCTAssertEqual(server.requestCount - before, sent)
        }
        do {
            for try await _ in client.chain(first, next: { _ in first }) {}
            XCTFail("The chain did not fail.")
        } catch {
            XCTAssertEqual(error.code, .chainTooLong)
        }
        XCTAssertEqual(server.requestCount, 104)
    }

    func testChainOfExactlyTheLimitSucceeds() async throws {
        let server = try LoopbackServer()
        server.on("/a", .json(#"{"next":"b"}"#))
        server.on("/b", .json("{}"))
        let client = client(server)
        let first: APIRequest<Job, APIError> = client.codable.get("a")
        let chain = client.chain(first, limit: 2) { try $0.result.get().next.map { client.codable.get($0) } }
        let count = try await chain.reduce(0) { count, _ in count + 1 }
        XCTAssertEqual(count, 2)
    }

    func testErrorOfTheNextClosureFailsTheChain() async throws {
        let server = try LoopbackServer()
        server.on("/a", .text("x"))
        let client = client(server)
        let first: APIRequest<String, APIError> = client.string.get("a")
        var outcomes = client.chain(first) { _ in throw Refusal() }.makeAsyncIterator()
        let response = try await outcomes.next(isolation: nil)
        XCTAssertEqual(response?.status, .ok)
        do {
            _ = try await outcomes.next(isolation: nil)
            XCTFail("The chain did not fail.")
        } catch {
            XCTAssertEqual(error.code, .chainFailed)
            XCTAssertTrue(error.underlyingError is Refusal)
        }
        let end = try await outcomes.next(isolation: nil)
        XCTAssertNil(end)
    }

    func testChainLinksCombineDifferentModels() async throws {
        enum Outcome: Sendable {
            case token(String?)
            case user(User?)
        }
        let server = try LoopbackServer()
        server.on("/login", .text("7"))
        server.on("/users/7", .json(#"{"id":7,"name":"Ada"}"#))
        let client = client(server)
        let login: APIRequest<String, APIError> = client.string.post("login")
        let chain = client.chain(ChainLink(login) { Outcome.token(try? $0.result.get()) }) { outcome in
            guard case .token(let id?) = outcome else { return nil }
            let user: APIRequest<User, APIError> = client.codable.get("users/\(id)")
            return ChainLink(user) { .user(try? $0.result.get()) }
        }
        let last = try await chain.reduce(Outcome?.none) { $1 }
        guard case .user(let user) = last else { return XCTFail("The last outcome is not a user.") }
        XCTAssertEqual(user?.name, "Ada")
    }

    func testCancelledLoopCancelsTheRequestAndEndsTheChain() async throws {
        let server = try LoopbackServer()
        server.on("/hang", .hang)
        let client = client(server)
        let first: APIRequest<String, APIError> = client.string.get("hang")
        let task = Task { () -> [SluiceError.Code?] in
            var codes: [SluiceError.Code?] = []
            do throws(SluiceError) {
                for try await response in client.chain(first, next: { _ in first }) {
                    codes.append(response.failure?.code)
                }
            } catch {
                codes.append(error.code)
            }
            return codes
        }
        await server.waitForRequests(1)
        task.cancel()
        let codes = await task.value
        XCTAssertEqual(codes, [.cancelled, .cancelled])
        await server.waitForOpenConnections { $0 == 0 }
        XCTAssertEqual(server.requestCount, 1)
    }
}
