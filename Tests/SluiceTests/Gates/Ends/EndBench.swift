import SluiceHTTP
import SluiceTesting

@testable import Sluice

/// A way of sending a request, by which the gates must not be told anything else.
enum Way: CaseIterable {
    /// All steps can run on the calling thread.
    case plain
    case plugin
    case asyncInterceptors
    /// The gates admit no request at once.
    case waitingGates
    /// Equal requests share a transfer.
    case shared
}

/// The steps of a row, besides those that are observed.
struct EndSetup: Sendable {
    /// The end of the request.
    enum Cause: Sendable {
        /// Nothing else: the request ends by itself.
        case itself
        /// Time that passes: a pause, or a time-out of the transfer.
        case time
        /// The total time-out, and in a second run the deadline of the task.
        case totalTime
        /// The caller, once the request has reached the place.
        case cancellation
    }

    var cause = Cause.itself
    /// True if the place is reached when the clock has a sleeper.
    var waitsForSleeper = false
    var answer: @Sendable (RecordedRequest, EndBench) async throws -> Stub = { _, _ in .text("ok") }
    var configure: @Sendable (inout APIClient.Configuration, EndBench) -> Void = { _, _ in }
    /// Stores responses in the cache; nil for a client without one.
    var store: (@Sendable (APIClient, TestClock) async -> Void)?
    var send: @Sendable (APIClient, TestClock) async -> Void = { client, _ in
        _ = await client.string.get("x").sender().result
    }
}

/// A client whose gates record what they are told.
final class EndBench: Sendable {
    static let burst = 8

    let clock = TestClock()
    let isReached = Shared(false)
    /// The number of requests that the transport has received.
    let received = Shared(0)
    private let breaker: TrialBreaker
    private let rate = RateLimit(1, every: .seconds(100_000_000), burst: EndBench.burst)
    private let limit = ConcurrencyLimit(4)
    private let mostSlots = Shared(0)
    private let slots = Shared(0)
    private let setup: EndSetup
    private let way: Way

    init(_ setup: EndSetup, _ way: Way) {
        self.setup = setup
        self.way = way
        breaker = TrialBreaker()
    }

    func reach() { isReached.change { $0 = true } }

    /// Sends the row's request.
    ///
    /// - Parameter isDeadline: True for a deadline in place of a total time-out.
    /// - Returns: What the gates were told.
    func run(isDeadline: Bool = false) async -> Told {
        let stubs = StubTransport(clock: clock)
        stubs.on(.any) { [self] request in
            received.change { $0 += 1 }
            return try await setup.answer(request, self)
        }
        let store = CacheStore(storage: nil) { [clock] in $0.clock = clock }
        func client(_ configure: (inout APIClient.Configuration) -> Void) -> APIClient {
            APIClient(baseURL: "http://first.test") {
                $0.transport = stubs
                $0.clock = clock
                configure(&$0)
            }
        }
        if let fill = setup.store {
            await fill(client { $0.cache = store }, clock)
            received.change { $0 = 0 }
        }
        let measured = client {
            if setup.store != nil { $0.cache = store }
            $0.gates = gates
            if way == .plugin { $0.plugins = [QuietPlugin()] }
            if way == .asyncInterceptors {
                $0.requestInterceptors = [YieldingInterceptor()]
                $0.responseInterceptors = [YieldingInterceptor()]
            }
            if way == .shared { $0.sharing = .safeMethods }
            if setup.cause == .totalTime, !isDeadline { $0.timeouts.total = .seconds(10) }
            setup.configure(&$0, self)
        }
        await send(by: measured, isDeadline: isDeadline)
        // Permits may be released after the caller has its result.
        await eventually { [breaker, limit] in breaker.isSettled && limit.running == 0 }
        return told(measured)
    }

    private func send(by client: APIClient, isDeadline: Bool) async {
        let isDone = Shared(false)
        let task = Task { [setup, clock] in
            if setup.cause == .totalTime, isDeadline {
                await Deadline.withDeadline(.seconds(10), on: clock) { await setup.send(client, clock) }
            } else {
                await setup.send(client, clock)
            }
            isDone.change { $0 = true }
        }
        switch setup.cause {
        case .itself: break
        case .cancellation:
            await eventually { [isReached] in isReached.read }
            if setup.waitsForSleeper { await clock.waitForSleepers(1) }
            task.cancel()
        case .time, .totalTime:
            await eventually { [isReached] in isReached.read }
            while !isDone.read {
                clock.advance(by: .seconds(10))
                await Task.yield()
            }
        }
        await task.value
    }

    private var gates: [any Gate] {
        let isImmediate = way != .waitingGates
        return [
            ForwardingGate(breaker, isImmediate: isImmediate),
            ForwardingGate(rate, isImmediate: isImmediate),
            ForwardingGate(limit, isImmediate: isImmediate) { [limit, mostSlots, slots] in
                slots.change { $0 += 1 }
                mostSlots.change { $0 = max($0, limit.running) }
            },
        ]
    }

    private func told(_ client: APIClient) -> Told {
        let other = client.requestContext("other.test")
        let first = client.requestContext("first.test")
        var pause = ""
        if rate.admitImmediately(other) == nil { pause = ", and the other host is paused" }
        var left = rate.admitImmediately(first) == nil ? 0 : 1
        if left == 0 {
            pause = ", and the host is paused"
            clock.advance(by: .seconds(61))
        }
        while rate.admitImmediately(first) != nil { left += 1 }
        let tokens = Self.burst - left
        return Told(
            breaker: breaker.settled.sorted().joined(separator: ", "),
            rate: "\(tokens) \(tokens == 1 ? "token" : "tokens")\(pause)",
            slots: slots.read < 2 ? "\(slots.read)" : "\(slots.read), \(mostSlots.read == 1 ? "in turn" : "at once")"
        )
    }
}

/// The reports that the gates received about a request.
struct Told: Sendable, Equatable, CustomStringConvertible {
    /// The classifications of all attempts.
    let breaker: String
    /// The tokens that are used up, and the pauses.
    let rate: String
    /// The slots that were taken. All of them have been released.
    let slots: String

    var description: String { "\(breaker) | \(rate) | \(slots)" }
}

// MARK: - Gates and steps

/// A circuit breaker that admits each attempt as the trial of a half-open circuit, whose state afterwards shows how the
/// attempt was counted.
final class TrialBreaker: ImmediateGate {
    private let attempts = Shared((admitted: 0, settled: [String]()))

    var settled: [String] { attempts.read.settled }
    var isSettled: Bool { attempts.read.admitted == attempts.read.settled.count }

    func admitImmediately(_ request: RequestContext) -> Permit? {
        let breaker = CircuitBreaker(of: 1, openFor: .zero, trials: 1)
        let failure = SluiceError(.cannotConnect, "It failed.")
        _ = breaker.admitImmediately(request)?.releaseImmediately(.failure(failure))
        guard let trial = breaker.admitImmediately(request) else { return nil }
        attempts.change { $0.admitted += 1 }
        return Permit(onOutcome: { [attempts] outcome in
            _ = trial.releaseImmediately(outcome)
            let result =
                switch breaker.state(for: "first.test") {
                case .closed: "success"
                case .open: "failure"
                case .halfOpen: "ignored"
                }
            attempts.change { $0.settled.append(result) }
            return .settled
        })
    }

    func admit(_ request: RequestContext) async throws(SluiceError) -> Permit {
        if let permit = admitImmediately(request) { return permit }
        throw SluiceError(.gateFailed, "The circuit is not half-open.", step: .gate)
    }
}

/// A gate that passes requests to another, at once or not.
private struct ForwardingGate: ImmediateGate {
    let name: String
    private let base: any ImmediateGate
    private let isImmediate: Bool
    private let onAdmission: @Sendable () -> Void

    init(_ base: any ImmediateGate, isImmediate: Bool, onAdmission: @escaping @Sendable () -> Void = {}) {
        name = base.name
        self.base = base
        self.isImmediate = isImmediate
        self.onAdmission = onAdmission
    }

    func admitImmediately(_ request: RequestContext) -> Permit? {
        guard isImmediate, let permit = base.admitImmediately(request) else { return nil }
        onAdmission()
        return permit
    }

    func admit(_ request: RequestContext) async throws(SluiceError) -> Permit {
        let permit = try await base.admit(request)
        onAdmission()
        return permit
    }
}

private struct QuietPlugin: Plugin {}

private struct YieldingInterceptor: RequestInterceptor, ResponseInterceptor {
    func intercept(_ request: HTTPRequest, context: RequestContext) async throws -> HTTPRequest {
        await Task.yield()
        return request
    }

    func intercept(_ outcome: TransportOutcome, context: RequestContext) async -> TransportOutcome {
        await Task.yield()
        return outcome
    }
}

/// Waits in one of the steps until the task is cancelled.
struct WaitingStep: Gate, RequestInterceptor, ResponseInterceptor {
    let bench: EndBench
    /// True if the step goes on after the cancellation, as if nothing had happened.
    var ignoresCancellation = false

    private func wait() async {
        bench.reach()
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        for await _ in stream {}
        continuation.finish()
    }

    func admit(_ request: RequestContext) async throws(SluiceError) -> Permit {
        await wait()
        if ignoresCancellation { return Permit() }
        throw SluiceError(.cancelled, "The gate was cancelled.", step: .gate)
    }

    func intercept(_ request: HTTPRequest, context: RequestContext) async throws -> HTTPRequest {
        await wait()
        if ignoresCancellation { return request }
        throw CancellationError()
    }

    func intercept(_ outcome: TransportOutcome, context: RequestContext) async -> TransportOutcome {
        await wait()
        return ignoresCancellation ? outcome : .failure(SluiceError(.cancelled, "The interceptor was cancelled."))
    }
}

/// A plugin that waits, or changes the outcome.
struct ScriptedPlugin: Plugin {
    var preparing: WaitingStep?
    var change: @Sendable (TransportOutcome) -> TransportOutcome = { $0 }

    func prepare(_ request: HTTPRequest, context: RequestContext) async throws -> HTTPRequest {
        try await preparing?.intercept(request, context: context) ?? request
    }

    func process(_ outcome: TransportOutcome, context: RequestContext) async -> TransportOutcome { change(outcome) }
}

/// An adapter that fails, or changes the outcome.
struct ScriptedAdapter: RequestAdapter, OutcomeAdapter {
    struct Failure: Error {}

    var change: @Sendable (TransportOutcome) -> TransportOutcome = { $0 }

    func adapt(_ request: inout HTTPRequest, context: RequestContext) throws { throw Failure() }
    func adapt(_ outcome: inout TransportOutcome, context: RequestContext) { outcome = change(outcome) }
}

/// A gate that refuses every request.
struct RefusingGate: Gate {
    func admit(_ request: RequestContext) async throws(SluiceError) -> Permit {
        throw SluiceError(.gateFailed, "The gate is closed.", step: .gate)
    }
}

/// A gate that has a request sent again after a 401.
struct ReplayingGate: ImmediateGate {
    func admit(_ request: RequestContext) async throws(SluiceError) -> Permit { permit }
    func admitImmediately(_ request: RequestContext) -> Permit? { permit }

    private var permit: Permit {
        Permit(onOutcome: { outcome in
            if case .success(let response) = outcome, response.head.status == .unauthorized { return .replay }
            return .settled
        })
    }
}
