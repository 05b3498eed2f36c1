import Sluice
import SluiceTesting
import XCTest

final class InterceptorNestingTests: XCTestCase {
    /// Asks the server for a token with each request, unless the request has the tag.
    private struct Token: RequestInterceptor {
        let tag: String

        func intercept(_ request: HTTPRequest, context: RequestContext) async throws -> HTTPRequest {
            if context.tags.contains("token") { return request }
            var request = request
            request.headers["X-Token"] = try await context.client.string.get("token").tags(tag).sender().value
            return request
        }
    }

    /// Repeats each request that has succeeded.
    private struct Repetition: ResponseInterceptor {
        func intercept(_ outcome: TransportOutcome, context: RequestContext) async -> TransportOutcome {
            _ = await context.client.string.get("token").sender().result
            return outcome
        }
    }

    func testRequestsOfAnInterceptorPassTheInterceptors() async throws {
        let server = try LoopbackServer()
        server.on("/token", .text("t1"))
        server.on("/users", .echo)
        let client = APIClient(baseURL: server.url) { $0.requestInterceptors = [Token(tag: "token")] }
        let echo: LoopbackEcho = try await client.get("users").sender().value
        XCTAssertEqual(echo.headers.last { $0.name == "X-Token" }?.value, "t1")
    }

    /// Sends the next request from a task that the interceptor does not wait for.
    private struct Polling: ResponseInterceptor {
        let polls: Shared<Int>
        let failures: Shared<Int>

        func intercept(_ outcome: TransportOutcome, context: RequestContext) async -> TransportOutcome {
            let client = context.client
            if case .failure = outcome { failures.change { $0 += 1 } }
            let number = polls.change { number in
                number += 1
                return number
            }
            guard number < 40 else { return outcome }
            Task {
                // Returns once the interceptor has ended.
                await Task.detached {}.value
                _ = await client.string.get("poll").sender().result
            }
            return outcome
        }
    }

    func testRequestsAfterTheEndOfAnInterceptorAreNotNested() async throws {
        let server = try LoopbackServer()
        server.on("/poll", .text("ok"))
        let (polls, failures) = (Shared(0), Shared(0))
        let client = APIClient(baseURL: server.url) {
            $0.responseInterceptors = [Polling(polls: polls, failures: failures)]
        }
        _ = try await client.string.get("poll").sender().value
        try await waitUntil("all polls are done") { polls.read == 40 }
        XCTAssertEqual(failures.read, 0)
    }

    func testInterceptorWhoseRequestsPassItWithoutEndFails() async throws {
        let server = try LoopbackServer()
        let client = APIClient(baseURL: server.url) { $0.requestInterceptors = [Token(tag: "other")] }
        let result = await client.string.get("users").sender().result
        guard case .failure(let error) = result else { return XCTFail("The request has succeeded.") }
        XCTAssertEqual(error.code, .interceptorFailed)
        XCTAssertTrue("\(error)".contains("pass the same interceptor again"), "\(error)")
        XCTAssertEqual(server.requests.count, 0)
    }

    func testResponseInterceptorWhoseRequestsPassItWithoutEndIsStopped() async throws {
        let server = try LoopbackServer()
        server.on("/token", .text("t1"))
        let client = APIClient(baseURL: server.url) { $0.responseInterceptors = [Repetition()] }
        let text = try await client.string.get("token").sender().value
        XCTAssertEqual(text, "t1")
        XCTAssertEqual(server.requests.count, 16)
    }
}
