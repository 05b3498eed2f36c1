import Sluice
import SluiceHTTP
import Testing

/// Runs each test of a suite once with every choice of HTTP version, which its clients take from ``current``.
///
/// Connections that may become HTTP/2 are made and shared in another way than those of HTTP/1.1.
struct EveryHTTPVersion: SuiteTrait, TestTrait, TestScoping {
    /// The choice of the test that runs.
    @TaskLocal static var current = HTTPVersionChoice.automatic

    var isRecursive: Bool { true }

    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable () async throws -> Void
    ) async throws {
        for version in [HTTPVersionChoice.automatic, .http1] {
            try await EveryHTTPVersion.$current.withValue(version) { try await function() }
        }
    }
}

extension Trait where Self == EveryHTTPVersion {
    /// Runs each test of a suite once with every choice of HTTP version.
    static var everyHTTPVersion: Self { Self() }
}
