import Foundation
import SluiceHTTP
import SluiceTesting

@testable import Sluice
@testable import SluiceCache

/// A folder for a cache, removed when it is deallocated, and the events of its storages.
final class CacheFolder: Sendable {
    let url: URL
    let clock = TestClock()
    let events = Shared<[CacheEvent]>([])

    init(in parent: URL = FileManager.default.temporaryDirectory) {
        url = parent.appending(path: "sluice-\(UUID().uuidString)/cache")
    }

    deinit {
        try? FileManager.default.removeItem(at: url.deletingLastPathComponent())
    }

    /// Small limits, so that little data reaches them.
    static let tuning = CacheTuning().with {
        $0.pieceSize = 1000
        $0.stepCount = 8
        $0.stepBytes = 20_000
        $0.removalCount = 20
        $0.removalStep = 50
        $0.checkInterval = .zero
        $0.replacementPages = .max
    }

    func storage(
        schema: CacheSchema = .current,
        _ change: (inout CacheTuning) -> Void = { _ in }
    ) -> SQLiteCacheStorage {
        SQLiteCacheStorage(
            directory: url,
            clock: clock,
            schema: schema,
            tuning: Self.tuning.with(change)
        ) { [events] event in events.change { $0.append(event) } }
    }

    /// Stores an entry by a storage of its own, which does nothing afterwards.
    func store(_ entry: CacheEntry) async throws {
        let storage = storage()
        try await storage.store(entry)
        await waitForSweeping(of: storage)
    }

    var files: CacheFiles { CacheFiles(directory: url, name: "cache") }

    /// The files in the folder in order, including the lock.
    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []).sorted() }

    /// The events as text, without paths.
    var eventNames: [String] {
        events.read.map { event in
            switch event {
            case .opened: "opened"
            case .databaseMoved: "set aside"
            case .storageUnavailable: "unavailable"
            default: "\(event)"
            }
        }
    }

    /// Opens a separate connection, as another program does.
    func connection() throws -> SQLiteConnection {
        try SQLiteConnection(path: files.database, access: .readWrite, busyTimeout: 1000)
    }

    /// Counts the rows of a table.
    func count(_ table: StaticString) throws -> Int64 {
        try connection().withStatement("SELECT COUNT(*) FROM \(table)") { statement throws(SQLiteFailure) in
            try statement.step() ? statement.integer(0) : -1
        }
    }

    /// Returns the stored totals, and the counted totals.
    func totals() throws -> (kept: CacheSize, counted: CacheSize) {
        let connection = try connection()
        let counted = try connection.withStatement("SELECT COUNT(*), TOTAL(size) FROM entry") {
            statement throws(SQLiteFailure) in
            _ = try statement.step()
            return CacheSize(bytes: Int(statement.integer(1)), count: Int(statement.integer(0)))
        }
        return (try CacheSize(totalOf: connection), counted)
    }

    /// Waits until there is nothing left to sweep.
    func waitForSweeping(of storage: SQLiteCacheStorage) async {
        await eventually { !storage.database.status.withLock { $0.isSweeping } }
    }
}

extension CacheTuning {
    func with(_ change: (inout CacheTuning) -> Void) -> CacheTuning {
        var changed = self
        change(&changed)
        return changed
    }
}

extension CacheEntry {
    /// Creates an entry with defaults for all other values.
    convenience init(
        _ name: String,
        space: CacheKey.Space = .values,
        partition: String = "",
        variant: String = "",
        body: Data = Data("body".utf8),
        stored: TimeInterval = 0,
        expires: TimeInterval? = nil,
        tags: Set<String> = []
    ) {
        self.init(
            key: CacheKey(name, in: space, partition: partition),
            variant: variant,
            body: body,
            stored: Date(timeIntervalSinceReferenceDate: stored),
            expires: expires.map { Date(timeIntervalSinceReferenceDate: $0) },
            tags: tags
        )
    }
}

extension SQLiteCacheStorage {
    func store(_ entries: CacheEntry...) async throws {
        try await apply(entries.map { .store($0) })
    }

    func entries(_ name: String, at time: TimeInterval = 0) async throws -> [CacheEntry] {
        try await entries(for: CacheKey(name), at: Date(timeIntervalSinceReferenceDate: time))
    }

    /// Returns the body of the only entry with a name.
    func body(_ name: String, at time: TimeInterval = 0) async throws -> Data? {
        let found = try await entries(name, at: time)
        return found.count == 1 ? found.first?.body : nil
    }
}

extension Data {
    /// Returns random bytes, the same for the same seed.
    static func noise(_ count: Int, seed: UInt64 = 0) -> Data {
        var random = SeededGenerator(seed: seed)
        return Data((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) })
    }
}

/// Returns the `SluiceError` that a closure throws; nil if it throws nothing or another error.
func cacheFailure(of work: () async throws -> Void) async -> SluiceError? {
    do {
        try await work()
        return nil
    } catch {
        return error as? SluiceError
    }
}
