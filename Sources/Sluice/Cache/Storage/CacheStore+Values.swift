import SluiceHTTP

extension CacheStore {
    /// The shared container in memory. Its entries are lost when the process ends.
    public nonisolated var memory: CacheContainer { CacheContainer(self, .memoryValues, partition: "") }

    /// The shared container in memory and storage. The store's own functions use it.
    public nonisolated var memoryAndDisk: CacheContainer { CacheContainer(self, .values, partition: "") }

    /// Returns the partition with a name, such as a user's ID.
    ///
    /// - Parameter name: The name; empty for the shared partition.
    /// - Returns: The partition.
    public nonisolated func partition(_ name: String) -> CachePartition {
        CachePartition(self, name)
    }

    /// Stores a value under a name in ``memoryAndDisk`` and replaces the previous one.
    ///
    /// The value can be read at once; the call returns when storage has written it. A value over the limits is skipped,
    /// with the event ``CacheEvent/skipped(_:bytes:)``, and the previous one is removed.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - name: The name.
    ///   - expiration: The expiration; nil for the store's ``Configuration/expiration``.
    ///   - tags: Tags by which entries can be removed together.
    /// - Throws: ``SluiceError/Code/encodingFailed``, which names the field; ``SluiceError/Code/cacheFailed`` if
    ///   storage could not write the value, which is then in memory only.
    public nonisolated func set<Value: Encodable & Sendable>(
        _ value: Value,
        for name: String,
        expiration: CacheExpiration? = nil,
        tags: Set<String> = []
    ) async throws(SluiceError) {
        try await memoryAndDisk.set(value, for: name, expiration: expiration, tags: tags)
    }

    /// Stores a response in memory and storage: its request without headers and body, its head and its body.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - name: The name.
    ///   - expiration: The expiration; nil for the store's ``Configuration/expiration``.
    ///   - tags: Tags by which entries can be removed together.
    /// - Throws: ``SluiceError/Code/cacheFailed`` if storage could not write the response, which is then in memory
    ///   only.
    public nonisolated func set(
        _ response: ServerResponse,
        for name: String,
        expiration: CacheExpiration? = nil,
        tags: Set<String> = []
    ) async throws(SluiceError) {
        try await memoryAndDisk.set(response, for: name, expiration: expiration, tags: tags)
    }

    /// Returns the value with a name.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - type: The type with which the value was stored. Needed only if the context does not determine it.
    /// - Returns: The value; nil if there is none or it has expired.
    /// - Throws: ``SluiceError/Code/decodingFailed`` if the stored value has another type or cannot be decoded.
    public nonisolated func value<Value: Decodable & Sendable>(
        for name: String,
        as type: Value.Type = Value.self
    ) async throws(SluiceError) -> Value? {
        try await memoryAndDisk.value(for: name, as: type)
    }

    /// Returns the response with a name.
    ///
    /// - Parameter name: The name.
    /// - Returns: The response, with its request without headers; nil if there is none or it has expired.
    /// - Throws: ``SluiceError/Code/decodingFailed`` if the stored entry is not a response.
    public nonisolated func response(for name: String) async throws(SluiceError) -> ServerResponse? {
        try await memoryAndDisk.response(for: name)
    }

    /// Removes the value or response with a name from ``memoryAndDisk``.
    ///
    /// - Parameter name: The name.
    /// - Throws: ``SluiceError/Code/cacheFailed`` if storage could not remove it, so that another process may still
    ///   read it.
    public nonisolated func remove(_ name: String) async throws(SluiceError) {
        try await memoryAndDisk.remove(name)
    }

    /// Removes all entries with a tag, from all containers and partitions, including responses to requests.
    ///
    /// - Parameter tag: The tag.
    /// - Throws: ``SluiceError/Code/cacheFailed`` if storage could not remove them, so that another process may still
    ///   read them.
    public nonisolated func remove(tag: String) async throws(SluiceError) {
        var selection = CacheSelection()
        selection.tag = tag
        try await waitUntilWritten(drop(selection, isAwaited: true))
    }

    /// Removes all entries, from all containers and partitions, including responses to requests.
    ///
    /// - Throws: ``SluiceError/Code/cacheFailed`` if storage could not remove them, so that another process may still
    ///   read them.
    public nonisolated func removeAll() async throws(SluiceError) {
        try await waitUntilWritten(drop(CacheSelection(), isAwaited: true))
    }

    nonisolated func waitUntilWritten(_ number: Int?) async throws(SluiceError) {
        if let number, let failure = await failure(of: number) { throw failure }
    }
}
