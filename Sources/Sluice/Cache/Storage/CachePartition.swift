import SluiceHTTP

/// What belongs to one user, say, and no other ever sees.
///
/// ```swift
/// let mine = cache.partition(user.id)
/// try await mine.memoryAndDisk.set(drafts, for: "drafts")
/// try await mine.removeAll()              // when the user signs out
/// ```
public struct CachePartition: Sendable {
    private let store: CacheStore
    /// Whose it is.
    public let name: String

    init(_ store: CacheStore, _ name: String) {
        self.store = store
        self.name = name
    }

    /// What stays in memory and goes with the process.
    public var memory: CacheContainer { CacheContainer(store, .memoryValues, partition: name) }

    /// What is kept in memory and in storage.
    public var memoryAndDisk: CacheContainer { CacheContainer(store, .values, partition: name) }

    /// Removes all of the partition that has a tag, of both containers, responses of requests included.
    ///
    /// - Parameter tag: The tag.
    /// - Throws: ``SluiceError/Code/cacheFailed`` if storage could not remove it and another process may find it.
    public func remove(tag: String) async throws(SluiceError) {
        try await remove { $0.tag = tag }
    }

    /// Removes all of the partition, of both containers, responses of requests included.
    ///
    /// - Throws: ``SluiceError/Code/cacheFailed`` if storage could not remove it and another process may find it.
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
