import Foundation
import Sluice
import SluiceHTTP
import SluiceTesting
import XCTest

/// The log and the activity counter in a client, with a server.
final class ObservationTests: XCTestCase {
    /// Returns a log, and its lines as they arrive.
    private func log(_ level: RequestLog.Level, curl: Bool = false) -> (RequestLog, AsyncStream<String>.Iterator) {
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        return (RequestLog(level, curl: curl) { continuation.yield($0) }, stream.makeAsyncIterator())
    }

    func testLogsRequestAsOneLine() async throws {
        let server = try LoopbackServer()
        server.on("/old", .redirect(to: "/users/1?token=s3"))
        server.on("/users/1", .json(#"{"id":1,"name":"Ada"}"#))
        var (log, lines) = log(.summary)
        let client = APIClient(baseURL: server.url) { $0.observers = [log] }
        let _: User = try await client.codable.request("old").sender().value
        let line = await lines.next() ?? ""
        XCTAssertTrue(line.contains("← 200 GET "), line)
        XCTAssertTrue(line.hasSuffix("  21 B  \(server.url)/old  (1 redirect)"), line)
    }

    func testLogsFailureWithStatusAndAttempts() async throws {
        let server = try LoopbackServer()
        server.on("/users/1", .status(503))
        var (log, lines) = log(.failures)
        let client = APIClient(baseURL: server.url) {
            $0.observers = [log]
            $0.retry = RetryPolicy(maximumAttempts: 2, backoff: .constant(.zero))
        }
        let response = await client.string.request("users/1").sender().response
        XCTAssertEqual(response.status, 503)
        let line = await lines.next() ?? ""
        XCTAssertTrue(line.contains("✗ 503 GET "), line)
        XCTAssertTrue(line.contains("\(server.url)/users/1  (2 attempts"), line)
        XCTAssertTrue(line.hasSuffix("[unacceptableStatus]"), line)
    }

    func testLogsRequestWithoutSecrets() async throws {
        let server = try LoopbackServer()
        server.on("/login", .json(#"{"access_token":"Zq1","name":"Ada"}"#, headers: ["Set-Cookie": "sid=Zq1"]))
        var (log, lines) = log(.full, curl: true)
        let client = APIClient(baseURL: server.url) {
            $0.observers = [log]
            $0.headers["X-Tenant"] = "Zq1"
            $0.secretHeaders = ["X-Tenant"]
        }
        _ = try await client.string.post("login").query("api_key", "Zq1").header("Authorization", "Bearer Zq1")
            .form(["user": "ada", "password": "Zq1"]).sender().value
        var text = ""
        while !text.contains("curl "), let entry = await lines.next() { text += entry + "\n" }
        XCTAssertFalse(text.contains("Zq1"), text)
        XCTAssertTrue(text.contains("password=REDACTED&user=ada"), text)
        XCTAssertTrue(text.contains("\"access_token\": \"REDACTED\""), text)
    }

    func testCounterIsActiveUntilLastRequestEnds() async throws {
        let server = try LoopbackServer()
        let release = LoopbackSignal()
        server.on("/users/1", .after(release, .json("{}")))
        let activity = ActivityCounter()
        var changes = activity.changes.makeAsyncIterator()
        let idle = await changes.next(isolation: nil)
        let client = APIClient(baseURL: server.url) { $0.observers = [activity] }
        async let first = client.string.request("users/1").sender().response
        async let second = client.string.request("users/1").sender().response
        let active = await changes.next(isolation: nil)
        release.fire()
        _ = await (first, second)
        let end = await changes.next(isolation: nil)
        XCTAssertEqual([idle, active, end], [false, true, false])
        XCTAssertFalse(activity.isActive)
    }

    func testCancelledRequestIsNoLongerCounted() async throws {
        let server = try LoopbackServer()
        server.on("/slow", .hang)
        let activity = ActivityCounter()
        let client = APIClient(baseURL: server.url) { $0.observers = [activity] }
        var changes = activity.changes.makeAsyncIterator()
        let sender = client.string.request("slow").sender()
        async let response = sender.response
        while await changes.next(isolation: nil) != true {}
        sender.cancel()
        _ = await response
        let end = await changes.next(isolation: nil)
        XCTAssertEqual(end, false)
    }
}
