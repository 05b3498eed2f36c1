import SluiceFoundation
import SluiceHTTP

/// An expectation of a test that was not met.
///
/// A thrown error fails a test in both XCTest and Swift Testing, so the expectations depend on neither library. Call them
/// with `try`.
public struct ExpectationFailure: LocalizedError, Sendable, CustomStringConvertible, DescribedError {
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
///   - isolation: The actor that runs the operation; the caller's by default.
///   - fileID: The file of the expectation.
///   - line: The line of the expectation.
///   - body: The operation that is expected to fail.
/// - Returns: The `SluiceError`, for further checks.
/// - Throws: An ``ExpectationFailure`` if the operation does not fail, or fails with a different error.
@discardableResult
public func expectError<Value>(
    _ code: SluiceError.Code,
    isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    _ body: () async throws -> Value
) async throws -> SluiceError {
    let hint = "It contains no SluiceError, so expect it by its type or value"
    let found = try await failure(SluiceError.self, "\(code)", hint: hint, fileID, line, body)
    if found.code == code { return found }
    throw ExpectationFailure("Expected the error \(code), but caught \(found.code): \(found)", fileID, line)
}

/// Expects that an operation fails with an error of your own.
///
/// ```swift
/// try await expectError(WeatherError.quotaExceeded(retryAfter: 60)) { try await service.forecast() }
/// ```
///
/// The thrown error may be the expected one itself or contain it.
///
/// - Parameters:
///   - expected: The expected error.
///   - isolation: The actor that runs the operation; the caller's by default.
///   - fileID: The file of the expectation.
///   - line: The line of the expectation.
///   - body: The operation that is expected to fail.
/// - Returns: The error.
/// - Throws: An ``ExpectationFailure`` if the operation does not fail, or fails with a different error.
@discardableResult
public func expectError<Failure: Error & Equatable, Value>(
    _ expected: Failure,
    isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    _ body: () async throws -> Value
) async throws -> Failure {
    let found = try await failure(Failure.self, "\(expected)", fileID, line, body)
    if found == expected { return found }
    throw ExpectationFailure("Expected the error \(expected), but caught \(found).", fileID, line)
}

/// Expects that an operation fails with an error of the given type.
///
/// ```swift
/// let error = try await expectError(WeatherError.self) { try await service.forecast() }
/// ```
///
/// The thrown error may be of that type itself or contain such an error.
///
/// - Parameters:
///   - type: The type of the expected error.
///   - isolation: The actor that runs the operation; the caller's by default.
///   - fileID: The file of the expectation.
///   - line: The line of the expectation.
///   - body: The operation that is expected to fail.
/// - Returns: The error, for further checks.
/// - Throws: An ``ExpectationFailure`` if the operation does not fail, or fails with an error of another type.
@discardableResult
public func expectError<Failure: Error, Value>(
    _ type: Failure.Type,
    isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    _ body: () async throws -> Value
) async throws -> Failure {
    try await failure(type, "\(type)", fileID, line, body)
}

/// Returns the error of a type that an operation throws.
private func failure<Failure: Error, Value>(
    _ type: Failure.Type,
    _ expected: String,
    hint: String? = nil,
    _ fileID: StaticString,
    _ line: UInt,
    isolation: isolated (any Actor)? = #isolation,
    _ body: () async throws -> Value
) async throws -> Failure {
    let value: Value
    do {
        value = try await body()
    } catch {
        if let found = firstError(type, in: error, depth: 3) { return found }
        let text = "\(error)"
        let kind = Swift.type(of: error)
        let caught = text.hasSuffix(".") ? "\(kind): \(text)" : "\(kind): \(text)."
        let reason = "Expected the error \(expected), but caught \(caught)\(hint.map { " \($0)." } ?? "")"
        throw ExpectationFailure(reason, fileID, line)
    }
    throw ExpectationFailure(
        "Expected the error \(expected), but no error was thrown and the value is \(value).",
        fileID,
        line
    )
}

/// Returns the value if it is an error of a type, or else the first such error among its properties.
private func firstError<Failure: Error>(_ type: Failure.Type, in value: Any, depth: Int) -> Failure? {
    if let error = value as? Failure { return error }
    if depth == 0 { return nil }
    for child in Mirror(reflecting: value).children {
        if let error = firstError(type, in: child.value, depth: depth - 1) { return error }
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
    let end = ContinuousClock.now + limit.bounded
    while true {
        if try await isTrue() { return }
        try Task.checkCancellation()
        if ContinuousClock.now >= end {
            throw ExpectationFailure("Still waiting for \(condition) after \(limit).", fileID, line)
        }
        await Task.yield()
    }
}
