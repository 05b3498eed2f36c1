import Dispatch
import Foundation
import Sluice
import SluiceTesting
import XCTest

/// The callback API, for code that is not async.
final class CallbackTests: XCTestCase {
    private let server = try? LoopbackServer()

    override func tearDown() { server?.stop() }

    private func client() throws -> APIClient { APIClient(baseURL: try XCTUnwrap(server).url) }

    func testSendCallsTheHandlerOnceWithTheResponse() async throws {
        server?.on("/motto", .text("Plus ultra"))
        let called = expectation(description: "called")
        try client().string.get("motto").send { response in
            XCTAssertEqual(try? response.result.get(), "Plus ultra")
            XCTAssertEqual(response.status, .ok)
            called.fulfill()
        }
        await fulfillment(of: [called], timeout: 60)
        XCTAssertEqual(server?.requests.count, 1)
    }

    func testHandlerRunsOnTheGivenQueue() async throws {
        server?.on("/motto", .text("Plus ultra"))
        let queue = DispatchQueue(label: "test")
        let called = expectation(description: "called")
        try client().string.get("motto").send(on: queue) { _ in
            dispatchPrecondition(condition: .onQueue(queue))
            called.fulfill()
        }
        await fulfillment(of: [called], timeout: 60)
    }

    func testHandlerReceivesFailures() async throws {
        server?.on("/motto", .status(.notFound))
        let called = expectation(description: "called")
        try client().string.get("motto").send { response in
            XCTAssertEqual(response.failure?.code, .unacceptableStatus)
            called.fulfill()
        }
        await fulfillment(of: [called], timeout: 60)
    }

    func testCancelCallsTheHandlerWithACancellation() async throws {
        server?.on("/motto", .after(LoopbackSignal(), .text("never")))
        let called = expectation(description: "called")
        let sender = try client().string.get("motto").send { response in
            XCTAssertEqual(response.failure?.isCancellation, true)
            called.fulfill()
        }
        await server?.waitForRequests(1)
        sender.cancel()
        await fulfillment(of: [called], timeout: 60)
    }

    func testOneSenderCallsManyHandlersAndSendsOnce() async throws {
        server?.on("/motto", .text("Plus ultra"))
        let sender = try client().string.get("motto").sender()
        let called = (1...10).map { expectation(description: "call \($0)") }
        for expectation in called {
            sender.start { response in
                XCTAssertEqual(try? response.result.get(), "Plus ultra")
                expectation.fulfill()
            }
        }
        await fulfillment(of: called, timeout: 60)
        let value = try await sender.value
        XCTAssertEqual(value, "Plus ultra")
        XCTAssertEqual(server?.requests.count, 1)
    }

    func testDownloadCallsTheHandlerAfterWritingTheFile() async throws {
        server?.on("/file", .data(Data("contents".utf8)))
        let folder = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let called = expectation(description: "called")
        try client().download("file", to: .file(folder.appending(path: "file"))).send { response in
            XCTAssertNil(response.failure)
            called.fulfill()
        }
        await fulfillment(of: [called], timeout: 60)
        XCTAssertEqual(try Data(contentsOf: folder.appending(path: "file")), Data("contents".utf8))
    }
}
