import Foundation
import SluiceHTTP
import SluiceTesting
import XCTest

@testable import Sluice
@testable import SluiceCache

/// Models decoded from a stored response in memory, and returned again.
final class CachedModelTests: XCTestCase {
    private struct Note: Codable, Sendable, Equatable {
        var text: String
    }

    private struct Length: Decodable, Sendable {
        let text: String
    }

    private final class Leaf: Decodable, Sendable {
        let text: String
    }

    /// Counts the values that it decodes.
    private struct CountingDecoder: DataDecoder {
        let count = Shared(0)

        func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
            count.change { $0 += 1 }
            return try JSONDecoder().decode(type, from: data)
        }
    }

    private let server = try? LoopbackServer()
    private let decoder = CountingDecoder()
    private let body = #"{"text":"a note of more than fourteen bytes"}"#

    override func setUp() {
        server?.on(
            "/note",
            .text(body, headers: ["Cache-Control": "max-age=60"])
        )
    }

    override func tearDown() { server?.stop() }

    private func client(
        _ store: CacheStore = CacheStore(storage: nil),
        _ configure: (inout APIClient.Configuration) -> Void = { _ in }
    ) throws -> APIClient {
        let server = try XCTUnwrap(server)
        return APIClient(baseURL: server.url) {
            $0.cache = store
            $0.modelDecoder = decoder
            configure(&$0)
        }
    }

    private func note(_ client: APIClient) async throws -> Note {
        let request: APIRequest<Note, APIError> = client.codable.request("note")
        return try await request.sender().value
    }

    func testModelIsDecodedOnceForAllCacheHits() async throws {
        let client = try client()
        var note = try await note(client)
        for _ in 1...5 {
            let again = try await self.note(client)
            XCTAssertEqual(again, note)
        }
        note.text = "changed by the caller"
        let other = try await self.note(client)
        XCTAssertNotEqual(other, note)
        // Once for the server's response, and once for the first cache hit.
        XCTAssertEqual(decoder.count.read, 2)
        XCTAssertEqual(server?.requests.count, 1)
    }

    func testDifferentModelTypesAreDecodedSeparately() async throws {
        let client = try client()
        for _ in 1...2 {
            let note = try await note(client)
            let request: APIRequest<Length, APIError> = client.codable.request("note")
            let length = try await request.sender().value
            XCTAssertEqual(length.text, note.text)
        }
        XCTAssertEqual(decoder.count.read, 4)
    }

    func testClassInstancesAreNotSharedBetweenRequests() async throws {
        let client = try client()
        let request: APIRequest<Leaf, APIError> = client.codable.request("note")
        let first = try await request.sender().value
        let second = try await request.sender().value
        let third = try await request.sender().value
        XCTAssertFalse(first === second || second === third)
    }

    func testBodyChangedByAnInterceptorIsDecodedAgain() async throws {
        let suffix = Shared(0)
        let client = try client {
            $0.responseInterceptors = [
                Replacing { outcome in
                    guard case .success(var response) = outcome else { return outcome }
                    let number = suffix.change { value in
                        value += 1
                        return value
                    }
                    response.body = Data(#"{"text":"the text of attempt number \#(number)"}"#.utf8)
                    return .success(response)
                }
            ]
        }
        for number in 1...3 {
            let note = try await note(client)
            XCTAssertEqual(note.text, "the text of attempt number \(number)")
        }
    }

    func testNewResponseReplacesTheModel() async throws {
        let clock = TestClock()
        let client = try client(CacheStore(storage: nil) { $0.clock = clock }) { $0.clock = clock }
        _ = try await note(client)
        let kept = try await note(client)
        server?.on("/note", .text(#"{"text":"what the server says now"}"#, headers: ["Cache-Control": "max-age=60"]))
        clock.advance(by: .seconds(61))
        _ = try await note(client)
        let next = try await note(client)
        XCTAssertNotEqual(next, kept)
        XCTAssertEqual(next.text, "what the server says now")
    }

    func testModelsAreNotStoredIfDisabled() async throws {
        let client = try client(CacheStore(storage: nil) { $0.reusesModels = false })
        for _ in 1...3 { _ = try await note(client) }
        XCTAssertEqual(decoder.count.read, 3)
    }

    func testModelsCountTowardsMemorySize() async throws {
        let store = CacheStore(storage: nil)
        let client = try client(store)
        _ = try await note(client)
        let before = try await store.size.memory.bytes
        _ = try await note(client)
        _ = try await note(client)
        let after = try await store.size.memory.bytes
        XCTAssertEqual(after - before, 3 * body.utf8.count)
    }

    func testModelOverTheMemoryLimitEvictsOlderEntries() {
        let (first, second) = (entry("a"), entry("b"))
        var tier = MemoryTier(limits: CacheLimits(bytes: first.bytesInMemory + second.bytesInMemory + 299))
        tier.insert(first, isStored: false, at: 0)
        tier.insert(second, isStored: false, at: 0)
        var touches: [MemoryTier.Touch] = []
        _ = second.storedModel?.model(of: second.body, by: SharedDecoder(decoder)) { 1 }
        XCTAssertEqual(tier.entries(for: second.key, at: 0, touches: &touches).count, 1)
        XCTAssertEqual(tier.entries(for: first.key, at: 0, touches: &touches).count, 0)
        XCTAssertEqual(tier.size, CacheSize(bytes: second.bytesInMemory + 300, count: 1))
        tier.remove(CacheSelection(second.key))
        XCTAssertEqual(tier.size, CacheSize())
    }

    /// The model is decoded after the access, and most entries are not accessed again.
    func testModelsOfEntriesThatAreAccessedOnceAreCounted() {
        var tier = MemoryTier(limits: CacheLimits())
        var touches: [MemoryTier.Touch] = []
        for number in 0..<100 {
            let entry = entry("\(number)")
            tier.insert(entry, isStored: false, at: 0)
            XCTAssertEqual(tier.entries(for: entry.key, at: 0, touches: &touches).count, 1)
            _ = entry.storedModel?.model(of: entry.body, by: SharedDecoder(decoder)) { 1 }
        }
        XCTAssertGreaterThan(tier.size.bytes, 100 * entry("10").bytesInMemory + 80 * 300)
        tier.remove(CacheSelection())
        XCTAssertEqual(tier.size, CacheSize())
    }

    private func entry(_ name: String) -> CacheEntry {
        let head = HTTPResponse(status: .ok)
        let date = Date(timeIntervalSinceReferenceDate: 0)
        let response = StoredResponse(method: .get, url: name, head: head, requested: date, received: date)
        return CacheEntry(
            key: CacheKey(name),
            response: response,
            body: Data(repeating: 0x61, count: 100),
            stored: date
        )
    }

    func testModelThatEvictsAVariantLeavesTheOthers() {
        func entry(_ variant: String, stored: Double) -> CacheEntry {
            let (head, date) = (HTTPResponse(status: .ok), Date(timeIntervalSinceReferenceDate: stored))
            return CacheEntry(
                key: CacheKey("a", in: .http),
                variant: variant,
                response: StoredResponse(method: .get, url: "a", head: head, requested: date, received: date),
                body: Data(repeating: 0x61, count: 200),
                stored: date
            )
        }
        let (first, second, third) = (entry("1", stored: 3), entry("2", stored: 2), entry("3", stored: 1))
        let bytes = first.bytesInMemory + second.bytesInMemory + third.bytesInMemory + 300
        var tier = MemoryTier(limits: CacheLimits(bytes: bytes))
        // The second variant was used least recently.
        for variant in [second, third, first] { tier.insert(variant, isStored: false, at: 3) }
        _ = first.storedModel?.model(of: first.body, by: SharedDecoder(decoder)) { 1 }
        var touches: [MemoryTier.Touch] = []
        let found = tier.entries(for: first.key, at: 3, touches: &touches)
        XCTAssertEqual(found.map(\.variant), ["1", "3"])
        XCTAssertEqual(tier.size, CacheSize(bytes: first.bytesInMemory + third.bytesInMemory + 600, count: 2))
    }
}
