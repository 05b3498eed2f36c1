/// The figures of a cache in SQLite, which tests make small.
struct CacheTuning: Sendable {
    /// How many bytes a piece of a body has at most: one row.
    var pieceSize = 128 << 10
    /// How many entries or pieces one step of eviction or sweeping removes at most, each a transaction that others wait for.
    var stepCount = 256
    /// How many bytes one such step removes at most, and one transaction of a streamed body writes.
    var stepBytes = 4 << 20
    /// How many rows a removal removes with all their pieces; where there are more, the pieces are swept later.
    var removalCount = 512
    /// How many rows a removal removes in one transaction, where it is the only change of it.
    var removalStep = 10_000
    /// How many milliseconds a writer waits for another process's.
    var patience = 5000
    /// After how long a database that cannot be used is tried again.
    var retryInterval = Duration.seconds(5)
    /// How often readers look whether the file still has its name.
    var checkInterval = Duration.milliseconds(100)
    /// After how many seconds a draft that nobody has written to is surely nobody's.
    var draftLifetime = 3600.0
    /// After how many pages of its log SQLite brings them to the file.
    var checkpointPages = 2000
    /// From how many bytes on the log is emptied as soon as it can be: whoever opens the file next reads all of it.
    var logLimit: Int64 = 16 << 20
    /// With how many pages a file that has become empty gives way to a new one, which takes less than to sweep it.
    var renewalPages: Int64 = 4096
    /// How many pages the file may have; nil for SQLite's own limit.
    var pageLimit: Int?
}
