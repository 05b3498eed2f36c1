/// Which networks may carry a request.
///
/// Apple's systems tell networks apart and keep to it; Linux does not, and sends by whichever it has.
public struct NetworkAccess: OptionSet, Sendable, Hashable {
    /// The set as bits.
    public let rawValue: UInt8

    /// Makes a set of bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Networks of mobile operators.
    public static let cellular = NetworkAccess(rawValue: 1)
    /// Networks the system holds to be expensive, a personal hotspot for example.
    public static let expensive = NetworkAccess(rawValue: 2)
    /// Networks in low-data mode.
    public static let constrained = NetworkAccess(rawValue: 4)
    /// Whatever network there is: the default.
    public static let all: NetworkAccess = [.cellular, .expensive, .constrained]
}
