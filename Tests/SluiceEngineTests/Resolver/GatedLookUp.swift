#if os(Linux)
import Dispatch
import SluiceHTTP

@testable import SluiceEngine

/// Look-ups that block until the test opens their gate.
final class GatedLookUp: Sendable {
    private struct State {
        var gates: [String: DispatchSemaphore] = [:]
        var running = 0
        var peak = 0
        var begun: [String] = []
    }

    private let state = Locked(State())
    private let events: AsyncStream<String>.Continuation
    /// The names, in the order in which their look-ups start.
    let beginnings: AsyncStream<String>

    init() {
        (beginnings, events) = AsyncStream.makeStream()
    }

    static let address = ScopedAddress(IPAddress(10, 0, 0, 1))

    /// The maximum number of concurrent look-ups.
    var peak: Int { state.withLock { $0.peak } }
    var begun: [String] { state.withLock { $0.begun } }

    private func gate(_ name: String) -> DispatchSemaphore {
        state.withLock { state in
            let gate = state.gates[name] ?? DispatchSemaphore(value: 0)
            state.gates[name] = gate
            return gate
        }
    }

    func open(_ names: String...) {
        for name in names { gate(name).signal() }
    }

    func run(_ name: String) -> Result<[ScopedAddress], Resolver.Failure> {
        state.withLock { state in
            state.running += 1
            state.peak = max(state.peak, state.running)
            state.begun.append(name)
        }
        events.yield(name)
        gate(name).wait()
        state.withLock { $0.running -= 1 }
        return .success([GatedLookUp.address])
    }
}

/// The answers that completions receive, in order.
final class AnswerLog: Sendable {
    private let events: AsyncStream<(String, Resolver.Answer)>.Continuation
    let answers: AsyncStream<(String, Resolver.Answer)>

    init() {
        (answers, events) = AsyncStream.makeStream()
    }

    func completion(_ name: String) -> @Sendable (Resolver.Answer) -> Void {
        { [events] in _ = events.yield((name, $0)) }
    }
}
#endif
