import Foundation
import Sluice
import SluiceHTTP
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
        let entries = recorder.har().entries
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
            // A response may arrive before the thread that has sent the request reads the clock.
            XCTAssertGreaterThanOrEqual(entry.timings.wait, 0)
            XCTAssertGreaterThan(entry.timings.send + entry.timings.wait, 0)
        }
        let text = String(decoding: try recorder.har().data(), as: UTF8.self)
        XCTAssertFalse(text.contains("s3cret"), text)
    }

    #if os(Linux)
    func testRecordsHeadersAsTheServerReceivesThem() async throws {
        let server = try LoopbackServer()
        server.on("/a", .text("hello", headers: ["Set-Cookie": "sid=1; Max-Age=60"]))
        let recorder = HARRecorder(redaction: .none)
        let shop = APIClient(baseURL: server.url) {
            $0.observers = [recorder]
            $0.cookies = CookieJar()
        }
        _ = try await shop.string.get("a").header("X-Own", "1").sender().value
        _ = try await shop.string.post("a").data(Data("hello".utf8), contentType: "text/plain").sender().value
        let pieces = AsyncStream<Data> {
            $0.yield(Data("hello".utf8))
            $0.finish()
        }
        _ = try await shop.string.upload("a", .stream(pieces)).sender().value
        await shop.observersCaughtUp()
        let entries = recorder.har().entries
        let requests = server.requests
        XCTAssertEqual(entries.count, 3)
        for (entry, request) in zip(entries, requests) {
            let recorded = entry.request.headers.map { "\($0.name): \($0.value)" }
            XCTAssertEqual(recorded, request.headers.map { "\($0.name): \($0.value)" })
            XCTAssertEqual(entry.request.headers.first?.name, "Host")
            XCTAssertGreaterThan(entry.request.headersSize ?? 0, 50)
        }
        let names = entries.map { $0.request.headers.map { $0.name.lowercased() } }
        XCTAssertTrue(names[1].contains("content-length"), "\(names)")
        XCTAssertTrue(names[1].contains("cookie"), "\(names)")
        XCTAssertTrue(names[2].contains("transfer-encoding"), "\(names)")
        XCTAssertEqual(entries[1].request.cookies.map(\.name), ["sid"])
        XCTAssertEqual(entries[0].response.cookies.first?.expires?.hasSuffix("Z"), true)
    }

    func testSendAndReceiveAreMeasuredByTheEngine() async throws {
        let server = try LoopbackServer()
        let signal = LoopbackSignal()
        server.on(.post, "/a", .data(Data(count: 8 << 20)).paused(after: 4 << 20, until: signal))
        let recorder = HARRecorder(maximumBodyBytes: 0)
        let shop = client(server, recorder)
        async let answer = shop.data.post("a").data(Data(count: 16 << 20), contentType: "text/plain").sender().value
        await server.waitForRequests(1)
        signal.fire()
        _ = try await answer
        await shop.observersCaughtUp()
        let timings = try XCTUnwrap(recorder.har().entries.first).timings
        XCTAssertGreaterThan(timings.send, 0)
        XCTAssertGreaterThan(timings.receive, 0)
    }
    #endif

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
        let entries = recorder.har().entries
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
        XCTAssertEqual(read.entries.map(\.response.content.text), ["AAH/"])
        XCTAssertEqual(try read.data(), try recorder.har().data())
        recorder.reset()
        try await recorder.write(to: file)
        XCTAssertEqual(try HAR(parsing: Data(contentsOf: file)).entries, [])
    }

    func testReplacesNoPipeAndNoDevice() async throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "sluice-har-\(UUID().uuidString)")
        XCTAssertEqual(mkfifo(url.path, 0o600), 0)
        defer { try? FileManager.default.removeItem(at: url) }
        do throws(SluiceError) {
            try await HARRecorder().write(to: url)
            XCTFail("The pipe was replaced.")
        } catch {
            XCTAssertEqual(error.code, .internalFailure)
        }
        for path in [url.path, "/dev/null"] {
            XCTAssertEqual(SystemFile.replace(path, with: Data(), by: url.path + ".new", isSynced: false), EEXIST)
        }
        XCTAssertEqual(SystemFile.replacementError(FileManager.default.temporaryDirectory.path), EISDIR)
        var status = stat()
        XCTAssertEqual(lstat(url.path, &status), 0)
        XCTAssertEqual(status.st_mode & S_IFMT, S_IFIFO)
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
