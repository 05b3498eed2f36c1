import SluiceHTTP

extension CacheStore {
    /// What stays in memory and goes with the process, nobody's in particular.
    public nonisolated var memory: CacheContainer { CacheContainer(self, .memoryValues, partition: "") }

    /// What is kept in memory and in storage, nobody's in particular: what the store's own functions set and give.
    public nonisolated var memoryAndDisk: CacheContainer { CacheContainer(self, .values, partition: "") }

    /// What belongs to one user, say.
    ///
    /// - Parameter name: Whose it is; empty for nobody's in particular.
    /// - Returns: What holds it.
    public nonisolated func partition(_ name: String) -> CachePartition {
        CachePartition(self, name)
    }

    /// Keeps a value in the place of what has that name, in memory and storage: in ``memoryAndDisk``.
    ///
    /// It can be read at once; the call returns when storage has it. A value over the limits is skipped, as
    /// ``CacheEvent/skipped(_:bytes:)`` tells, and removes what was there.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - name: Its name.
    ///   - expiration: When it is gone; nil for the store's ``Configuration/expiration``.
    ///   - tags: By what it can be removed together with others.
    /// - Throws: ``SluiceError/Code/encodingFailed``, which names the field; ``SluiceError/Code/cacheFailed`` if storage could not
    ///   keep it, and it is in memory only.
    public nonisolated func set<Value: Encodable & Sendable>(
        _ value: Value,
        for name: String,
        expiration: CacheExpiration? = nil,
        tags: Set<String> = []
    ) async throws(SluiceError) {
        try await memoryAndDisk.set(value, for: name, expiration: expiration, tags: tags)
    }

    /// Keeps a whole response in memory and storage: its request without headers and body, its head and its body.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - name: Its name.
    ///   - expiration: When it is gone; nil for the store's ``Configuration/expiration``.
    ///   - tags: By what it can be removed together with others.
    /// - Throws: ``SluiceError/Code/cacheFailed`` if storage could not keep it, and it is in memory only.
    public nonisolated func set(
        _ response: ServerResponse,
        for name: String,
        expiration: CacheExpiration? = nil,
        tags: Set<String> = []
    ) async throws(SluiceError) {
        try await memoryAndDisk.set(response, for: name, expiration: expiration, tags: tags)
    }

    /// The value of a name.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - type: Its type, where the context does not say it: the one it was set as.
    /// - Returns: The value; nil if there is none, or it is gone.
    /// - Throws: ``SluiceError/Code/decodingFailed`` if what is kept is of another type, or cannot be decoded.
    public nonisolated func value<Value: Decodable & Sendable>(
        for name: String,
        as type: Value.Type = Value.self
    ) async throws(SluiceError) -> Value? {
        try await memoryAndDisk.value(for: name, as: type)
    }

    /// The response of a name.
    ///
    /// - Parameter name: Its name.
    /// - Returns: The response, its request without headers; nil if there is none, or it is gone.
    /// - Throws: ``SluiceError/Code/decodingFailed`` if what is kept is no response.
    public nonisolated func response(for name: String) async throws(SluiceError) -> ServerResponse? {
        try await memoryAndDisk.response(for: name)
    }

    /// Removes the value or response of a name from ``memoryAndDisk``.
    ///
    /// - Parameter name: Its name.
    /// - Throws: ``SluiceError/Code/cacheFailed`` if storage could not remove it and another process may find it.
    public nonisolated func remove(_ name: String) async throws(SluiceError) {
        try await memoryAndDisk.remove(name)
    }

    /// Removes all that has a tag, of all containers and partitions, responses of requests included.
    ///
    /// - Parameter tag: The tag.
    /// - Throws: ``SluiceError/Code/cacheFailed`` if storage could not remove it and another process may find it.
    public nonisolated func remove(tag: String) async throws(SluiceError) {
        var selection = CacheSelection()
        selection.tag = tag
        try await waitUntilWritten(drop(selection, isAwaited: true))
    }

    /// Removes everything, of all containers and partitions, responses of requests included.
    ///
    /// - Throws: ``SluiceError/Code/cacheFailed`` if storage could not remove it and another process may find it.
    public nonisolated func removeAll() async throws(SluiceError) {
        try await waitUntilWritten(drop(CacheSelection(), isAwaited: true))
    }

    nonisolated func waitUntilWritten(_ number: Int?) async throws(SluiceError) {
        if let number, let failure = await failure(of: number) { throw failure }
    }
}
