/// An expectation of a test that was not met.
///
/// A thrown error fails a test in both XCTest and Swift Testing, so the expectations depend on neither library. Call them
/// with `try`.
public struct ExpectationFailure: Error, Sendable, CustomStringConvertible {
    /// The expected and the actual result.
    public let reason: String
    /// The position of the expectation, as `file:line`.
    public let location: String

    init(_ reason: String, _ fileID: StaticString, _ line: UInt) {
        self.reason = reason
        location = "\(fileID):\(line)"
    }

    /// The reason and the location.
    public var description: String { "\(reason) (\(location))" }
}
