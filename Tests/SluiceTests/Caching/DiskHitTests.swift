import Foundation
import SluiceHTTP
import SluiceTesting
import XCTest

@testable import Sluice
@testable import SluiceCache

/// Responses from storage only. They use a callback if no step has to wait.
final class DiskHitTests: XCTestCase {
    private let server = try? LoopbackServer()
    private let folder = try? DownloadFolder()

    override func tearDown() { server?.stop() }

    private func client(_ configure: (inout APIClient.Configuration) -> Void = { _ in }) throws -> APIClient {
        let server = try XCTUnwrap(server)
        server.on("/page", .text("kept", headers: ["Cache-Control": "max-age=60"]))
        let store = CacheStore(directory: try XCTUnwrap(folder).url) { $0.memory.count = 0 }
        return APIClient(baseURL: server.url) {
            $0.cache = store
            configure(&$0)
        }
    }

    private func fill(_ client: APIClient, _ path: String = "page") async throws {
        _ = try await client.string.get(path).sender().value
        await client.pipeline.configuration.cache?.flush()
    }

    func testStorageHitsPassInterceptorsAndReleasePermits() async throws {
        let client = try client {
            $0.gates = [ConcurrencyLimit(1)]
            $0.responseInterceptors = [
                Replacing { outcome in
                    guard case .success(var response) = outcome else { return outcome }
                    response.body.append(contentsOf: "!".utf8)
                    return .success(response)
                }
            ]
        }
        try await fill(client)
        for _ in 1...3 {
            let response = await client.string.get("page").sender().response
            XCTAssertEqual(try response.result.get(), "kept!")
            guard case .cache = response.source else { return XCTFail("\(response.source)") }
        }
        XCTAssertEqual(server?.requests.count, 1)
    }

    func testStorageMissIsSent() async throws {
        let client = try client()
        try await fill(client)
        server?.on("/other", .text("sent", headers: ["Cache-Control": "no-store"]))
        for _ in 1...2 {
            let value = try await client.string.get("other").sender().value
            XCTAssertEqual(value, "sent")
        }
        XCTAssertEqual(server?.requests.count, 3)
    }

    func testStaleStorageEntryIsRevalidated() async throws {
        let client = try client()
        server?.on("/old") { request in
            let headers: HTTPHeaders = ["Cache-Control": "max-age=0", "ETag": "\"1\""]
            return request.headers["If-None-Match"] == nil
                ? .text("old", headers: headers) : .status(.notModified, headers: headers)
        }
        try await fill(client, "old")
        let response = await client.string.get("old").sender().response
        XCTAssertEqual(try response.result.get(), "old")
        XCTAssertEqual(server?.requests.last?.headers["If-None-Match"], "\"1\"")
    }

    func testConcurrentRequestsAreServedFromStorage() async throws {
        let client = try client()
        try await fill(client)
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<200 { group.addTask { try await client.string.get("page").sender().value } }
            for try await value in group { XCTAssertEqual(value, "kept") }
        }
        XCTAssertEqual(server?.requests.count, 1)
    }

    /// Returns a storage that waits for the test, and a sender of a request that it is asked for.
    private func slowLookup() async throws -> (SlowStorage, RequestSender<String, APIError>) {
        let storage = SlowStorage()
        let server = try XCTUnwrap(server)
        server.on("/page", .text("sent"))
        let store = CacheStore(storage: storage)
        let client = APIClient(baseURL: server.url) { $0.cache = store }
        await store.beginForeignChecks()
        return (storage, client.string.get("page").sender())
    }

    func testRequestCancelledDuringStorageLookupIsNotSent() async throws {
        let server = try XCTUnwrap(server)
        let (storage, sender) = try await slowLookup()
        let result = Task { await sender.result }
        await storage.asked.wait()
        sender.cancel()
        guard case .failure(let error) = await result.value else { return XCTFail("The request succeeded.") }
        XCTAssertTrue(error.isCancellation)
        storage.answer()
        // The next request succeeds, and is the first that reaches the server.
        let other = APIClient(baseURL: server.url)
        _ = try await other.string.get("page").sender().value
        XCTAssertEqual(server.requests.count, 1)
    }

    func testTaskReadsStorageIfItAsksForOne() async throws {
        let (storage, sender) = try await slowLookup()
        let result = Task { await sender.result }
        await storage.asked.wait()
        XCTAssertEqual(storage.reads.read, 0)
        storage.answer(nil)
        let value = try await result.value.get()
        XCTAssertEqual(value, "sent")
        XCTAssertEqual(storage.reads.read, 1)
    }

    func testDeferredStopRunsItsActionOnce() {
        let stops = Shared(0)
        let early = DeferredStop()
        XCTAssertFalse(early.isStopped)
        early.stop()
        XCTAssertTrue(early.isStopped)
        early.set { stops.change { $0 += 1 } }
        XCTAssertEqual(stops.read, 1)
        let late = DeferredStop()
        late.set { stops.change { $0 += 1 } }
        XCTAssertEqual(stops.read, 1)
        late.stop()
        late.stop()
        XCTAssertEqual(stops.read, 2)
    }
}

/// A storage that answers when a test allows it.
private final class SlowStorage: CallbackCacheStorage {
    private typealias Completion = @Sendable (Result<[CacheEntry], SluiceError>?) -> Void
    let asked = AsyncSignal()
    private let waiting = Shared<[Completion]>([])
    /// The number of reads by tasks.
    let reads = Shared(0)

    func entries(
        for key: CacheKey,
        at now: Date,
        completion: @escaping @Sendable (Result<[CacheEntry], SluiceError>?) -> Void
    ) {
        waiting.change { $0.append(completion) }
        asked.open()
    }

    func answer(_ result: Result<[CacheEntry], SluiceError>? = .success([])) {
        let all = waiting.change { waiting in
            defer { waiting = [] }
            return waiting
        }
        for completion in all { completion(result) }
    }

    func entries(for key: CacheKey, at now: Date) async throws(SluiceError) -> [CacheEntry] {
        reads.change { $0 += 1 }
        return []
    }
    func apply(_ changes: [CacheChange]) async throws(SluiceError) {}
    func writer(for entry: CacheEntry) async throws(SluiceError) -> any CacheWriter { throw .cancelled }
    func size() async throws(SluiceError) -> CacheSize { CacheSize() }
    func evict(to limits: CacheLimits, at now: Date) async throws(SluiceError) -> Int { 0 }
}
