/// Why an expectation of a test does not hold, and where it stands.
///
/// A thrown error fails a test of XCTest and of Swift Testing alike, so that this needs neither of them: what throws it is called with `try`.
public struct ExpectationFailure: Error, Sendable, CustomStringConvertible {
    /// What was expected and what came.
    public let reason: String
    /// `file:line` of the expectation.
    public let location: String

    init(_ reason: String, _ fileID: StaticString, _ line: UInt) {
        self.reason = reason
        location = "\(fileID):\(line)"
    }

    /// Both.
    public var description: String { "\(reason) (\(location))" }
}
