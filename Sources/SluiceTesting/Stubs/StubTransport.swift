import SluiceFoundation
import SluiceHTTP

/// A transport that answers requests according to rules, without a network, and records them.
///
/// ```swift
/// let stubs = StubTransport()
/// stubs.on(.get("/users/{id}"), .json(#"{"id":1,"name":"Ada"}"#))
/// let client = APIClient(baseURL: "https://shop.example") { $0.transport = stubs }
/// let user: User = try await client.codable.request("users/1").sender().value
/// #expect(stubs.count(of: .get("/users/1")) == 1)
/// try stubs.verify()
/// ```
///
/// The first rule that matches a request answers it. A request that matches no rule fails with `requestUnmatched`, and the
/// error lists the rules with the closest one first. ``verify()`` then throws, so the test fails even if the tested code
/// ignores the error. Bodies are read into memory before the rules are evaluated.
public final class StubTransport: Sendable {
    /// The handling of a request that matches no rule.
    public enum Unmatched: Sendable {
        /// The request fails.
        case fail
        /// Another transport sends the request.
        case passThrough(any Transport)
    }

    private enum Answer: Sendable {
        case stub(Stub)
        case closure(@Sendable (RecordedRequest) async throws -> Stub)
        case passThrough(any Transport)
    }

    private struct Rule {
        let matcher: RequestMatcher
        let answer: Answer
        let limit: Int?
        var answered = 0

        var isOpen: Bool { limit.map { answered < $0 } ?? true }
    }

    private struct State {
        /// The rules. Within a generation, rules are only added, so that their positions stay valid.
        var rules: [Rule] = []
        var requests: [RecordedRequest] = []
        var unmatched: [UnmatchedRequest] = []
        /// The number of calls of `reset()`.
        var generation = 0
    }

    /// The handling of a request that matches no rule.
    private let handling: Unmatched
    private let clock: any SluiceClock
    private let state = Locked(State())

    /// Creates a transport without rules.
    ///
    /// - Parameters:
    ///   - unmatched: The handling of a request that matches no rule. The request fails by default.
    ///   - clock: The clock for delays and gaps. The system's by default, also if the client has another one. With a
    ///     ``TestClock``, each delay and each gap ends when the test advances the clock.
    public init(unmatched: Unmatched = .fail, clock: any SluiceClock = SystemClock()) {
        handling = unmatched
        self.clock = clock
    }

    /// Answers matching requests with a stub.
    ///
    /// - Parameters:
    ///   - matcher: The conditions for a request. Requests that match an earlier rule do not reach this one.
    ///   - stub: The answer.
    ///   - times: The maximum number of requests to answer, or nil for no limit. Further requests go to later rules.
    public func on(_ matcher: RequestMatcher, _ stub: Stub, times: Int? = nil) {
        add(Rule(matcher: matcher, answer: .stub(stub), limit: times))
    }

    /// Answers matching requests with the result of a closure.
    ///
    /// The placeholders of the path pattern are in ``RecordedRequest/pathParameters``.
    ///
    /// - Parameters:
    ///   - matcher: The conditions for a request.
    ///   - times: The maximum number of requests to answer, or nil for no limit.
    ///   - answer: Called to create the answer. If it throws a ``SluiceError``, the request fails with it, and after any
    ///     other error but a `CancellationError` with ``SluiceError/Code/stubUnavailable``.
    public func on(
        _ matcher: RequestMatcher,
        times: Int? = nil,
        answer: @escaping @Sendable (RecordedRequest) async throws -> Stub
    ) {
        add(Rule(matcher: matcher, answer: .closure(answer), limit: times))
    }

    /// Sends matching requests with another transport.
    public func passThrough(_ matcher: RequestMatcher, to transport: any Transport, times: Int? = nil) {
        add(Rule(matcher: matcher, answer: .passThrough(transport), limit: times))
    }

    /// Removes all rules and recorded requests.
    public func reset() {
        // The closures of the rules are released outside the lock.
        _ = state.withLock { state in
            let previous = state
            state = State(generation: previous.generation + 1)
            return previous
        }
    }

    private func add(_ rule: Rule) {
        state.withLock { $0.rules.append(rule) }
    }

    /// Records a request and returns the answer of the first matching rule.
    private func answer(to request: RecordedRequest) -> (Result<Answer, UnmatchedRequest>, RecordedRequest) {
        // Matchers may call closures of the test, so they run outside the lock.
        let (rules, generation) = state.withLock { ($0.rules, $0.generation) }
        let mismatches = rules.map { $0.matcher.mismatches(request) }
        var recorded = request
        return state.withLock { state in
            let hasSameRules = state.generation == generation
            for (index, rule) in rules.enumerated() where mismatches[index].isEmpty {
                guard hasSameRules ? state.rules[index].isOpen : rule.isOpen else { continue }
                if hasSameRules { state.rules[index].answered += 1 }
                recorded.pathParameters = rule.matcher.pathParameters(of: request)
                state.requests.append(recorded)
                return (.success(rule.answer), recorded)
            }
            state.requests.append(recorded)
            if case .passThrough(let transport) = handling { return (.success(.passThrough(transport)), recorded) }
            let misses = zip(rules, mismatches).map { rule, reasons in
                let used = "it has reached its limit of requests (\(rule.limit ?? 0))"
                return UnmatchedRequest.Miss(
                    rule: rule.matcher.description,
                    reasons: reasons.isEmpty ? [used] : reasons
                )
            }
            let failure = UnmatchedRequest(recorded, misses)
            state.unmatched.append(failure)
            return (.failure(failure), recorded)
        }
    }

    /// Returns the transport that sends the answer to a request.
    private func transport(for request: HTTPRequest, body: Data) throws(SluiceError) -> any Transport {
        try request.validate()
        let (answer, recorded) = answer(to: RecordedRequest(request, body: body))
        switch answer {
        case .failure(let failure): throw failure.error(of: request)
        case .success(.stub(let stub)): return StubPlayer(stub, clock: clock)
        case .success(.closure(let closure)):
            return StubPlayer(.answering { _ in try await closure(recorded) }, clock: clock)
        case .success(.passThrough(let transport)): return transport
        }
    }
}

extension StubTransport: CallbackTransport {
    /// Answers a request with the first matching rule.
    public func send(
        _ request: HTTPRequest,
        context: TransferContext
    ) async throws(SluiceError) -> TransportResponse {
        do throws(SluiceError) {
            let (request, body, context) = try await request.withBodyInMemory(context)
            return try await transport(for: request, body: body).send(request, context: context)
        } catch {
            throw error.with(request: request)
        }
    }

    package func begin(
        _ request: HTTPRequest,
        context: TransferContext,
        completion: @escaping @Sendable (Result<TransportResponse, SluiceError>) -> Void
    ) -> @Sendable () -> Void {
        let inMemory: Data? =
            switch request.body.source {
            case .none: Data()
            case .data(let data): data
            case .file, .stream, .deferred, .encoded: nil
            }
        var chosen: (any Transport)?
        do {
            if let inMemory { chosen = try transport(for: request, body: inMemory) }
        } catch {
            completion(.failure(error))
            return {}
        }
        if let direct = chosen as? any CallbackTransport {
            return direct.begin(request, context: context, completion: completion)
        }
        let sender = chosen ?? self
        let task = Task {
            completion(await .of { () async throws(SluiceError) in try await sender.send(request, context: context) })
        }
        return { task.cancel() }
    }
}

extension StubTransport {
    /// The received requests, in order.
    public var requests: [RecordedRequest] { state.withLock { $0.requests } }

    /// Returns the received requests that match.
    public func requests(matching matcher: RequestMatcher) -> [RecordedRequest] {
        requests.filter(matcher.matches)
    }

    /// Returns the number of received requests that match.
    public func count(of matcher: RequestMatcher) -> Int { requests(matching: matcher).count }

    /// Throws if any request matched no rule.
    ///
    /// - Throws: The first ``UnmatchedRequest``.
    public func verify() throws {
        if let first = state.withLock({ $0.unmatched.first }) { throw first }
    }
}

/// Runs a test with its own ``StubTransport``, and fails the test if any request matched no rule.
///
/// ```swift
/// try await withStubTransport { stubs in
///     stubs.on(.get("/motto"), .text("Onwards"))
///     …
/// }
/// ```
///
/// - Parameters:
///   - clock: The clock for delays and gaps. The system's by default, also if the client has another one. With a
///     ``TestClock``, each delay and each gap ends when the test advances the clock.
///   - isolation: The actor that runs the test; the caller's by default.
///   - body: The test.
/// - Returns: The value that the test returns.
/// - Throws: The error that the test throws, or the first ``UnmatchedRequest``.
public func withStubTransport<Value>(
    clock: any SluiceClock = SystemClock(),
    isolation: isolated (any Actor)? = #isolation,
    _ body: (StubTransport) async throws -> Value
) async throws -> Value {
    let stubs = StubTransport(clock: clock)
    do {
        let value = try await body(stubs)
        try stubs.verify()
        return value
    } catch {
        // An unmatched request is likely the cause of the error, so report it first.
        try stubs.verify()
        throw error
    }
}
