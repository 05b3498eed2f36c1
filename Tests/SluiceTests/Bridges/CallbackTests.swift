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

    @MainActor private final class Screen {
        var name = ""
        var file: URL?

        func load(_ client: APIClient, _ done: XCTestExpectation) -> RequestSender<String, APIError> {
            client.string.get("motto").send(on: .main) { response in
                self.name = (try? response.result.get()) ?? ""
                done.fulfill()
            }
        }

        func download(_ client: APIClient, _ done: XCTestExpectation) {
            client.download("motto", to: .temporary).send(on: .main) { response in
                self.file = try? response.result.get().url
                done.fulfill()
            }
        }
    }

    @MainActor func testHandlerOnTheMainQueueSetsPropertiesOfTheMainActor() async throws {
        server?.on("/motto", .text("Plus ultra"))
        let screen = Screen()
        let loaded = expectation(description: "loaded")
        let sender = screen.load(try client(), loaded)
        await fulfillment(of: [loaded], timeout: 60)
        XCTAssertEqual(screen.name, "Plus ultra")
        let shown = expectation(description: "shown")
        sender.start(on: .main) { response in
            screen.name = "\(response.status ?? 0)"
            shown.fulfill()
        }
        await fulfillment(of: [shown], timeout: 60)
        XCTAssertEqual(screen.name, "200")
        let downloaded = expectation(description: "downloaded")
        screen.download(try client(), downloaded)
        await fulfillment(of: [downloaded], timeout: 60)
        try FileManager.default.removeItem(at: XCTUnwrap(screen.file))
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
