import Foundation
import Sluice
import SluiceHTTP
import SluiceTesting
import XCTest

/// The article on observation.
final class ObservationGuideTests: XCTestCase {
    struct SlowRequests: RequestObserver {
        let found: @Sendable (String, Duration) -> Void

        var interests: RequestEvent.Kinds { .finished }

        func observe(_ event: RequestEvent, of request: ObservedRequest) {
            if request.elapsed > .seconds(1) { found(request.route, request.elapsed) }
        }
    }

    struct Audit: RequestObserver {
        let write: @Sendable (String) -> Void

        var interests: RequestEvent.Kinds { [.began, .retrying, .finished] }

        func observe(_ event: RequestEvent, of request: ObservedRequest) {
            switch event {
            case .began(let sent): write("\(sent.method) \(request.route)")
            case .retrying(after: let delay, .failure(let error)): write("\(error.code), again in \(delay)")
            case .retrying(after: let delay, .success(let response)): write("\(response.status), again in \(delay)")
            case .finished(.success(let response)): write("\(response.status) after \(request.elapsed)")
            case .finished(.failure(let error)): write("\(error.code) after \(request.elapsed)")
            default: break
            }
        }
    }

    struct Tracing: Plugin {
        func prepare(_ request: HTTPRequest, context: RequestContext) async throws -> HTTPRequest {
            var request = request
            request.headers["X-Request-Id"] = UUID().uuidString
            return request
        }
        func didFinish(_ result: Result<any Sendable, any Error>, context: RequestContext) {
            guard let screen = context.userInfo["screen"] as? String else { return }
            switch result {
            case .success(let user as User): print("\(screen) shows \(user.name)")
            case .success(let model): print("\(screen) shows a \(type(of: model))")
            case .failure(let error): print("\(screen) failed: \(error)")
            }
        }
    }

    private func userServer() throws -> LoopbackServer {
        let server = try LoopbackServer()
        server.on("/users/1", .json(#"{"id":1,"name":"Ada"}"#))
        return server
    }

    func testLogLinesWithTheCallersMetadata() async throws {
        let server = try LoopbackServer()
        server.on("/users/1", .text("Ada"))
        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
        enum Customer {
            @TaskLocal static var id = "none"
        }
        let named = APIClient(baseURL: server.url) {
            $0.observers = [RequestLog(.summary) { line in continuation.yield("customer=\(Customer.id) \(line)") }]
        }
        let answer = try await Customer.$id.withValue("42") { try await named.string.get("users/1").sender().value }
        XCTAssertEqual(answer, "Ada")
        await named.observersCaughtUp()
        for await line in lines {
            XCTAssertTrue(line.hasPrefix("customer=42 "), line)
            break
        }
    }

    func testRequestLog() async throws {
        let server = try userServer()
        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
        let client = APIClient(baseURL: server.url) { $0.observers = [RequestLog()] }
        var log = RequestLog(.summary, curl: true) { line in continuation.yield(line) }
        log.showsDate = true
        let summed = APIClient(baseURL: server.url) { [log] in $0.observers = [log] }
        _ = try await client.string.get("users/1").sender().value
        _ = try await summed.string.get("users/1").sender().value
        var iterator = lines.makeAsyncIterator()
        let line = await iterator.next() ?? ""
        XCTAssertTrue(line.contains("← 200 GET ") && line.contains("\n    curl '\(server.url)/users/1'"), line)
    }

    func testCurlCommandAndRedaction() throws {
        let client = APIClient(baseURL: "https://shop.example")
        let request = client.string.post("pay").query("train-ticket", "s3").json(["iban": "s3", "password": "s3"])
        let command = try request.httpRequest().curlCommand()
        XCTAssertTrue(command.contains("password\":\"REDACTED"), command)
        var redaction = Redaction.standard
        redaction.memberNames.insert("iban")
        redaction.parameterNames.insert("*-ticket")
        let careful = RequestLog(.full, redaction: redaction)
        XCTAssertFalse(try request.httpRequest().curlCommand(redaction: careful.redaction).contains("s3"))
        let whole = try request.httpRequest().curlCommand(redaction: .none)
        XCTAssertEqual(whole.components(separatedBy: "s3").count, 4)
    }

    func testActivityIndicator() async throws {
        let server = try userServer()
        let activity = ActivityCounter()
        let busy = APIClient(baseURL: server.url) { $0.observers = [activity] }
        let indicator = Task {
            for await isActive in activity.changes { print(isActive ? "busy" : "idle") }
        }
        _ = try await busy.string.get("users/1").sender().value
        indicator.cancel()
        await indicator.value
        await busy.observersCaughtUp()
        XCTAssertFalse(activity.isActive)
    }

    func testObserverOfSeveralEvents() async throws {
        let server = try userServer()
        server.on("/busy", .status(.serviceUnavailable, headers: ["Retry-After": "0"]), .drop)
        let lines = Locked<[String]>([])
        let client = APIClient(baseURL: server.url) {
            $0.retry = RetryPolicy(maximumAttempts: 3, backoff: .constant(.zero))
            $0.observers = [Audit { line in lines.withLock { $0.append(line) } }]
        }
        _ = try await client.string.get("users/1").sender().value
        _ = await client.string.get("busy").sender().response
        await client.observersCaughtUp()
        let found = lines.withLock { $0 }
        XCTAssertEqual(found.count, 6, "\(found)")
        for (line, part) in zip(
            found,
            ["GET users/{}", "200", "GET busy", "503", "connectionLost", "connectionLost after"]
        ) {
            XCTAssertTrue(line.contains(part), line)
        }
    }

    func testObserverAndPlugin() async throws {
        let server = try userServer()
        let traced = APIClient(baseURL: server.url) { $0.plugins = [Tracing()] }
        let user = try await traced.get("users/1", as: User.self).userInfo("screen", "profile").sender().value
        XCTAssertEqual(user.name, "Ada")
        XCTAssertNotNil(server.requests.first?.headers["X-Request-Id"].flatMap(UUID.init))
        let found = Locked<[String]>([])
        let observer = SlowRequests { route, _ in found.withLock { $0.append(route) } }
        let error = SluiceError(.timedOut, "Too late.")
        observer.observe(
            .finished(.failure(error)),
            of: ObservedRequest(id: RequestID(rawValue: 1), route: "a", elapsed: .seconds(2))
        )
        observer.observe(
            .finished(.failure(error)),
            of: ObservedRequest(id: RequestID(rawValue: 1), route: "b", elapsed: .seconds(0))
        )
        XCTAssertEqual(found.withLock { $0 }, ["a"])
    }
}
