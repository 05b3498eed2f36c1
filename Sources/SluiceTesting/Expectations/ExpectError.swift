import SluiceHTTP

/// Expects that a request or anything else fails with an error of a code.
///
/// ```swift
/// let error = try await expectError(.timedOut) { try await request.sender().value }
/// ```
///
/// The error is a `SluiceError` or holds one, as `APIError` and error models do that keep theirs.
///
/// - Parameters:
///   - code: What it should fail with.
///   - fileID: Where the expectation stands.
///   - line: Where the expectation stands.
///   - body: What should fail.
/// - Returns: The error, to look further into.
/// - Throws: An ``ExpectationFailure`` where nothing is thrown, or something else.
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

/// The error that another is or holds.
private func sluiceError(in value: Any, depth: Int) -> SluiceError? {
    if let error = value as? SluiceError { return error }
    if depth == 0 { return nil }
    for child in Mirror(reflecting: value).children {
        if let error = sluiceError(in: child.value, depth: depth - 1) { return error }
    }
    return nil
}
