import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a cache tells of itself; requests go on whatever it is.
///
/// ```swift
/// let cache = CacheStore(directory: caches) {
///     $0.onEvent = { logger.notice("\($0)") }
/// }
/// ```
///
/// `description` holds no secrets: names of entries are left out of it. More cases may come.
public enum CacheEvent: Sendable {
    /// A database was opened.
    case opened(URL)
    /// A file that is no sound database was set aside at this place, and a new one begun.
    case databaseSetAside(URL, reason: String)
    /// Storage cannot be used, its file being of a newer version, say, which is left as it is; entries are kept in memory only.
    case storageUnavailable(SluiceError)
    /// Storage could not make a change; what was to be kept is in memory only, and what was to be removed is not given back.
    case writeFailed(SluiceError)
    /// Storage could not read; the answer came from memory alone.
    case readFailed(SluiceError)
    /// An entry was over the limits of storage, or of memory where it has no storage, and is not kept there.
    case skipped(CacheKey, bytes: Int)
    /// Storage could not keep pace with what it was given; so many entries are in memory only.
    case writesDropped(count: Int, bytes: Int)
}

extension CacheEvent: CustomStringConvertible {
    /// One sentence, fit for a log.
    public var description: String {
        switch self {
        case .opened(let url): "Opened the cache at \(url.path)."
        case .databaseSetAside(let url, let reason):
            "Began a new cache and set the old one aside at \(url.path): \(reason)"
        case .storageUnavailable(let error): "The cache keeps entries in memory only: \(error)"
        case .writeFailed(let error): "The cache could not write: \(error)"
        case .readFailed(let error): "The cache could not read: \(error)"
        case .skipped(let key, let bytes): "An entry of \(bytes) bytes is over the cache's limits (\(key.space))."
        case .writesDropped(let count, let bytes):
            "The cache's storage is behind: \(count) entries of \(bytes) bytes are in memory only."
        }
    }
}
