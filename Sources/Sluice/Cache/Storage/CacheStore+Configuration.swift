import SluiceHTTP

extension CacheStore {
    /// What a store holds at most, and for how long.
    public struct Configuration: Sendable {
        /// How much it holds in memory: 32 MiB by default, entries of up to 4 MiB.
        public var memory = CacheLimits(bytes: 32 << 20, entryBytes: 4 << 20)
        /// How much it holds in storage: 256 MiB by default, entries of up to 32 MiB.
        public var disk = CacheLimits(bytes: 256 << 20, entryBytes: 32 << 20)
        /// How many bytes may wait to be written to storage: 64 MiB by default. What comes when that is exceeded is kept in memory
        /// only; whoever sets a value by name waits instead.
        public var pendingBytes = 64 << 20
        /// Whether a model that was decoded of a response in memory is given to the next who asks for the same; true by default. Models that
        /// are objects are decoded for each who asks; objects within a model are shared. It is taken to need three times the memory of its JSON, which counts.
        public var keepsModels = true
        /// When values are gone for which nothing else is said, and responses that are kept for data sources: never by default.
        public var expiration = CacheExpiration.never
        /// What time it is: the system's clock.
        public var time: any TimeSource = SystemTime()
        /// Is told what befalls the store, on any thread; nil by default. It should be quick.
        public var onEvent: (@Sendable (CacheEvent) -> Void)?

        /// Makes a configuration of the defaults.
        public init() {}
    }
}
