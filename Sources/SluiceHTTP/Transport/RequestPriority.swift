/// The priority of a request among those that wait.
///
/// ```swift
/// let preview = client.image.get("films/7/preview").priority(.low)
/// ```
///
/// A request that need not wait ignores its priority. While a request of a higher priority waits that could start, no
/// lower one starts: low priorities may wait for as long as higher ones keep arriving.
public enum RequestPriority: Int8, Sendable, Hashable, CaseIterable, Comparable {
    /// For background work, such as prefetching and synchronization.
    case low
    /// The default.
    case normal
    /// For responses that the user is waiting for.
    case high

    /// Returns true if the left priority is lower than the right one.
    public static func < (lhs: Self, rhs: Self) -> Bool { lhs.rawValue < rhs.rawValue }
}
