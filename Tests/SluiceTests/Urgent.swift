import Testing

/// Runs tests with a higher priority than other tests, so that their timeouts are reliable.
///
/// Otherwise a test's task continues only after all other tasks have had a turn, which takes longer than many timeouts.
struct Urgent: SuiteTrait, TestTrait, TestScoping {
    var isRecursive: Bool { true }

    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable () async throws -> Void
    ) async throws {
        try await withoutActuallyEscaping(function) { function in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask(priority: .high) { try await function() }
                try await group.waitForAll()
            }
        }
    }
}

extension Trait where Self == Urgent {
    /// Runs tests with a higher priority than other tests.
    static var urgent: Self { Self() }
}
