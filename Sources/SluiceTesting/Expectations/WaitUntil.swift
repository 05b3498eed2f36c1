/// Waits until a condition is true, without sleeping.
///
/// ```swift
/// try await waitUntil("the cache is written") { await store.isIdle }
/// ```
///
/// The condition is evaluated repeatedly. Between two evaluations the task yields to others.
///
/// - Parameters:
///   - what: A description of the condition for the failure message.
///   - limit: The maximum time to wait, in real time. 30 seconds by default, to allow for many concurrent tests.
///   - fileID: The file of the expectation.
///   - line: The line of the expectation.
///   - isTrue: The condition.
/// - Throws: An ``ExpectationFailure`` if the time is up, `CancellationError` if the task is cancelled, or the error that
///   the condition throws.
public func waitUntil(
    _ what: String = "the condition",
    within limit: Duration = .seconds(30),
    fileID: StaticString = #fileID,
    line: UInt = #line,
    _ isTrue: () async throws -> Bool
) async throws {
    let end = ContinuousClock.now + limit
    while true {
        if try await isTrue() { return }
        try Task.checkCancellation()
        if ContinuousClock.now >= end {
            throw ExpectationFailure("Still waiting for \(what) after \(limit).", fileID, line)
        }
        await Task.yield()
    }
}
