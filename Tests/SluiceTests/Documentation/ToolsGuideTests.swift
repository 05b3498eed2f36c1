import Dispatch
import Foundation
import Sluice
import SluiceTesting
import Synchronization
import XCTest

/// The article on tools.
final class ToolsGuideTests: XCTestCase {
    func run(_ client: APIClient) async -> Int32 {
        do {
            let user: User = try await client.get("users/1").sender().value
            print(user.name)
            return 0
        } catch {
            FileHandle.standardError.write(Data("error: \(error)\n".utf8))
            return error.code == .cancelled ? 130 : 1
        }
    }

    func testExitCodes() async throws {
        let server = try LoopbackServer()
        server.on("/users/1", .json(#"{"id":1,"name":"Ada"}"#), .status(.notFound))
        let client = APIClient(baseURL: server.url)
        let first = await run(client)
        let second = await run(client)
        XCTAssertEqual([first, second], [0, 1])
    }

    func testProgress() async throws {
        let server = try LoopbackServer()
        server.on("/archive.tar.gz", .data(Data(repeating: 1, count: 1 << 16)))
        let mirror = APIClient(baseURL: server.url)
        let folder = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let sender = mirror.download("archive.tar.gz", to: .suggested(in: folder)).sender()
        async let file = sender.responseURL
        for await progress in sender.downloadProgress {
            let percent = progress.fractionCompleted.map { "\(Int($0 * 100))%" } ?? "\(progress.completed) bytes"
            print(percent)
        }
        print(try await file.path)
        let size = try Data(contentsOf: try await sender.responseURL).count
        XCTAssertEqual(size, 1 << 16)
    }

    func testInterruption() async throws {
        let server = try LoopbackServer()
        server.on("/archive.tar.gz", .hang)
        let mirror = APIClient(baseURL: server.url)
        let target = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        let isOver = Mutex(false)
        signal(SIGINT, SIG_IGN)
        let interruption = Task {
            try await waitUntil("the request is sent") { server.requests.count == 1 }
            // Another thread installs the source, and a signal before that is ignored.
            try await waitUntil("the download is cancelled") {
                kill(getpid(), SIGINT)
                return isOver.withLock { $0 }
            }
        }
        let work = Task { try await mirror.download("archive.tar.gz", to: .file(target)).sender().responseURL }
        signal(SIGINT, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
        source.setEventHandler { @Sendable in work.cancel() }
        source.resume()
        let result = await work.result
        isOver.withLock { $0 = true }
        try await interruption.value
        source.cancel()
        // A signal that is still pending would end the process by the default. Programs that are started get the default.
        signal(SIGINT) { _ in }
        XCTAssertThrowsError(try result.get()) { XCTAssertEqual(($0 as? APIError)?.code, .cancelled) }
    }

    func testCURLCommand() throws {
        let mirror = APIClient(baseURL: "https://mirror.example")
        let command = try mirror.data.get("archive.tar.gz").httpRequest().curlCommand()
        XCTAssertTrue(command.contains("https://mirror.example/archive.tar.gz"), command)
    }
}
