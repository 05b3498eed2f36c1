/// A requirement that a transport does not meet.
public struct ConformanceFailure: Error, Sendable, CustomStringConvertible {
    /// The name of the case.
    public let caseName: String
    /// The expected and the actual result.
    public let reason: String

    /// The case name and the reason.
    public var description: String { "\(caseName): \(reason)" }

    init(_ caseName: String, _ reason: String) {
        self.caseName = caseName
        self.reason = reason
    }
}
