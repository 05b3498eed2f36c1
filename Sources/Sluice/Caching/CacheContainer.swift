import SluiceFoundation
import SluiceHTTP

/// A container of named values and responses. Containers do not see each other's entries.
///
/// ```swift
/// let session = cache.memory
/// try await session.set(token, for: "token", expiration: .seconds(900).extendedOnAccess)
/// let token: Token? = try await session.value(for: "token")
/// ```
///
/// A ``CacheStore`` has two shared containers, ``CacheStore/memory`` and ``CacheStore/memoryAndDisk``, and two for each
/// ``CachePartition``. A value is any `Codable` type: models, arrays, dictionaries, numbers, `Date`, `Data`, ``JSON``.
public struct CacheContainer: Sendable {
    private let store: CacheStore
    private let space: CacheKey.Space
    /// The name of the partition; empty for the shared containers.
    private let partition: String

    init(_ store: CacheStore, _ space: CacheKey.Space, partition: String) {
        self.store = store
        self.space = space
        self.partition = partition
    }

    private func key(_ name: String) -> CacheKey {
        CacheKey(name, in: space, partition: partition)
    }

    /// Stores a value under a name and replaces the previous one.
    ///
    /// The value can be read at once; the call returns when storage has written it. A value over the limits is skipped,
    /// with the event ``CacheEvent/skipped(_:bytes:)``, and the previous one is removed.
    ///
    /// - Parameters:
    ///   - value: The value. Floating-point values may be infinite or NaN; dates keep their full precision.
    ///   - name: The name.
    ///   - expiration: The expiration; nil for the store's ``CacheStore/Configuration/expiration``.
    ///   - tags: Tags by which entries can be removed together.
    /// - Throws: ``SluiceError/Code/encodingFailed``, which names the field; ``SluiceError/Code/cacheFailed`` if
    ///   storage could not write the value, which is then in memory only.
    public func set<Value: Encodable & Sendable>(
        _ value: Value,
        for name: String,
        expiration: CacheExpiration? = nil,
        tags: Set<String> = []
    ) async throws(SluiceError) {
        let body = try ValueCoding(name: name).encode(value)
        try await insert(body, nil, for: name, expiration: expiration, tags: tags)
    }

    /// Stores a response under a name and replaces the previous one: the method and URL of its request, its head and
    /// its body.
    ///
    /// The headers and body of the request, which may contain secrets, and the transfer metrics are not stored.
    ///
    /// - Parameters:
    ///   - response: The response: an ``APIResponse``, whatever its model, or a ``ServerResponse``.
    ///   - name: The name.
    ///   - expiration: The expiration; nil for the store's ``CacheStore/Configuration/expiration``.
    ///   - tags: Tags by which entries can be removed together.
    /// - Throws: The error for which no response was received; ``SluiceError/Code/cacheFailed`` if storage could not
    ///   write the response, which is then in memory only.
    public func set(
        _ response: some ReceivedResponse,
        for name: String,
        expiration: CacheExpiration? = nil,
        tags: Set<String> = []
    ) async throws(SluiceError) {
        let response = try response.received()
        let now = store.date
        let stored = StoredResponse(
            method: response.request.method,
            url: response.request.urlWithoutUser,
            head: response.head,
            requested: now,
            received: now
        )
        try await insert(response.body, stored, for: name, expiration: expiration, tags: tags)
    }

    private func insert(
        _ body: Data,
        _ response: StoredResponse?,
        for name: String,
        expiration: CacheExpiration?,
        tags: Set<String>
    ) async throws(SluiceError) {
        let now = store.date
        let entry = CacheEntry(
            key: key(name),
            response: response,
            body: body,
            stored: now,
            expiration: expiration ?? store.configuration.expiration,
            tags: tags
        )
        try await store.waitUntilWritten(store.insert(entry, isAwaited: true))
    }

    /// Returns the value with a name.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - type: The type with which the value was stored. Needed only if the context does not determine it.
    /// - Returns: The value; nil if there is none or it has expired.
    /// - Throws: ``SluiceError/Code/decodingFailed`` if the stored value has another type or cannot be decoded.
    public func value<Value: Decodable & Sendable>(
        for name: String,
        as type: Value.Type = Value.self
    ) async throws(SluiceError) -> Value? {
        guard let entry = await entry(name) else { return nil }
        let coding = ValueCoding(name: name)
        guard entry.response == nil else { throw coding.decodingFailure(type, "the stored entry is a response") }
        return try coding.decode(type, from: entry.body)
    }

    /// Returns the response with a name.
    ///
    /// - Parameter name: The name.
    /// - Returns: The response, with its request without headers; nil if there is none or it has expired.
    /// - Throws: ``SluiceError/Code/decodingFailed`` if the stored entry is not a response.
    public func response(for name: String) async throws(SluiceError) -> ServerResponse? {
        guard let entry = await entry(name) else { return nil }
        guard let response = entry.response else {
            throw ValueCoding(name: name).decodingFailure(ServerResponse.self, "the stored entry is a value")
        }
        let request = HTTPRequest(method: response.method, storedURL: response.url)
        let info = CachedResponseInfo(age: entry.age(at: store.date))
        return ServerResponse(request: request, head: response.head, body: entry.body, source: .cache(info))
    }

    private func entry(_ name: String) async -> CacheEntry? {
        let key = key(name)
        if let entry = store.onlyEntryInMemory(for: key) { return entry }
        return await store.entries(for: key).first
    }

    /// Removes the value or response with a name. It can no longer be read from the moment of the call.
    ///
    /// - Parameter name: The name.
    /// - Throws: ``SluiceError/Code/cacheFailed`` if storage could not remove it, so that another process may still
    ///   read it.
    public func remove(_ name: String) async throws(SluiceError) {
        try await remove { $0.name = name }
    }

    /// Removes all entries with a tag, as ``remove(_:)`` does.
    ///
    /// - Parameter tag: The tag.
    /// - Throws: ``SluiceError/Code/cacheFailed`` if storage could not remove them, so that another process may still
    ///   read them.
    public func remove(tag: String) async throws(SluiceError) {
        try await remove { $0.tag = tag }
    }

    /// Removes all expired entries. Expired entries are never returned, removed or not.
    ///
    /// - Throws: ``SluiceError/Code/cacheFailed`` if storage could not remove them.
    public func removeExpired() async throws(SluiceError) {
        let now = store.date
        try await remove { $0.expired = now }
    }

    /// Removes all entries of the container, as ``remove(_:)`` does.
    ///
    /// - Throws: ``SluiceError/Code/cacheFailed`` if storage could not remove them, so that another process may still
    ///   read them.
    public func removeAll() async throws(SluiceError) {
        try await remove { _ in }
    }

    private func remove(_ narrow: (inout CacheSelection) -> Void) async throws(SluiceError) {
        var selection = CacheSelection()
        selection.spaces = [space]
        selection.partition = partition
        narrow(&selection)
        try await store.waitUntilWritten(store.remove(selection, isAwaited: true))
    }
}

/// The entries of one user, for example, isolated from those of other partitions.
///
/// ```swift
/// let mine = cache.partition(user.id)
/// try await mine.memoryAndDisk.set(drafts, for: "drafts")
/// try await mine.removeAll()              // when the user signs out
/// ```
public struct CachePartition: Sendable {
    private let store: CacheStore
    private let name: String

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
        try await store.waitUntilWritten(store.remove(selection, isAwaited: true))
    }
}

// MARK: - Named values of a store

extension CacheStore {
    /// The shared container in memory. Its entries are lost when the process ends.
    public nonisolated var memory: CacheContainer { CacheContainer(self, .memoryValues, partition: "") }

    /// The shared container in memory and storage.
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
    ///   - expiration: The expiration; nil for the store's ``CacheStore/Configuration/expiration``.
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
    ///   - response: The response: an ``APIResponse``, whatever its model, or a ``ServerResponse``.
    ///   - name: The name.
    ///   - expiration: The expiration; nil for the store's ``CacheStore/Configuration/expiration``.
    ///   - tags: Tags by which entries can be removed together.
    /// - Throws: The error for which no response was received; ``SluiceError/Code/cacheFailed`` if storage could not
    ///   write the response, which is then in memory only.
    public nonisolated func set(
        _ response: some ReceivedResponse,
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
}

extension HTTPRequest {
    /// The URL without user name and password.
    fileprivate var urlWithoutUser: String {
        guard let at = authority.utf8.lastIndex(of: UInt8(ascii: "@")) else { return url }
        return "\(scheme)://\(authority[at...].dropFirst())\(path)"
    }

    /// Creates the request of a stored response from its URL.
    fileprivate init(method: HTTPMethod, storedURL url: String) {
        let (scheme, rest) =
            url.firstRange(of: "://").map { (url[..<$0.lowerBound], url[$0.upperBound...]) } ?? ("", url[...])
        let path = rest.firstIndex(of: "/") ?? rest.endIndex
        self.init(method: method, scheme: String(scheme), authority: String(rest[..<path]), path: String(rest[path...]))
    }
}
