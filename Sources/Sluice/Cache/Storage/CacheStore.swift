import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Keeps values and responses: in memory, and in storage that outlives the process.
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
/// What is kept is found at once, and written soon, what has gathered meanwhile in one transaction; reading never waits for
/// writing. A disk that is full, read-only or broken costs storage only: entries stay in memory, and
/// ``Configuration/onEvent`` is told. Removed entries are not given back by this process, even if storage could not remove them.
///
/// Entries go where they were asked for the longest ago when others need their place. Several processes may share a directory; what
/// one of them changes, the others see within about a second of their next access, which may still give what was there. One store for a
/// directory is enough in a process.
public actor CacheStore {
    /// What changes behind the lock, for a few instructions at a time.
    struct State {
        var memory: MemoryTier
        var pending = PendingChanges()
        var touches: [EntryName: MemoryTier.Touch] = [:]
        /// Whether a task is writing.
        var isDraining = false
        /// Whether what failed before is to be tried again.
        var retriesOwed = false
        /// The changes whose makers want to know what became of them.
        var awaited: [Int: Awaited] = [:]
        /// Those who wait until all has been written that came up to a change.
        var flushing: [(number: Int, continuation: UnsafeContinuation<Void, Never>)] = []
        /// What was not given to storage since it was told last.
        var dropped = CacheSize()
        /// Whether storage has been asked once whether others have changed it, so that it tells of what they change from then on.
        var looksForOthers = false
        /// When storage was asked last whether others have changed it, in seconds since the reference date.
        var looked = -Double.infinity
        /// When others were found to have changed it, in the count of changes.
        var foreignChange = 0
    }

    /// What became of a change whose maker wants to know.
    enum Awaited {
        case open
        case asked(UnsafeContinuation<SluiceError?, Never>)
        case settled(SluiceError?)
    }

    /// What tells an entry apart from all others.
    struct EntryName: Hashable {
        let key: CacheKey
        let variant: String
    }

    /// What the store was made with.
    public nonisolated let configuration: Configuration
    nonisolated let storage: (any CacheStorage)?
    nonisolated let hasStorage: Bool
    /// Whether the time is the system's, which is asked without a detour then.
    private nonisolated let isTimeReal: Bool
    nonisolated let state: Locked<State>
    /// What has been asked for by ``DataSource/firstLaunch`` since the process began, by the hashes of the keys.
    private nonisolated let asked = Locked<Set<Int>>([])

    var isEvicting = false
    var evictionIsDue = false
    /// What was written since storage was brought back to its limits last, and when that was; nil before the first time.
    var written = CacheSize()
    var evicted: ContinuousClock.Instant?
    var retry: Task<Void, Never>?
    var retryDelay = Duration.seconds(1)

    /// Makes a store in memory and in a directory. Nothing is opened before it is needed.
    ///
    /// - Parameters:
    ///   - directory: Where its files are, or will be.
    ///   - name: What they are called.
    ///   - configure: Changes the configuration from its defaults; what it captures must be `Sendable`.
    public init(directory: URL, name: String = "cache", configure: (inout Configuration) -> Void = { _ in }) {
        var configuration = Configuration()
        configure(&configuration)
        self.init(directory: directory, name: name, configuration: configuration)
    }

    /// Makes a store in memory and in a directory. Nothing is opened before it is needed.
    ///
    /// - Parameters:
    ///   - directory: Where its files are, or will be.
    ///   - name: What they are called.
    ///   - configuration: What it holds at most, and for how long.
    public init(directory: URL, name: String = "cache", configuration: Configuration) {
        let storage = SQLiteCacheStorage(
            directory: directory,
            name: name,
            time: configuration.time,
            onEvent: configuration.onEvent
        )
        self.init(storage: storage, configuration: configuration)
    }

    /// Makes a store in memory and in storage of one's own.
    ///
    /// - Parameters:
    ///   - storage: What outlives the process; nil to keep all in memory.
    ///   - configure: Changes the configuration from its defaults; what it captures must be `Sendable`.
    public init(storage: (any CacheStorage)?, configure: (inout Configuration) -> Void = { _ in }) {
        var configuration = Configuration()
        configure(&configuration)
        self.init(storage: storage, configuration: configuration)
    }

    /// Makes a store in memory and in storage of one's own.
    ///
    /// - Parameters:
    ///   - storage: What outlives the process; nil to keep all in memory.
    ///   - configuration: What it holds at most, and for how long.
    public init(storage: (any CacheStorage)?, configuration: Configuration) {
        self.storage = storage
        hasStorage = storage != nil
        isTimeReal = configuration.time is SystemTime
        self.configuration = configuration
        state = Locked(State(memory: MemoryTier(limits: configuration.memory)))
        if storage != nil { WriteBehindExit.register() }
    }

    deinit {
        retry?.cancel()
    }

    /// Whether this is the first time in the process that a key is asked for this way.
    nonisolated func isAskedFirst(_ key: CacheKey) -> Bool {
        asked.withLock { $0.insert(key.hashValue).inserted }
    }

    /// The time of day.
    nonisolated var date: Date { isTimeReal ? Date() : configuration.time.date }

    nonisolated func tell(_ event: CacheEvent) {
        configuration.onEvent?(event)
    }
}

extension CacheStore: CustomReflectable {
    /// What it was made with; nothing of what it keeps.
    public nonisolated var customMirror: Mirror {
        Mirror(self, children: ["configuration": configuration], displayStyle: .class)
    }
}
