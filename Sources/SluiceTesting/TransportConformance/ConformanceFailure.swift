/// A promise that a transport did not keep.
public struct ConformanceFailure: Error, Sendable, CustomStringConvertible {
    /// The name of the case.
    public let caseName: String
    /// What was expected and what came instead.
    public let reason: String

    /// Both in a sentence each.
    public var description: String { "\(caseName): \(reason)" }

    init(_ caseName: String, _ reason: String) {
        self.caseName = caseName
        self.reason = reason
    }
}
