import Testing

/// Runs tests ahead of the others that are ready to run, so that their time-outs hold among thousands of others.
///
/// A task of a test comes up again only after all others have had a turn, which takes longer than many a time-out.
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
    /// Runs tests ahead of the others that are ready to run.
    static var urgent: Self { Self() }
}
