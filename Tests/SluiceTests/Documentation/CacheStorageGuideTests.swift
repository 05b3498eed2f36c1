import Foundation
import Sluice
import SluiceTesting
import Synchronization
import Testing

/// The storage of the article Cache. `StorageConformanceTests` checks it as well.
struct TableStorage: CacheStorage {
    let table: DocumentTable

    init(_ table: DocumentTable) {
        self.table = table
    }

    func entries(for key: CacheKey, at now: Date) async throws(SluiceError) -> [CacheEntry] {
        let documents = table.documents.withLock { $0.filter { $0.key == key } }
        return documents.compactMap { document in
            CacheEntry(encoded: document.bytes, for: key)?.with(expires: document.expires)
        }
        .filter { $0.expires.map { $0 > now } ?? true }
        .sorted { $0.stored > $1.stored }
    }

    func apply(_ changes: [CacheChange]) async throws(SluiceError) {
        table.documents.withLock { documents in
            for change in changes {
                switch change {
                case .store(let entry):
                    documents.removeAll { $0.key == entry.key && $0.variant == entry.variant }
                    documents.append(DocumentTable.Document(entry))
                case .remove(let selection):
                    documents.removeAll { document in
                        CacheEntry(encoded: document.bytes, for: document.key).map(selection.contains) ?? true
                    }
                case .touch(let key, let variant, let stored, _, let expires):
                    for index in documents.indices {
                        let document = documents[index]
                        guard document.key == key, document.variant == variant else { continue }
                        if stored == nil || stored == document.stored { documents[index].expires = expires }
                    }
                }
            }
        }
    }

    func writer(for entry: CacheEntry) async throws(SluiceError) -> any CacheWriter {
        TableWriter(entry, in: self)
    }
}

/// A table of documents, as those of a database.
final class DocumentTable: Sendable {
    struct Document: Sendable {
        let key: CacheKey
        let variant: String
        let stored: Date
        let bytes: Data
        var expires: Date?

        init(_ entry: CacheEntry) {
            key = entry.key
            variant = entry.variant
            stored = entry.stored
            bytes = entry.encoded()
        }
    }

    let documents = Mutex<[Document]>([])
}

/// Collects a body, which is stored as a whole.
private final class TableWriter: CacheWriter {
    private let entry: CacheEntry
    private let storage: TableStorage
    private let body = Mutex(Data())

    init(_ entry: CacheEntry, in storage: TableStorage) {
        self.entry = entry
        self.storage = storage
    }

    func write(_ piece: Data) async throws(SluiceError) {
        body.withLock { $0.append(piece) }
    }

    func commit() async throws(SluiceError) {
        let body = body.withLock { $0 }
        try await storage.apply([.store(entry.with(body: body))])
    }
}

@Suite struct CacheStorageGuideTests {
    @Test func theCasesRun() async throws {
        for `case` in CacheStorageConformance.cases {
            let table = DocumentTable()
            try await CacheStorageConformance.run(`case`) { TableStorage(table) }
        }
    }
}
