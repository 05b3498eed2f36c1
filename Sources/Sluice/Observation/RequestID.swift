import Synchronization

/// The ID of one sending of a request, unique in the process.
public struct RequestID: Sendable, Hashable, CustomStringConvertible {
    /// The number, which is assigned only once.
    public let rawValue: UInt64

    /// Creates an ID from a number.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// The ID as text: `#17`.
    public var description: String { "#\(rawValue)" }

    private static let last = Atomic<UInt64>(0)

    /// Returns a new ID.
    static func next() -> RequestID {
        RequestID(rawValue: last.add(1, ordering: .relaxed).newValue)
    }
}
