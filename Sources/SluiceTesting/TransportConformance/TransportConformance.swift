import SluiceFoundation
import SluiceHTTP

/// The cases that every `Transport` must pass. Each case runs against its own ``LoopbackServer``.
///
/// The cases do not depend on a test library. With Swift Testing, write:
///
/// ```swift
/// @Test(arguments: try TransportConformance.cases(excluding: [
///     .init("A name that does not resolve fails with cannotResolveHost", because: "the stub resolves nothing")
/// ]))
/// func myTransportConforms(_ case: TransportConformance.Case) async throws {
///     try await TransportConformance.run(`case`) { MyTransport() }
/// }
/// ```
public enum TransportConformance {
    /// A requirement for a transport.
    public struct Case: Sendable, CustomStringConvertible {
        /// The name, which states the requirement. An ``Exclusion`` refers to it.
        public let name: String
        /// The name.
        public var description: String { name }

        let check: @Sendable (ConformanceTrial) async throws -> Void

        init(_ name: String, _ check: @escaping @Sendable (ConformanceTrial) async throws -> Void) {
            self.name = name
            self.check = check
        }
    }

    /// A case that a transport cannot pass, with the reason.
    public struct Exclusion: Sendable {
        let name: String
        /// Creates an exclusion.
        ///
        /// - Parameters:
        ///   - name: The name of the case.
        ///   - reason: The reason why the transport cannot pass it. It documents the exclusion.
        public init(_ name: String, because reason: String) {
            self.name = name
        }
    }

    /// All cases, starting with the basic ones.
    public static var cases: [Case] {
        let topics: [[Case]] = [
            exchangeCases, headerCases, cookieCases, credentialCases, requestBodyCases, brokenRequestBodyCases,
            preparedBodyCases, expectationCases,
            responseBodyCases, backPressureCases, connectionCases, failureCases, limitCases, timeoutCases,
            cancellationCases, metricsCases,
        ]
        return topics.flatMap { $0 }
    }

    /// Returns the cases except the excluded ones.
    ///
    /// - Parameter exclusions: The cases to exclude.
    /// - Returns: The remaining cases, in order.
    /// - Throws: A ``ConformanceFailure`` if an exclusion names no existing case, for example after a case was renamed.
    public static func cases(excluding exclusions: [Exclusion]) throws(ConformanceFailure) -> [Case] {
        let all = cases
        for exclusion in exclusions where !all.contains(where: { $0.name == exclusion.name }) {
            throw ConformanceFailure(exclusion.name, "There is no case with this name.")
        }
        return all.filter { candidate in !exclusions.contains { $0.name == candidate.name } }
    }

    /// Runs a case on a new transport.
    ///
    /// - Parameters:
    ///   - case: The case.
    ///   - limit: The time limit. A transport that hangs fails the case. 30 seconds by default.
    ///   - makeTransport: Called to create the transport.
    /// - Throws: A ``ConformanceFailure`` with the expected and the actual result.
    public static func run(
        _ case: Case,
        within limit: Duration = .seconds(30),
        on makeTransport: @Sendable () -> any Transport
    ) async throws(ConformanceFailure) {
        let server: LoopbackServer
        do {
            server = try LoopbackServer()
        } catch {
            throw ConformanceFailure(`case`.name, "\(error)")
        }
        defer { server.stop() }
        let trial = ConformanceTrial(caseName: `case`.name, transport: makeTransport(), server: server)
        if let failure = await trial.verdict(of: `case`, within: limit) { throw failure }
    }
}
