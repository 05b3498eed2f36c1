import SluiceHTTP

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
        public var keepsModels = true
        /// The default expiration of values and of responses stored for data sources. The default is never.
        public var expiration = CacheExpiration.never
        /// The clock. The default is the system's.
        public var time: any TimeSource = SystemTime()
        /// Called with the events of the store, on any thread. The default is nil. It should return quickly.
        public var onEvent: (@Sendable (CacheEvent) -> Void)?

        /// Creates the default configuration.
        public init() {}
    }
}
