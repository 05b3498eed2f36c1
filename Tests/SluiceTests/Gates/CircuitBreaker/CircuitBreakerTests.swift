import SluiceHTTP
import SluiceTesting
import Testing

@testable import Sluice

@Suite struct CircuitBreakerTests {
    private let clock = TestClock()
    private var client: APIClient { .client(clock: clock) }

    private func run(_ outcome: TransportOutcome, _ breaker: CircuitBreaker, _ host: String = "a.example") {
        _ = breaker.admitImmediately(client.requestContext(host))?.releaseImmediately(outcome)
    }

    @Test func opensOnlyForTheFailingHost() async {
        let breaker = CircuitBreaker(of: 2)
        for _ in 0..<2 { run(.answered(.internalServerError), breaker) }
        #expect(breaker.state(for: "a.example") == .open(until: clock.now + .seconds(5)))
        #expect(breaker.state(for: "b.example") == .closed)
        #expect(breaker.admitImmediately(client.requestContext("a.example")) == nil)
        #expect(breaker.admitImmediately(client.requestContext("b.example")) != nil)
        clock.advance(by: .milliseconds(1500))
        let error = await #expect(throws: SluiceError.self) {
            try await breaker.admit(client.requestContext("a.example"))
        }
        #expect(error?.code == .circuitOpen)
        #expect(error?.step == .gate)
        let refusal = GateRefusal(gate: "CircuitBreaker", retryAfter: .milliseconds(3500))
        #expect(error?.underlyingError as? GateRefusal == refusal)
        #expect(error?.description.contains("is allowed in 3.5 seconds") == true)
    }

    @Test func successfulTrialClosesCircuit() async throws {
        let breaker = CircuitBreaker(of: 1, trials: 1, per: .client)
        run(.failed(.cannotConnect), breaker)
        clock.advance(by: .seconds(5))
        let trial = try await breaker.admit(client.requestContext("b.example"))
        #expect(breaker.state() == .halfOpen)
        let error = await #expect(throws: SluiceError.self) {
            try await breaker.admit(client.requestContext("a.example"))
        }
        #expect((error?.underlyingError as? GateRefusal)?.retryAfter == nil)
        #expect(error?.description.contains("trial requests are in progress") == true)
        _ = trial.releaseImmediately(.answered(.ok))
        #expect(breaker.state() == .closed)
    }

    @Test func stateWithoutAKeyIsThatOfTheWorstCircuit() async throws {
        let breaker = CircuitBreaker(of: 1, trials: 1)
        #expect(breaker.state() == .closed)
        run(.failed(.cannotConnect), breaker)
        guard case .open = breaker.state() else {
            Issue.record("The circuit is \(breaker.state()).")
            return
        }
        clock.advance(by: .seconds(5))
        let trial = try await breaker.admit(client.requestContext("a.example"))
        #expect(breaker.state() == .halfOpen)
        _ = trial.releaseImmediately(.answered(.ok))
        #expect(breaker.state() == .closed)
    }

    @Test func cancelledTrialFreesItsPlace() {
        let breaker = CircuitBreaker(of: 1, trials: 1)
        run(.failed(.cannotConnect), breaker)
        clock.advance(by: .seconds(5))
        run(.failed(.cancelled), breaker)
        #expect(breaker.state(for: "a.example") == .halfOpen)
        run(.answered(.ok), breaker)
        #expect(breaker.state(for: "a.example") == .closed)
    }

    @Test func classifiesOutcomesByCustomClosure() {
        let breaker = CircuitBreaker(of: 1) { outcome in
            if case .success(let response) = outcome, response.head.status == .tooManyRequests { return .failure }
            return CircuitBreaker.classification(of: outcome)
        }
        run(.answered(.ok), breaker)
        #expect(breaker.state(for: "a.example") == .closed)
        run(.answered(.tooManyRequests), breaker)
        #expect(breaker.state(for: "a.example") != .closed)
    }

    @Test func admitsRequestWithoutKey() async throws {
        let breaker = CircuitBreaker(of: 1, per: .key { $0.tags.first })
        for _ in 0..<3 { run(.failed(.cannotConnect), breaker) }
        #expect(breaker.admitImmediately(client.requestContext("a.example")) != nil)
        _ = try await breaker.admit(client.requestContext("a.example"))
    }

    @Test func reportsChangesInOrderToEveryStream() async {
        let clock = clock
        var streams: [AsyncStream<CircuitBreaker.Change>] = []
        do {
            let breaker = CircuitBreaker(of: 1, trials: 1)
            streams = [breaker.changes(), breaker.changes()]
            run(.failed(.cannotConnect), breaker)
            clock.advance(by: .seconds(5))
            run(.failed(.cannotConnect), breaker)
            clock.advance(by: .seconds(5))
            run(.answered(.ok), breaker)
        }
        let now = clock.now
        // The streams end when the breaker is deallocated.
        for stream in streams {
            var changes: [CircuitBreaker.Change] = []
            for await change in stream { changes.append(change) }
            #expect(changes.allSatisfy { $0.key == "a.example" })
            #expect(
                changes.map(\.state) == [
                    .open(until: now - .seconds(5)), .halfOpen, .open(until: now), .halfOpen, .closed,
                ]
            )
        }
    }

    /// The reader runs on the thread that reports the change.
    @Test(.timeLimit(.minutes(1))) func readerOfChangesCanUseTheBreaker() async {
        let breaker = CircuitBreaker(of: 1)
        let seen = Locked<[Bool]>([])
        let task = Task(executorPreference: InlineExecutor()) {
            for await change in breaker.changes() {
                seen.withLock { $0.append(breaker.state(for: change.key) == change.state) }
            }
        }
        await eventually { breaker.watcherCount == 1 }
        for _ in 0..<3 { run(.failed(.cannotConnect), breaker) }
        await eventually { seen.withLock { $0 } == [true] }
        task.cancel()
    }

    @Test func removesWatcherWhenItsTaskIsCancelled() async {
        let breaker = CircuitBreaker(of: 1)
        let task = Task {
            for await _ in breaker.changes() {}
        }
        await eventually { breaker.watcherCount == 1 }
        task.cancel()
        await task.value
        #expect(breaker.watcherCount == 0)
    }

    @Test func concurrentTasksReleaseAllTrials() async {
        let breaker = CircuitBreaker(of: 5, openFor: .milliseconds(5))
        let client = client
        await withTaskGroup { group in
            for seed in 0..<2000 as Range<UInt64> {
                group.addTask { [clock] in
                    var random = SeededGenerator(seed: seed)
                    guard let permit = try? await breaker.admit(client.requestContext("a.example")) else { return }
                    for _ in 0..<Int.random(in: 0..<3, using: &random) { await Task.yield() }
                    clock.advance(by: .milliseconds(1))
                    let outcomes: [TransportOutcome] = [.answered(.ok), .failed(.cancelled), .answered(.badGateway)]
                    _ = permit.releaseImmediately(outcomes.randomElement(using: &random) ?? .answered(.ok))
                }
            }
        }
        clock.advance(by: .seconds(60))
        for _ in 0..<3 { run(.answered(.ok), breaker) }
        #expect(breaker.state(for: "a.example") == .closed)
    }
}

/// Runs each job on the thread that makes it ready.
private final class InlineExecutor: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
    }
}
