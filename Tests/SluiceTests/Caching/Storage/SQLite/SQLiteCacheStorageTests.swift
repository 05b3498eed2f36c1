import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import Sluice
@testable import SluiceCache

@Suite struct SQLiteCacheStorageTests {
    private let folder = CacheFolder()

    @Test func folderIsCreatedOnFirstUse() async throws {
        let storage = folder.storage()
        #expect(!FileManager.default.fileExists(atPath: folder.url.path))
        #expect(try await storage.entries("a").isEmpty)
        #expect(folder.eventNames == ["opened"])
    }

    @Test func filesAreAccessibleToTheirOwnerOnly() async throws {
        try await folder.storage().store(CacheEntry("a"))
        for name in folder.names + ["."] {
            let path = folder.url.appending(path: name).path
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == (name == "." ? 0o700 : 0o600), "\(name)")
        }
        #expect(folder.names == ["cache.lock", "cache.sqlite", "cache.sqlite-shm", "cache.sqlite-wal"])
    }

    @Test func entriesAreReadByAnotherStorage() async throws {
        let entry = CacheEntry(
            key: CacheKey("n", in: .http, partition: "p"),
            variant: "v",
            response: EntryHeadTests.response,
            body: .noise(5000),
            stored: Date(timeIntervalSinceReferenceDate: 1.5),
            expires: Date(timeIntervalSinceReferenceDate: 9.25),
            renewal: .milliseconds(1),
            tags: ["a", "b"]
        )
        try await folder.storage().store(entry)
        let found = try await folder.storage().entries(for: entry.key, at: entry.stored)
        let read = try #require(found.first)
        #expect(found.count == 1)
        #expect(read.key == entry.key)
        #expect(read.variant == "v")
        #expect(read.body == entry.body)
        #expect(read.stored == entry.stored)
        #expect(read.expires == entry.expires)
        #expect(read.renewal == entry.renewal)
        #expect(read.tags == entry.tags)
        #expect(read.response?.head.headers == entry.response?.head.headers)
    }

    @Test(arguments: [0, 1, 900, 999, 1000, 1001, 2000, 12_345, 300_000])
    func bodiesOfAnySizeAreReadBack(size: Int) async throws {
        let storage = folder.storage()
        try await storage.store(CacheEntry("a", body: .noise(size)))
        #expect(try await storage.body("a") == .noise(size))
        // A slice whose first index is not 0.
        try await storage.store(CacheEntry("a", body: Data.noise(size + 5, seed: 1).dropFirst(5)))
        #expect(try await storage.body("a") == Data.noise(size + 5, seed: 1).dropFirst(5))
        #expect(try folder.totals().kept == folder.totals().counted)
        #expect(try folder.count("entry") == 1)
    }

    @Test func partOfABodyThatIsStoredIsNotWrittenAgain() async throws {
        let storage = folder.storage { $0.pieceSize = 128 << 10 }
        let body = Data(repeating: 7, count: 4 << 20)
        let key = CacheKey("a", in: .http)
        try await storage.store(CacheEntry("other"))
        // Returns the bytes that SQLite has written to its log.
        func store(_ body: Data, tag: String) async throws -> Int {
            _ = try folder.connection().integer("PRAGMA wal_checkpoint(TRUNCATE)")
            let response = EntryHeadTests.response
            let entry = CacheEntry(
                key: key,
                response: response,
                body: body,
                stored: response.received,
                expiration: .never,
                tags: [tag]
            )
            try await storage.store(entry)
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.files.database + "-wal")
            return try #require(attributes[.size] as? Int)
        }
        #expect(try await store(body, tag: "first") > 4 << 20)
        #expect(try await store(body, tag: "longer than the first") < 256 << 10)
        #expect(try await store(body + .noise(1000, seed: 1), tag: "") < 512 << 10)
        let found = try await folder.storage().entries(for: key, at: .distantPast)
        #expect(found.map(\.body) == [body + .noise(1000, seed: 1)])
        #expect(found.map(\.tags) == [[""]])
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func storedPiecesAreThoseOfTheLastBody(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let storage = folder.storage()
        var body = Data()
        for step in 0..<40 {
            switch Int.random(in: 0..<6, using: &random) {
            case 0: body = .noise(Int.random(in: 0...30_000, using: &random), seed: UInt64(step))
            case 1: body.append(.noise(Int.random(in: 1...3000, using: &random), seed: UInt64(step)))
            case 2: body = body.dropLast(Int.random(in: 1...3000, using: &random))
            case 3 where !body.isEmpty: body[body.indices.randomElement(using: &random) ?? 0] &+= 1
            case 4:
                // Pieces that were written by a writer, as its sizes divide them.
                let writer = try await storage.writer(for: CacheEntry("a", body: Data(), tags: ["writer"]))
                try await writer.write(body)
                try await writer.commit()
            default: break
            }
            try await storage.store(CacheEntry("a", body: body, tags: ["\(step)"]))
            #expect(try await storage.body("a") == body)
            await folder.waitForSweeping(of: storage)
            #expect(try folder.count("piece") == Int64(max(1, (body.count + 999) / 1000)))
            #expect(try folder.count("tag") == 1)
            #expect(try folder.totals().kept == folder.totals().counted)
        }
    }

    @Test(arguments: [
        "", "\u{0}", "a\u{0}b", "a", "A", " a", "'; DROP TABLE entry; --", "%", "\u{1F600}", "é", "e\u{301}",
    ])
    func namesWithAnyCharactersAreKept(name: String) async throws {
        let storage = folder.storage()
        try await storage.store(CacheEntry("other"), CacheEntry(name, partition: name, variant: name, tags: [name]))
        let key = CacheKey(name, partition: name)
        let found = try await storage.entries(for: key, at: .distantPast)
        #expect(found.map(\.variant) == [name])
        #expect(found.first?.tags == [name])
        var selection = CacheSelection(key, variant: name)
        selection.tag = name
        try await storage.apply([.remove(selection)])
        #expect(try await storage.entries(for: key, at: .distantPast).isEmpty)
        #expect(try await storage.entries("other").count == 1)
    }

    @Test func namesOfOneMegabyteAreKept() async throws {
        let storage = folder.storage()
        let name = String(repeating: "n", count: 1 << 20)
        try await storage.store(CacheEntry(name), CacheEntry(name + "x", body: Data("x".utf8)))
        #expect(try await storage.body(name) == Data("body".utf8))
        #expect(try await storage.body(name + "x") == Data("x".utf8))
    }

    @Test func partitionsAndSpacesAreSeparate() async throws {
        let storage = folder.storage()
        for space in CacheKey.Space.allCases {
            for partition in ["", "p", "q"] {
                try await storage.store(
                    CacheEntry("n", space: space, partition: partition, body: Data("\(space)\(partition)".utf8))
                )
            }
        }
        for space in CacheKey.Space.allCases {
            for partition in ["", "p", "q"] {
                let found = try await storage.entries(
                    for: CacheKey("n", in: space, partition: partition),
                    at: .distantPast
                )
                #expect(found.map(\.body) == [Data("\(space)\(partition)".utf8)])
            }
        }
        #expect(try await storage.entries(for: CacheKey("n", partition: "r"), at: .distantPast).isEmpty)
    }

    @Test func variantsAreReturnedNewestFirst() async throws {
        let storage = folder.storage()
        for (variant, stored) in [("a", 5.0), ("b", 9), ("c", 1), ("d", 9)] {
            try await storage.store(CacheEntry("n", variant: variant, stored: stored))
        }
        #expect(try await storage.entries("n").map(\.variant) == ["d", "b", "a", "c"])
        try await storage.store(CacheEntry("n", variant: "c", stored: 10))
        #expect(try await storage.entries("n").map(\.variant) == ["c", "d", "b", "a"])
    }

    @Test func expiredEntriesAreNotReturned() async throws {
        let storage = folder.storage()
        try await storage.store(CacheEntry("n", expires: 10))
        #expect(try await storage.entries("n", at: 9.999).count == 1)
        #expect(try await storage.entries("n", at: 10).isEmpty)
        let key = CacheKey("n")
        let later = Date(timeIntervalSinceReferenceDate: 20)
        try await storage.apply([.touch(key, variant: "", accessed: Date(), expires: later)])
        #expect(try await storage.entries("n", at: 10).first?.expires == later)
        try await storage.apply([.touch(key, variant: "", accessed: Date(), expires: nil)])
        #expect(try await storage.entries("n", at: .infinity).first?.expires == .some(nil))
        try await storage.apply([.touch(CacheKey("none"), variant: "", accessed: Date(), expires: nil)])
        #expect(try await storage.size().count == 1)
    }

    @Test(arguments: [.nan, .infinity, -.infinity, 1e308, -1e308, 0] as [Double])
    func datesOutOfRangeDoNotTrap(time: Double) async throws {
        let storage = folder.storage()
        let date = Date(timeIntervalSinceReferenceDate: time)
        try await storage.store(CacheEntry("n", stored: time, expires: time), CacheEntry("m", stored: time))
        _ = try await storage.entries("n", at: time)
        let found = try await storage.entries("m", at: time).first
        #expect(time.isNaN || found?.stored == date)
        try await storage.apply([.touch(CacheKey("m"), variant: "", accessed: date, expires: date)])
        var gone = CacheSelection()
        gone.expired = date
        try await storage.apply([.remove(gone)])
        #expect(try await storage.size().count == (time.isNaN ? 2 : 0))
        _ = try await storage.evict(to: CacheLimits(bytes: .min, count: .min), at: date)
        #expect(try await storage.size() == CacheSize())
    }

    @Test func diskThatHangsDelaysARequestOnce() async throws {
        let storage = folder.storage { $0.diskLimit = .milliseconds(40) }
        let entry = CacheEntry("a")
        try await storage.store(entry)
        let disk = DispatchSemaphore(value: 0)
        let answers = Shared<[Result<Int, SluiceError>]>([])
        // Both connections that read.
        for number in 0..<2 {
            storage.database.read { _ throws(SQLiteFailure) in
                disk.wait()
                return number
            } completion: { answer in
                answers.change { $0.append(answer) }
            }
        }
        await eventually { answers.read.count == 2 }
        let error = await #expect(throws: SluiceError.self) { try await storage.entries(for: entry.key, at: Date()) }
        #expect(error?.code == .cacheFailed)
        #expect(error?.description.contains("has not responded") == true)
        for answer in answers.read { #expect(throws: SluiceError.self) { try answer.get() } }
        for _ in 0..<2 { disk.signal() }
        await eventually { (try? await storage.entries(for: entry.key, at: Date()))?.count == 1 }
        #expect(answers.read.count == 2)
    }

    @Test func changesThatALateCheckHasFoundAreReportedByTheNextOne() async throws {
        let storage = folder.storage { $0.diskLimit = .milliseconds(40) }
        try await storage.store(CacheEntry("a"))
        #expect(try await storage.hasForeignChanges() == false)
        let disk = DispatchSemaphore(value: 0)
        storage.database.writer.queue.async { disk.wait() }
        let error = await #expect(throws: SluiceError.self) { try await storage.hasForeignChanges() }
        #expect(error?.description.contains("has not responded") == true)
        try await folder.store(CacheEntry("b"))
        disk.signal()
        await eventually { (try? await storage.hasForeignChanges()) == true }
        #expect(try await storage.hasForeignChanges() == false)
    }

    @Test func changesAreAppliedInOrder() async throws {
        let storage = folder.storage()
        try await storage.apply([
            .store(CacheEntry("a", body: Data([1]))), .store(CacheEntry("b")), .remove(CacheSelection(CacheKey("a"))),
            .store(CacheEntry("a", body: Data([2]))), .remove(CacheSelection(CacheKey("b"))), .store(CacheEntry("c")),
            .store(CacheEntry("c", body: Data([3]))),
        ])
        #expect(try await storage.body("a") == Data([2]))
        #expect(try await storage.entries("b").isEmpty)
        #expect(try await storage.body("c") == Data([3]))
        #expect(try await storage.size().count == 2)
        try await storage.apply([.store(CacheEntry("d")), .remove(CacheSelection()), .store(CacheEntry("e"))])
        #expect(try await storage.size().count == 1)
        #expect(try folder.totals().kept == folder.totals().counted)
    }

    @Test func readsDoNotWaitForWrites() async throws {
        let storage = folder.storage { $0.busyTimeout = 5 }
        try await storage.store(CacheEntry("a"))
        let other = try folder.connection()
        try other.run("BEGIN IMMEDIATE")
        try other.run("DELETE FROM entry")
        #expect(try await storage.body("a") == Data("body".utf8))
        let error = await cacheFailure { try await storage.store(CacheEntry("b")) }
        #expect(error?.code == .cacheFailed)
        #expect(error?.description.contains("database is locked") == true)
        other.rollBack()
        try await storage.store(CacheEntry("b"))
        #expect(try await storage.entries("b").count == 1)
    }

    @Test func heldLockDelaysManyChangesOnce() async throws {
        let storage = folder.storage { $0.busyTimeout = 500 }
        try await storage.store(CacheEntry("a"))
        let failures = Shared(0)
        let store = CacheStore(storage: storage) {
            $0.onEvent = { event in
                if case .writeFailed = event { failures.change { $0 += 1 } }
            }
        }
        let other = try folder.connection()
        try other.run("BEGIN IMMEDIATE")
        for number in 1...50 { store.insert(CacheEntry("\(number)")) }
        await store.flush()
        // The first one may have ended before the others started.
        #expect((1...2).contains(failures.read))
        other.rollBack()
    }

    @Test(.timeLimit(.minutes(1))) func heldLockDelaysManyTransactionsOnce() async throws {
        let storage = folder.storage { $0.busyTimeout = 1600 }
        try await storage.store(CacheEntry("a"))
        let other = try folder.connection()
        try other.run("BEGIN IMMEDIATE")
        for _ in 1...40 {
            #expect(await cacheFailure { try await storage.store(CacheEntry("b")) }?.isLockTimeout == true)
        }
        other.rollBack()
        try await storage.store(CacheEntry("b"))
        #expect(try await storage.entries("b").count == 1)
    }

    @Test(.timeLimit(.minutes(1))) func heldLockFileDelaysManyReadsOnce() async throws {
        let storage = folder.storage { $0.busyTimeout = 1600 }
        try await storage.store(CacheEntry("a"))
        var lock: FileLock? = try folder.files.lock(busyTimeout: 1000)
        for _ in 1...40 { #expect(await cacheFailure { _ = try await storage.entries("a") }?.isLockTimeout == true) }
        withExtendedLifetime(lock) {}
        lock = nil
        #expect(try await storage.entries("a").count == 1)
    }

    @Test func longLogIsTruncated() async throws {
        let log = folder.url.appending(path: "cache.sqlite-wal").path
        let long = folder.storage()
        try await long.apply((0..<100).map { .store(CacheEntry("\($0)", body: .noise(5000))) })
        #expect(try FileManager.default.attributesOfItem(atPath: log)[.size] as? Int ?? 0 > 500_000)
        let short = folder.storage { $0.logLimit = 500_000 }
        try await short.apply((100..<200).map { .store(CacheEntry("\($0)", body: .noise(5000))) })
        #expect(try FileManager.default.attributesOfItem(atPath: log)[.size] as? Int == 0)
        #expect(try await long.body("150") == .noise(5000))
    }

    @Test func foreignChangesAreReportedOnce() async throws {
        let (one, other) = (folder.storage(), folder.storage())
        #expect(try await !one.hasForeignChanges())
        try await one.store(CacheEntry("a"))
        #expect(try await !one.hasForeignChanges(), "Own changes are not foreign.")
        try await one.store(CacheEntry("x"), CacheEntry("y"), CacheEntry("z"))
        try await one.apply([.remove(CacheSelection(CacheKey("x"))), .store(CacheEntry("x")), .store(CacheEntry("y"))])
        #expect(try await !one.hasForeignChanges(), "Many own changes are not foreign.")
        try await other.store(CacheEntry("b"))
        try await one.store(CacheEntry("c"))
        #expect(try await one.hasForeignChanges())
        #expect(try await !one.hasForeignChanges())
        #expect(try await one.entries("b").count == 1)
        #expect(try await other.hasForeignChanges(), "It was opened before the last change.")
        #expect(try await !other.hasForeignChanges())
        try await one.apply([.remove(CacheSelection())])
        #expect(try await other.hasForeignChanges())
    }
}
