import SluiceFoundation
import SluiceHTTP

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
    /// Storage works, but is not configured for a cache. For example, a server refuses writes when it is full.
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
