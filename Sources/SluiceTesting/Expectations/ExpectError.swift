import SluiceHTTP

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
            throw ExpectationFailure("Should fail with \(code), but failed with \(error).", fileID, line)
        }
        if found.code == code { return found }
        throw ExpectationFailure("Should fail with \(code), but failed with \(found.code): \(found)", fileID, line)
    }
    throw ExpectationFailure("Should fail with \(code), but did not fail and gave \(value).", fileID, line)
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
