import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Values and responses by name, which do not mix with those of another container.
///
/// ```swift
/// let session = cache.memory
/// try await session.set(token, for: "token", expiration: .seconds(900).extendedOnAccess)
/// let token: Token? = try await session.value(for: "token")
/// ```
///
/// A ``CacheStore`` has two for everybody, ``CacheStore/memory`` and ``CacheStore/memoryAndDisk``, and two for each
/// ``CachePartition``. A value is anything `Codable`: models, arrays, dictionaries, numbers, `Date`, `Data`, ``JSON``.
public struct CacheContainer: Sendable {
    private let store: CacheStore
    private let space: CacheKey.Space
    /// Whose values it holds; empty for nobody's in particular.
    public let partition: String

    init(_ store: CacheStore, _ space: CacheKey.Space, partition: String) {
        self.store = store
        self.space = space
        self.partition = partition
    }

    private func key(_ name: String) -> CacheKey {
        CacheKey(name, in: space, partition: partition)
    }

    /// Keeps a value in the place of what has that name.
    ///
    /// It can be read at once; the call returns when storage has it. A value over the limits is skipped, as
    /// ``CacheEvent/skipped(_:bytes:)`` tells, and removes what was there.
    ///
    /// - Parameters:
    ///   - value: The value. Floating-point values may be infinite or no number; dates keep all their digits.
    ///   - name: Its name.
    ///   - expiration: When it is gone; nil for the store's ``CacheStore/Configuration/expiration``.
    ///   - tags: By what it can be removed together with others.
    /// - Throws: ``SluiceError/Code/encodingFailed``, which names the field; ``SluiceError/Code/cacheFailed`` if storage could not
    ///   keep it, and it is in memory only.
    public func set<Value: Encodable & Sendable>(
        _ value: Value,
        for name: String,
        expiration: CacheExpiration? = nil,
        tags: Set<String> = []
    ) async throws(SluiceError) {
        let body = try ValueCoding(name: name).encode(value)
        try await keep(body, nil, for: name, expiration: expiration, tags: tags)
    }

    /// Keeps a whole response in the place of what has that name: method and URL of its request, head and body.
    ///
    /// The request's headers and body, which may hold secrets, are not kept, nor what the transfer took.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - name: Its name.
    ///   - expiration: When it is gone; nil for the store's ``CacheStore/Configuration/expiration``.
    ///   - tags: By what it can be removed together with others.
    /// - Throws: ``SluiceError/Code/cacheFailed`` if storage could not keep it, and it is in memory only.
    public func set(
        _ response: ServerResponse,
        for name: String,
        expiration: CacheExpiration? = nil,
        tags: Set<String> = []
    ) async throws(SluiceError) {
        let now = store.date
        let stored = StoredResponse(
            method: response.request.method,
            url: response.request.urlWithoutUser,
            head: response.head,
            requested: now,
            received: now
        )
        try await keep(response.body, stored, for: name, expiration: expiration, tags: tags)
    }

    private func keep(
        _ body: Data,
        _ response: StoredResponse?,
        for name: String,
        expiration: CacheExpiration?,
        tags: Set<String>
    ) async throws(SluiceError) {
        let now = store.date
        let expiration = expiration ?? store.configuration.expiration
        let entry = CacheEntry(
            key: key(name),
            response: response,
            body: body,
            stored: now,
            expires: expiration.date(from: now),
            renewal: expiration.renewal,
            tags: tags
        )
        try await store.waitUntilWritten(store.put(entry, isAwaited: true))
    }

    /// The value of a name.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - type: Its type, where the context does not say it: the one it was set as.
    /// - Returns: The value; nil if there is none, or it is gone.
    /// - Throws: ``SluiceError/Code/decodingFailed`` if what is kept is of another type, or cannot be decoded.
    public func value<Value: Decodable & Sendable>(
        for name: String,
        as type: Value.Type = Value.self
    ) async throws(SluiceError) -> Value? {
        guard let entry = await entry(name) else { return nil }
        let coding = ValueCoding(name: name)
        guard entry.response == nil else { throw coding.decodingFailure(type, "what is kept is a response") }
        return try coding.decode(type, from: entry.body)
    }

    /// The response of a name.
    ///
    /// - Parameter name: Its name.
    /// - Returns: The response, its request without headers; nil if there is none, or it is gone.
    /// - Throws: ``SluiceError/Code/decodingFailed`` if what is kept is no response.
    public func response(for name: String) async throws(SluiceError) -> ServerResponse? {
        guard let entry = await entry(name) else { return nil }
        guard let response = entry.response else {
            throw ValueCoding(name: name).decodingFailure(ServerResponse.self, "what is kept is a value")
        }
        let request = HTTPRequest(method: response.method, keptURL: response.url)
        let use = CacheUse(age: .seconds(max(0, store.date.timeIntervalSince(entry.stored))))
        return ServerResponse(request: request, head: response.head, body: entry.body, source: .cache(use))
    }

    private func entry(_ name: String) async -> CacheEntry? {
        let key = key(name)
        if let entry = store.recallOnly(key) { return entry }
        return await store.entries(for: key).first
    }

    /// Removes the value or response of a name. It is not given back from here on.
    ///
    /// - Parameter name: Its name.
    /// - Throws: ``SluiceError/Code/cacheFailed`` if storage could not remove it and another process may find it.
    public func remove(_ name: String) async throws(SluiceError) {
        try await remove { $0.name = name }
    }

    /// Removes all that has a tag, as ``remove(_:)`` does.
    ///
    /// - Parameter tag: The tag.
    /// - Throws: ``SluiceError/Code/cacheFailed`` if storage could not remove it and another process may find it.
    public func remove(tag: String) async throws(SluiceError) {
        try await remove { $0.tag = tag }
    }

    /// Removes all that is gone; it is never given out, removed or not.
    ///
    /// - Throws: ``SluiceError/Code/cacheFailed`` if storage could not remove it.
    public func removeExpired() async throws(SluiceError) {
        let now = store.date
        try await remove { $0.expired = now }
    }

    /// Removes all that the container holds, as ``remove(_:)`` does.
    ///
    /// - Throws: ``SluiceError/Code/cacheFailed`` if storage could not remove it and another process may find it.
    public func removeAll() async throws(SluiceError) {
        try await remove { _ in }
    }

    private func remove(_ narrow: (inout CacheSelection) -> Void) async throws(SluiceError) {
        var selection = CacheSelection()
        selection.spaces = [space]
        selection.partition = partition
        narrow(&selection)
        try await store.waitUntilWritten(store.drop(selection, isAwaited: true))
    }
}

extension HTTPRequest {
    /// The URL without user name and password.
    fileprivate var urlWithoutUser: String {
        guard let at = authority.utf8.lastIndex(of: UInt8(ascii: "@")) else { return url }
        return "\(scheme)://\(authority[at...].dropFirst())\(path)"
    }

    /// The request that a URL was kept of.
    fileprivate init(method: HTTPMethod, keptURL url: String) {
        let (scheme, rest) =
            url.firstRange(of: "://").map { (url[..<$0.lowerBound], url[$0.upperBound...]) } ?? ("", url[...])
        let path = rest.firstIndex(of: "/") ?? rest.endIndex
        self.init(method: method, scheme: String(scheme), authority: String(rest[..<path]), path: String(rest[path...]))
    }
}
