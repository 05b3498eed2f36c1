/// The networks that may carry a request.
///
/// Apple's platforms enforce the setting. Linux does not distinguish networks and ignores it.
public struct NetworkAccess: OptionSet, Sendable, Hashable {
    /// The set as bits.
    public let rawValue: UInt8

    /// Creates a set from bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Cellular networks.
    public static let cellular = NetworkAccess(rawValue: 1)
    /// Networks that the system considers expensive, such as a personal hotspot.
    public static let expensive = NetworkAccess(rawValue: 2)
    /// Networks in Low Data Mode.
    public static let constrained = NetworkAccess(rawValue: 4)
    /// All networks: the default.
    public static let all: NetworkAccess = [.cellular, .expensive, .constrained]
}
