import Foundation
import Sluice
import SluiceTesting
import XCTest

final class HARRecorderTests: XCTestCase {
    private func client(_ server: LoopbackServer, _ recorder: HARRecorder) -> APIClient {
        APIClient(baseURL: server.url) {
            $0.observers = [recorder]
            $0.retry = RetryPolicy(backoff: .constant(.milliseconds(1)))
        }
    }

    func testRecordsHopsAndRetriesRedacted() async throws {
        let server = try LoopbackServer()
        server.on("/old", .redirect(to: "/new"))
        server.on("/new", .status(.serviceUnavailable), .json(#"{"token":"s3cret","name":"Ada"}"#))
        let recorder = HARRecorder()
        let shop = client(server, recorder)
        let request = shop.string.get("old").query("access_token", "s3cret").header("Authorization", "Bearer s3cret")
        _ = try await request.sender().value
        await shop.observersCaughtUp()
        let entries = recorder.har().log.entries
        XCTAssertEqual(entries.map(\.response.status), [302, 503, 302, 200])
        XCTAssertEqual(entries.map(\.attempt), [1, 1, 2, 2])
        XCTAssertEqual(entries.map(\.redirectCount), [0, 1, 0, 1])
        XCTAssertEqual(entries.map(\.isFromRetry), [nil, nil, true, true])
        XCTAssertEqual(Set(entries.map(\.requestID)).count, 1)
        XCTAssertEqual(entries[0].response.redirectURL, "\(server.url)/new")
        XCTAssertEqual(entries[0].serverIPAddress, "127.0.0.1")
        XCTAssertEqual(entries[3].response.content.text, #"{"token":"REDACTED","name":"Ada"}"#)
        for entry in entries {
            XCTAssertEqual(entry.time, entry.timings.total, accuracy: 0.001)
            XCTAssertGreaterThan(entry.timings.wait, 0)
        }
        let text = String(decoding: try recorder.har().data(), as: UTF8.self)
        XCTAssertFalse(text.contains("s3cret"), text)
    }

    func testRecordsFailures() async throws {
        let server = try LoopbackServer()
        server.on(.post, "/orders", .drop)
        server.on("/user", .text("no user"))
        let recorder = HARRecorder()
        let shop = client(server, recorder)
        _ = await shop.string.post("orders").data(Data("x".utf8), contentType: "text/plain").sender().result
        let user: APIRequest<User, APIError> = shop.get("user")
        _ = await user.sender().result
        await shop.observersCaughtUp()
        let entries = recorder.har().log.entries
        XCTAssertEqual(entries.map(\.response.status), [0, 200])
        XCTAssertEqual(entries.map { $0.error.map { $0.prefix { $0 != ":" } } }, ["connectionLost", "decodingFailed"])
        XCTAssertEqual(entries.first?.request.postData?.text, "x")
    }

    func testWritesFileThatCanBeReadAgain() async throws {
        let server = try LoopbackServer()
        server.on("/a", .data(Data([0, 1, 0xFF]), contentType: "image/png"))
        let recorder = HARRecorder()
        let shop = client(server, recorder)
        _ = try await shop.data.get("a").sender().value
        await shop.observersCaughtUp()
        let file = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString).har")
        defer { try? FileManager.default.removeItem(at: file) }
        try await recorder.write(to: file)
        let read = try HAR(parsing: Data(contentsOf: file))
        XCTAssertEqual(read.log.entries.map(\.response.content.text), ["AAH/"])
        XCTAssertEqual(try read.data(), try recorder.har().data())
        recorder.reset()
        try await recorder.write(to: file)
        XCTAssertEqual(try HAR(parsing: Data(contentsOf: file)).log.entries, [])
    }

    func testUnwritableFileIsTypedError() async throws {
        do {
            try await HARRecorder().write(to: URL(filePath: "/nowhere/at/all.har"))
            XCTFail("The file was written.")
        } catch {
            XCTAssertEqual(error.code, .internalFailure)
            XCTAssertTrue(error.reason.contains("/nowhere/at/all.har"), error.reason)
        }
    }
}
