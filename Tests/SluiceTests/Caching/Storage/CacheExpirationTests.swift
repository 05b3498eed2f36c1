import Foundation
import SluiceTesting
import Testing
import XCTest

@testable import Sluice
@testable import SluiceCache

@Suite struct CacheExpirationTests {
    private static let now = Date(timeIntervalSince1970: 1_767_225_600)

    @Test(arguments: [
        (CacheExpiration.seconds(1.5), 1.5), (.seconds(0), 0), (.seconds(-3), -3), (.days(2), 172_800),
        (.minutes(1.5), 90), (.minutes(-1), -60), (.hours(6), 21_600), (.hours(.nan), 0), (.minutes(.infinity), 1e11),
        (.hours(.greatestFiniteMagnitude), 1e11),
        (.after(.milliseconds(250)), 0.25),
        (.seconds(.nan), 0), (.seconds(.infinity), 1e11), (.seconds(-.infinity), -1e11),
        (.days(.greatestFiniteMagnitude), 1e11),
        (.after(.seconds(Int64.max)), 1e11), (.after(.seconds(Int64.min)), -1e11), (.date(now + 7), 7),
    ])
    func dateIsRelativeToStorageAndClamped(expiration: CacheExpiration, seconds: Double) throws {
        let date = try #require(expiration.date(from: Self.now))
        #expect(abs(date.timeIntervalSince(Self.now) - seconds) < 1e-3)
        #expect(expiration.renewal == nil)
    }

    @Test func neverHasNoDateAndNoRenewal() {
        #expect(CacheExpiration.never.date(from: Self.now) == nil)
        #expect(CacheExpiration.never.extendedOnAccess.renewal == nil)
    }

    @Test func extendedOnAccessRenewsDurationsButNotDates() {
        #expect(CacheExpiration.days(1).extendedOnAccess.renewal == .seconds(86_400))
        #expect(CacheExpiration.date(Self.now).extendedOnAccess.renewal == nil)
        #expect(CacheExpiration.seconds(-1).extendedOnAccess.renewal == nil)
    }

    /// An entry stored at 0, with and without a later access.
    @Test(arguments: [
        (expires: 10.0, renewal: 0.0, now: 9.9, isLive: true), (10, 0, 10, false), (10, 0, 11, false),
        // The clock was set back, by a little and by a lot.
        (10, 0, -59, true), (10, 0, -61, false), (10, 10, -59, true), (10, 10, -61, false),
        // Extended an hour after it was stored, and read at an earlier time.
        (3610, 10, 3605, true), (3610, 10, 3000, false),
        (.infinity, 0, -1e9, true), (.nan, 0, 0, false),
    ])
    func expiredEntriesAndEntriesOfTheFutureAreNotLive(expires: Double, renewal: Double, now: Double, isLive: Bool) {
        let entry = CacheEntry(
            key: CacheKey("a"),
            body: Data(),
            stored: Self.now,
            expires: expires == .infinity ? nil : Self.now + expires,
            renewal: renewal > 0 ? .seconds(renewal) : nil
        )
        #expect(entry.isLive(at: Self.now + now) == isLive)
    }
}

final class CacheStoreExpirationTests: XCTestCase {
    private let storage = ScriptedStorage()
    private let clock = TestClock()

    private func makeStore(_ configure: (inout CacheStore.Configuration) -> Void = { _ in }) -> CacheStore {
        var configuration = CacheStore.Configuration()
        configuration.clock = clock
        configure(&configuration)
        return CacheStore(storage: storage, configuration: configuration)
    }

    private func assertValue(_ store: CacheStore, is expected: Int?, line: UInt = #line) async throws {
        let value: Int? = try await store.value(for: "n")
        XCTAssertEqual(value, expected, line: line)
    }

    func testValueExpiresInMemoryAndStorage() async throws {
        let store = makeStore()
        try await store.set(1, for: "n", expiration: .seconds(10))
        clock.advance(by: .seconds(9))
        try await assertValue(store, is: 1)
        try await assertValue(makeStore(), is: 1)
        clock.advance(by: .seconds(1))
        try await assertValue(store, is: nil)
        try await assertValue(makeStore(), is: nil)
    }

    func testExpirationInMemoryLeavesTheCopyInStorage() async throws {
        let store = makeStore()
        try await store.set(1, for: "n", expiration: .seconds(100).inMemory(.seconds(10)))
        for round in 1...5 {
            clock.advance(by: .seconds(9))
            let reads = storage.state.read.reads
            try await assertValue(store, is: 1)
            XCTAssertEqual(storage.state.read.reads, reads, "In memory, round \(round)")
            clock.advance(by: .seconds(1))
            XCTAssertTrue(store.entriesInMemory(for: CacheKey("n")).isEmpty, "Round \(round)")
            try await assertValue(store, is: 1)
            XCTAssertEqual(storage.state.read.reads, reads + 1, "In storage, round \(round)")
        }
        clock.advance(by: .seconds(50))
        try await assertValue(store, is: nil)
    }

    func testEntryInMemoryMayOutliveItsCopy() async throws {
        let store = makeStore()
        try await store.set(1, for: "n", expiration: .seconds(10).inMemory(.never))
        clock.advance(by: .seconds(20))
        try await assertValue(store, is: 1)
        try await assertValue(makeStore(), is: nil)
        // Not for storage at all.
        try await store.set(2, for: "n", expiration: .seconds(0).inMemory(.seconds(10)))
        XCTAssertEqual(storage.names, [])
        try await assertValue(store, is: 2)
        clock.advance(by: .seconds(10))
        try await assertValue(store, is: nil)
        try await store.memory.set(3, for: "m", expiration: .days(1).inMemory(.seconds(5)))
        clock.advance(by: .seconds(5))
        let expired: Int? = try await store.memory.value(for: "m")
        XCTAssertNil(expired)
    }

    func testAccessExtendsEachTierByItsOwnExpiration() async throws {
        let store = makeStore()
        try await store.set(1, for: "n", expiration: .seconds(80).extendedOnAccess.inMemory(.seconds(15)))
        clock.advance(by: .seconds(10))
        try await assertValue(store, is: 1)
        await store.flush()
        XCTAssertEqual(storage.state.read.touches.map(\.expires), [clock.date + 80])
        clock.advance(by: .seconds(5))
        XCTAssertTrue(store.entriesInMemory(for: CacheKey("n")).isEmpty)
        let other = makeStore()
        try await other.set(2, for: "m", expiration: .seconds(80).inMemory(.seconds(15).extendedOnAccess))
        for _ in 0..<4 {
            clock.advance(by: .seconds(14))
            XCTAssertEqual(other.entriesInMemory(for: CacheKey("m")).count, 1)
        }
        await other.flush()
        XCTAssertFalse(
            storage.state.read.touches.contains { $0.name == "m" && $0.expires != nil && $0.expires != clock.date + 24 }
        )
    }

    func testExpirationInMemoryIsThatOfAFile() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        func open() -> CacheStore { CacheStore(directory: folder) { [clock] in $0.clock = clock } }
        try await open().set(1, for: "n", expiration: .days(7).inMemory(.seconds(10)))
        let store = open()
        try await assertValue(store, is: 1)
        XCTAssertEqual(store.entriesInMemory(for: CacheKey("n")).count, 1)
        clock.advance(by: .seconds(10))
        XCTAssertTrue(store.entriesInMemory(for: CacheKey("n")).isEmpty)
        try await assertValue(store, is: 1)
    }

    func testDefaultExpirationAppliesUnlessAValueHasItsOwn() async throws {
        let store = makeStore { $0.expiration = .seconds(10) }
        try await store.set(1, for: "n")
        try await store.set(2, for: "forever", expiration: .never)
        clock.advance(by: .seconds(11))
        try await assertValue(store, is: nil)
        let kept: Int? = try await store.value(for: "forever")
        XCTAssertEqual(kept, 2)
    }

    func testAccessExtendsExpiration() async throws {
        let store = makeStore()
        try await store.set(1, for: "n", expiration: .seconds(10).extendedOnAccess)
        for _ in 0..<5 {
            clock.advance(by: .seconds(9))
            try await assertValue(store, is: 1)
        }
        await store.flush()
        XCTAssertEqual(storage.state.read.touches.last?.expires, clock.date + 10)
        clock.advance(by: .seconds(10))
        try await assertValue(store, is: nil)
    }

    func testAccessExtendsExpirationInStorageOnly() async throws {
        let store = makeStore { $0.memory.count = 0 }
        try await store.set(1, for: "n", expiration: .seconds(10).extendedOnAccess)
        await store.flush()
        clock.advance(by: .seconds(9))
        try await assertValue(store, is: 1)
        await store.flush()
        XCTAssertEqual(storage.state.read.touches.map(\.expires), [clock.date + 10])
    }

    func testExtensionsAreWrittenInSteps() async throws {
        let store = makeStore()
        try await store.set(1, for: "n", expiration: .seconds(80).extendedOnAccess)
        for _ in 0..<100 {
            clock.advance(by: .milliseconds(500))
            try await assertValue(store, is: 1)
        }
        await store.flush()
        // 50 seconds, in steps of an eighth of 80 seconds.
        XCTAssertEqual(storage.state.read.touches.count, 5)
    }

    func testSettingAnExpiredValueRemovesTheStoredOne() async throws {
        let store = makeStore()
        try await store.set(1, for: "n")
        try await store.set(2, for: "n", expiration: .seconds(0))
        try await assertValue(store, is: nil)
        XCTAssertEqual(storage.names, [])
    }

    func testRemoveExpiredRemovesFromMemoryAndStorage() async throws {
        let store = makeStore()
        for number in 0..<7 { try await store.set(number, for: "\(number)", expiration: .seconds(10)) }
        try await store.memory.set(8, for: "8", expiration: .date(clock.date + 10))
        try await store.set(9, for: "n")
        try await store.set(9, for: "later", expiration: .days(1))
        clock.advance(by: .seconds(60))
        try await store.removeExpired()
        let size = try await store.size
        XCTAssertEqual(size.memory.count, 2)
        XCTAssertEqual(storage.names, ["later", "n"])
    }

    func testRemoveExpiredOfAContainerLeavesTheOthers() async throws {
        let store = makeStore()
        try await store.memory.set(1, for: "n", expiration: .seconds(1))
        try await store.set(1, for: "n", expiration: .seconds(1))
        clock.advance(by: .seconds(2))
        try await store.memory.removeExpired()
        var size = try await store.size
        XCTAssertEqual(size.memory.count, 1)
        try await store.memoryAndDisk.removeExpired()
        size = try await store.size
        XCTAssertEqual(size, CacheStore.Size())
    }
}
