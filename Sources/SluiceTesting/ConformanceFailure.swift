import SluiceFoundation

/// A requirement that a transport or a storage does not meet.
public struct ConformanceFailure: LocalizedError, Sendable, CustomStringConvertible {
    /// The name of the case.
    package let caseName: String
    /// The expected and the actual result.
    package let reason: String

    /// The case name and the reason.
    public var description: String { "\(caseName): \(reason)" }

    /// The ``description``, as `localizedDescription`.
    public var errorDescription: String? { description }

    init(_ caseName: String, _ reason: String) {
        self.caseName = caseName
        self.reason = reason
    }
}
