/// Names what a cache keeps: in which space, whose it is, and by what name.
public struct CacheKey: Sendable, Hashable {
    /// Kinds of entries, which never meet.
    public enum Space: Int, Sendable, Hashable, CaseIterable {
        /// Values that go to storage: ``CacheStore/memoryAndDisk``.
        case values = 0
        /// Values that stay in memory: ``CacheStore/memory``. No ``CacheStorage`` ever sees them.
        case memoryValues = 1
        /// Responses that a ``DataSource`` asks for.
        case responses = 2
        /// Responses that are kept by the rules of HTTP (RFC 9111).
        case exchanges = 3
    }

    /// Which kind of entry it is.
    public let space: Space
    /// Whose it is, a user's name, say; empty for nobody's in particular.
    public let partition: String
    /// What tells it apart from others of its kind and partition.
    public let name: String

    /// Makes a key.
    public init(_ name: String, in space: Space = .values, partition: String = "") {
        self.name = name
        self.space = space
        self.partition = partition
    }
}
