import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A transport that answers by rules, without a network, and remembers what it was asked.
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
/// The first rule that takes a request answers it. A request that none takes fails with `requestUnmatched`, which says
/// what was nearest, and ``verify()`` throws then, so that a test fails also where the code under test makes light of the error. Bodies are
/// read into memory before rules are asked.
public final class StubTransport: Sendable {
    /// What becomes of a request that no rule takes.
    public enum Unmatched: Sendable {
        /// It fails.
        case fail
        /// It is sent by another transport.
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
        var taken = 0

        var isOpen: Bool { limit.map { taken < $0 } ?? true }
    }

    private struct State {
        var rules: [Rule] = []
        var requests: [RecordedRequest] = []
        var unmatched: [UnmatchedRequest] = []
    }

    private let unmatched: Unmatched
    private let time: any TimeSource
    private let state = Locked(State())

    /// Makes a transport without rules.
    ///
    /// - Parameters:
    ///   - unmatched: What becomes of a request that no rule takes; it fails by default.
    ///   - time: What delays and gaps pass by; give it the client's ``ManualTime`` where that has one.
    public init(unmatched: Unmatched = .fail, time: any TimeSource = SystemTime()) {
        self.unmatched = unmatched
        self.time = time
    }

    /// Answers requests with a stub.
    ///
    /// - Parameters:
    ///   - matcher: Which requests; those that an earlier rule takes do not come here.
    ///   - stub: The answer.
    ///   - times: How many requests it answers at most; nil for no limit. The next go on to the rules behind it.
    public func on(_ matcher: RequestMatcher, _ stub: Stub, times: Int? = nil) {
        add(Rule(matcher: matcher, answer: .stub(stub), limit: times))
    }

    /// Answers requests with what a closure makes of them; it finds the parts of the path in ``RecordedRequest/pathParameters``.
    ///
    /// - Parameters:
    ///   - matcher: Which requests.
    ///   - times: How many requests it answers at most; nil for no limit.
    ///   - answer: Makes the answer. What it throws fails the request.
    public func on(
        _ matcher: RequestMatcher,
        times: Int? = nil,
        answer: @escaping @Sendable (RecordedRequest) async throws -> Stub
    ) {
        add(Rule(matcher: matcher, answer: .closure(answer), limit: times))
    }

    /// Sends requests by another transport.
    public func passThrough(_ matcher: RequestMatcher, to transport: any Transport, times: Int? = nil) {
        add(Rule(matcher: matcher, answer: .passThrough(transport), limit: times))
    }

    /// Forgets rules and requests.
    public func reset() {
        state.withLock { $0 = State() }
    }

    private func add(_ rule: Rule) {
        state.withLock { $0.rules.append(rule) }
    }

    /// Notes a request and finds what answers it.
    private func answer(to request: RecordedRequest) -> (Result<Answer, UnmatchedRequest>, RecordedRequest) {
        // Matchers may be closures of the test's, which had better not be called under the lock.
        let rules = state.withLock { $0.rules }
        let mismatches = rules.map { $0.matcher.mismatches(request) }
        var recorded = request
        return state.withLock { state in
            for (place, rule) in rules.enumerated() where mismatches[place].isEmpty {
                guard state.rules.indices.contains(place), state.rules[place].isOpen else { continue }
                state.rules[place].taken += 1
                recorded.pathParameters = rule.matcher.pathParameters(of: request)
                state.requests.append(recorded)
                return (.success(rule.answer), recorded)
            }
            state.requests.append(recorded)
            if case .passThrough(let transport) = unmatched { return (.success(.passThrough(transport)), recorded) }
            let misses = zip(rules, mismatches).map { rule, reasons in
                let used = "it has answered all of its \(rule.limit ?? 0) requests"
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

    /// What sends a request that has been found an answer to.
    private func transport(for request: HTTPRequest, body: Data) throws(SluiceError) -> any Transport {
        try request.validate()
        let (answer, recorded) = answer(to: RecordedRequest(request, body: body))
        switch answer {
        case .failure(let failure): throw failure.error(of: request)
        case .success(.stub(let stub)): return StubPlayer(stub, time: time)
        case .success(.closure(let closure)):
            return StubPlayer(.answering { _ in try await closure(recorded) }, time: time)
        case .success(.passThrough(let transport)): return transport
        }
    }
}

extension StubTransport: CallbackTransport {
    /// Answers a request by the first rule that takes it.
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
            case .file, .stream, .deferred: nil
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
            do throws(SluiceError) {
                completion(.success(try await sender.send(request, context: context)))
            } catch {
                completion(.failure(error))
            }
        }
        return { task.cancel() }
    }
}

extension StubTransport {
    /// What it was asked so far, in the order in which it was asked.
    public var requests: [RecordedRequest] { state.withLock { $0.requests } }
    /// Those that no rule took, with the reasons.
    public var unmatchedRequests: [UnmatchedRequest] { state.withLock { $0.unmatched } }

    /// What it was asked of one kind.
    public func requests(matching matcher: RequestMatcher) -> [RecordedRequest] {
        requests.filter(matcher.matches)
    }

    /// How often it was asked for one kind.
    public func count(of matcher: RequestMatcher) -> Int { requests(matching: matcher).count }

    /// Fails the test where a request was asked that no rule took.
    ///
    /// - Throws: The first ``UnmatchedRequest``.
    public func verify() throws {
        if let first = unmatchedRequests.first { throw first }
    }
}

/// Gives a test a ``StubTransport`` of its own, and fails it where a request was asked that no rule took.
///
/// ```swift
/// try await withStubTransport { stubs in
///     stubs.on(.get("/motto"), .text("Onwards"))
///     …
/// }
/// ```
///
/// - Parameters:
///   - time: What delays and gaps pass by.
///   - body: The test.
/// - Returns: What the test returns.
/// - Throws: What the test throws, or the first ``UnmatchedRequest``.
public func withStubTransport<Value>(
    time: any TimeSource = SystemTime(),
    _ body: (StubTransport) async throws -> Value
) async throws -> Value {
    let stubs = StubTransport(time: time)
    do {
        let value = try await body(stubs)
        try stubs.verify()
        return value
    } catch {
        // What went wrong first says more than what came of it.
        try stubs.verify()
        throw error
    }
}
