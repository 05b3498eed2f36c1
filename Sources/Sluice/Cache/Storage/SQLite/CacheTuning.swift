/// The parameters of a SQLite cache. Tests use small values.
struct CacheTuning: Sendable {
    /// The maximum number of bytes of a piece, which is one row.
    var pieceSize = 128 << 10
    /// The maximum number of entries or pieces that one step of eviction or sweeping removes in one transaction.
    var stepCount = 256
    /// The maximum number of bytes that such a step removes, or that one transaction of a streamed body writes.
    var stepBytes = 4 << 20
    /// The number of rows up to which a removal also removes the pieces. Otherwise, the pieces are swept later.
    var removalCount = 512
    /// The maximum number of rows that a removal removes in one transaction, if it is the only change.
    var removalStep = 10_000
    /// The time in milliseconds that a writer waits for another process.
    var patience = 5000
    /// The time after which a database that cannot be used is tried again.
    var retryInterval = Duration.seconds(5)
    /// The interval at which readers check that the path still refers to the file.
    var checkInterval = Duration.milliseconds(100)
    /// The time in seconds after the last write at which a draft counts as abandoned.
    var draftLifetime = 3600.0
    /// The number of log pages at which SQLite runs a checkpoint.
    var checkpointPages = 2000
    /// The log size in bytes above which the log is emptied as soon as possible, because opening the file reads all of
    /// it.
    var logLimit: Int64 = 16 << 20
    /// The number of pages from which an empty file is replaced by a new one, which is faster than sweeping it.
    var renewalPages: Int64 = 4096
    /// The maximum number of pages of the file; nil for SQLite's own limit.
    var pageLimit: Int?
}
