// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import SluiceCache
import SluiceFoundation
import SluiceHTTP

// Names and arguments of other libraries, and those that people try first. None can be used: each says what to write.

extension CacheStore {
    @available(*, unavailable, message: "Write \"set(user, for: \"me\")\".")
    public nonisolated func store(_ value: some Encodable, for name: String) async throws(SluiceError) {}
    @available(*, unavailable, message: "Write \"set(user, for: \"me\")\".")
    public nonisolated func save(_ value: some Encodable, for name: String) async throws(SluiceError) {}
    @available(*, unavailable, message: "Write \"value(for: \"me\", as: User.self)\".")
    public nonisolated func get<Value>(_ name: String, as type: Value.Type = Value.self) async throws(SluiceError)
        -> Value?
    { nil }
    @available(*, unavailable, message: "Write \"value(for: \"me\", as: User.self)\".")
    public nonisolated func get(_ name: String) async throws(SluiceError) -> Void? { nil }
    @available(*, unavailable, message: "Write \"value(for: \"me\", as: User.self)\".")
    public nonisolated func value<Value>(forKey name: String, as type: Value.Type = Value.self)
        async throws(SluiceError) -> Value?
    {
        nil
    }
    @available(*, unavailable, message: "Write \"value(for: \"me\", as: User.self)\".")
    public nonisolated func value(forKey name: String) async throws(SluiceError) -> Void? { nil }
    @available(*, unavailable, message: "Write \"remove(\"me\")\".")
    public nonisolated func remove(forKey name: String) async throws(SluiceError) {}
}

extension CacheContainer {
    @available(*, unavailable, message: "Write \"removeAll()\".")
    public func clear() async throws(SluiceError) {}
    @available(*, unavailable, message: "Write \"set(user, for: \"me\")\".")
    public func store(_ value: some Encodable, for name: String) async throws(SluiceError) {}
    @available(*, unavailable, message: "Write \"value(for: \"me\", as: User.self)\".")
    public func get<Value>(_ name: String, as type: Value.Type = Value.self) async throws(SluiceError) -> Value? { nil }
    @available(*, unavailable, message: "Write \"value(for: \"me\", as: User.self)\".")
    public func value<Value>(forKey name: String, as type: Value.Type = Value.self) async throws(SluiceError) -> Value?
    { nil }
    @available(*, unavailable, message: "Write \"remove(\"me\")\".")
    public func remove(forKey name: String) async throws(SluiceError) {}
}

extension DataSource {
    @available(*, unavailable, message: "Write \".cacheElseServer\".")
    public static var cacheFirst: DataSource { .server }
    @available(*, unavailable, message: "Write \".cacheElseServer\".")
    public static var cacheElseNetwork: DataSource { .server }
    @available(*, unavailable, message: "Write \".refresh\", which stores responses, or \".server\", which does not.")
    public static var network: DataSource { .server }
    @available(*, unavailable, message: "Write \".cache\".")
    public static var cacheOnly: DataSource { .server }
}

extension ResponseSource {
    @available(*, unavailable, message: "Write \"if case .cache(let info) = response.source\", and \"info.age\".")
    public var age: Duration? { nil }
    @available(*, unavailable, message: "Write \"if case .cache(let info) = response.source\", and \"info.isFresh\".")
    public var isFresh: Bool { false }
}

extension RequestPriority {
    @available(*, unavailable, message: "Write \".low\".")
    public static var background: Self { .low }
    @available(*, unavailable, message: "Write \".high\".")
    public static var userInitiated: Self { .high }
    @available(*, unavailable, message: "Write \".normal\".")
    public static var `default`: Self { .normal }
}

extension ModifiableRequest {
    @available(*, unavailable, message: "Write an array: \"dataSource(.cacheElseServer, tags: [\"account\"])\".")
    public func dataSource(_ source: DataSource, expiration: CacheExpiration? = nil, tags: String) -> Self { self }
}

// MARK: - Cache hints

// Names and arguments of other libraries. None can be called: each says what to write.

extension CacheStore {
    @available(*, unavailable, message: "Say what the value is: add \"as: User.self\", or give the result a type.")
    public nonisolated func value(for name: String) async throws -> Void? { nil }
    @available(*, unavailable, message: "Write \"set(user, for: \"me\")\".")
    public nonisolated func set(_ value: some Encodable, forKey name: String) async throws {}
    @available(*, unavailable, message: "Write \"remove(\"me\")\".")
    public nonisolated func remove(for name: String) async throws {}
    @available(*, unavailable, message: "Remove the tags one after the other: \"remove(tag: \"account\")\".")
    public nonisolated func remove(tags: Set<String>) async throws {}
    @available(*, unavailable, message: "Write \"remove(tag: \"account\")\".")
    public nonisolated func invalidate(tag: String) async throws {}
    @available(*, unavailable, message: "Write \"remove(tag: \"account\")\".")
    public nonisolated func removeAll(tag: String) async throws {}
    @available(*, unavailable, message: "Write \"removeAll()\".")
    public nonisolated func clear() async throws {}
    @available(
        *,
        unavailable,
        message:
            "Name a folder, \"CacheStore(directory: folder)\", or keep entries in memory only, \"CacheStore(storage: nil)\"."
    )
    public init() { self.init(storage: nil) }
    @available(*, unavailable, message: "Write \"CacheStore(directory: URL(filePath: path))\".")
    public init(directory path: String) { self.init(storage: nil) }
    @available(
        *,
        unavailable,
        message: "Write \"CacheStore(storage: nil) { $0.memory.bytes = 16 << 20 }\", or name a \"directory:\"."
    )
    public init(memoryCapacity: Int, diskCapacity: Int = 0) { self.init(storage: nil) }
    @available(
        *,
        unavailable,
        message:
            "Write \"try await store.set(user, for: \"me\")\" and \"try await store.value(for: \"me\", as: User.self)\"."
    )
    public nonisolated subscript(name: String) -> Data? {
        get { nil }
        set {}
    }
}

extension CacheContainer {
    @available(*, unavailable, message: "Say what the value is: add \"as: User.self\", or give the result a type.")
    public func value(for name: String) async throws -> Void? { nil }
    @available(*, unavailable, message: "Write \"set(user, for: \"me\")\".")
    public func set(_ value: some Encodable, forKey name: String) async throws {}
    @available(*, unavailable, message: "Write \"remove(\"me\")\".")
    public func remove(for name: String) async throws {}
}

extension CacheStore.Configuration {
    @available(*, unavailable, message: "Write \"$0.memory.bytes = 16 << 20\", and \"$0.disk.bytes\" for the files.")
    public var limits: CacheStore.Size {
        get { CacheStore.Size() }
        set {}
    }
}

extension Optional where Wrapped == CacheStore {
    @available(*, unavailable, message: "Write \"CacheStore(storage: nil)\".")
    public static var memory: CacheStore? { nil }
    @available(*, unavailable, message: "Write \"CacheStore(storage: nil)\".")
    public static var inMemory: CacheStore? { nil }
    @available(*, unavailable, message: "Write \"CacheStore(storage: nil) { $0.memory.bytes = 16 << 20 }\".")
    public static func memory(capacity: Int) -> CacheStore? { nil }
    @available(*, unavailable, message: "Write \"CacheStore(storage: nil) { $0.memory.bytes = 16 << 20 }\".")
    public static func memory(bytes: Int) -> CacheStore? { nil }
    @available(*, unavailable, message: "Write \"CacheStore(storage: nil) { $0.memory.bytes = 16 << 20 }\".")
    public static func inMemory(limit: Int) -> CacheStore? { nil }
    @available(*, unavailable, message: "Write \"CacheStore(storage: nil) { $0.memory.bytes = 16 << 20 }\".")
    public static func memory(limit: Int) -> CacheStore? { nil }
    @available(*, unavailable, message: "Write \"CacheStore(directory: folder)\".")
    public static var disk: CacheStore? { nil }
    @available(*, unavailable, message: "Write \"CacheStore(directory: folder) { $0.disk.bytes = 256 << 20 }\".")
    public static func disk(capacity: Int) -> CacheStore? { nil }
    @available(*, unavailable, message: "Write \"CacheStore(directory: folder)\".")
    public static func disk(_ folder: URL) -> CacheStore? { nil }
    @available(*, unavailable, message: "Write \"CacheStore(directory: folder)\".")
    public static func disk(at folder: URL) -> CacheStore? { nil }
    @available(*, unavailable, message: "Write \"CacheStore(directory: folder)\".")
    public static func disk(directory folder: URL) -> CacheStore? { nil }
    @available(*, unavailable, message: "Write \"CacheStore(directory: URL(filePath: path))\".")
    public static func disk(_ path: String) -> CacheStore? { nil }
}
