import Synchronization

/// Tells one sending of a request from all others in the process.
public struct RequestID: Sendable, Hashable, CustomStringConvertible {
    /// A number that is given once.
    public let rawValue: UInt64

    /// Makes an ID of a number.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// `#17`
    public var description: String { "#\(rawValue)" }

    private static let last = Atomic<UInt64>(0)

    /// One that has not been given before.
    static func next() -> RequestID {
        RequestID(rawValue: last.add(1, ordering: .relaxed).newValue)
    }
}
