import SluiceCache
import SluiceFoundation
import SluiceHTTP

// Names and arguments of other libraries. None can be called: each says what to write.

extension CacheStore {
    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Say what the value is: add \"as: User.self\", or give the result a type.")
    public nonisolated func value(for name: String) async throws -> Void? { nil }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"set(user, for: \"me\")\".")
    public nonisolated func set(_ value: some Encodable, forKey name: String) async throws {}

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"remove(\"me\")\".")
    public nonisolated func remove(for name: String) async throws {}

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Remove the tags one after the other: \"remove(tag: \"account\")\".")
    public nonisolated func remove(tags: Set<String>) async throws {}

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"remove(tag: \"account\")\".")
    public nonisolated func invalidate(tag: String) async throws {}

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"remove(tag: \"account\")\".")
    public nonisolated func removeAll(tag: String) async throws {}

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"removeAll()\".")
    public nonisolated func clear() async throws {}

    /// Unavailable: the message says what to write.
    @available(
        *,
        unavailable,
        message:
            "Name a folder, \"CacheStore(directory: folder)\", or keep entries in memory only, \"CacheStore(storage: nil)\"."
    )
    public init() { self.init(storage: nil) }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"CacheStore(directory: URL(filePath: path))\".")
    public init(directory path: String) { self.init(storage: nil) }

    /// Unavailable: the message says what to write.
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
    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Say what the value is: add \"as: User.self\", or give the result a type.")
    public func value(for name: String) async throws -> Void? { nil }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"set(user, for: \"me\")\".")
    public func set(_ value: some Encodable, forKey name: String) async throws {}

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"remove(\"me\")\".")
    public func remove(for name: String) async throws {}
}

extension CacheStore.Configuration {
    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"$0.memory.bytes = 16 << 20\", and \"$0.disk.bytes\" for the files.")
    public var limits: CacheStore.Size {
        get { CacheStore.Size() }
        set {}
    }
}
