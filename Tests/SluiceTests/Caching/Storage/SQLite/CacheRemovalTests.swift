import Foundation
import SluiceTesting
import Testing

@testable import Sluice
@testable import SluiceCache

/// Removals, evictions and counts, compared with a dictionary.
@Suite struct CacheRemovalTests {
    private let folder = CacheFolder()

    private struct Slot: Hashable {
        let key: CacheKey
        let variant: String
    }

    private static func selection(using random: inout SeededGenerator) -> CacheSelection {
        var selection = CacheSelection()
        let spaces = Set(CacheKey.Space.allCases.filter { _ in Bool.random(using: &random) })
        if Bool.random(using: &random) { selection.spaces = spaces }
        if Bool.random(using: &random) { selection.partition = ["", "p"].randomElement(using: &random) }
        if Int.random(in: 0..<4, using: &random) == 0 {
            selection.name = "\(Int.random(in: 0..<20, using: &random))"
        }
        if Int.random(in: 0..<4, using: &random) == 0 { selection.variant = ["", "v"].randomElement(using: &random) }
        if Int.random(in: 0..<3, using: &random) == 0 { selection.tag = ["s", "t"].randomElement(using: &random) }
        if Int.random(in: 0..<3, using: &random) == 0 {
            selection.expired = Date(timeIntervalSinceReferenceDate: .random(in: 0..<100, using: &random))
        }
        return selection
    }

    private static func entry(using random: inout SeededGenerator) -> CacheEntry {
        CacheEntry(
            "\(Int.random(in: 0..<20, using: &random))",
            space: CacheKey.Space.allCases.randomElement(using: &random) ?? .values,
            partition: ["", "p"].randomElement(using: &random) ?? "",
            variant: ["", "v"].randomElement(using: &random) ?? "",
            body: .noise(Int.random(in: 0..<3000, using: &random), seed: random.next()),
            expires: Bool.random(using: &random) ? .random(in: 0..<100, using: &random) : nil,
            tags: Set(["s", "t"].filter { _ in Bool.random(using: &random) })
        )
    }

    @Test(arguments: [UInt64](0..<6))
    func randomChangesMatchAModel(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let storage = folder.storage()
        var model: [Slot: CacheEntry] = [:]
        for _ in 0..<60 {
            var changes: [CacheChange] = []
            for _ in 0..<Int.random(in: 1..<30, using: &random) {
                if Int.random(in: 0..<12, using: &random) == 0 {
                    let selection = Self.selection(using: &random)
                    model = model.filter { !selection.contains($0.value) }
                    changes.append(.remove(selection))
                } else {
                    let entry = Self.entry(using: &random)
                    model[Slot(key: entry.key, variant: entry.variant)] = entry
                    changes.append(.store(entry))
                }
            }
            try await storage.apply(changes)
            let totals = try folder.totals()
            #expect(totals.kept == totals.counted)
            #expect(totals.kept.count == model.count)
            #expect(try await storage.size() == totals.kept)
        }
        for key in Set(model.keys.map(\.key)) {
            let found = try await storage.entries(for: key, at: .distantPast)
            let expected = model.values.filter { $0.key == key }
            #expect(Set(found.map(\.variant)) == Set(expected.map(\.variant)))
            #expect(Set(found.map(\.body)) == Set(expected.map(\.body)))
        }
        await folder.waitForSweeping(of: storage)
        // No rows of removed entries are left.
        let owners = try folder.connection().integer("SELECT COUNT(DISTINCT id >> 20) FROM piece")
        #expect(owners == Int64(model.count))
        let tags = try folder.connection().integer("SELECT COUNT(*) FROM tag WHERE entry NOT IN (SELECT id FROM entry)")
        #expect(tags == 0)
        #expect(try folder.count("garbage") == 0)
    }

    @Test func largeRemovalsRunInStepsAndLeaveOtherEntries() async throws {
        let storage = folder.storage()
        try await storage.apply(
            (0..<500).map { .store(CacheEntry("\($0)", partition: $0 % 5 == 0 ? "p" : "", tags: ["t"])) }
        )
        var selection = CacheSelection()
        selection.partition = ""
        selection.tag = "t"
        try await storage.apply([.remove(selection)])
        #expect(try await storage.size().count == 100)
        #expect(try folder.totals().kept == folder.totals().counted)
        await folder.waitForSweeping(of: storage)
        #expect(try folder.count("piece") == 100)
        #expect(try folder.count("tag") == 100)
        selection.partition = "p"
        try await storage.apply([.remove(selection), .store(CacheEntry("new"))])
        #expect(try await storage.size().count == 1)
        await folder.waitForSweeping(of: storage)
        #expect(try folder.count("piece") == 1)
    }

    @Test func expiredEntriesAreEvictedBeforeLeastRecentlyUsed() async throws {
        let storage = folder.storage()
        let now = Date(timeIntervalSinceReferenceDate: 1000)
        for name in 0..<10 {
            try await storage.store(CacheEntry("\(name)", stored: Double(name), expires: name == 7 ? 999 : nil))
        }
        try await storage.apply([
            .touch(CacheKey("0"), variant: "", accessed: Date(timeIntervalSinceReferenceDate: 500), expires: nil)
        ])
        let limits = CacheLimits(count: 7)
        #expect(try await storage.evict(to: limits, at: now) == 1)
        #expect(try await storage.entries("7", at: 0).isEmpty)
        #expect(try await storage.evict(to: limits, at: now) == 2)
        #expect(try await storage.evict(to: limits, at: now) == 0)
        for name in ["1", "2"] { #expect(try await storage.entries(name).isEmpty) }
        for name in ["0", "3", "9"] { #expect(try await storage.entries(name).count == 1) }
        #expect(try folder.totals().kept == folder.totals().counted)
    }

    @Test func entriesAccessedInTheFutureAreEvicted() async throws {
        let storage = folder.storage()
        try await storage.store(CacheEntry("future", stored: 1e9), CacheEntry("past", stored: 0))
        let now = Date(timeIntervalSinceReferenceDate: 1000)
        #expect(try await storage.evict(to: CacheLimits(count: 1), at: now) == 1)
        #expect(try await storage.entries("future").isEmpty)
        #expect(try await storage.entries("past").count == 1)
    }

    @Test func evictionRunsInSmallSteps() async throws {
        let storage = folder.storage()
        try await storage.apply((0..<30).map { .store(CacheEntry("\($0)", body: .noise(100))) })
        var steps: [Int] = []
        while case let count = try await storage.evict(to: CacheLimits(bytes: 500), at: .distantPast), count > 0 {
            steps.append(count)
        }
        #expect(steps.allSatisfy { $0 <= CacheFolder.tuning.stepCount })
        #expect(steps.count >= 3)
        let size = try await storage.size()
        #expect(size.bytes <= 500 && size.bytes > 300, "evicts no more than necessary")
        // Steps are also limited to 20,000 bytes, which the second entry of 15,000 bytes exceeds.
        try await storage.apply((0..<6).map { .store(CacheEntry("large \($0)", body: .noise(15_000), stored: 5)) })
        #expect(try await storage.evict(to: CacheLimits(bytes: 0), at: .distantPast) > 2, "small entries first")
        #expect(try await storage.evict(to: CacheLimits(bytes: 0), at: .distantPast) == 2)
    }

    @Test func incorrectTotalsDoNotBlockEviction() async throws {
        let storage = folder.storage()
        try await storage.store(CacheEntry("a"))
        try folder.connection().run("UPDATE total SET count = 9223372036854775807, bytes = -5")
        #expect(try await storage.size() == CacheSize(bytes: 0, count: .max))
        #expect(try await storage.evict(to: CacheLimits(count: 0), at: .distantPast) == 1)
        #expect(try await storage.evict(to: CacheLimits(count: 0), at: .distantPast) == 0)
        #expect(try await storage.size() == CacheSize())
    }

    @Test func largeEmptyFileIsReplaced() async throws {
        let storage = folder.storage { $0.replacementPages = 100 }
        let other = folder.storage { $0.replacementPages = 100 }
        try await storage.apply((0..<100).map { .store(CacheEntry("\($0)", body: .noise(20_000))) })
        #expect(try await other.entries("1").count == 1)
        let old = folder.files.identity
        // A connection to the old file, so that the new one does not get its inode number.
        let connection = try folder.connection()
        defer { withExtendedLifetime(connection) {} }
        #expect(try CacheSize(totalOf: connection).count == 100)
        let writer = try await other.writer(for: CacheEntry("a"))
        try await writer.write(.noise(5000))
        try await storage.apply([.remove(CacheSelection())])
        await folder.waitForSweeping(of: storage)
        #expect(folder.files.identity == nil)
        try await other.store(CacheEntry("b"))
        #expect(folder.files.identity != nil && folder.files.identity != old)
        #expect(try await storage.entries("b").count == 1)
        #expect(try await other.entries("1").isEmpty)
        // Another writer may have its number by now.
        let next = try await other.writer(for: CacheEntry("next"))
        for _ in 0..<3 { try await next.write(.noise(5000)) }
        #expect(await cacheFailure { try await writer.write(.noise(5000)) }?.code == .cacheFailed)
        try await next.commit()
        #expect(try await storage.body("next")?.count == 15_000)
    }

    #if os(Linux)
    /// A file that is still open keeps its space.
    @Test func replacedFileIsClosedByIdleReaders() async throws {
        let storage = folder.storage { $0.replacementPages = 100 }
        try await storage.apply((0..<100).map { .store(CacheEntry("\($0)", body: .noise(20_000))) })
        #expect(try await storage.entries("1").count == 1)
        try await storage.apply([.remove(CacheSelection())])
        await folder.waitForSweeping(of: storage)
        let path = folder.files.database
        await eventually {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
            let targets = names.compactMap {
                try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
            }
            return !targets.contains { $0.hasPrefix(path) && $0.hasSuffix("(deleted)") }
        }
    }
    #endif

    @Test func fileShrinksAfterRemoval() async throws {
        let storage = folder.storage()
        try await storage.apply((0..<300).map { .store(CacheEntry("\($0)", body: .noise(20_000))) })
        #expect(try await fileSize { $0 > 6_000_000 } > 6_000_000)
        try await storage.apply([.remove(CacheSelection())])
        await folder.waitForSweeping(of: storage)
        #expect(try await fileSize { $0 < 2_000_000 } < 2_000_000)
        #expect(try folder.count("piece") == 0)
    }

    /// Returns the size of the file after a checkpoint. A checkpoint has no effect while the storage runs its own, so it is
    /// repeated.
    private func fileSize(_ isExpected: (Int) -> Bool) async throws -> Int {
        let file = folder.url.appending(path: "cache.sqlite").path
        let connection = try folder.connection()
        let end = ContinuousClock.now + .seconds(30)
        while true {
            try connection.run("PRAGMA wal_checkpoint(TRUNCATE)")
            let size = try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int ?? 0
            if isExpected(size) || ContinuousClock.now > end { return size }
            await Task.yield()
        }
    }
}
