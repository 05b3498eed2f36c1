import Sluice
import SluiceHTTP
import Testing

/// Runs each test of a suite once for each choice of HTTP version. Its clients take the choice from ``current``.
///
/// Connections that may use HTTP/2 are opened and shared differently from those of HTTP/1.1.
struct EveryHTTPVersion: SuiteTrait, TestTrait, TestScoping {
    /// The choice for the running test.
    @TaskLocal static var current = HTTPVersionPolicy.automatic

    var isRecursive: Bool { true }

    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable () async throws -> Void
    ) async throws {
        for version in [HTTPVersionPolicy.automatic, .http1] {
            try await EveryHTTPVersion.$current.withValue(version) { try await function() }
        }
    }
}

extension Trait where Self == EveryHTTPVersion {
    /// Runs each test of a suite once for each choice of HTTP version.
    static var everyHTTPVersion: Self { Self() }
}
