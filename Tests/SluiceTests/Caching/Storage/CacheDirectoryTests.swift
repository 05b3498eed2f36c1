import Foundation
import SluiceHTTP
import SluiceTesting
import XCTest

@testable import Sluice
@testable import SluiceCache

/// A store in a directory, as programs create it.
final class CacheDirectoryTests: XCTestCase {
    private let directory = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")

    override func tearDown() {
        try? FileManager.default.removeItem(at: directory)
    }

    func testStoredValuesAndResponsesSurviveARestart() async throws {
        let store = CacheStore(directory: directory)
        try await store.set(User(id: 1, name: "Ada"), for: "me", tags: ["account"])
        try await store.partition("ada").memoryAndDisk.set([1.5, .infinity], for: "numbers")
        try await store.memory.set("here", for: "only")
        let request = HTTPRequest(scheme: "https", authority: "a.example", path: "/x?y")
        let head = HTTPResponse(status: .ok, headers: ["X-A": "1"])
        try await store.set(ServerResponse(request: request, head: head, body: Data("body".utf8)), for: "response")
        for number in 0..<200 { store.insert(CacheEntry(of: "\(number)", "\(number)", stored: Date())) }
        await store.flush()

        let restarted = CacheStore(directory: directory)
        let user: User? = try await restarted.value(for: "me")
        XCTAssertEqual(user, User(id: 1, name: "Ada"))
        let numbers: [Double]? = try await restarted.partition("ada").memoryAndDisk.value(for: "numbers")
        XCTAssertEqual(numbers, [1.5, .infinity])
        let gone: String? = try await restarted.memory.value(for: "only")
        XCTAssertNil(gone)
        let response = try await restarted.response(for: "response")
        XCTAssertEqual(response?.request.url, "https://a.example/x?y")
        XCTAssertEqual(response?.head.headers, head.headers)
        XCTAssertEqual(response?.body, Data("body".utf8))
        for number in 0..<200 {
            let found = await restarted.entries(for: .of("\(number)"))
            XCTAssertEqual(found.map(\.text), ["\(number)"])
        }
        try await restarted.remove(tag: "account")
        let again: User? = try await CacheStore(directory: directory).value(for: "me")
        XCTAssertNil(again)
    }

    func testLargeBodyIsWrittenInPiecesAndReadBack() async throws {
        let store = CacheStore(directory: directory)
        let entry = CacheEntry(of: "large", stored: Date())
        let begun = store.writer(for: entry)
        let writer = try XCTUnwrap(begun)
        var whole = Data()
        for number in 0..<100 {
            let piece = Data(repeating: UInt8(number), count: 64 << 10)
            whole += piece
            await writer.write(piece)
        }
        let isKept = await writer.commit()
        XCTAssertTrue(isKept)
        let found = await store.entries(for: entry.key)
        XCTAssertEqual(found.first?.body, whole)
        XCTAssertTrue(store.entriesInMemory(for: entry.key).isEmpty)
    }

    func testUnusableDirectoryStillStoresInMemory() async throws {
        try Data("a file".utf8).write(to: directory)
        let events = Shared<[CacheEvent]>([])
        let store = CacheStore(directory: directory) { $0.onEvent = { event in events.change { $0.append(event) } } }
        do {
            try await store.set(1, for: "n")
            XCTFail("The value was written.")
        } catch {
            XCTAssertEqual(error.code, .cacheFailed)
        }
        let value: Int? = try await store.value(for: "n")
        XCTAssertEqual(value, 1)
        await store.flush()
        XCTAssertFalse(events.read.isEmpty)
        for event in events.read { XCTAssertFalse("\(event)".isEmpty) }
    }

    func testChangesAreVisibleToAnotherStoreOfTheDirectory() async throws {
        let clock = TestClock(date: Date())
        let stores = (0..<2).map { _ in CacheStore(directory: directory) { $0.clock = clock } }
        try await stores[0].set(1, for: "n")
        let first: Int? = try await stores[1].value(for: "n")
        XCTAssertEqual(first, 1)
        try await stores[0].set(2, for: "n")
        await eventually {
            // Each second, a store looks for changes.
            clock.advance(by: .seconds(1))
            let value: Int? = try? await stores[1].value(for: "n")
            return value == 2
        }
        try await stores[0].removeAll()
        await eventually {
            clock.advance(by: .seconds(1))
            do {
                let value: Int? = try await stores[1].value(for: "n")
                return value == nil
            } catch {
                return false
            }
        }
    }
}
