/// Which of several requests goes first, where they wait for each other.
///
/// ```swift
/// let preview = client.image.get("films/7/preview").priority(.low)
/// ```
///
/// It says nothing about a request that need not wait. As long as requests of a higher priority wait that could start, none of
/// a lower one does: a low one may wait for as long as higher ones keep coming.
public enum RequestPriority: Int8, Sendable, Hashable, CaseIterable, Comparable {
    /// For what nobody waits for: prefetching, synchronisation.
    case low
    /// What a request has that says nothing of it.
    case normal
    /// For what somebody looks at an empty screen for.
    case high

    /// Whether one is lower than another.
    public static func < (lhs: Self, rhs: Self) -> Bool { lhs.rawValue < rhs.rawValue }
}
