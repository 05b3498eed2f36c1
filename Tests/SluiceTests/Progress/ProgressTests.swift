import Sluice
import SluiceTesting
import XCTest

final class ProgressTests: XCTestCase {
    private let megabyte = Data(repeating: 7, count: 1 << 20)

    func testReportsBothBodiesToTheirEnd() async throws {
        let server = try LoopbackServer()
        server.on(.put, "/file", .data(megabyte))
        let sender = APIClient(baseURL: server.url).data.request("file").put().data(megabyte + megabyte).sender()
        async let upload = last(of: sender.uploadProgress)
        async let download = last(of: sender.downloadProgress)
        let body = try await sender.value
        XCTAssertEqual(body.count, 1 << 20)
        let sent = await upload
        XCTAssertEqual(sent?.completed, 2 << 20)
        XCTAssertEqual(sent?.total, 2 << 20)
        let received = await download
        XCTAssertEqual(received?.completed, 1 << 20)
        XCTAssertEqual(received?.fractionCompleted, 1)
        XCTAssertEqual(received?.attempt, 1)
    }

    func testReportsSmallBodies() async throws {
        let server = try LoopbackServer()
        server.on(.post, "/note", .text("thanks"))
        let sender = APIClient(baseURL: server.url).string.request("note").post().data(Data("hello".utf8)).sender()
        _ = try await sender.value
        let sent = await last(of: sender.uploadProgress)
        XCTAssertEqual(sent?.completed, 5)
        let received = await last(of: sender.downloadProgress)
        XCTAssertEqual(received?.completed, 6)
        XCTAssertEqual(received?.total, 6)
    }

    func testReportsBytesAsTheyArrive() async throws {
        let server = try LoopbackServer()
        let signal = LoopbackSignal()
        let half = Data(repeating: 1, count: 500)
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"
        server.on("/slow", .script(.write(head), .write(half), .wait(for: signal), .write(half)))
        let sender = APIClient(baseURL: server.url).data.request("slow").sender()
        var states = sender.downloadProgress.makeAsyncIterator()
        // Read before the request is sent.
        let first = await states.next(isolation: nil)
        XCTAssertEqual(first?.completed, 0)
        async let body = sender.value
        var seen: [TransferProgress] = []
        while let progress = await states.next(isolation: nil) {
            seen.append(progress)
            if progress.completed == 500 { signal.fire() }
        }
        XCTAssertTrue(seen.contains { $0.completed == 500 && $0.total == 1000 })
        XCTAssertEqual(seen.last?.completed, 1000)
        let count = try await body.count
        XCTAssertEqual(count, 1000)
    }

    func testProgressEndsWhenRequestFails() async throws {
        let server = try LoopbackServer()
        server.on("/broken", .truncated(Data(repeating: 1, count: 10), announced: 100))
        let sender = APIClient(baseURL: server.url).data.request("broken").sender()
        let download = Task { await last(of: sender.downloadProgress) }
        let result = await sender.result
        XCTAssertEqual(result.failure?.code, .truncatedBody)
        let final = await download.value
        XCTAssertEqual(final?.completed, 10)
        XCTAssertEqual(final?.total, 100)
    }

    func testProgressEndsWhenRequestIsCancelled() async throws {
        let server = try LoopbackServer()
        server.on("/hang", .hang)
        let sender = APIClient(baseURL: server.url).data.request("hang").sender()
        let download = Task { await last(of: sender.downloadProgress) }
        let outcome = Task { await sender.result }
        await server.waitForRequests(1)
        sender.cancel()
        _ = await outcome.value
        _ = await download.value
    }

    func testProgressEndsWhenRequestIsNeverSent() async throws {
        var sender: RequestSender<Data, APIError>? = APIClient(baseURL: "http://localhost").data.request("x").sender()
        let progress = try XCTUnwrap(sender?.uploadProgress)
        let upload = Task { await last(of: progress) }
        sender = nil
        let final = await upload.value
        XCTAssertEqual(final?.attempt, 0)
    }

    func testRetryRestartsProgressWithItsAttempt() async throws {
        let server = try LoopbackServer()
        server.on("/file", .status(.serviceUnavailable), .data(megabyte))
        let clock = TestClock()
        let client = APIClient(baseURL: server.url) {
            $0.retry = .standard
            $0.clock = clock
        }
        let sender = client.data.request("file").sender()
        async let body = sender.value
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(60))
        _ = try await body
        let final = await last(of: sender.downloadProgress)
        XCTAssertEqual(final?.attempt, 2)
        XCTAssertEqual(final?.completed, 1 << 20)
    }
}

private func last(of progress: some AsyncSequence<TransferProgress, Never>) async -> TransferProgress? {
    var last: TransferProgress?
    for await state in progress { last = state }
    return last
}
