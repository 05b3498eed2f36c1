import SluiceFoundation
import SluiceHTTP

/// An expectation of a test that was not met.
///
/// A thrown error fails a test in both XCTest and Swift Testing, so the expectations depend on neither library. Call them
/// with `try`.
public struct ExpectationFailure: LocalizedError, Sendable, CustomStringConvertible {
    /// The expected and the actual result.
    package let reason: String
    /// The position of the expectation, as `file:line`.
    package let location: String

    init(_ reason: String, _ fileID: StaticString, _ line: UInt) {
        self.reason = reason
        location = "\(fileID):\(line)"
    }

    /// The reason and the location.
    public var description: String { "\(reason) (\(location))" }

    /// The ``description``, as `localizedDescription`.
    public var errorDescription: String? { description }
}

/// Expects that an operation fails with a `SluiceError` of the given code.
///
/// ```swift
/// let error = try await expectError(.timedOut) { try await request.sender().value }
/// ```
///
/// The thrown error may be a `SluiceError` itself or contain one, as `APIError` and custom error models can.
///
/// - Parameters:
///   - code: The expected error code.
///   - fileID: The file of the expectation.
///   - line: The line of the expectation.
///   - body: The operation that is expected to fail.
/// - Returns: The `SluiceError`, for further checks.
/// - Throws: An ``ExpectationFailure`` if the operation does not fail, or fails with a different error.
@discardableResult
public func expectError<Value>(
    _ code: SluiceError.Code,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    _ body: () async throws -> Value
) async throws -> SluiceError {
    let value: Value
    do {
        value = try await body()
    } catch {
        guard let found = sluiceError(in: error, depth: 3) else {
            throw ExpectationFailure("Expected the error \(code), but caught \(error).", fileID, line)
        }
        if found.code == code { return found }
        throw ExpectationFailure("Expected the error \(code), but caught \(found.code): \(found)", fileID, line)
    }
    throw ExpectationFailure(
        "Expected the error \(code), but no error was thrown and the value is \(value).",
        fileID,
        line
    )
}

/// Returns the value if it is a `SluiceError`, or else the first `SluiceError` among its properties.
private func sluiceError(in value: Any, depth: Int) -> SluiceError? {
    if let error = value as? SluiceError { return error }
    if depth == 0 { return nil }
    for child in Mirror(reflecting: value).children {
        if let error = sluiceError(in: child.value, depth: depth - 1) { return error }
    }
    return nil
}

/// Waits until a condition is true, without sleeping.
///
/// ```swift
/// try await waitUntil("the cache is written") { await store.isIdle }
/// ```
///
/// The condition is evaluated repeatedly. Between two evaluations the task yields to others.
///
/// - Parameters:
///   - condition: A description of the condition for the failure message.
///   - limit: The maximum time to wait, in real time. 30 seconds by default, to allow for many concurrent tests.
///   - isolation: The actor that evaluates the condition; the caller's by default.
///   - fileID: The file of the expectation.
///   - line: The line of the expectation.
///   - isTrue: The condition.
/// - Throws: An ``ExpectationFailure`` if the time is up, `CancellationError` if the task is cancelled, or the error that
///   the condition throws.
public func waitUntil(
    _ condition: String = "the condition",
    within limit: Duration = .seconds(30),
    isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    _ isTrue: () async throws -> Bool
) async throws {
    let end = ContinuousClock.now + limit
    while true {
        if try await isTrue() { return }
        try Task.checkCancellation()
        if ContinuousClock.now >= end {
            throw ExpectationFailure("Still waiting for \(condition) after \(limit).", fileID, line)
        }
        await Task.yield()
    }
}
