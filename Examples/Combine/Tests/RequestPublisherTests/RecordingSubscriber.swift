import OpenCombine
import Synchronization

/// A subscriber that records what it receives, and requests values only when it is told to. Values arrive on any thread.
final class RecordingSubscriber<Input: Sendable, Failure: Error>: Subscriber, Sendable {
    private struct State {
        var values: [Input] = []
        var completions: [Subscribers.Completion<Failure>] = []
    }

    private let state = Mutex(State())
    /// Set while the test subscribes, and then only read by the test.
    private nonisolated(unsafe) var subscription: (any Subscription)?

    var values: [Input] { state.withLock { $0.values } }
    var completions: [Subscribers.Completion<Failure>] { state.withLock { $0.completions } }
    var isSubscribed: Bool { subscription != nil }

    func receive(subscription: any Subscription) {
        self.subscription = subscription
    }

    func receive(_ input: Input) -> Subscribers.Demand {
        state.withLock { $0.values.append(input) }
        return .none
    }

    func receive(completion: Subscribers.Completion<Failure>) {
        state.withLock { $0.completions.append(completion) }
    }

    func request(_ demand: Subscribers.Demand) {
        subscription?.request(demand)
    }
}
