/// Waits until what others do has come to something, without sleeping.
///
/// ```swift
/// try await waitUntil("the cache is written") { await store.isIdle }
/// ```
///
/// The condition is asked again and again, and others have their turn between.
///
/// - Parameters:
///   - what: What is waited for, for the message.
///   - limit: How long it may take in real time; 30 seconds by default, since very many tests may be under way.
///   - fileID: Where the expectation stands.
///   - line: Where the expectation stands.
///   - isTrue: The condition.
/// - Throws: An ``ExpectationFailure`` when time is up, `CancellationError` when the task is cancelled, or what the condition throws.
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
