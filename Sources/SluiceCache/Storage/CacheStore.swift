import SluiceFoundation
import SluiceHTTP
import Synchronization

/// A store of values and responses, in memory and in persistent storage.
///
/// ```swift
/// let cache = CacheStore(directory: caches) {
///     $0.disk.bytes = 1 << 30
///     $0.expiration = .days(30)
/// }
/// try await cache.set(user, for: "me", expiration: .days(1), tags: ["account"])
/// let user: User? = try await cache.value(for: "me")
/// try await cache.remove(tag: "account")
/// ```
///
/// Entries can be read at once and are written later, several in one transaction. Reads never wait for writes. If the
/// disk is full, read-only or broken, entries stay in memory and ``Configuration/onEvent`` is called. Removed entries
/// are never returned by this process, even if storage could not remove them.
///
/// The least recently used entries are evicted if space is needed. Several processes of a user may share a directory,
/// to which no other user may write. A process sees the changes of others within about one second after its next access,
/// which may still return old entries. Use one store per directory in a process.
public actor CacheStore {
    /// The mutable state, which is locked for a few instructions at a time.
    struct State {
        var memory: MemoryTier
        var pending = PendingChanges()
        var touches: [EntryName: MemoryTier.Touch] = [:]
        /// True while the draining task runs.
        var isDraining = false
        /// True if the next batch includes all failed removals.
        var retriesRemovals = false
        /// The changes whose callers wait for the result, by their numbers.
        var awaited: [Int: Awaited] = [:]
        /// The continuations that wait in ``flush()``, with the number of the last change they wait for.
        var flushing: [(number: Int, continuation: UnsafeContinuation<Void, Never>)] = []
        /// The entries that were not passed to storage since the last ``CacheEvent/writesDropped(count:bytes:)``.
        var dropped = CacheSize()
        /// True after the first check for foreign changes, which makes storage report later ones.
        var checksForeignChanges = false
        /// The time of the last check for foreign changes, in seconds since the reference date.
        var lastForeignCheck = -Double.infinity
        /// The changes of other processes that outdate reads of storage in progress.
        var foreignChanges = RemovalLog()
        /// The removals that outdate fetches in progress.
        var removals = RemovalLog()
        /// The task that follows the changes of other processes.
        var follower: Task<Void, Never>?
    }

    /// The state of a change whose caller waits for the result.
    enum Awaited {
        case open
        case waiting(UnsafeContinuation<SluiceError?, Never>)
        case settled(SluiceError?)
    }

    /// The key and variant that identify an entry.
    struct EntryName: Hashable {
        let key: CacheKey
        let variant: String
    }

    package nonisolated let configuration: Configuration
    nonisolated let storage: (any CacheStorage)?
    nonisolated let hasStorage: Bool
    /// The number of bytes of incomplete bodies in storage.
    private nonisolated let incomplete = Atomic<Int>(0)
    /// The storage, if it lets one process of many fetch an entry.
    package nonisolated let leases: (any LeasingCacheStorage)?
    /// True if the clock is the system's, which is then read directly.
    private nonisolated let isSystemClock: Bool
    nonisolated let state: Locked<State>
    /// The hashes of the keys requested with ``DataSource/firstLaunch`` since the process started.
    private nonisolated let requestedKeys = Locked<Set<Int>>([])

    var isEvicting = false
    var evictionIsDue = false
    /// The size of the writes since the last eviction, and the time of that eviction; nil before the first one.
    var written = CacheSize()
    var evicted: ContinuousClock.Instant?
    var retry: Task<Void, Never>?
    var retryDelay = Duration.seconds(1)

    /// Creates a store in memory and in a directory. No file is opened before it is needed.
    ///
    /// - Parameters:
    ///   - directory: The directory of its files. It is created if necessary.
    ///   - name: The name of its files, without an extension.
    ///   - configuration: The limits and options.
    package init(directory: URL, name: String = "cache", configuration: Configuration) {
        let storage = SQLiteCacheStorage(
            directory: directory,
            name: name,
            clock: configuration.clock,
            onEvent: configuration.onEvent
        )
        self.init(storage: storage, configuration: configuration)
    }

    /// Creates a store in memory and in a custom storage.
    ///
    /// - Parameters:
    ///   - storage: The persistent storage; nil for memory only.
    ///   - configuration: The limits and options.
    package init(storage: (any CacheStorage)?, configuration: Configuration) {
        self.storage = storage
        hasStorage = storage != nil
        leases = storage as? any LeasingCacheStorage
        isSystemClock = configuration.clock is SystemClock
        self.configuration = configuration
        state = Locked(State(memory: MemoryTier(limits: configuration.memory)))
        if storage != nil { ProcessExit.register() }
    }

    deinit {
        retry?.cancel()
        state.withLock { $0.follower.take() }?.cancel()
    }

    /// Returns true for the first call with a key in the process.
    package nonisolated func isFirstRequest(for key: CacheKey) -> Bool {
        requestedKeys.withLock { keys in
            // A key that was forgotten counts as first once more, which costs one request.
            if keys.count >= Self.requestedKeyLimit { keys = [] }
            return keys.insert(key.hashValue).inserted
        }
    }

    /// The maximum number of keys in ``requestedKeys``.
    static let requestedKeyLimit = 65_536

    /// Reserves room in storage for a piece of an incomplete body. Returns false if such bodies would exceed the limit of storage.
    nonisolated func reserveRoom(for count: Int) -> Bool {
        let (_, total) = incomplete.wrappingAdd(count, ordering: .relaxed)
        if configuration.disk.bytes.map({ total <= $0 }) ?? true { return true }
        releaseRoom(for: count)
        return false
    }

    /// Releases the room that a body has reserved, since it is complete or discarded.
    nonisolated func releaseRoom(for count: Int) {
        incomplete.wrappingSubtract(count, ordering: .relaxed)
    }

    /// The current time.
    package nonisolated var date: Date { isSystemClock ? Date() : configuration.clock.date }

    nonisolated func notify(_ event: CacheEvent) {
        configuration.onEvent?(event)
    }
}

/// The type of stores, for initializers that an actor cannot declare itself.
public protocol _CacheStoreType {}

extension CacheStore: _CacheStoreType {}

// In an extension of a protocol, because an actor's own initializer takes no closure with the state of another actor, such
// as that of a `@MainActor` class.
extension _CacheStoreType where Self == CacheStore {
    /// Creates a store in memory and in a directory. No file is opened before it is needed.
    ///
    /// - Parameters:
    ///   - directory: The directory of its files. It is created if necessary. A directory that another user owns or can
    ///     write is refused, and entries are kept in memory only.
    ///   - name: The name of its files, without an extension.
    ///   - configure: Called to change the default configuration.
    public init(directory: URL, name: String = "cache", configure: (inout CacheStore.Configuration) -> Void = { _ in })
    {
        var configuration = CacheStore.Configuration()
        configure(&configuration)
        self.init(directory: directory, name: name, configuration: configuration)
    }

    /// Creates a store in memory and in a custom storage.
    ///
    /// - Parameters:
    ///   - storage: The persistent storage; nil for memory only.
    ///   - configure: Called to change the default configuration.
    public init(storage: (any CacheStorage)?, configure: (inout CacheStore.Configuration) -> Void = { _ in }) {
        var configuration = CacheStore.Configuration()
        configure(&configuration)
        self.init(storage: storage, configuration: configuration)
    }
}

extension CacheStore: CustomReflectable {
    /// A mirror with the configuration and without entries.
    public nonisolated var customMirror: Mirror {
        Mirror(self, children: ["configuration": configuration], displayStyle: .class)
    }
}

extension CacheStore {
    /// The limits and options of a store.
    public struct Configuration: Sendable {
        /// The limits in memory: 32 MiB by default, and 4 MiB for one entry.
        public var memory = CacheLimits(bytes: 32 << 20, entryBytes: 4 << 20)
        /// The limits in storage: 256 MiB by default, and 32 MiB for one entry.
        public var disk = CacheLimits(bytes: 256 << 20, entryBytes: 32 << 20)
        /// The number of bytes that may wait to be written to storage: 64 MiB by default. Beyond that, further
        /// responses are kept in memory only. Values set by name are not affected, because their callers wait for the
        /// write.
        public var pendingBytes = 64 << 20
        /// True if the model decoded from a response in memory is reused for further requests. The default is true. A
        /// model that is an object is decoded for each request; objects within a model are shared. A model counts
        /// towards the memory limit with three times the size of its JSON.
        public var reusesModels = true
        /// The default expiration of values and of responses stored for data sources. The default is never.
        public var expiration = CacheExpiration.never
        /// The clock. The default is the system's.
        public var clock: any SluiceClock = SystemClock()
        /// Called with the events of the store, on any thread. The default is nil. It should return quickly.
        public var onEvent: (@Sendable (CacheEvent) -> Void)?

        /// Creates the default configuration.
        package init() {}
    }

    /// The size of a store in memory and in storage.
    public struct Size: Sendable, Hashable {
        /// The size in memory.
        public var memory: CacheSize
        /// The size in storage; zero if there is none.
        public var disk: CacheSize

        /// Creates a size; zero by default.
        package init(memory: CacheSize = CacheSize(), disk: CacheSize = CacheSize()) {
            self.memory = memory
            self.disk = disk
        }
    }
}

// MARK: - Removal and size

extension CacheStore {
    /// Removes all entries with a tag, from all containers and partitions, including responses to requests.
    ///
    /// - Parameter tag: The tag.
    /// - Throws: ``SluiceError/Code/cacheFailed`` if storage could not remove them, so that another process may still
    ///   read them.
    public nonisolated func remove(tag: String) async throws(SluiceError) {
        var selection = CacheSelection()
        selection.tag = tag
        try await waitUntilWritten(remove(selection, isAwaited: true))
    }

    /// Removes all entries, from all containers and partitions, including responses to requests.
    ///
    /// - Throws: ``SluiceError/Code/cacheFailed`` if storage could not remove them, so that another process may still
    ///   read them.
    public nonisolated func removeAll() async throws(SluiceError) {
        try await waitUntilWritten(remove(CacheSelection(), isAwaited: true))
    }

    /// Removes expired entries, from storage in short steps.
    ///
    /// Expired entries are never returned; removing them frees space.
    ///
    /// - Throws: ``SluiceError/Code/cacheFailed`` if storage could not remove them.
    public func removeExpired() async throws(SluiceError) {
        var selection = CacheSelection()
        let now = date
        selection.expired = now
        finishRemoval(state.withLock { [selection] in $0.memory.beginRemoval(selection) }, of: selection)
        guard let storage else { return }
        while try await storage.evict(to: CacheLimits(), at: now) > 0 { await Task.yield() }
    }

    package nonisolated func waitUntilWritten(_ number: Int?) async throws(SluiceError) {
        if let number, let failure = await failure(of: number) { throw failure }
    }

    /// The current size. Entries that are not yet written count in memory only.
    ///
    /// - Throws: ``SluiceError/Code/cacheFailed`` if storage cannot be read.
    public nonisolated var size: Size {
        get async throws(SluiceError) {
            let memory = state.withLock { $0.memory.size }
            return Size(memory: memory, disk: try await storage?.size() ?? CacheSize())
        }
    }
}

// MARK: - Cache event

/// An event of a cache. Requests continue after each of them.
///
/// ```swift
/// let cache = CacheStore(directory: caches) {
///     $0.onEvent = { logger.notice("\($0)") }
/// }
/// ```
///
/// `description` contains no secrets; it omits the names of entries. More cases may be added.
public enum CacheEvent: Sendable {
    /// A database was opened.
    case opened(URL)
    /// A damaged file, or one that is not a database, was moved to this location, and a new database was created.
    case databaseMoved(URL, reason: String)
    /// Storage cannot be used, and entries are kept in memory only. For example, the file has a newer version; it is
    /// left unchanged.
    case storageUnavailable(SluiceError)
    /// Storage works, but not as a cache needs it. For example, a server refuses writes when it is full, or the changes of
    /// other processes cannot be read.
    case storageWarning(String)
    /// Storage could not make a change. A stored entry is in memory only; a removed entry is not returned.
    case writeFailed(SluiceError)
    /// Storage could not be read. The result came from memory only.
    case readFailed(SluiceError)
    /// An entry exceeds the limits of storage, or of memory if there is no storage, and is not stored there.
    case skipped(CacheKey, bytes: Int)
    /// Storage could not keep up with writes. This number of entries is in memory only.
    case writesDropped(count: Int, bytes: Int)
}

extension CacheEvent: CustomStringConvertible {
    /// A sentence for a log.
    public var description: String {
        switch self {
        case .opened(let url): "Opened the cache at \(url.path)."
        case .databaseMoved(let url, let reason):
            "Moved the unusable cache to \(url.path) and created a new one: \(reason)."
        case .storageUnavailable(let error): "The cache stores entries in memory only: \(error)"
        case .storageWarning(let text): text
        case .writeFailed(let error): "A write to the cache's storage failed: \(error)"
        case .readFailed(let error): "A read from the cache's storage failed: \(error)"
        case .skipped(let key, let bytes):
            "An entry of \(bytes) bytes was not stored because it exceeds the cache's limits (\(key.space))."
        case .writesDropped(let count, let bytes):
            "The cache's storage cannot keep up with writes: \(count) entries of \(bytes) bytes are in memory only."
        }
    }
}

// MARK: - Error codes

extension SluiceError.Code {
    /// The cache has no response to the request, and the request must not be sent.
    public static let cacheMiss = SluiceError.Code("cacheMiss")
    /// The outcome that gates see for a request that was answered by the cache and never sent.
    public static let answeredByCache = SluiceError.Code("answeredByCache")
    /// The cache could not read or write. For example, the disk is full, the file is not a database, or the folder is
    /// read-only.
    public static let cacheFailed = SluiceError.Code("cacheFailed")
}
