import SluiceHTTP

/// The entries of one user, for example, isolated from those of other partitions.
///
/// ```swift
/// let mine = cache.partition(user.id)
/// try await mine.memoryAndDisk.set(drafts, for: "drafts")
/// try await mine.removeAll()              // when the user signs out
/// ```
public struct CachePartition: Sendable {
    private let store: CacheStore
    /// The name of the partition.
    public let name: String

    init(_ store: CacheStore, _ name: String) {
        self.store = store
        self.name = name
    }

    /// The container in memory. Its entries are lost when the process ends.
    public var memory: CacheContainer { CacheContainer(store, .memoryValues, partition: name) }

    /// The container in memory and storage.
    public var memoryAndDisk: CacheContainer { CacheContainer(store, .values, partition: name) }

    /// Removes all entries of the partition with a tag, from both containers, including responses to requests.
    ///
    /// - Parameter tag: The tag.
    /// - Throws: ``SluiceError/Code/cacheFailed`` if storage could not remove them, so that another process may still
    ///   read them.
    public func remove(tag: String) async throws(SluiceError) {
        try await remove { $0.tag = tag }
    }

    /// Removes all entries of the partition, from both containers, including responses to requests.
    ///
    /// - Throws: ``SluiceError/Code/cacheFailed`` if storage could not remove them, so that another process may still
    ///   read them.
    public func removeAll() async throws(SluiceError) {
        try await remove { _ in }
    }

    private func remove(_ narrow: (inout CacheSelection) -> Void) async throws(SluiceError) {
        var selection = CacheSelection()
        selection.partition = name
        narrow(&selection)
        try await store.waitUntilWritten(store.drop(selection, isAwaited: true))
    }
}
