import SluiceHTTP

/// The cases that every `Transport` must pass, run against a ``LoopbackServer`` of their own.
///
/// They need no test library; with Swift Testing a suite is this:
///
/// ```swift
/// @Test(arguments: try TransportConformance.cases(excluding: [
///     .init("A name that does not resolve fails with cannotResolveHost", because: "the stub resolves nothing")
/// ]))
/// func myTransportConforms(_ case: TransportConformance.Case) async throws {
///     try await TransportConformance.run(`case`) { MyTransport() }
/// }
/// ```
public struct TransportConformance: Sendable {
    /// One promise of a transport.
    public struct Case: Sendable, CustomStringConvertible {
        /// The promise, which is also what an ``Exclusion`` names.
        public let name: String
        /// The name.
        public var description: String { name }

        let check: @Sendable (ConformanceTrial) async throws -> Void

        init(_ name: String, _ check: @escaping @Sendable (ConformanceTrial) async throws -> Void) {
            self.name = name
            self.check = check
        }
    }

    /// A case that a transport cannot pass, and why.
    public struct Exclusion: Sendable {
        /// The name of the case.
        public let name: String
        /// Why the transport cannot pass it.
        public let reason: String

        /// Makes an exclusion.
        public init(_ name: String, because reason: String) {
            self.name = name
            self.reason = reason
        }
    }

    /// All cases, in the order in which a transport's author would meet them.
    public static var cases: [Case] {
        let topics: [[Case]] = [
            exchangeCases, headerCases, cookieCases, credentialCases, requestBodyCases, brokenRequestBodyCases,
            preparedBodyCases, expectationCases,
            responseBodyCases, backPressureCases, connectionCases, failureCases, limitCases, timeoutCases,
            cancellationCases, metricsCases,
        ]
        return topics.flatMap { $0 }
    }

    /// The cases but for some.
    ///
    /// - Parameter exclusions: What to leave out.
    /// - Returns: The other cases, in their order.
    /// - Throws: A ``ConformanceFailure`` for an exclusion that names no case: a case that was renamed would be run
    ///   again without anybody's knowledge of why it had been left out.
    public static func cases(excluding exclusions: [Exclusion]) throws(ConformanceFailure) -> [Case] {
        let all = cases
        for exclusion in exclusions where !all.contains(where: { $0.name == exclusion.name }) {
            throw ConformanceFailure(exclusion.name, "There is no case of this name to exclude.")
        }
        return all.filter { candidate in !exclusions.contains { $0.name == candidate.name } }
    }

    /// Runs one case on a new transport.
    ///
    /// - Parameters:
    ///   - case: The case.
    ///   - limit: How long it may take; a transport that hangs fails it.
    ///   - makeTransport: Makes the transport.
    /// - Throws: A ``ConformanceFailure`` that says what was promised and what came.
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
